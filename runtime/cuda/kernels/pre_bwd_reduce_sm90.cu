//===- pre_bwd_reduce_sm90.cu - Sums that pre_bwd's d_x needs -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_h_pre[i] += sum_c d_u[c] * x[i,c];   d_proj = gates, residual map backwards;   t = what d_x gets per unit of x
//
// Plan    A block has a tile of at most 32 tokens. Four warps add the products, 1024 channels of one token at a time,
//         so that the order of a token's sum does not depend on the tile. A fifth warp, one token per lane, does
//         meanwhile what does not need the sums: the Sinkhorn iterations again and backwards, the gradients of 20
//         columns. The first 4 columns follow when the sums are there. Where boundary_bwd_sm90.cu is next, the four
//         copy the coefficients of the posts before and behind.
// Bytes   per token 10C for x and d_u, 4 * (2 * 24 + 30); 108 per tile for partial sums of d_alpha and d_beta.
// Needs   C a multiple of 8; n = 4, or 2, whose streams are taken as four of half the channels; per token of a tile,
//         shared memory of 16 bytes per step and per 1024 channels. 95 registers, no spills.
// Round   all f32; gates that are multiplied, and logits, to their formats.
// Cache   Lines that pass the first level by stay in the second only where that is said: the launch behind this one
//         reads x or d_u again, the last tokens first.
// Time    one H200, us and percent of a copy's bandwidth in the same run: 78 (101) at 8192x4096, 134 (103) at
//         8192x7168, 51 (96) at 8192x2560, 18 (68) at 4096x1280, 129 (92) at 65536x768, 309 (102) at 32768x4096. 10 us
//         at 128x4096, where the steps of Sinkhorn, there and back, are all of it.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Format.cuh"
#include "cuda/algebra/Gate.cuh"
#include "cuda/algebra/Newton4.cuh"
#include "cuda/algebra/NormBwd.cuh"
#include "cuda/algebra/SinkhornThreadBwd.cuh"
#include "cuda/host/LaunchOverlapping.h"
#include "cuda/kernels/PreBwd.h"
#include "cuda/ptx/Barrier.cuh"
#include "cuda/ptx/CachePolicy.cuh"
#include "cuda/ptx/Mma.cuh"
#include "cuda/ptx/Overlap.cuh"
#include "cuda/ptx/Shared.cuh"
#include "cuda/stream/BoundaryBwd.h"
#include "cuda/tile/Vec.cuh"

using namespace mhcrt;

namespace {

constexpr int kSumWarps = 4;
constexpr int kThreads = 32 * (kSumWarps + 1);
constexpr int kChunk = 256;          ///< channels of one step of a warp
constexpr int kSegment = 4 * kChunk; ///< channels whose products a warp adds before the lanes' sums are added

/// None without d_u.
__host__ __device__ int segmentsOf(const PreBwdOperands &args) {
  return !args.du ? 0 : static_cast<int>((args.ofFour() + kSegment - 1) / kSegment);
}

/// Where there are two streams, d_u has a half for even and one for odd ones of four.
template <int n>
struct Chunk {
  static constexpr int kHalves = 4 / n;
  uint4 x[4], du[kHalves];
};

/// Elements of a token of x.
template <int n>
__device__ __forceinline__ int64_t xWidth(const PreBwdOperands &args) {
  return n == 4 && args.equalX ? args.C : n * args.C;
}

/// 8 channels of each of four streams and of d_u; zero behind the last channel.
template <int n>
__device__ __forceinline__ void loadChunk(const PreBwdOperands &args, int64_t token, int channel, uint64_t duPolicy,
                                          Chunk<n> &chunk) {
  const int64_t C = args.C * n / 4;
  chunk = {};
  if (channel >= C)
    return;
  const auto *x = static_cast<const uint16_t *>(args.x) + token * xWidth<n>(args) + channel;
  const uint32_t step = n == 4 && args.equalX ? 0 : static_cast<uint32_t>(C);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    chunk.x[i] = loadOnce(x + uint32_t(i) * step, keepAsUsual());
#pragma unroll
  for (int half = 0; half < chunk.kHalves; ++half)
    chunk.du[half] = loadOnce(static_cast<const uint16_t *>(args.du) + token * args.C + half * C + channel, duPolicy);
}

template <int n>
__device__ __forceinline__ void addChunk(const Chunk<n> &chunk, float (&sums)[4]) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint4 &du = chunk.du[i % chunk.kHalves];
      const float low = lowBf16(part(du, k)), high = highBf16(part(du, k));
      sums[i] = fmaf(low, lowBf16(part(chunk.x[i], k)), sums[i]);
      sums[i] = fmaf(high, highBf16(part(chunk.x[i], k)), sums[i]);
    }
  }
}

