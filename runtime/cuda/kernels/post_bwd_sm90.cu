//===- post_bwd_sm90.cu - Gradients of post in one pass, by bulk copies ---===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PostBwd.cuh has the formulas.
//
// Plan    tile/Rows.cuh: the nine rows of a token pass through a ring in shared memory; a team of warps owns a token,
//         and its 20 sums stay in registers until the token's end.
// Bytes   per token 10C elements (14C with d_x) and 160.
// Needs   sm_90, n = 4, layout nC, C a multiple of 16 bytes; d_f, neither d_x_in, d_bias nor a dropout; d_x of the type
//         of x.
// Round   f32 sums, in an order that C decides; one rounding at the store.
// Result  H200, bf16, us and percent of copy, 8192x4096, 8192x7168, 8192x2560, 65536x768: without d_x 160 (99), 273
//         (102), 99 (100), 235 (102). 128 registers, no spills, 220 kB of shared memory.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/PostBwd.cuh"
#include "cuda/tile/Rows.cuh"

using namespace mhcrt;

namespace {

struct PostBwdSm90 {
  RowSource sources[kSources]; ///< d_out, x, f
  char *df, *dx;
  RowPlan plan;
  PostBwdCommon common;
};

/// The elements of one thread.
struct Piece {
  uint4 raw[kTokenRows];

  /// Lanes behind the row's end get zeros, which count for nothing.
  __device__ __forceinline__ void load(uint32_t from, uint32_t pitch, bool inside) {
#pragma unroll
    for (int k = 0; k < kTokenRows; ++k)
      raw[k] = inside ? loadShared4(from + k * pitch) : make_uint4(0, 0, 0, 0);
  }
};

/// 16 bytes of channels from `offset` of the row on.
template <typename T, bool kDx>
__device__ __forceinline__ void work(const PostBwdSm90 &args, const PostBwdCoefficients<kDx> &h, const Piece &in,
                                     uint32_t token, uint32_t offset, bool inside, float (&sums)[32]) {
  float g[4][kLanesOf<T>], f[kLanesOf<T>];
#pragma unroll
  for (int o = 0; o < 4; ++o)
    widen(in.raw[o], g[o], T());
  widen(in.raw[8], f, T());
  if (args.common.bias && inside)
    args.common.addBias<T>(offset / sizeof(T), f);
  const uint4 df = branchGradient<T>(h, g, f, sums, [](int) { return KeepAll(); });
  if (inside)
    storeOnce(args.df + int64_t(token) * args.plan.rowBytes + offset, df);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint4 dx = streamGradient<T>(h, i, g, in.raw[4 + i], sums);
    if (kDx && inside)
      storeOnce(args.dx + (int64_t(token) * 4 + i) * args.plan.rowBytes + offset, dx);
  }
}

template <typename T, bool kDx>
__device__ __forceinline__ void workAll(const PostBwdSm90 &args, const RowRing &ring, int team, float *buffer) {
  const RowPlan &plan = args.plan;
  const uint32_t thread = threadIdx.x - team * plan.warps * 32, step = plan.teams * gridDim.x;
  uint32_t token = blockIdx.x + team * gridDim.x;
  RowCursor at = {team};
  PostBwdCoefficients<kDx> h;
  if (token < plan.M)
    h.load(args.common, token);
  for (int turn = 0; token < plan.M; token += step, turn ^= 1) {
    float sums[32] = {};
    for (uint32_t piece = 0; piece < plan.rowBytes; piece += plan.pieceBytes, at.next(plan)) {
      barrierWait(ring.full(at.stage), at.parity);
#pragma unroll 1
      for (uint32_t within = thread * 16; within < plan.pieceBytes; within += plan.warps * 512) {
        const bool inside = piece + within < plan.rowBytes;
        Piece in;
        in.load(ring.row(at.stage, 0) + within, plan.pitch, inside);
        if (within + plan.warps * 512 >= plan.pieceBytes) {
          __syncwarp();
          if (threadIdx.x % 32 == 0)
            barrierArrive(ring.free(at.stage));
        }
        work<T>(args, h, in, token, piece + within, inside, sums);
      }
    }
    if (token + step < plan.M)
      h.load(args.common, token + step); // arrives while the sums are added up
    args.common.storeSums(token, thread, teamSum<kPostBwdSums>(sums, buffer, turn, team, plan.warps));
  }
}

template <typename T, bool kDx>
__global__ void __launch_bounds__(32 * (kWorkWarps + 1), 1)
    postBwdSm90Kernel(const __grid_constant__ PostBwdSm90 args) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ __align__(8) unsigned char bars[kMostStages * 16];
  __shared__ float sums[2 * kWorkWarps * 32];
  const RowRing ring = {args.plan, sharedAddress(memory), sharedAddress(bars)};
  ring.init();
  __syncthreads();
  beginOverlapped();
  const int warps = args.plan.warps, team = threadIdx.x / 32 / warps;
  if (team == args.plan.teams)
    ring.copyAll(args.sources);
  else
    workAll<T, kDx>(args, ring, team, sums + team * 2 * warps * 32);
}

} // namespace

bool mhcrt::postBwdSm90Takes(const PostBwdArgs &a, Needs &needs) {
  return needs.absent("seed", a.seed) && postBwdFits(a, needs);
}

template <typename T, bool kDx>
static cudaError_t launch(const PostBwdSm90 &args, int multiprocessors, cudaStream_t stream) {
  constexpr auto *kKernel = postBwdSm90Kernel<T, kDx>;
  if (const cudaError_t error = allowShared<kKernel>(kRowRingBytes))
    return error;
  const unsigned blocks = std::min<unsigned>(args.plan.M, multiprocessors);
  return launchOverlapping(kKernel, blocks, args.plan.threads(), 1, args.plan.sharedBytes(), stream, args);
}

cudaError_t mhcrt::postBwdSm90(const PostBwdArgs &a, int multiprocessors, cudaStream_t stream) {
  const PostBwdSm90 args = {{{static_cast<const char *>(a.d_out), 4},
                             {static_cast<const char *>(a.x), 4},
                             {static_cast<const char *>(a.f), 1}},
                            static_cast<char *>(a.d_f),
                            static_cast<char *>(a.d_x),
                            RowPlan(a.M, a.C * mhcrt_dtype_bytes(a.x_type), a.d_x != nullptr),
                            PostBwdCommon(a)};
  return withElement(a.x_type, [&](auto type) {
    using T = decltype(type);
    return a.d_x ? launch<T, true>(args, multiprocessors, stream) : launch<T, false>(args, multiprocessors, stream);
  });
}
