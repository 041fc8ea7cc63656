//===- post_bwd_n4.cu - Gradients of post in one pass ---------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_f[m,c]    = sum_o h_post[m,o] * d_out[m,o,c]
//   d_h_post[o] = sum_c d_out[m,o,c] * (f[m,c] + bias[c])
//   d_x[m,i,c]  = sum_o A[m,o,i] * d_out[m,o,c]
//   dA[m,o,i]   = sum_c d_out[m,o,c] * x[m,i,c]                   A = h_res (oi) or its transpose (io)
//
// Plan    A block goes over tokens, a thread over columns of 16 bytes of the token; the next column's nine loads are in
//         flight while one is worked on, over the end of a token too. The 20 sums stay in registers until then.
// Bytes   per token 10C elements (14C with d_x) and 160.
// Needs   n = 4, layout nC, C a multiple of 16 bytes; neither d_x_in nor d_bias, d_x of x's type.
// Round   f32 sums, in an order that C decides; one rounding at the store.
// Result  H200, bf16, M = 8192, C 4096 / 7168 / 1280: 171 / 289 / 62 us, 93 / 96 / 81 % of copy; with d_x 258 / 441, 86
// /
//         88 %. 128 and 168 registers, no spills.
//
//===------------------------------------------------------------------------===//
#include "Elementwise.h"
#include "prim/team.cuh"

using namespace mhcrt;

struct PostBwdN4 {
  const uint4 *dOut, *f, *x;
  const void *bias; ///< null when there is none
  const float4 *hPost, *hRes;
  uint4 *df, *dx;
  float *dhPost, *dhRes;
  uint32_t M, columns;
  bool wideBias, outputFirst;
};

/// What one column reads. The parts are reloaded as soon as they are used.
struct Inputs {
  uint4 dOut[4], x[4], f;

  __device__ __forceinline__ void loadGradient(const PostBwdN4 &args, Place at) {
#pragma unroll
    for (int o = 0; o < 4; ++o)
      dOut[o] = loadOnce(args.dOut + at.of(o, args.columns));
    f = loadOnce(args.f + at.flat(args.columns));
  }
  __device__ __forceinline__ void loadStream(const PostBwdN4 &args, Place at, int i) {
    x[i] = loadOnce(args.x + at.of(i, args.columns));
  }
  __device__ __forceinline__ void load(const PostBwdN4 &args, Place at) {
    loadGradient(args, at);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      loadStream(args, at, i);
  }
};

template <typename T>
static __device__ __forceinline__ void addBias(const PostBwdN4 &args, uint32_t column, float (&f)[kLanesOf<T>]) {
  constexpr int kLanes = kLanesOf<T>;
#pragma unroll
  for (int e = 0; e < kLanes; ++e)
    f[e] += args.wideBias ? static_cast<const float *>(args.bias)[column * kLanes + e]
                          : static_cast<float>(static_cast<const T *>(args.bias)[column * kLanes + e]);
}

/// Coefficients of a token: h_post, and with d_x the mix with the output stream first.
template <bool kDx>
struct Coefficients {
  float post[4], mix[kDx ? 16 : 1];

  __device__ __forceinline__ void load(const PostBwdN4 &args, uint32_t token) {
    reinterpret_cast<float4 &>(post) = args.hPost[token];
    if constexpr (kDx) {
      const float *from = reinterpret_cast<const float *>(args.hRes + int64_t(token) * 4);
#pragma unroll
      for (int k = 0; k < 16; ++k)
        mix[k] = from[args.outputFirst ? k : k % 4 * 4 + k / 4];
    }
  }
};

/// Works on column `at` and loads column `next`. sums: dA[o][i] at 4*o + i, d_h_post behind.
template <typename T, bool kDx>
static __device__ __forceinline__ void work(const PostBwdN4 &args, const Coefficients<kDx> &h, Place at, Place next,
                                            Inputs &in, float (&sums)[32]) {
  constexpr int kLanes = kLanesOf<T>;
  float g[4][kLanes], f[kLanes], df[kLanes];
  widen(in.f, f, T());
#pragma unroll
  for (int o = 0; o < 4; ++o)
    widen(in.dOut[o], g[o], T());
  in.loadGradient(args, next);
  if (args.bias)
    addBias<T>(args, at.column, f);
#pragma unroll
  for (int o = 0; o < 4; ++o)
#pragma unroll
    for (int e = 0; e < kLanes; ++e) {
      df[e] = o == 0 ? h.post[0] * g[0][e] : fmaf(h.post[o], g[o][e], df[e]);
      sums[16 + o] = fmaf(g[o][e], f[e], sums[16 + o]);
    }
  storeOnce(args.df + at.flat(args.columns), narrow(df, T()));
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float x[kLanes], dx[kLanes];
    widen(in.x[i], x, T());
    in.loadStream(args, next, i);
#pragma unroll
    for (int o = 0; o < 4; ++o)
#pragma unroll
      for (int e = 0; e < kLanes; ++e) {
        sums[4 * o + i] = fmaf(g[o][e], x[e], sums[4 * o + i]);
        if constexpr (kDx)
          dx[e] = o == 0 ? h.mix[i] * g[0][e] : fmaf(h.mix[4 * o + i], g[o][e], dx[e]);
      }
    if constexpr (kDx)
      storeOnce(args.dx + at.of(i, args.columns), narrow(dx, T()));
  }
}

