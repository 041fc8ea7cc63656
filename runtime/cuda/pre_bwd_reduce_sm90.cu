//===- pre_bwd_reduce_sm90.cu - What pre_bwd's d_x waits for --------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_h_pre[i] += sum_c d_u[c] * x[i,c];   d_proj = gates, residual map backwards;   t = what d_x gets per unit of x
//
// Plan    A block has a tile of at most 32 tokens. Four warps add the products, 1024 channels of one token at a time:
// the
//         order of a token's sum does not depend on the tile. A fifth warp, one token per lane, does meanwhile what
//         does not need the sums: the Sinkhorn iterations again and backwards, the gradients of 20 columns. The first 4
//         columns follow when the sums are there.
// Bytes   per token 10C for x and d_u, 4 * (2 * 24 + 30); 108 per tile for partial sums of d_alpha and d_beta.
// Needs   C a multiple of 8; per token of a tile, shared memory of 16 bytes per step and per 1024 channels.
// Round   all f32.
//
//===------------------------------------------------------------------------===//
#include "PreBwd.h"
#include "StreamBwd.h"
#include "prim/BulkCopy.cuh"
#include "prim/RowMeanSquare.cuh"
#include "prim/Sinkhorn4Bwd.cuh"

namespace mhcrt {
namespace {

constexpr int kSumWarps = 4;
constexpr int kThreads = 32 * (kSumWarps + 1);
constexpr int kChunk = 256;          ///< channels of one step of a warp
constexpr int kSegment = 4 * kChunk; ///< channels whose products a warp adds before the lanes' sums are added

__host__ __device__ int segmentsOf(const PreBwdArgs &args) {
  return static_cast<int>((args.C + kSegment - 1) / kSegment);
}

struct Chunk {
  uint4 x[4], du;
};

__device__ __forceinline__ uint4 loadOnce(const void *p) {
  uint4 r;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
               : "l"(p));
  return r;
}

/// 8 channels of each stream and of d_u; zero behind the last channel.
__device__ __forceinline__ void loadChunk(const PreBwdArgs &args, int64_t token, int channel, Chunk &chunk) {
  chunk = {};
  if (channel >= args.C)
    return;
  const auto *x = static_cast<const uint16_t *>(args.x) + token * 4 * args.C + channel;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    chunk.x[i] = loadOnce(x + i * args.C);
  chunk.du = loadOnce(static_cast<const uint16_t *>(args.du) + token * args.C + channel);
}

__device__ __forceinline__ void addChunk(const Chunk &chunk, float (&sums)[4]) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float low = lowBf16(part(chunk.du, k)), high = highBf16(part(chunk.du, k));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
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
__device__ __forceinline__ void sumSegment(const PreBwdArgs &args, int64_t token, int segment, float4 *out) {
  const int lane = threadIdx.x & 31, channel = segment * kSegment + lane * 8;
  float sums[4] = {};
  Chunk even, odd;
  loadChunk(args, token, channel, even);
#pragma unroll
  for (int step = 0; step < 4; step += 2) {
    loadChunk(args, token, channel + (step + 1) * kChunk, odd);
    addChunk(even, sums);
    if (step == 0)
      loadChunk(args, token, channel + 2 * kChunk, even);
    addChunk(odd, sums);
  }
  const float sum = addLanes(sums);
  if (lane < 4)
    reinterpret_cast<float *>(out)[lane] = sum;
}

__device__ __forceinline__ float sigmoid(float z) {
  const float e = expf(-fabsf(z));
  return (z < 0.0f ? e : 1.0f) / (1.0f + e);
}

__device__ __forceinline__ void loadRow4(const float *from, float *to) {
  const float4 v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

/// One token's gates backwards, column by column.
struct GatesBwd {
  const PreBwdArgs &args;
  const PreBwdRows &rows;
  int64_t token;
  bool live; ///< false for a lane without a token, which works on another's and adds nothing
  float s, dStat = 0.0f, dAlpha[3] = {};

  /// z of the columns j .. j+3.
  __device__ __forceinline__ void z(int j, float *to) const {
    loadRow4(args.proj + token * kColumns + j, to);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      to[k] = fmaf(s * to[k], args.alpha[group(j)], args.beta[j + k]);
  }
  __device__ static constexpr int group(int j) { return j < 4 ? 0 : j < 8 ? 1 : 2; }

  /// dz of the columns j .. j+3.
  __device__ __forceinline__ void add(int j, const float *dz) {
    float proj[4], dProj[4];
    loadRow4(args.proj + token * kColumns + j, proj);
    const float alpha = args.alpha[group(j)];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float grad = live ? dz[k] : 0.0f;
      dAlpha[group(j)] = fmaf(grad, s * proj[k], dAlpha[group(j)]);
      dStat = fmaf(grad * alpha, proj[k], dStat);
      dProj[k] = grad * alpha * s;
      addTokens(3 + j + k, grad);
    }
    if (live)
      *reinterpret_cast<float4 *>(rows.dProj + token * kColumns + j) =
          make_float4(dProj[0], dProj[1], dProj[2], dProj[3]);
  }

  /// A sum over the tile's tokens.
  __device__ __forceinline__ void addTokens(int column, float value) const {
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2)
      value += __shfl_xor_sync(~0u, value, offset);
    if ((threadIdx.x & 31) == 0)
      rows.partials[static_cast<int64_t>(column) * rows.tiles + blockIdx.x] = value;
  }
};

