//===- RingMultiply.cuh - Products of the ring kernel -----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_RING_RINGMULTIPLY_CUH
#define MHCRT_CUDA_RING_RINGMULTIPLY_CUH

#include "cuda/ptx/Overlap.cuh"
#include "cuda/ptx/Registers.cuh"
#include "cuda/ring/RingCursor.cuh"

namespace mhcrt {

/// The token of a group of 8 that lanes 4*g .. 4*g+3 hold: reads of swizzled boxes then meet no bank twice.
__device__ __forceinline__ int tokenOfLane(int lane) { return (lane >> 3) | (lane & 4); }

/// Products of one stream of a tile with phi; block 3 has the sums of squares, where no norm needs more and a number is
/// one term.
template <typename S>
__device__ __forceinline__ void multiplyStream(const PhiFragments<S::kHeld> &phi, int stream,
                                               const uint4 (&values)[S::kGroups],
                                               float (&sums)[S::kGroups][kPhiBlocks + 1][4]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int block = 0; block < kPhiBlocks; ++block) {
      const uint4 a = phi.get(2 * stream + half, block);
#pragma unroll
      for (int group = 0; group < S::kGroups; ++group)
        multiplyBf16(sums[group][block], a.x, a.y, a.z, a.w, part(values[group], 2 * half),
                     part(values[group], 2 * half + 1));
    }
#pragma unroll
    for (int group = 0; group < S::kGroups && !S::kNorms && !S::kF32; ++group) {
      const uint32_t low = part(values[group], 2 * half), high = part(values[group], 2 * half + 1);
      multiplyBf16(sums[group][kPhiBlocks], low, 0, high, 0, low, high);
    }
  }
}

/// Squares of f32 by their terms: those of the first and of the second, and in rows from 8 on products of both.
template <int kGroups>
__device__ __forceinline__ void multiplySquares(const uint4 (&first)[kGroups], const uint4 (&second)[kGroups],
                                                float (&sums)[kGroups][kPhiBlocks + 1][4]) {
#pragma unroll
  for (int half = 0; half < 2; ++half)
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
      float (&d)[4] = sums[group][kPhiBlocks];
      const uint32_t low = part(first[group], 2 * half), high = part(first[group], 2 * half + 1);
      const uint32_t restLow = part(second[group], 2 * half), restHigh = part(second[group], 2 * half + 1);
      multiplyBf16(d, low, restLow, high, restHigh, low, high);
      multiplyBf16(d, restLow, 0, restHigh, 0, restLow, restHigh);
    }
}

/// Where a warp has its sums of a tile that are for a norm.
template <typename S>
__device__ __forceinline__ uint32_t productsOf(const RingBlock<S> &block, int slot, int turn, int warp) {
  if constexpr (S::kProductsInSlot)
    return block.box(slot, warp / 2) + 4 * S::kStreamBytes + warp % 2 * (S::kTokens * S::kProductBytes);
  else
    return block.memory + S::kPartial + warp * S::kPartialBytes +
           S::kTokens * (S::kColumnBytes + turn % S::kProductTurns * S::kProductBytes);
}

/// Sums of products of a token's streams over a warp's channels, for the norm of any mix of them, in lanes 4*g + g/2.
/// Matrix products have them in their diagonals: A has one stream in rows 0..7 and the next in rows 8..15, B has one.
/// Two sums are made twice, which is less work than to make A of other pairs.
struct StreamProducts {
  float sums[12]; ///< by productPlace()

  /// Calls done(k) when four sums from 4*k on are there.
  template <typename Done>
  __device__ __forceinline__ void multiply(const uint4 (&y)[4], int lane, Done done) {
#pragma unroll
    for (int first = 0; first < 4; first += 2)
#pragma unroll
      for (int by = first; by < 4; ++by) {
        float d[4] = {};
#pragma unroll
        for (int k = 0; k < 4; ++k)
          multiplyBf16(d, part(y[first], k), part(y[first + 1], k), part(y[by], k));
        put(first, by, lane & 4 ? d[1] : d[0]);
        put(first + 1, by, lane & 4 ? d[3] : d[2]);
        if (by >= 2 && first + by != 4)
          done(first == 2 ? 2 : by - 2);
      }
  }

  /// Chooses a diagonal now: that would move to the store, and keep all of a product until then.
  __device__ __forceinline__ void put(int i, int k, float sum) {
    if (i > k)
      return;
    asm volatile("" : "+f"(sum));
    sums[productPlace(i, k)] = sum;
  }

