//===- StreamBwdProduct.cuh - d_phi of a walk over tiles --------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_STREAM_STREAMBWDPRODUCT_CUH
#define MHCRT_CUDA_STREAM_STREAMBWDPRODUCT_CUH

#include "cuda/ptx/Mma.cuh"
#include "cuda/stream/StreamBwdRing.cuh"

namespace mhcrt {

/// d_proj of two tiles as B of a 16x8x16 product, in two bf16 terms: rows 0..7 are tokens of the first tile, 8..15 of
/// the second.
struct ProjPair {
  uint32_t first[2][3], second[2][3]; ///< [tile][8 columns]

  /// Tokens behind the last one have zeros in x, but anything in their rows: `left` counts from this lane's first on.
  template <class L>
  __device__ __forceinline__ void load(const Walk &walk, int tile, uint32_t slot, int left) {
    const int lane = threadIdx.x & 31, g = lane >> 2, q = lane & 3;
    const auto *proj = sharedAt<float>(walk.shared, L::kRowsAt + slot * L::kRows + 2 * q * L::kProjRow) + g;
#pragma unroll
    for (int n = 0; n < 3; ++n)
      splitBf16(left > 0 ? proj[n * 8] : 0.0f, left > 1 ? proj[L::kProjRow / 4 + n * 8] : 0.0f, first[tile][n],
                second[tile][n]);
  }
};

using ProductSums = float[8][3][4]; ///< [16 channels][8 columns]
constexpr int kPairs = 48;

/// Tiles whose product is added in matrix units. They cut off what does not fit a sum, 2^-23 of it in each of a tile's
/// steps, and so always to the same side.
constexpr int kFlushTiles = 32;
/// Tiles whose product is added outside of them, by additions that round: each is one of few terms there, too.
constexpr int kStoreTiles = 32 * kFlushTiles;

/// Adds 64 channels of two tiles. `x` is this lane's row of the box in its tile's slot.
__device__ __forceinline__ void addBox(ProductSums &sums, int box, uint32_t x, const ProjPair &proj) {
  const int lane = threadIdx.x & 31, row = lane & 7, half = (lane >> 3) & 1;
  uint4 channels[4];
#pragma unroll
  for (int m = 0; m < 4; ++m)
    channels[m] = loadTransposed(x + box * 4096 + (((m * 2 + half) ^ row) * 16));
#pragma unroll
  for (int n = 0; n < 3; ++n)
#pragma unroll
    for (int m = 0; m < 4; ++m)
      multiplyBf16(sums[4 * box + m][n], channels[m].x, channels[m].y, channels[m].z, channels[m].w, proj.first[0][n],
                   proj.first[1][n]);
#pragma unroll
  for (int n = 0; n < 3; ++n)
#pragma unroll
    for (int m = 0; m < 4; ++m)
      multiplyBf16(sums[4 * box + m][n], channels[m].x, channels[m].y, channels[m].z, channels[m].w, proj.second[0][n],
                   proj.second[1][n]);
}

/// This thread's sums in its group's partial sum: pairs of columns.
template <class Part>
__device__ __forceinline__ float2 *partialPair(const StreamBwdArgs &args, const Part &part, int stream, int pair) {
  const int lane = threadIdx.x & 31, m = pair / 6, n = pair / 2 % 3, g = (lane >> 2) + pair % 2 * 8, q = lane & 3;
  const int64_t channel = (part.group * 4 + stream) * args.C + part.slice * kSlice + m * 16 + g;
  return reinterpret_cast<float2 *>(args.partials + channel * kColumns + n * 8) + q;
}

/// Sums of many tiles, in registers.
struct RegisterSums {
  ProductSums sums;

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int m = 0; m < 8; ++m)
#pragma unroll
      for (int n = 0; n < 3; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          sums[m][n][e] = 0.0f;
  }
  /// Takes `from` and leaves zeros there.
  __device__ __forceinline__ void take(ProductSums &from) {
#pragma unroll
    for (int m = 0; m < 8; ++m)
#pragma unroll
      for (int n = 0; n < 3; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          sums[m][n][e] += from[m][n][e];
          from[m][n][e] = 0.0f;
        }
  }
  /// Makes them the partial sum, or adds them to it. All loads before the first store.
  template <class Part>
  __device__ __forceinline__ void store(const StreamBwdArgs &args, const Part &part, int stream, bool adds) {
    if (adds)
#pragma unroll
      for (int pair = 0; pair < kPairs; ++pair) {
        const float2 old = *partialPair(args, part, stream, pair);
        float *to = sums[pair / 6][pair / 2 % 3] + pair % 2 * 2;
        to[0] += old.x;
        to[1] += old.y;
      }
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) {
      const float *from = sums[pair / 6][pair / 2 % 3] + pair % 2 * 2;
      *partialPair(args, part, stream, pair) = make_float2(from[0], from[1]);
    }
  }
};