/// Sums over the lanes, of value lane % 4.
__device__ __forceinline__ float addLanes(const float (&sums)[4]) {
  const int lane = threadIdx.x & 31;
  float two[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float keep = lane & 2 ? sums[2 + i] : sums[i], send = lane & 2 ? sums[i] : sums[2 + i];
    two[i] = keep + __shfl_xor_sync(~0u, send, 2);
  }
  float sum = (lane & 1 ? two[1] : two[0]) + __shfl_xor_sync(~0u, lane & 1 ? two[0] : two[1], 1);
#pragma unroll
  for (int offset = 4; offset < 32; offset *= 2)
    sum += __shfl_xor_sync(~0u, sum, offset);
  return sum;
}

/// Products of one segment of one token.
template <int n>
__device__ __forceinline__ void sumSegment(const PreBwdOperands &args, int64_t token, int segment, uint64_t duPolicy,
                                           float4 *out) {
  const int lane = threadIdx.x & 31, channel = segment * kSegment + lane * 8;
  float sums[4] = {};
  Chunk<n> even, odd;
  loadChunk(args, token, channel, duPolicy, even);
#pragma unroll
  for (int step = 0; step < 4; step += 2) {
    loadChunk(args, token, channel + (step + 1) * kChunk, duPolicy, odd);
    addChunk(even, sums);
    if (step == 0)
      loadChunk(args, token, channel + 2 * kChunk, duPolicy, even);
    addChunk(odd, sums);
  }
  const float sum = addLanes(sums);
  if (lane < 4)
    reinterpret_cast<float *>(out)[lane] = sum;
}

template <int kCount>
__device__ __forceinline__ void loadRow(const float *from, float (&to)[kCount]) {
  if constexpr (kCount == 2) {
    const float2 v = *reinterpret_cast<const float2 *>(from);
    to[0] = v.x, to[1] = v.y;
  } else {
#pragma unroll
    for (int k = 0; k < kCount; k += 4) {
      const float4 v = *reinterpret_cast<const float4 *>(from + k);
      to[k] = v.x, to[k + 1] = v.y, to[k + 2] = v.z, to[k + 3] = v.w;
    }
  }
}

/// One token's coefficients backwards: gradients of the gates and the mix become those of z, then of the projection.
template <int n>
struct Coefficients {
  static constexpr int kN = n * n + 2 * n;
  const PreBwdOperands &args;
  int64_t token;
  float s, dPre[n], dPost[n], dRes[n * n];

  __device__ __forceinline__ Coefficients(const PreBwdOperands &args, int64_t token)
      : args(args), token(token), s(args.stat[token]), dPre{} {
    if (args.dhPre)
      loadRow(args.dhPre + token * n, dPre);
    loadRow(args.dhPost + token * n, dPost);
    loadRow(args.dhRes + token * (n * n), dRes);
  }

  /// z of the columns from j on, all of one group.
  template <int kCount>
  __device__ __forceinline__ void z(int j, int group, float (&to)[kCount]) const {
    loadRow(args.proj + token * kN + j, to);
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      to[k] = fmaf(s * to[k], args.alpha[group], args.beta[j + k]);
  }