  /// Four sums from 4*k on, into the warp's of a tile at `to`.
  template <typename S>
  __device__ __forceinline__ void store(uint32_t to, int lane, int k) const {
    const uint32_t row = to + tokenOfLane(lane) * S::kProductBytes;
    if (lane / 8 == lane % 4)
      storeSharedFloat4(row + k * 16, make_float4(sums[4 * k], sums[4 * k + 1], sums[4 * k + 2], sums[4 * k + 3]));
  }
};

/// Products of a tile's streams, which are read again for those with phi: registers do not hold all of them.
template <typename S>
__device__ __forceinline__ void multiplyStreams(uint32_t x, uint32_t to) {
  uint4 all[4];
#pragma unroll
  for (int stream = 0; stream < 4; ++stream)
    all[stream] = loadShared4(x + stream * S::kStreamBytes);
  StreamProducts products = {};
  const int lane = laneAgain();
  products.multiply(all, lane, [&](int k) { products.store<S>(to, lane, k); });
}

/// Eight f32 of a tile as two bf16 terms: the error is 2^-17 of the value. A lane's channels are in two chunks.
__device__ __forceinline__ void loadTerms(uint32_t x, uint4 &first, uint4 &second) {
  const float4 a = loadSharedFloat4(x), b = loadSharedFloat4(x ^ 64);
  splitBf16(a.x, a.y, first.x, second.x);
  splitBf16(a.z, a.w, first.y, second.y);
  splitBf16(b.x, b.y, first.z, second.z);
  splitBf16(b.z, b.w, first.w, second.w);
}

/// Products of one tile of f32, both terms of x by both of phi.
template <typename S>
__device__ __forceinline__ void multiplyF32Tile(const PhiFragments<S::kHeld> &phi, uint32_t x,
                                                float (&sums)[S::kGroups][kPhiBlocks + 1][4]) {
#pragma unroll
  for (int stream = 0; stream < 4; ++stream) {
    uint4 first[S::kGroups], second[S::kGroups];
#pragma unroll
    for (int group = 0; group < S::kGroups; ++group)
      loadTerms(x + stream * S::kStreamBytes + group * 8 * 128, first[group], second[group]);
    multiplyStream<S>(phi, stream, first, sums);
    multiplyStream<S>(phi, stream, second, sums);
    multiplySquares(first, second, sums);
  }
}

/// Products of one tile.
template <typename S>
__device__ __forceinline__ void multiplyTile(const PhiFragments<S::kHeld> &phi, uint32_t x,
                                             float (&sums)[S::kGroups][kPhiBlocks + 1][4]) {
#pragma unroll
  for (int stream = 0; stream < 4; ++stream) {
    uint4 values[S::kGroups];
#pragma unroll
    for (int group = 0; group < S::kGroups; ++group)
      values[group] = loadShared4(x + stream * S::kStreamBytes + group * 8 * 128);
    multiplyStream<S>(phi, stream, values, sums);
  }
}

/// One row of partial sums per token. Lane 4*g + q has rows g and g + 8 of each block for tokens q and q + 4.
template <typename S>
__device__ __forceinline__ void storePartials(const float (&sums)[kPhiBlocks + 1][4], uint32_t rows, int lane) {
  const int g = lane / 4, q = lane % 4;
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    constexpr int kGap = S::kNorms ? 0 : 4;
    const uint32_t row = rows + (q + 4 * e) * S::kColumnBytes + g * 4;
    storeSharedFloat(row + (g < kSquares ? 0 : kGap), sums[0][e] + sums[1][2 + e]); // column g
    storeSharedFloat(row + 8 * 4 + kGap, sums[0][2 + e] + sums[2][e]);              // column 8 + g
    storeSharedFloat(row + 16 * 4 + kGap, sums[1][e] + sums[2][2 + e]);             // column 16 + g
  }
  if (!S::kNorms && g / 2 == q) {
    float squares = g % 2 ? sums[kPhiBlocks][1] : sums[kPhiBlocks][0];
    if (S::kF32)
      squares = fmaf(2.0f, g % 2 ? sums[kPhiBlocks][3] : sums[kPhiBlocks][2], squares);
    storeSharedFloat(rows + tokenOfLane(lane) * S::kRowBytes + kSquares * 4, squares);
  }
}

