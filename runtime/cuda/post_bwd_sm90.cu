//===- post_bwd_sm90.cu - Gradients of post in one pass, by bulk copies ---===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_f[m,c]    = sum_o h_post[m,o] * d_out[m,o,c]
//   d_h_post[o] = sum_c d_out[m,o,c] * (f[m,c] + bias[c])
//   d_x[m,i,c]  = sum_o A[m,o,i] * d_out[m,o,c]
//   dA[m,o,i]   = sum_c d_out[m,o,c] * x[m,i,c]                   A = h_res (oi) or its transpose (io)
//
// Plan    prim/rows.cuh: nine rows of a token pass through a ring in shared memory; a team of warps owns a token, and
// its
//         20 sums stay in registers until the token's end.
// Bytes   per token 10C elements (14C with d_x) and 160.
// Needs   sm_90, n = 4, layout nC, C a multiple of 16 bytes; d_f, neither d_x_in nor d_bias, d_x of x's type.
// Round   f32 sums, in an order that C decides; one rounding at the store.
// Result  H200, bf16, M = 8192: with d_x, C 4096 / 7168 / 1280: 227 / 391 / 80 us, 98 / 99 / 87 % of copy; without, C
// 2560 /
//         1280: 106 / 56 us, 94 / 89 %. 128 registers, no spills, 220 kB of shared memory.
//
//===------------------------------------------------------------------------===//
#include "Elementwise.h"
#include "prim/Bf16Mma.cuh"
#include "prim/rows.cuh"

using namespace mhcrt;

static constexpr int kRows = 9; ///< d_out, x, f

struct PostBwdSm90 {
  RowSource rows[kRows];
  const void *bias; ///< null when there is none
  const float4 *hPost, *hRes;
  char *df, *dx;
  float *dhPost, *dhRes;
  RowPlan plan;
  bool wideBias, outputFirst;
};

template <typename T>
static __device__ __forceinline__ void addBias(const PostBwdSm90 &args, uint32_t offset, float (&f)[kLanesOf<T>]) {
  const uint32_t channel = offset / sizeof(T);
#pragma unroll
  for (int e = 0; e < kLanesOf<T>; ++e)
    f[e] += args.wideBias ? static_cast<const float *>(args.bias)[channel + e]
                          : static_cast<float>(static_cast<const T *>(args.bias)[channel + e]);
}

/// Coefficients of a token: h_post, and with d_x the mix with the output stream first.
template <bool kDx>
struct Coefficients {
  float post[4], mix[kDx ? 16 : 1];

  __device__ __forceinline__ void load(const PostBwdSm90 &args, uint32_t token) {
    reinterpret_cast<float4 &>(post) = args.hPost[token];
    if constexpr (kDx) {
      const float *from = reinterpret_cast<const float *>(args.hRes + int64_t(token) * 4);
#pragma unroll
      for (int k = 0; k < 16; ++k)
        mix[k] = from[args.outputFirst ? k : k % 4 * 4 + k / 4];
    }
  }
};

/// The gradient's part of 16 bytes of channels: d_f, d_h_post.
template <typename T>
static __device__ __forceinline__ uint4 branchGradient(const float (&g)[4][kLanesOf<T>], const float (&f)[kLanesOf<T>],
                                                       const float (&post)[4], float *dPost) {
  float df[kLanesOf<T>];
#pragma unroll
  for (int o = 0; o < 4; ++o)
#pragma unroll
    for (int e = 0; e < kLanesOf<T>; ++e) {
      df[e] = o == 0 ? post[0] * g[0][e] : fmaf(post[o], g[o][e], df[e]);
      dPost[o] = fmaf(g[o][e], f[e], dPost[o]);
    }
  return narrow(df, T());
}

/// What one thread works on.
struct Piece {
  uint4 raw[kRows];

  /// Lanes behind the row's end get zeros, which count for nothing.
  __device__ __forceinline__ void load(uint32_t from, uint32_t pitch, bool inside) {
#pragma unroll
    for (int k = 0; k < kRows; ++k)
      raw[k] = inside ? loadShared4(from + k * pitch) : make_uint4(0, 0, 0, 0);
  }
};

/// 16 bytes of channels from `offset` of the row on. sums: dA[o][i] at 4*o + i, d_h_post behind.
template <typename T, bool kDx>
static __device__ __forceinline__ void work(const PostBwdSm90 &args, const Coefficients<kDx> &h, const Piece &in,
                                            uint32_t token, uint32_t offset, bool inside, float (&sums)[32]) {
  constexpr int kLanes = kLanesOf<T>;
  float g[4][kLanes], f[kLanes];
#pragma unroll
  for (int o = 0; o < 4; ++o)
    widen(in.raw[o], g[o], T());
  widen(in.raw[8], f, T());
  if (args.bias && inside)
    addBias<T>(args, offset, f);
  const uint4 df = branchGradient<T>(g, f, h.post, sums + 16);
  if (inside)
    storeOnce(args.df + int64_t(token) * args.plan.rowBytes + offset, df);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float x[kLanes], dx[kLanes];
    widen(in.raw[4 + i], x, T());
#pragma unroll
    for (int o = 0; o < 4; ++o)
#pragma unroll
      for (int e = 0; e < kLanes; ++e) {
        sums[4 * o + i] = fmaf(g[o][e], x[e], sums[4 * o + i]);
        if constexpr (kDx)
          dx[e] = o == 0 ? h.mix[i] * g[0][e] : fmaf(h.mix[4 * o + i], g[o][e], dx[e]);
      }
    if (kDx && inside)
      storeOnce(args.dx + (int64_t(token) * 4 + i) * args.plan.rowBytes + offset, narrow(dx, T()));
  }
}