  /// h_res is mix - h_post h_pre^T: what its gradient takes from those of the gates.
  __device__ __forceinline__ void foldPre() {
    float pre[n], post[n];
    z(0, 0, pre);
    z(n, 1, post);
#pragma unroll
    for (int k = 0; k < n; ++k) {
      pre[k] = roundedTo(fastSigmoid(pre[k]) + args.preEps, args.hPreFormat);
      post[k] = roundedTo(args.postMult * fastSigmoid(post[k]), args.hPostFormat);
    }
#pragma unroll
    for (int k = 0; k < n * n; ++k) {
      dPost[k / n] = fmaf(-dRes[k], pre[k % n], dPost[k / n]);
      dPre[k % n] = fmaf(-dRes[k], post[k / n], dPre[k % n]);
    }
  }

  /// Columns that need no sums: those of post and of the residual map.
  __device__ __forceinline__ void residual(LineRecord<n> *history, int stride) {
    if (args.foldPre)
      foldPre();
    float post[n];
    z(n, 1, post);
#pragma unroll
    for (int k = 0; k < n; ++k) {
      const float gate = fastSigmoid(post[k]);
      dPost[k] *= args.postMult * (gate * (1.0f - gate));
    }
    if (args.resMap != MHCRT_RES_MAP_SINKHORN)
      return;
    auto load = [&](float (&logits)[n * n]) {
      z(2 * n, 2, logits);
#pragma unroll
      for (int k = 0; k < n * n; ++k)
        logits[k] = roundedTo(logits[k], args.logitsFormat);
    };
    if constexpr (n == 4) {
      if (args.sinkhorn.isNewton()) {
        float mix[16];
        load(mix);
        newtonLimit(mix, args.sinkhorn.iters);
        newtonGradient(dRes, mix);
        return;
      }
    }
    if (args.sinkhorn.init == MHCRT_INIT_LOG)
      sinkhornBwdLog(dRes, load, args.sinkhorn, history, stride);
    else
      sinkhornBwdLinear(dRes, load, args.sinkhorn, history, stride);
  }

  /// The rest, when the sums of the token's products are there. Returns h_pre of four streams.
  __device__ __forceinline__ float4 preGate(const float4 *sums, int segments) {
    float4 sum = segments ? sums[0] : make_float4(0, 0, 0, 0);
    for (int k = 1; k < segments; ++k)
      sum.x += sums[k].x, sum.y += sums[k].y, sum.z += sums[k].z, sum.w += sums[k].w;
    float pre[n];
    z(0, 0, pre);
#pragma unroll
    for (int k = 0; k < n; ++k) {
      const float gate = fastSigmoid(pre[k]),
                  ofStream = n == 4 ? part(sum, k) : part(sum, 2 * k) + part(sum, 2 * k + 1);
      pre[k] = roundedTo(gate + args.preEps, args.hPreFormat);
      dPre[k] = (dPre[k] + ofStream) * (gate * (1.0f - gate));
    }
    return make_float4(pre[0], pre[1 * n / 4], pre[2 * n / 4], pre[3 * n / 4]);
  }

  __device__ __forceinline__ float dz(int j) const {
    return j < n ? dPre[j] : j < 2 * n ? dPost[j - n] : dRes[j - 2 * n];
  }
};

/// Adds every value over the warp's lanes; lane l gets the sum of value l, as the first.
template <int kHalf = 16>
__device__ __forceinline__ void addAndScatter(float (&values)[32]) {
  const bool upper = threadIdx.x & kHalf;
#pragma unroll
  for (int i = 0; i < kHalf; ++i) {
    const float keep = upper ? values[i + kHalf] : values[i], send = upper ? values[i] : values[i + kHalf];
    values[i] = keep + __shfl_xor_sync(~0u, send, kHalf);
  }
  if constexpr (kHalf > 1)
    addAndScatter<kHalf / 2>(values);
}