/// A warp that multiplies has its part of phi, for which the loader of pre waits.
template <typename S, bool kAggregate>
__device__ __forceinline__ void sayPhiIsHere(const RingBlock<S> &block) {
  if (!kAggregate || S::kMixes)
    return;
  __syncwarp();
  if (block.lane == 0)
    barrierArrive(block.bars.phi());
}

template <typename S, bool kAggregate>
__device__ __forceinline__ void multiplyRole(const RingArgs &args, const RingBlock<S> &block) {
  constexpr int kAtOnce = S::kF32 ? 4 : 8; // channels of a lane that lie beside each other
  const int box = block.warp / S::kWarpsOfBox, token = tokenOfLane(block.lane);
  const int chunk = block.warp % S::kWarpsOfBox * 4 + block.lane % 4;
  const int channel = (block.rank * S::kWarps + block.warp) * 32 + block.lane % 4 * kAtOnce;
  const uint32_t partial = block.memory + S::kPartial + block.warp * S::kPartialBytes;
  PhiFragments<S::kHeld> phi;
  phi.template load<S::kPhiStreams, S::kColumns, kAtOnce>(args.phi, args.C, channel, block.lane,
                                                          block.memory + S::kPhi +
                                                              block.warp * PhiFragments<S::kHeld>::kSharedBytes);
  sayPhiIsHere<S, kAggregate>(block);
  for (RingCursor<S> at(block, args.M); at.more(); at.next()) {
    barrierWait(block.bars.ready(at.slot, box), at.parity);
    float sums[S::kGroups][kPhiBlocks + 1][4] = {};
    if constexpr (S::kNorms) { // its place is made again for want of registers
      const int lane = laneAgain(), row = tokenOfLane(lane);
      const uint32_t x = block.box(at.slot, box) + row * 128 + ((block.warp % 2 * 4 + lane % 4) ^ row) * 16;
      multiplyStreams<S>(x, productsOf(block, at.slot, at.turn, block.warp));
      multiplyTile<S>(phi, x, sums);
    } else {
      const uint32_t x = block.box(at.slot, box) + token * 128 + (chunk ^ token) * 16;
      if constexpr (S::kF32)
        multiplyF32Tile<S>(phi, x, sums);
      else
        multiplyTile<S>(phi, x, sums);
    }
    __syncwarp();
    if (!kAggregate && block.lane == 0)
      barrierArrive(block.bars.free(at.slot));
    barrierWait(block.bars.partialFree(), (at.turn & 1) ^ 1);
#pragma unroll
    for (int group = 0; group < S::kGroups; ++group)
      storePartials<S>(sums[group], partial + group * 8 * S::kColumnBytes, laneAgain());
    __syncwarp();
    if (block.lane == 0)
      barrierArrive(block.bars.partialFull());
  }
}

/// Whether this is a warp that multiplies and whose channels are behind the last.
template <typename S>
__device__ __forceinline__ bool isPadding(const RingBlock<S> &block) {
  return S::kPads && block.warp < S::kWarps && (block.rank * S::kWarps + block.warp) * 32 >= S::kWidth;
}

/// Sets the sums of such a warp to zero.
template <typename S>
__device__ __forceinline__ void clearPartials(const RingBlock<S> &block) {
  const uint32_t partial = block.memory + S::kPartial + block.warp * S::kPartialBytes;
  for (int k = block.lane; k < S::kPartialBytes / 4; k += 32)
    storeSharedFloat(partial + 4 * k, 0);
}

/// Such a warp: its sums are zero. It goes no faster than the others, so that what they wait for is what they think.
template <typename S, bool kAggregate>
__device__ __forceinline__ void paddingRole(const RingArgs &args, const RingBlock<S> &block) {
  clearPartials(block);
  sayPhiIsHere<S, kAggregate>(block);
  for (RingCursor<S> at(block, args.M); at.more(); at.next()) {
    barrierWait(block.bars.full(at.slot, block.warp / S::kWarpsOfBox), at.parity);
    if (!kAggregate && block.lane == 0)
      barrierArrive(block.bars.free(at.slot));
    barrierWait(block.bars.partialFree(), (at.turn & 1) ^ 1);
    __syncwarp();
    if (block.lane == 0)
      barrierArrive(block.bars.partialFull());
  }
}

} // namespace mhcrt

#endif // MHCRT_CUDA_RING_RINGMULTIPLY_CUH