static __device__ __forceinline__ void storeSums(const PostBwdN4 &args, uint32_t token, float total) {
  const int k = threadIdx.x;
  if (k < 16 && args.dhRes)
    args.dhRes[int64_t(token) * 16 + (args.outputFirst ? k : k % 4 * 4 + k / 4)] = total;
  if (k >= 16 && k < 20 && args.dhPost)
    args.dhPost[int64_t(token) * 4 + k - 16] = total;
}

/// Threads that run at once on a multiprocessor: bounds the registers, and with them the loads in flight.
template <bool kDx>
static constexpr int kResidentThreads = kDx ? 384 : 512;

template <typename T, bool kDx>
static __global__ void __launch_bounds__(kResidentThreads<kDx>, 1) postBwdN4Kernel(PostBwdN4 args) {
  beginOverlapped();
  Place at = {blockIdx.x, threadIdx.x};
  Inputs in;
  if (at.column < args.columns)
    in.load(args, at);
  for (int parity = 0; at.token < args.M; parity ^= 1) {
    const uint32_t token = at.token;
    Coefficients<kDx> h;
    h.load(args, token);
    float sums[32] = {};
#pragma unroll 1
    while (at.token == token) {
      const Place next = at.next(args.columns);
      const bool more = next.token < args.M && next.column < args.columns;
      if (at.column < args.columns)
        work<T, kDx>(args, h, at, more ? next : at, in, sums);
      else if (more) // this turn's columns end before this thread
        in.load(args, next);
      at = next;
    }
    const float total = teamSum<20>(sums, parity);
    storeSums(args, token, total);
  }
}

bool mhcrt::postBwdN4Takes(const PostBwdArgs &a, Needs &needs) {
  return columnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.given("d_f", a.d_f) &&
         needs.absent("d_x_in", a.d_x_in) && needs.absent("d_bias", a.d_bias) &&
         (!a.d_x || needs.type("d_x", a.d_x_type, a.x_type)) &&
         needs.aligned({a.d_out, a.f, a.x, a.h_post, a.h_res, a.d_f, a.d_x});
}

template <typename T, bool kDx>
static cudaError_t launch(const PostBwdN4 &args, int multiprocessors, cudaStream_t stream) {
  const int threads = 32 * teamWarps(args.columns);
  const unsigned blocks = std::min<unsigned>(args.M, multiprocessors * (kResidentThreads<kDx> / threads));
  return launchOverlapping(postBwdN4Kernel<T, kDx>, blocks, threads, 1, 0, stream, args);
}

cudaError_t mhcrt::postBwdN4(const PostBwdArgs &a, int multiprocessors, cudaStream_t stream) {
  const PostBwdN4 args = {static_cast<const uint4 *>(a.d_out),
                          static_cast<const uint4 *>(a.f),
                          static_cast<const uint4 *>(a.x),
                          a.bias,
                          static_cast<const float4 *>(a.h_post),
                          static_cast<const float4 *>(a.h_res),
                          static_cast<uint4 *>(a.d_f),
                          static_cast<uint4 *>(a.d_x),
                          static_cast<float *>(a.d_h_post),
                          static_cast<float *>(a.d_h_res),
                          static_cast<uint32_t>(a.M),
                          static_cast<uint32_t>(columnsOf(a.C, a.x_type)),
                          a.bias_type == MHCRT_F32,
                          a.orient == MHCRT_ORIENT_OI};
  return withElement(a.x_type, [&](auto type) {
    using T = decltype(type);
    return a.d_x ? launch<T, true>(args, multiprocessors, stream) : launch<T, false>(args, multiprocessors, stream);
  });
}