/// The same in shared memory, for a kernel without as many registers.
struct SharedSums {
  static constexpr int kQuads = kPairs / 2;
  static constexpr uint32_t kStep = 32 * kProductWarps * 16, kBytes = kQuads * kStep;

  uint32_t mine; ///< address of this thread's first

  __device__ __forceinline__ explicit SharedSums(uint32_t address)
      : mine(address + threadIdx.x % (32 * kProductWarps) * 16) {}

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int k = 0; k < kQuads; ++k)
      storeShared4(mine + k * kStep, make_uint4(0, 0, 0, 0));
  }
  __device__ __forceinline__ void take(ProductSums &from) {
#pragma unroll
    for (int k = 0; k < kQuads; ++k) {
      float *sums = from[k / 3][k % 3];
      const float4 old = loadSharedFloat4(mine + k * kStep);
      storeSharedFloat4(mine + k * kStep,
                        make_float4(old.x + sums[0], old.y + sums[1], old.z + sums[2], old.w + sums[3]));
      sums[0] = sums[1] = sums[2] = sums[3] = 0.0f;
    }
  }
  template <class Part>
  __device__ __forceinline__ void store(const StreamBwdArgs &args, const Part &part, int stream, bool adds) {
#pragma unroll 6
    for (int k = 0; k < kQuads; ++k) {
      float4 sum = loadSharedFloat4(mine + k * kStep);
      float2 *low = partialPair(args, part, stream, 2 * k), *high = partialPair(args, part, stream, 2 * k + 1);
      if (adds)
        sum.x += low->x, sum.y += low->y, sum.z += high->x, sum.w += high->y;
      *low = make_float2(sum.x, sum.y);
      *high = make_float2(sum.z, sum.w);
    }
  }
};

/// Adds tiles s and s + 1. The last tile of an odd number is its own neighbour, times zeros.
template <class L, class Part>
__device__ __forceinline__ void addTiles(const StreamBwdArgs &args, const Walk &walk, const Part &part, int s,
                                         uint32_t myX, Slot &slot, ProductSums &sums) {
  const int lane = threadIdx.x & 31, q = lane & 3;
  const bool two = s + 1 < part.count;
  Slot next = slot;
  next.advance(walk);
  const Slot other = two ? next : slot;
  barrierWait(walk.ready + 8 * slot.at, slot.parity);
  barrierWait(walk.ready + 8 * other.at, other.parity);
  ProjPair proj;
  proj.load<L>(walk, 0, slot.at, static_cast<int>(args.M) - part.token(s) - 2 * q);
  proj.load<L>(walk, 1, other.at, two ? static_cast<int>(args.M) - part.token(s + 1) - 2 * q : 0);
  const uint32_t x = myX + (lane < 16 ? slot : other).at * L::kBox;
  addBox(sums, 0, x, proj);
  addBox(sums, 1, x, proj);
  __syncwarp();
  if (lane == 0) {
    barrierArrive(walk.free + 8 * slot.at);
    if (two)
      barrierArrive(walk.free + 8 * other.at);
  }
  slot = L::kRuns ? other : next; // without runs, nothing comes behind an odd number
  slot.advance(walk);
}

/// One warp's stream of the product.
template <class L, class Sums>
__device__ __forceinline__ void sumProduct(const StreamBwdArgs &args, const Walk &walk, int stream, Sums flushed) {
  const uint32_t myX = walk.base + stream * 1024 + (threadIdx.x & 7) * 128;
  Slot slot;
  walk.forEachPart<L::kRuns>([&](const auto &part) {
    int s = 0;
#pragma unroll 1
    do {
      const bool adds = s > 0;
      ProductSums sums = {};
      flushed.clear();
      const int last = min(part.count, s + kStoreTiles);
#pragma unroll 1
      do {
        const int end = min(last, s + kFlushTiles);
#pragma unroll 1
        for (; s < end; s += 2)
          addTiles<L>(args, walk, part, s, myX, slot, sums);
        flushed.take(sums);
      } while (s < last);
      flushed.store(args, part, stream, adds);
    } while (s < part.count);
  });
}

} // namespace mhcrt

#endif // MHCRT_CUDA_STREAM_STREAMBWDPRODUCT_CUH