static __device__ __forceinline__ void storeSums(const PostBwdSm90 &args, uint32_t token, int k, float total) {
  if (k < 16 && args.dhRes)
    args.dhRes[int64_t(token) * 16 + (args.outputFirst ? k : k % 4 * 4 + k / 4)] = total;
  if (k >= 16 && k < 20 && args.dhPost)
    args.dhPost[int64_t(token) * 4 + k - 16] = total;
}

template <typename T, bool kDx>
static __device__ __forceinline__ void workAll(const PostBwdSm90 &args, const RowRing<kRows> &ring, int team,
                                               float *buffer) {
  const RowPlan &plan = args.plan;
  const int thread = threadIdx.x - team * plan.warps * 32, pitch = plan.warps * 512;
  const uint32_t step = plan.teams * gridDim.x;
  uint32_t token = blockIdx.x + team * gridDim.x;
  RowCursor at = {team};
  Coefficients<kDx> h;
  if (token < plan.M)
    h.load(args, token);
  for (int turn = 0; token < plan.M; token += step, turn ^= 1) {
    float sums[32] = {};
#pragma unroll 1
    for (int piece = 0; piece < plan.pieces; ++piece, at.next(plan)) {
      const uint32_t offset = piece * pitch + thread * 16;
      const bool inside = offset < plan.rowBytes;
      Piece in;
      barrierWait(ring.full(at.stage), at.parity);
      in.load(ring.row(at.stage, 0) + thread * 16, pitch, inside);
      __syncwarp();
      if (threadIdx.x % 32 == 0)
        barrierArrive(ring.free(at.stage));
      work<T, kDx>(args, h, in, token, offset, inside, sums);
    }
    if (token + step < plan.M)
      h.load(args, token + step); // arrives while the sums are added up
    storeSums(args, token, thread, teamSum<20>(sums, buffer, turn, team, plan.warps));
  }
}

template <typename T, bool kDx>
static __global__ void __launch_bounds__(32 * (kWorkWarps + 1), 1)
    postBwdSm90Kernel(const __grid_constant__ PostBwdSm90 args) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ __align__(8) unsigned char bars[kMostStages * 16];
  __shared__ float sums[2 * kWorkWarps * 32];
  const RowRing<kRows> ring = {args.plan, sharedAddress(memory), sharedAddress(bars)};
  ring.init();
  __syncthreads();
  beginOverlapped();
  const int warps = args.plan.warps, team = threadIdx.x / 32 / warps;
  if (team == args.plan.teams)
    ring.copyAll(args.rows);
  else
    workAll<T, kDx>(args, ring, team, sums + team * 2 * warps * 32);
}

/// Without d_x there is less to write per copy, and shorter copies than this do not keep up with the memory: then
/// post_bwd_n4.cu is faster.
static constexpr int kLeastPieceBytes = 2560;

bool mhcrt::postBwdSm90Takes(const PostBwdArgs &a, Needs &needs) {
  const int64_t rowBytes = a.C * mhcrt_dtype_bytes(a.x_type);
  return columnsFit(needs, a.M, a.n, a.C, a.layout, a.x_type) && needs.given("d_f", a.d_f) &&
         needs.absent("d_x_in", a.d_x_in) && needs.absent("d_bias", a.d_bias) &&
         (!a.d_x || needs.type("d_x", a.d_x_type, a.x_type)) &&
         needs.aligned({a.d_out, a.f, a.x, a.h_post, a.h_res, a.d_f, a.d_x}) &&
         needs.that(a.d_x || teamWarps(rowBytes / 16) * 512 >= kLeastPieceBytes, "a larger C or d_x");
}

template <typename T, bool kDx>
static cudaError_t launch(const PostBwdSm90 &args, int multiprocessors, cudaStream_t stream) {
  const auto kernel = postBwdSm90Kernel<T, kDx>;
  if (const cudaError_t error =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kRowRingBytes))
    return error;
  const unsigned blocks = std::min<unsigned>(args.plan.M, multiprocessors);
  return launchOverlapping(kernel, blocks, args.plan.threads(), 1, args.plan.sharedBytes(), stream, args);
}

cudaError_t mhcrt::postBwdSm90(const PostBwdArgs &a, int multiprocessors, cudaStream_t stream) {
  const int64_t rowBytes = a.C * mhcrt_dtype_bytes(a.x_type);
  PostBwdSm90 args = {{},
                      a.bias,
                      static_cast<const float4 *>(a.h_post),
                      static_cast<const float4 *>(a.h_res),
                      static_cast<char *>(a.d_f),
                      static_cast<char *>(a.d_x),
                      static_cast<float *>(a.d_h_post),
                      static_cast<float *>(a.d_h_res),
                      RowPlan(a.M, rowBytes, kRows),
                      a.bias_type == MHCRT_F32,
                      a.orient == MHCRT_ORIENT_OI};
  for (int i = 0; i < 4; ++i) {
    args.rows[i] = {static_cast<const char *>(a.d_out) + i * rowBytes, 4 * rowBytes};
    args.rows[4 + i] = {static_cast<const char *>(a.x) + i * rowBytes, 4 * rowBytes};
  }
  args.rows[8] = {static_cast<const char *>(a.f), rowBytes};
  return withElement(a.x_type, [&](auto type) {
    using T = decltype(type);
    return a.d_x ? launch<T, true>(args, multiprocessors, stream) : launch<T, false>(args, multiprocessors, stream);
  });
}
