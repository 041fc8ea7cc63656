//===- StreamBwdGrads.cuh - d_x of a walk over tiles ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_STREAM_STREAMBWDGRADS_CUH
#define MHCRT_CUDA_STREAM_STREAMBWDGRADS_CUH

#include "cuda/ptx/Mma.cuh"
#include "cuda/stream/StreamBwdRing.cuh"

namespace mhcrt {

/// Which of a warp's channels column n of tile t has.
enum class TileOrder {
  pairs, ///< n/2*4 + t*2 + n%2: a lane of the result has four channels in a row
  plain  ///< t*8 + n
};

/// A lane's part of W: tiles of 8 columns (rows of B) by 8 channels, divided by `scale`.
template <TileOrder kOrder = TileOrder::pairs>
struct PhiTiles {
  using Elements = PhiElements<WideOrBf16Input>;

  float scale;
  uint32_t parts[2][3][4] = {}; ///< [tile][8 columns][stream]: rows 2q, 2q+1 of B's column n

  __device__ __forceinline__ PhiTiles(const StreamBwdArgs &args, int64_t channel) {
    const Elements phi = {args.phi, kColumns, 4 * args.C};
    scale = scaleAbove(mostOf(args, phi, channel));
    const float inverse = inverseScale(scale);
    const int n = (threadIdx.x & 31) >> 2, q = threadIdx.x & 3;
    // Tile by tile, each through the second's registers: loads of both at once need more registers than the walk.
#pragma unroll 1
    for (int tile = 0; tile < 2; ++tile) {
#pragma unroll
      for (int part = 0; part < 3; ++part)
#pragma unroll
        for (int stream = 0; stream < 4; ++stream)
          parts[0][part][stream] = parts[1][part][stream];
#pragma unroll
      for (int stream = 0; stream < 4; ++stream) {
        const int within = kOrder == TileOrder::pairs ? n / 2 * 4 + tile * 2 + n % 2 : tile * 8 + n;
        const int64_t k = stream * args.C + channel + within;
        const float weight = phi.scale(k) * inverse;
#pragma unroll
        for (int part = 0; part < 3; ++part)
          parts[1][part][stream] =
              packF16(phi.at(part * 8 + 2 * q, k) * weight, phi.at(part * 8 + 2 * q + 1, k) * weight);
      }
    }
  }

private:
  /// The greatest |W| of the warp's channels, one per half of a warp's lanes.
  __device__ __forceinline__ static float mostOf(const StreamBwdArgs &args, const Elements &phi, int64_t channel) {
    float most = 0.0f;
#pragma unroll 2
    for (int stream = 0; stream < 4; ++stream) {
      const int64_t k = stream * args.C + channel + threadIdx.x % kWarpChannels;
      const float weight = fabsf(phi.scale(k));
#pragma unroll
      for (int column = 0; column < kColumns; ++column)
        most = fmaxf(most, fabsf(phi.at(column, k)) * weight);
    }
#pragma unroll
    for (int offset = 16; offset; offset /= 2)
      most = fmaxf(most, __shfl_xor_sync(~0u, most, offset));
    return most;
  }
};

/// A token's coefficients, as a lane needs them.
template <class L, Start kStart>
struct Token {
  float4 pre;
  float factor, scale;
  float mix[4][4];              ///< [i][o]
  uint32_t first[3], second[3]; ///< d_proj / scale, columns part * 8 + 2q, +1, in two f16 terms

  __device__ __forceinline__ Token(char *shared, uint32_t rows, int token, bool transposed) {
    const auto *scalars = sharedAt<float4>(shared, rows + L::kScalar + token * L::kScalarRow);
    pre = scalars[0];
    factor = scalars[1].x;
    scale = scalars[1].y;
    if (kStart == Start::kMix) {
      const auto *row = sharedAt<float4>(shared, rows + L::kMix + token * L::kMixRow);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int o = 0; o < 4; ++o)
          mix[i][o] = transposed ? part(row[i], o) : part(row[o], i);
    }
    const float inverse = inverseScale(scale);
    const auto *pairs = sharedAt<float2>(shared, rows + token * L::kProjRow) + (threadIdx.x & 3);
#pragma unroll
    for (int n = 0; n < 3; ++n)
      splitF16(pairs[n * 4].x * inverse, pairs[n * 4].y * inverse, first[n], second[n]);
  }
};