/// Row k of a 4 x 4 matrix, or of its transpose.
__device__ __forceinline__ float4 mixRow(const float *mix, int k, bool transposed) {
  return transposed ? make_float4(mix[k], mix[4 + k], mix[8 + k], mix[12 + k])
                    : reinterpret_cast<const float4 *>(mix)[k];
}

__device__ __forceinline__ BoundaryRow *boundaryRow(const PreBwdOperands &args, const PreBwdBoundary &of,
                                                    int64_t token) {
  return reinterpret_cast<BoundaryRow *>(reinterpret_cast<char *>(of.rows) + token * boundaryRowBytes(args.mix));
}

/// The coefficients of a tile's tokens that are no results. Called by the warps that add the products.
__device__ __forceinline__ void storeMixes(const PreBwdOperands &args, const PreBwdBoundary &from, int64_t first,
                                           int tokens) {
  constexpr int kPieces = 9; // h_res, mix, h_post
  for (int item = threadIdx.x; item < tokens * kPieces; item += 32 * kSumWarps) {
    const int64_t token = first + item / kPieces;
    const int piece = item % kPieces;
    BoundaryRow &row = *boundaryRow(args, from, token);
    if (piece < 4)
      reinterpret_cast<float4 *>(row.res)[piece] = mixRow(from.hRes + token * 16, piece, from.inputFirst);
    else if (piece == 8)
      reinterpret_cast<float4 &>(row.post) = reinterpret_cast<const float4 *>(from.hPost)[token];
    else if (args.mix)
      reinterpret_cast<float4 *>(static_cast<BoundaryMixRow &>(row).mix)[piece - 4] =
          mixRow(args.mix + token * 16, piece - 4, args.orient == MHCRT_ORIENT_OI);
  }
}

/// Zeros for the tokens of the last slot that are none.
__device__ __forceinline__ void clearRest(const PreBwdOperands &args, const PreBwdBoundary &boundary) {
  const int rest = static_cast<int>(-args.M & (kSlotTokens - 1));
  const int pieces = rest * static_cast<int>(boundaryRowBytes(args.mix) / 16);
  auto *to = reinterpret_cast<uint4 *>(boundaryRow(args, boundary, args.M));
  for (int piece = threadIdx.x; piece < pieces; piece += 32 * kSumWarps)
    to[piece] = make_uint4(0, 0, 0, 0);
}

/// d_proj as all blocks of the second launch multiply it.
__device__ __forceinline__ void storeTerms(const float (&proj)[kColumns], float inverse, BoundaryRow &row) {
#pragma unroll
  for (int part = 0; part < kColumns / 8; ++part)
#pragma unroll
    for (int q = 0; q < 4; q += 2) {
      const float *from = proj + part * 8 + 2 * q;
      uint4 terms;
      splitF16(from[0] * inverse, from[1] * inverse, terms.x, terms.y);
      splitF16(from[2] * inverse, from[3] * inverse, terms.z, terms.w);
      reinterpret_cast<uint4 &>(row.terms[part][q]) = terms;
    }
}

