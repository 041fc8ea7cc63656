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

/// A lane's elements of phi for PhiTiles: [tile][8 columns][stream], a pair of columns each.
using PhiPairs = float2[2][3][4];

/// All loads before their first use, so that the latency of memory is met once. `k` is the first tile's element of K.
/// Zero behind kWidth columns.
template <int kWidth, typename T, bool kOutIn>
__device__ __forceinline__ void loadPhiPairs(const StreamBwdArgs &args, int64_t k, int tileStep, PhiPairs &to) {
  const int q = threadIdx.x & 3;
  const int64_t K = 4 * args.C;
  const auto value = [&](int64_t at) { return static_cast<float>(static_cast<const T *>(args.phi.phi)[at]); };
#pragma unroll
  for (int part = 0; part < 3; ++part)
#pragma unroll
    for (int stream = 0; stream < 4; ++stream)
#pragma unroll
      for (int tile = 0; tile < 2; ++tile) {
        const int64_t column = part * 8 + 2 * q, row = k + stream * args.C + tile * tileStep;
        to[tile][part][stream] = 8 * part >= kWidth ? make_float2(0.0f, 0.0f)
                                 : kOutIn ? make_float2(value(column * K + row), value((column + 1) * K + row))
                                          : make_float2(value(row * kWidth + column), value(row * kWidth + column + 1));
      }
}

template <int kWidth>
__device__ __forceinline__ void loadPhiPairs(const StreamBwdArgs &args, int64_t k, int tileStep, PhiPairs &to) {
  const bool outIn = args.phi.rowsFirst(), narrow = args.phi.type == MHCRT_BF16;
  if (outIn && !narrow)
    loadPhiPairs<kWidth, float, true>(args, k, tileStep, to);
  else if (outIn)
    loadPhiPairs<kWidth, __nv_bfloat16, true>(args, k, tileStep, to);
  else if (!narrow)
    loadPhiPairs<kWidth, float, false>(args, k, tileStep, to);
  else
    loadPhiPairs<kWidth, __nv_bfloat16, false>(args, k, tileStep, to);
}

/// A lane's part of W: tiles of 8 columns (rows of B) by 8 channels, divided by `scale`. kWidth: columns of phi.
template <TileOrder kOrder = TileOrder::pairs, int kWidth = kColumns>
struct PhiTiles {
  float scale;             ///< above every |W| of the warp's channels
  uint32_t parts[2][3][4]; ///< [tile][8 columns][stream]: rows 2q, 2q+1 of B's column n

  __device__ __forceinline__ PhiTiles(const StreamBwdArgs &args, int64_t channel) {
    const int n = (threadIdx.x & 31) >> 2;
    constexpr int kTileStep = kOrder == TileOrder::pairs ? 2 : 8;
    const int64_t k = channel + (kOrder == TileOrder::pairs ? n / 2 * 4 + n % 2 : n);
    PhiPairs phi;
    loadPhiPairs<kWidth>(args, k, kTileStep, phi);
    const WideOrBf16Input norm = {args.phi.weight, args.phi.weightType};
    float weights[2][4];
#pragma unroll
    for (int tile = 0; tile < 2; ++tile)
#pragma unroll
      for (int stream = 0; stream < 4; ++stream)
        weights[tile][stream] = norm.data ? norm[stream * args.C + k + tile * kTileStep] : 1.0f;
    scale = scaleAbove(mostOf(phi, weights));
    const float inverse = inverseScale(scale);
#pragma unroll
    for (int tile = 0; tile < 2; ++tile)
#pragma unroll
      for (int part = 0; part < 3; ++part)
#pragma unroll
        for (int stream = 0; stream < 4; ++stream) {
          const float2 pair = phi[tile][part][stream];
          const float weight = weights[tile][stream] * inverse;
          parts[tile][part][stream] = packF16(pair.x * weight, pair.y * weight);
        }
  }

private:
  /// The greatest |W| of the warp's channels.
  __device__ __forceinline__ static float mostOf(const PhiPairs &phi, const float (&weights)[2][4]) {
    float most = 0.0f;
#pragma unroll
    for (int tile = 0; tile < 2; ++tile)
#pragma unroll
      for (int part = 0; part < 3; ++part)
#pragma unroll
        for (int stream = 0; stream < 4; ++stream) {
          const float2 pair = phi[tile][part][stream];
          most = fmaxf(most, fmaxf(fabsf(pair.x), fabsf(pair.y)) * fabsf(weights[tile][stream]));
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
  float mix[4][4];                                ///< [i][o]; of pairs those of a half alone
  static constexpr int kStep = L::kPairs ? 2 : 1; ///< between streams that are mixed
  uint32_t first[3], second[3];                   ///< d_proj / scale, columns part * 8 + 2q, +1, in two f16 terms

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
        for (int o = i % kStep; o < 4; o += kStep) {
          if constexpr (L::kPairs)
            mix[i][o] = part(*row, transposed ? i / 2 * 2 + o / 2 : o / 2 * 2 + i / 2);
          else
            mix[i][o] = transposed ? part(row[i], o) : part(row[o], i);
        }
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
  uint2 xs[4], grads[4], us[L::kPairs ? 2 : 1];

  __device__ __forceinline__ Channels(char *shared, uint32_t x, uint32_t du) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      xs[i] = *sharedAt<uint2>(shared, x + i * 1024);
#pragma unroll
    for (int i = 0; i < 4 && kStart != Start::kNone; ++i)
      grads[i] = *sharedAt<uint2>(shared, x + L::kGrad + i * 1024);
#pragma unroll
    for (int half = 0; half < (L::kPairs ? 2 : 1) && kHasDu; ++half)
      us[half] = *sharedAt<uint2>(shared, du + half * kChannelsBytes);
  }
};

/// Their d_x, back over the slot's start.
template <class L, Start kStart, bool kHasDu, class Phi>
__device__ __forceinline__ void gradChannels(char *shared, const Token<L, kStart> &token, const Phi &phi,
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
          sum = fmaf(part(token.pre, i), half(in.us[L::kPairs ? i % 2 : 0]), sum);
        if (kStart == Start::kAdd)
          sum += half(in.grads[i]);
        if (kStart == Start::kMix) {
#pragma unroll
          for (int o = i % token.kStep; o < 4; o += token.kStep)
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
  Slot slot;
  walk.forEachPart<L::kRuns>([&](const auto &part) {
    const int slice = part.slice, count = part.count;
    const PhiTiles<TileOrder::pairs, L::kPairs ? kPairColumns : kColumns> phi(args,
                                                                              slice * kSlice + warp * kWarpChannels);
#pragma unroll 1
    for (int s = 0; s < count; ++s) {
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
  });
}

} // namespace mhcrt

#endif // MHCRT_CUDA_STREAM_STREAMBWDGRADS_CUH