/// h_res is mix - h_post h_pre^T: what its gradient takes from those of the gates.
__device__ __forceinline__ void foldPreBwd(const GatesBwd &gates, const float (&dhRes)[16], float (&dhPre)[4],
                                           float (&dhPost)[4]) {
  float zPre[4], zPost[4];
  gates.z(0, zPre);
  gates.z(4, zPost);
#pragma unroll
  for (int o = 0; o < 4; ++o) {
    const float post = gates.args.postMult * sigmoid(zPost[o]);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float pre = sigmoid(zPre[i]) + gates.args.preEps;
      dhPost[o] = fmaf(-dhRes[o * 4 + i], pre, dhPost[o]);
      dhPre[i] = fmaf(-dhRes[o * 4 + i], post, dhPre[i]);
    }
  }
}

/// What needs no sums: the columns of post and of the residual map. dhPre gets what they add to the first gate's.
__device__ __forceinline__ void residualBwd(GatesBwd &gates, float (&dhPre)[4], float4 *history, int stride) {
  const PreBwdArgs &args = gates.args;
  float g[16], dhPost[4], zPost[4];
#pragma unroll
  for (int o = 0; o < 4; ++o)
    loadRow4(args.dhRes + gates.token * 16 + o * 4, g + o * 4);
  loadRow4(args.dhPost + gates.token * 4, dhPost);
  if (args.foldPre)
    foldPreBwd(gates, g, dhPre, dhPost);
  gates.z(4, zPost);
#pragma unroll
  for (int o = 0; o < 4; ++o) {
    const float gate = sigmoid(zPost[o]);
    dhPost[o] *= args.postMult * (gate * (1.0f - gate));
  }
  gates.add(4, dhPost);
  if (args.resMap == MHCRT_RES_MAP_SINKHORN) {
    auto load = [&](float (&logits)[16]) {
#pragma unroll
      for (int k = 0; k < 16; k += 4)
        gates.z(8 + k, logits + k);
    };
    if (args.sinkhorn.init == MHCRT_INIT_LOG) {
      float logits[16];
      load(logits);
      sinkhorn4BwdLog(g, logits, args.sinkhorn, history, stride);
    } else {
      sinkhorn4BwdLinear(g, load, args.sinkhorn, history, stride);
    }
  }
#pragma unroll
  for (int o = 0; o < 4; ++o)
    gates.add(8 + o * 4, g + o * 4);
}

/// The rest, when the sums of the token's products are there.
__device__ __forceinline__ void preGateBwd(GatesBwd &gates, float (&dhPre)[4], const float4 *sums) {
  const PreBwdArgs &args = gates.args;
  float4 sum = sums[0];
  for (int k = 1; k < segmentsOf(args); ++k)
    sum.x += sums[k].x, sum.y += sums[k].y, sum.z += sums[k].z, sum.w += sums[k].w;
  float pre[4];
  gates.z(0, pre);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float gate = sigmoid(pre[i]);
    pre[i] = gate + args.preEps;
    dhPre[i] = (dhPre[i] + part(sum, i)) * (gate * (1.0f - gate));
  }
  gates.add(0, dhPre);
#pragma unroll
  for (int k = 0; k < 3; ++k)
    gates.addTokens(k, gates.dAlpha[k]);
  const float factor =
      statisticFactor({args.x, 4 * args.C, args.norm, args.normEps}, gates.s, gates.dStat, gates.token);
  if (!gates.live)
    return;
  float4 *scalars = reinterpret_cast<float4 *>(gates.rows.scalars + gates.token * kScalars);
  scalars[0] = make_float4(pre[0], pre[1], pre[2], pre[3]);
  scalars[1] = make_float4(factor, 0.0f, 0.0f, 0.0f);
}

__global__ void __launch_bounds__(kThreads, 4)
    preBwdReduceKernel(const __grid_constant__ PreBwdArgs args, const __grid_constant__ PreBwdRows rows) {
  extern __shared__ float4 sums[]; // [tileTokens][segments]; behind it the history of Sinkhorn, [step][tileTokens]
  launchLaterKernels();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * rows.tileTokens;
  const int tokens = static_cast<int>(min(static_cast<int64_t>(rows.tileTokens), args.M - first));
  const int segments = segmentsOf(args);
  if (warp < kSumWarps) {
    for (int item = warp; item < tokens * segments; item += kSumWarps)
      sumSegment(args, first + item / segments, item % segments, sums + item);
    __syncthreads();
    return;
  }
  const int mine = min(lane, tokens - 1);
  const bool live = lane < tokens;
  GatesBwd gates = {args, rows, first + mine, live, args.stat[first + mine]};
  float dhPre[4] = {};
  if (args.dhPre)
    loadRow4(args.dhPre + gates.token * 4, dhPre);
  residualBwd(gates, dhPre, sums + rows.tileTokens * segments + mine, rows.tileTokens);
  __syncthreads();
  preGateBwd(gates, dhPre, sums + mine * segments);
}

} // namespace

cudaError_t preBwdReduceSm90(const PreBwdArgs &args, const PreBwdRows &rows, cudaStream_t stream) {
  const int64_t steps = args.resMap == MHCRT_RES_MAP_SINKHORN ? 2 * args.sinkhorn.iters : 0;
  const int64_t shared = rows.tileTokens * (segmentsOf(args) + steps) * static_cast<int64_t>(sizeof(float4));
  preBwdReduceKernel<<<rows.tiles, kThreads, shared, stream>>>(args, rows);
  return cudaGetLastError();
}

} // namespace mhcrt
