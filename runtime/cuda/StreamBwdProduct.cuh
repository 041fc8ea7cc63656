//===- StreamBwdProduct.cuh - d_phi of a walk over tiles --------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_STREAMBWDPRODUCT_CUH
#define MHCRT_CUDA_STREAMBWDPRODUCT_CUH

#include "StreamBwdRing.cuh"
#include "prim/mma.cuh"

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
      splitBf16(left > 0 ? proj[n * 8] : 0.0f, left > 1 ? proj[kColumns + n * 8] : 0.0f, first[tile][n],
                second[tile][n]);
  }
};

using ProductSums = float[8][3][4]; ///< [16 channels][8 columns]

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

__device__ __forceinline__ void storeProduct(const StreamBwdArgs &args, const Walk &walk, int stream,
                                             const ProductSums &sums) {
  const int lane = threadIdx.x & 31, g = lane >> 2, q = lane & 3;
  float *out = args.partials + ((walk.group * 4 + stream) * args.C + walk.slice * kSlice) * kColumns + 2 * q;
#pragma unroll
  for (int m = 0; m < 8; ++m)
#pragma unroll
    for (int n = 0; n < 3; ++n) {
      *reinterpret_cast<float2 *>(out + (m * 16 + g) * kColumns + n * 8) = make_float2(sums[m][n][0], sums[m][n][1]);
      *reinterpret_cast<float2 *>(out + (m * 16 + g + 8) * kColumns + n * 8) =
          make_float2(sums[m][n][2], sums[m][n][3]);
    }
}

/// One warp's stream of the product, two tiles at a time. The last tile of an odd number is its own neighbour, times
/// zeros.
template <class L>
__device__ __forceinline__ void sumProduct(const StreamBwdArgs &args, const Walk &walk, int stream) {
  const int lane = threadIdx.x & 31, q = lane & 3;
  const uint32_t myX = walk.base + stream * 1024 + (lane & 7) * 128;
  ProductSums sums = {};
  Slot slot;
#pragma unroll 1
  for (int s = 0; s < walk.count; s += 2) {
    const bool two = s + 1 < walk.count;
    Slot next = slot;
    next.advance(walk);
    const Slot other = two ? next : slot;
    barrierWait(walk.full + 8 * slot.at, slot.parity);
    barrierWait(walk.full + 8 * other.at, other.parity);
    ProjPair proj;
    proj.load<L>(walk, 0, slot.at, static_cast<int>(args.M) - walk.token(s) - 2 * q);
    proj.load<L>(walk, 1, other.at, two ? static_cast<int>(args.M) - walk.token(s + 1) - 2 * q : 0);
    const uint32_t x = myX + (lane < 16 ? slot : other).at * L::kBox;
    addBox(sums, 0, x, proj);
    addBox(sums, 1, x, proj);
    __syncwarp();
    if (lane == 0) {
      barrierArrive(walk.free + 8 * slot.at);
      if (two)
        barrierArrive(walk.free + 8 * other.at);
    }
    slot = next;
    slot.advance(walk);
  }
  storeProduct(args, walk, stream, sums);
}

} // namespace mhcrt

#endif // MHCRT_CUDA_STREAMBWDPRODUCT_CUH