/// 4 channels of each stream of one token as they lie in a slot. x, du: offsets in shared memory, of the first stream.
template <class L, Start kStart, bool kHasDu>
struct Channels {
  uint2 xs[4], grads[4], us;

  __device__ __forceinline__ Channels(char *shared, uint32_t x, uint32_t du) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      xs[i] = *sharedAt<uint2>(shared, x + i * 1024);
#pragma unroll
    for (int i = 0; i < 4 && kStart != Start::kNone; ++i)
      grads[i] = *sharedAt<uint2>(shared, x + L::kGrad + i * 1024);
    if (kHasDu)
      us = *sharedAt<uint2>(shared, du);
  }
};

/// Their d_x, back over the slot's start.
template <class L, Start kStart, bool kHasDu>
__device__ __forceinline__ void gradChannels(char *shared, const Token<L, kStart> &token, const PhiTiles<> &phi,
                                             const Channels<L, kStart, kHasDu> &in, uint32_t x) {
  const float scale = token.scale * phi.scale;
  uint32_t dx[4][2];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    float products[4][4] = {}; // 0, 1: what the first terms of d_proj give, 2, 3: the second
#pragma unroll
    for (int i = 0; i < 4; ++i)
      multiplyF16(products[i], token.first[0], token.second[0], token.first[1], token.second[1], phi.parts[k][0][i],
                  phi.parts[k][1][i]);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      multiplyF16(products[i], token.first[2], token.second[2], phi.parts[k][2][i]);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float sums[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        auto half = [&](const uint2 &pairs) { return e ? highBf16(part(pairs, k)) : lowBf16(part(pairs, k)); };
        float sum = token.factor * half(in.xs[i]);
        if (kHasDu)
          sum = fmaf(part(token.pre, i), half(in.us), sum);
        if (kStart == Start::kAdd)
          sum += half(in.grads[i]);
        if (kStart == Start::kMix) {
#pragma unroll
          for (int o = 0; o < 4; ++o)
            sum = fmaf(token.mix[i][o], half(in.grads[o]), sum);
        }
        sums[e] = fmaf(products[i][e] + products[i][2 + e], scale, sum);
      }
      dx[i][k] = packBf16(sums[0], sums[1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    *sharedAt<uint2>(shared, x + L::kGrad + i * 1024) = make_uint2(dx[i][0], dx[i][1]);
}

/// The token order keeps the 8-byte accesses to swizzled boxes free of bank conflicts.
template <class L, Start kStart, bool kHasDu>
__device__ __forceinline__ void makeGrads(const StreamBwdArgs &args, const Walk &walk, int warp) {
  const int lane = threadIdx.x & 31, g = lane >> 2, q = lane & 3, box = warp / 4;
  const int row = ((g & 3) << 1) | (g >> 2);
  const uint32_t inRow = row * 128 + (((warp % 4 * 2 + (q >> 1)) ^ row) * 16) + (q & 1) * 8;
  const PhiTiles<> phi(args, walk.slice * kSlice + warp * kWarpChannels);
  Slot slot;
#pragma unroll 1
  for (int s = 0; s < walk.count; ++s) {
    barrierWait(walk.full + 8 * slot.at, slot.parity);
    const Token<L, kStart> token(walk.shared, L::kRowsAt + slot.at * L::kRows, row, args.transposed);
    const uint32_t x = slot.at * L::kBox + box * 4096 + inRow, du = slot.at * L::kBox + L::kDu + box * 1024 + inRow;
    const Channels<L, kStart, kHasDu> channels(walk.shared, x, du);
    gradChannels(walk.shared, token, phi, channels, x);
    fenceBulk();
    __syncwarp();
    if (lane == 0)
      barrierArrive(walk.done + 8 * slot.at);
    slot.advance(walk);
  }
}

} // namespace mhcrt

#endif // MHCRT_CUDA_STREAM_STREAMBWDGRADS_CUH
