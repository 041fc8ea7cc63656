//===- BoundaryBwdGrads.cuh - d_x and d_f of a walk over tiles --*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp has 16 channels of the slot's 8 tokens, as matrices of 8 tokens by 8 channels; k counts the two. Lane 4*g + q
// has token g and the channels 2*q, 2*q + 1 of each. Tokens meet in matrix tiles only where what one holds does not
// reach another: zero times a NaN is one.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_STREAM_BOUNDARYBWDGRADS_CUH
#define MHCRT_CUDA_STREAM_BOUNDARYBWDGRADS_CUH

#include "cuda/stream/BoundaryBwdRing.cuh"
#include "cuda/stream/StreamBwdGrads.cuh"
#include "src/CompensatedSum.h"

#include <stddef.h>
#include <type_traits>

namespace mhcrt {

/// Where a lane finds its part of a slot, in bytes from the slot's boxes.
struct BoundaryLane {
  int g, q;
  uint32_t streams;  ///< row of the first matrices of four streams; those of k = 1 are at the address ^ 16
  uint32_t pairs;    ///< of both matrices of two streams; those of the next two are 2048 behind
  uint32_t channels; ///< of f, k = 0, 1, and d_u

  template <class L>
  __device__ __forceinline__ static BoundaryLane of(int warp, L) {
    const int lane = threadIdx.x & 31, matrix = lane >> 3, row = lane & 7, box = warp / 4, chunk = warp % 4 * 2;
    const auto at = [&](int k) { return static_cast<uint32_t>(row * 128 + ((chunk + k) ^ row) * 16); };
    BoundaryLane to;
    to.g = lane >> 2, to.q = lane & 3;
    to.streams = box * 4096 + matrix * 1024 + at(0);
    to.pairs = box * 4096 + matrix / 2 * 1024 + at(matrix & 1);
    to.channels = (matrix < 2 ? L::kF : L::kDu) + box * 1024 + at(matrix & 1);
    return to;
  }
};

__device__ __forceinline__ float valueOf(uint32_t pair, int e) { return e ? highBf16(pair) : lowBf16(pair); }

/// A token's rows of 4 x 4 in shared memory.
__device__ __forceinline__ void loadMix(uint32_t from, float4 (&to)[4]) {
#pragma unroll
  for (int k = 0; k < 4; ++k)
    to[k] = loadSharedFloat4(from + 16 * k);
}

/// x of a lane: of each stream both k in a row, as matrix tiles take them.
struct LaneX {
  uint4 pairs[2]; ///< of two streams each

  __device__ __forceinline__ explicit LaneX(uint32_t at) : pairs{loadMatrices(at), loadMatrices(at + 2048)} {}
  __device__ __forceinline__ uint32_t of(int i, int k) const { return part(pairs[i / 2], i % 2 * 2 + k); }
};

/// The bias as a warp needs it: its 16 channels, and the sums of their d_f, in shared memory for want of registers.
template <class L>
struct BranchBias {
  float *values;
  CompensatedSum *sums; ///< of the lane's channels: [4]

  /// Reads the bias as early as phi is read.
  __device__ __forceinline__ BranchBias(const BoundaryBwdArgs &args, const Walk &walk, int slice, int warp) {
    const int lane = threadIdx.x & 31;
    values = sharedAt<float>(walk.shared, L::kBiasAt) + warp * kWarpChannels;
    sums = sharedAt<CompensatedSum>(walk.shared, L::kBiasSumsAt) + (warp * 32 + lane) * 4;
    const WideOrBf16Input bias = {args.bias, args.biasType};
    if (lane < kWarpChannels)
      values[lane] = bias[slice * kSlice + warp * kWarpChannels + lane];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      sums[k] = {};
    __syncwarp();
  }

  /// Two channels of f with theirs.
  __device__ __forceinline__ float2 add(uint32_t f, int k) const {
    const float2 bias = pair(k);
    return make_float2(lowBf16(f) + bias.x, highBf16(f) + bias.y);
  }

  /// Adds dy times the bias to a tile of dy times f, by two bf16 terms of it: columns that all tokens share.
  __device__ __forceinline__ void multiply(float (&tile)[4], const uint4 (&dy)[2], int o) const {
    uint32_t terms[2][2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const float2 bias = pair(k);
      splitBf16(bias.x, bias.y, terms[0][k], terms[1][k]);
    }
#pragma unroll
    for (int term = 0; term < 2; ++term)
      multiplyBf16(tile, part(dy[0], o), part(dy[0], o + 1), part(dy[1], o), part(dy[1], o + 1), terms[term][0],
                   terms[term][1]);
  }

  /// Adds d_f of a token, before it is rounded.
  __device__ __forceinline__ void addGrad(const float (&df)[2], int k) const {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      CompensatedSum sum = sums[2 * k + e];
      sum.add(df[e]);
      sums[2 * k + e] = sum;
    }
  }