/// Writes a token's rows and the tile's partial sums. A lane that is not live has no token of its own.
template <int n>
__device__ __forceinline__ void storeCoefficients(const Coefficients<n> &c, const PreBwdRows &rows, float4 pre,
                                                  bool live) {
  const PreBwdOperands &args = c.args;
  constexpr int kN = Coefficients<n>::kN;
  float values[32] = {}, proj[kN], dStat = 0.0f, most = 0.0f; // values: d_alpha, d_beta
  loadRow(args.proj + c.token * kN, proj);
#pragma unroll
  for (int j = 0; j < kN; ++j) {
    const int group = j < n ? 0 : j < 2 * n ? 1 : 2;
    const float grad = live ? c.dz(j) : 0.0f, weighted = grad * args.alpha[group];
    values[group] = fmaf(grad, c.s * proj[j], values[group]);
    values[3 + j] = grad;
    dStat = fmaf(weighted, proj[j], dStat);
    proj[j] = weighted * c.s;
    most = fmaxf(most, fabsf(proj[j]));
  }
  const float factor =
      statisticFactor({args.x, n * args.C, args.norm, args.normEps, xWidth<n>(args)}, c.s, dStat, c.token);
  if (live) {
    BoundaryRow *row = rows.boundary.rows ? boundaryRow(args, rows.boundary, c.token) : nullptr;
    auto *dProj = reinterpret_cast<float4 *>(row ? row->dProj : rows.dProj + c.token * kColumns);
#pragma unroll
    for (int k = 0; k < kColumns / 4; ++k)
      dProj[k] = 4 * k < kN ? make_float4(proj[4 * k], proj[4 * k + 1], proj[4 * k + 2], proj[4 * k + 3]) : float4();
    auto *scalars = reinterpret_cast<float4 *>(row ? row->pre : rows.scalars + c.token * kScalars);
    scalars[0] = pre;
    const float scale = scaleAbove(most);
    scalars[1] = make_float4(factor, scale, 0.0f, 0.0f);
    if constexpr (n == 4)
      if (row)
        storeTerms(proj, inverseScale(scale), *row);
  }
  addAndScatter(values);
  const int column = threadIdx.x % 32;
  if (column < 3 + kN)
    rows.partials[static_cast<int64_t>(column) * rows.tiles + blockIdx.x] = values[0];
}

template <int n>
__global__ void __launch_bounds__(kThreads, 4)
    preBwdReduceKernel(const __grid_constant__ PreBwdOperands args, const __grid_constant__ PreBwdRows rows) {
  extern __shared__ float4 sums[]; // [tileTokens][segments]; behind it the history of Sinkhorn, [step][tileTokens]
  beginOverlapped();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * rows.tileTokens;
  const int tokens = static_cast<int>(min(static_cast<int64_t>(rows.tileTokens), args.M - first));
  const int segments = segmentsOf(args);
  if (warp < kSumWarps) {
    for (int item = warp; item < tokens * segments; item += kSumWarps) {
      const int64_t token = first + item / segments;
      const bool stays = rows.boundary.rows && token >= rows.boundary.keptFrom;
      sumSegment<n>(args, token, item % segments, stays ? keepLong() : keepAsUsual(), sums + item);
    }
    arriveNamed<1, kThreads>();
    if (rows.boundary.rows)
      storeMixes(args, rows.boundary, first, tokens);
    if (rows.boundary.rows && blockIdx.x + 1 == gridDim.x)
      clearRest(args, rows.boundary);
    return;
  }
  const int mine = min(lane, tokens - 1);
  const bool live = lane < tokens;
  Coefficients<n> coefficients(args, first + mine);
  if (live)
    coefficients.residual(reinterpret_cast<LineRecord<n> *>(sums + rows.tileTokens * segments) + mine, rows.tileTokens);
  syncNamed<1, kThreads>();
  const float4 pre = coefficients.preGate(sums + mine * segments, segments);
  storeCoefficients(coefficients, rows, pre, live);
}

} // namespace

cudaError_t mhcrt::preBwdReduce(const PreBwdOperands &args, const PreBwdRows &rows, cudaStream_t stream) {
  const int64_t steps = args.recordedSteps();
  const int64_t shared = rows.tileTokens * (segmentsOf(args) + steps) * static_cast<int64_t>(sizeof(float4));
  const auto kernel = args.n == 2 ? preBwdReduceKernel<2> : preBwdReduceKernel<4>;
  return launchOverlapping(kernel, rows.tiles, kThreads, 1, shared, stream, args, rows);
}
