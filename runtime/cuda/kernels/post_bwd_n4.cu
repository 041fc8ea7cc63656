//===- post_bwd_n4.cu - Gradients of post in one pass ---------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PostBwd.cuh has the formulas.
//
// Plan    A block goes over tokens, a thread over columns of 16 bytes of the token; the next column's nine loads are in
//         flight while one is worked on, over the end of a token too. The 20 sums stay in registers until then.
// Bytes   per token 10C elements (14C with d_x) and 160.
// Needs   n = 4, layout nC, C a multiple of 16 bytes; neither d_x_in nor d_bias, d_x of x's type.
// Round   f32 sums, in an order that C decides; one rounding at the store.
// Result  H200, bf16, M = 8192, C 4096 / 7168 / 1280: 171 / 289 / 62 us, 93 / 96 / 81 % of copy; with d_x 258 / 441,
//         86 / 88 %: there post_bwd_sm90.cu is taken. 128 and 168 registers, no spills.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/PostBwd.cuh"
#include "cuda/tile/StreamSteps.cuh"
#include "cuda/tile/Team.cuh"

using namespace mhcrt;

namespace {

struct PostBwdN4 {
  const uint4 *dOut, *f, *x;
  uint4 *df, *dx;
  uint32_t M, columns;
  StreamSteps dOutSteps, xSteps;
  PostBwdCommon common;
  Dropout dropout;
};

/// Inputs of one column. The parts are reloaded as soon as they are used.
struct Inputs {
  uint4 dOut[4], x[4], f;

  __device__ __forceinline__ void loadGradient(const PostBwdN4 &args, Place at) {
#pragma unroll
    for (int o = 0; o < 4; ++o)
      dOut[o] = loadOnce(args.dOut + args.dOutSteps.at(at.token, o, at.column));
    f = loadOnce(args.f + at.flat(args.columns));
  }
  __device__ __forceinline__ void loadStream(const PostBwdN4 &args, Place at, int i) {
    x[i] = loadOnce(args.x + args.xSteps.at(at.token, i, at.column));
  }
  __device__ __forceinline__ void load(const PostBwdN4 &args, Place at) {
    loadGradient(args, at);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      loadStream(args, at, i);
  }
};

/// Works on column `at` and loads column `next`.
template <typename T, bool kDx, bool kDrops>
__device__ __forceinline__ void work(const PostBwdN4 &args, const PostBwdCoefficients<kDx> &h,
                                     const Dropper<kDrops> &dropper, Place at, Place next, Inputs &in,
                                     float (&sums)[32]) {
  float g[4][kLanesOf<T>], f[kLanesOf<T>];
  widen(in.f, f, T());
#pragma unroll
  for (int o = 0; o < 4; ++o)
    widen(in.dOut[o], g[o], T());
  in.loadGradient(args, next);
  if (args.common.bias)
    args.common.addBias<T>(at.column * kLanesOf<T>, f);
  const auto drops = [&](int o) { return dropper.template lanes<kLanesOf<T>>(at.of(o, args.columns)); };
  float df[kLanesOf<T>];
  branchGradient<T>(h, g, f, sums, drops, df);
  storeOnce(args.df + at.flat(args.columns), narrow(df, T()));
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint4 x = in.x[i];
    in.loadStream(args, next, i);
    float dx[kLanesOf<T>];
    streamGradient<T>(h, i, g, x, sums, dx);
    if constexpr (kDx)
      storeOnce(args.dx + at.of(i, args.columns), narrow(dx, T()));
  }
}

/// Threads that run at once on a multiprocessor: bounds the registers, and with them the loads in flight.
/// A dropout takes some more of them.
template <bool kDx, bool kDrops>
constexpr int kResidentThreads = 512 - 128 * kDx - 128 * kDrops;

template <typename T, bool kDx, bool kDrops>
__global__ void __launch_bounds__(kResidentThreads<kDx, kDrops>, 1) postBwdN4Kernel(PostBwdN4 args) {
  beginOverlapped();
  const Dropper<kDrops> dropper(args.dropout);
  Place at = {blockIdx.x, threadIdx.x};
  Inputs in;
  if (at.column < args.columns)
    in.load(args, at);
  for (int parity = 0; at.token < args.M; parity ^= 1) {
    const uint32_t token = at.token;
    PostBwdCoefficients<kDx> h;
    h.load(args.common, token);
    float sums[32] = {};
#pragma unroll 1
    while (at.token == token) {
      const Place next = at.next(args.columns);
      const bool more = next.token < args.M && next.column < args.columns;
      if (at.column < args.columns)
        work<T>(args, h, dropper, at, more ? next : at, in, sums);
      else if (more) // this turn's columns end before this thread
        in.load(args, next);
      at = next;
    }
    args.common.storeSums(token, threadIdx.x, teamSum<kPostBwdSums>(sums, parity));
  }
}

} // namespace

bool mhcrt::postBwdN4Takes(const PostBwdArgs &a, Needs &needs) {
  return postBwdFits(a, needs) && postBwdIsPlain(a, needs);
}

template <typename T, bool kDx, bool kDrops>
static cudaError_t launch(const PostBwdN4 &args, int multiprocessors, cudaStream_t stream) {
  const int threads = 32 * teamWarps(args.columns);
  const unsigned blocks = std::min<unsigned>(args.M, multiprocessors * (kResidentThreads<kDx, kDrops> / threads));
  return launchOverlapping(postBwdN4Kernel<T, kDx, kDrops>, blocks, threads, 1, 0, stream, args);
}

cudaError_t mhcrt::postBwdN4(const PostBwdArgs &a, int multiprocessors, cudaStream_t stream) {
  const int64_t columns = columnsOf(a.C, a.x_type);
  const PostBwdN4 args = {static_cast<const uint4 *>(a.d_out), static_cast<const uint4 *>(a.f),
                          static_cast<const uint4 *>(a.x),     static_cast<uint4 *>(a.d_f),
                          static_cast<uint4 *>(a.d_x),         static_cast<uint32_t>(a.M),
                          static_cast<uint32_t>(columns),      StreamSteps(4, columns, a.equal_d_out),
                          StreamSteps(4, columns, a.equal_x),  PostBwdCommon(a),
                          Dropout(a.seed, a.rate, a.stream)};
  return withElement(a.x_type, [&](auto type) {
    using T = decltype(type);
    const auto start = a.d_x ? (a.seed ? launch<T, true, true> : launch<T, true, false>)
                             : (a.seed ? launch<T, false, true> : launch<T, false, false>);
    return start(args, multiprocessors, stream);
  });
}