  /// The sums over the tokens that the warp has seen.
  template <class Part>
  __device__ __forceinline__ void store(const BoundaryBwdArgs &args, const Part &part, int warp) const {
    if (!args.biasSums)
      return;
    const int g = (threadIdx.x & 31) >> 2, q = threadIdx.x & 3;
    float *to = args.biasSums + part.group * args.C + part.slice * kSlice + warp * kWarpChannels;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      float sum = sums[k].value();
#pragma unroll
      for (int offset = 4; offset < 32; offset *= 2)
        sum += __shfl_xor_sync(~0u, sum, offset);
      if (g == 0)
        to[k / 2 * 8 + 2 * q + k % 2] = sum;
    }
  }

private:
  __device__ __forceinline__ float2 pair(int k) const {
    return reinterpret_cast<const float2 *>(values)[4 * k + (threadIdx.x & 3)];
  }
};

struct NoBias {
  __device__ __forceinline__ NoBias(const BoundaryBwdArgs &, const Walk &, int, int) {}
  __device__ __forceinline__ float2 add(uint32_t f, int) const { return make_float2(lowBf16(f), highBf16(f)); }
  __device__ __forceinline__ void multiply(float (&)[4], const uint4 (&)[2], int) const {}
  __device__ __forceinline__ void addGrad(const float (&)[2], int) const {}
  template <class Part>
  __device__ __forceinline__ void store(const BoundaryBwdArgs &, const Part &, int) const {}
};

/// y of one matrix, with the bits of mhc.post.
__device__ __forceinline__ uint4 makeY(const float4 &post, const float4 (&res)[4], const LaneX &x, int k, float2 f) {
  uint32_t ys[4];
#pragma unroll
  for (int o = 0; o < 4; ++o) {
    float sum[2];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      sum[e] = part(post, o) * (e ? f.y : f.x);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        sum[e] = fmaf(part(res[o], i), valueOf(x.of(i, k), e), sum[e]);
    }
    ys[o] = packBf16(sum[0], sum[1]);
  }
  return make_uint4(ys[0], ys[1], ys[2], ys[3]);
}

/// d_proj W of one matrix: what the first terms of d_proj give, then the second.
__device__ __forceinline__ void multiplyPhi(const uint32_t (&first)[3], const uint32_t (&second)[3],
                                            const uint32_t (&phi)[3][4], float (&products)[4][4]) {
#pragma unroll
  for (int o = 0; o < 4; ++o)
    multiplyF16(products[o], first[0], second[0], first[1], second[1], phi[0][o], phi[1][o]);
#pragma unroll
  for (int o = 0; o < 4; ++o)
    multiplyF16(products[o], first[2], second[2], phi[2][o]);
}

/// The start of dy of stream o, with what y and d_u add.
template <Start kStart>
__device__ __forceinline__ float startOf(const float4 (&mix)[4], const uint4 &grads, float factor, float y, float pre,
                                         float du, int o, int e) {
  if (kStart == Start::kAdd)
    return fmaf(pre, du, fmaf(factor, y, valueOf(part(grads, o), e)));
  float sum = fmaf(pre, du, factor * y);
  if (kStart == Start::kMix) {
#pragma unroll
    for (int next = 0; next < 4; ++next)
      sum = fmaf(part(mix[o], next), valueOf(part(grads, next), e), sum);
  }
  return sum;
}

/// d_x and d_f of one matrix.
__device__ __forceinline__ uint4 makeDx(const float4 &post, const float4 (&res)[4], const uint4 &dys, float (&df)[2]) {
  float dx[4][2];
#pragma unroll
  for (int o = 0; o < 4; ++o)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const float dy = valueOf(part(dys, o), e);
      df[e] = o == 0 ? part(post, 0) * dy : fmaf(part(post, o), dy, df[e]);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        dx[i][e] = o == 0 ? part(res[0], i) * dy : fmaf(part(res[o], i), dy, dx[i][e]);
    }
  return make_uint4(packBf16(dx[0][0], dx[0][1]), packBf16(dx[1][0], dx[1][1]), packBf16(dx[2][0], dx[2][1]),
                    packBf16(dx[3][0], dx[3][1]));
}

/// Sums of d_h_res and d_h_post over the warp's channels. A tile has the dy of two outputs of all tokens in its rows,
/// and one input of all tokens in its columns; of it count the places where both tokens are the same: a lane in four
/// has one of them.
struct TokenTiles {
  float tiles[2][5][4]; ///< [outputs / 2][input, f]

  template <class Bias>
  __device__ __forceinline__ TokenTiles(const uint4 (&dy)[2], const LaneX &x, const uint4 &channels, const Bias &bias)
      : tiles{} {
#pragma unroll
    for (int o = 0; o < 4; o += 2)
#pragma unroll
      for (int i = 0; i < 5; ++i) {
        multiplyBf16(tiles[o / 2][i], part(dy[0], o), part(dy[0], o + 1), part(dy[1], o), part(dy[1], o + 1),
                     i < 4 ? x.of(i, 0) : channels.x, i < 4 ? x.of(i, 1) : channels.y);
        if (i == 4)
          bias.multiply(tiles[o / 2][i], dy, o);
      }
  }

  /// Stores those of every token at `to`.
  __device__ __forceinline__ void store(int g, int q, uint32_t to) const {
    const auto sum = [&](int o, int i) {
      const float (&tile)[4] = tiles[o / 2][i];
      return g & 1 ? tile[o % 2 * 2 + 1] : tile[o % 2 * 2];
    };
    if (q != g >> 1)
      return;
#pragma unroll
    for (int o = 0; o < 4; ++o)
      storeSharedFloat4(to + (g * kTokenSums + 4 * o) * 4, make_float4(sum(o, 0), sum(o, 1), sum(o, 2), sum(o, 3)));
    storeSharedFloat4(to + (g * kTokenSums + 16) * 4, make_float4(sum(0, 4), sum(1, 4), sum(2, 4), sum(3, 4)));
  }
};

/// A warp's part of a slot, whose boxes are at `box`, by the lane's token, whose row is at `row`.
template <Start kStart, class Bias>
__device__ __forceinline__ void makeTile(uint32_t row, const BoundaryLane &lane, const PhiTiles<TileOrder::plain> &phi,
                                         const Bias &bias, uint32_t box, bool hasProduct, uint32_t tokenSums) {
  const uint32_t streams = box + lane.streams;
  const LaneX x(box + lane.pairs);
  const uint4 channels = loadMatrices(box + lane.channels); // f, d_u
  const float4 post = loadSharedFloat4(row + offsetof(BoundaryRow, post));
  float4 res[4], mix[4];
  loadMix(row + offsetof(BoundaryRow, res), res);
  uint32_t first[3], second[3], branch[2];
#pragma unroll
  for (int n = 0; n < 3; ++n) {
    const uint2 terms = loadShared2(row + offsetof(BoundaryRow, terms) + n * 32 + lane.q * 8);
    first[n] = terms.x, second[n] = terms.y;
  }
  uint4 grads[2] = {}, dy[2];
#pragma unroll
  for (int k = 0; k < 2; ++k)
    if (kStart != Start::kNone)
      grads[k] = loadMatrices((streams ^ (16 * k)) + kStreamsBytes);
  const float4 pre = loadSharedFloat4(row + offsetof(BoundaryRow, pre));
  const float2 scalars = loadSharedFloat2(row + offsetof(BoundaryRow, factor));
  const float factor = scalars.x, scale = scalars.y * phi.scale;
  if (kStart == Start::kMix)
    loadMix(row + sizeof(BoundaryRow), mix);
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    float products[4][4] = {};
    multiplyPhi(first, second, phi.parts[k], products);
    const uint4 y = makeY(post, res, x, k, bias.add(part(channels, k), k));
    if (hasProduct)
      storeMatrices(streams ^ (16 * k), y);
    uint32_t dys[4];
#pragma unroll
    for (int o = 0; o < 4; ++o) {
      float sums[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float start = startOf<kStart>(mix, grads[k], factor, valueOf(part(y, o), e), part(pre, o),
                                            valueOf(part(channels, 2 + k), e), o, e);
        sums[e] = fmaf(products[o][e] + products[o][2 + e], scale, start);
      }
      dys[o] = packBf16(sums[0], sums[1]);
    }
    dy[k] = make_uint4(dys[0], dys[1], dys[2], dys[3]);
  }
  const TokenTiles sums(dy, x, channels, bias);
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    float df[2];
    storeMatrices((streams ^ (16 * k)) + kStreamsBytes, makeDx(post, res, dy[k], df));
    bias.addGrad(df, k);
    branch[k] = packBf16(df[0], df[1]);
  }
  storeMatrices(box + lane.channels, make_uint2(branch[0], branch[1]));
  sums.store(lane.g, lane.q, tokenSums);
}

template <class L, Start kStart, bool kBias>
__device__ __forceinline__ void makeGrads(const BoundaryBwdArgs &args, const Walk &walk, int warp) {
  const BoundaryLane lane = BoundaryLane::of(warp, L());
  Slot slot;
  walk.forEachPart<L::kRuns>([&](const auto &part) {
    const int slice = part.slice, count = part.count;
    const PhiTiles<TileOrder::plain> phi(args, slice * kSlice + warp * kWarpChannels);
    const std::conditional_t<kBias, BranchBias<L>, NoBias> bias(args, walk, slice, warp);
#pragma unroll 1
    for (int s = 0; s < count; ++s) {
      barrierWait(walk.full + 8 * slot.at, slot.parity);
      makeTile<kStart>(walk.base + L::kRowsAt + slot.at * L::kRows + lane.g * L::kProjRow, lane, phi, bias,
                       walk.base + slot.at * L::kBox, args.partials,
                       walk.base + L::kSumsAt + slot.at * L::kSums + warp * L::kWarpSums);
      __syncwarp();
      if ((threadIdx.x & 31) == 0)
        barrierArrive(walk.done + 8 * slot.at);
      slot.advance(walk);
    }
    bias.store(args, part, warp);
  });
}

} // namespace mhcrt

#endif // MHCRT_CUDA_STREAM_BOUNDARYBWDGRADS_CUH
