//===- RingMultiply.cuh - Products of the ring kernel -----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_RING_RINGMULTIPLY_CUH
#define MHCRT_CUDA_RING_RINGMULTIPLY_CUH

#include "cuda/ptx/Cluster.cuh"
#include "cuda/ptx/Overlap.cuh"
#include "cuda/ptx/Registers.cuh"
#include "cuda/ring/RingShape.cuh"

namespace mhcrt {

/// State of a block that all roles share.
template <typename S>
struct RingBlock {
  uint32_t memory; ///< shared address
  uint32_t rank;   ///< in the cluster
  RingBarriers<S> bars;
  int warp, lane;

  __device__ uint32_t box(int slot, int index) const {
    return memory + S::kRing + slot * S::kSlotBytes + index * S::kBoxBytes;
  }
  __device__ uint32_t received(int slot) const { return memory + S::kReceived + slot * S::kReceivedBytes; }
  __device__ uint32_t hPre(int slot) const { return memory + S::kHPre + slot * S::kTokens * 16; }
  __device__ uint32_t mix(int slot) const { return memory + S::kMix + slot * S::kMixBytes; }
};

/// The token of a group of 8 that lanes 4*g .. 4*g+3 hold: reads of swizzled boxes then meet no bank twice.
__device__ __forceinline__ int tokenOfLane(int lane) { return (lane >> 3) | (lane & 4); }

/// Products of one stream of a tile with phi; block 3 has the sums of squares.
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
    for (int group = 0; group < S::kGroups; ++group) {
      const uint32_t low = part(values[group], 2 * half), high = part(values[group], 2 * half + 1);
      multiplyBf16(sums[group][kPhiBlocks], low, 0, high, 0, low, high);
    }
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
__device__ __forceinline__ void storePartials(const float (&sums)[kPhiBlocks + 1][4], uint32_t rows, int lane) {
  const int g = lane / 4, q = lane % 4;
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const uint32_t row = rows + (q + 4 * e) * kRowBytes + g * 4;
    storeSharedFloat(row + (g < kSquares ? 0 : 4), sums[0][e] + sums[1][2 + e]); // column g
    storeSharedFloat(row + 9 * 4, sums[0][2 + e] + sums[2][e]);                  // column 8 + g
    storeSharedFloat(row + 17 * 4, sums[1][e] + sums[2][2 + e]);                 // column 16 + g
  }
  if (g / 2 == q)
    storeSharedFloat(rows + tokenOfLane(lane) * kRowBytes + kSquares * 4,
                     g % 2 ? sums[kPhiBlocks][1] : sums[kPhiBlocks][0]);
}

template <typename S, bool kAggregate>
__device__ __forceinline__ void multiplyRole(const RingArgs &args, const RingBlock<S> &block) {
  const int box = block.warp / 2, token = tokenOfLane(block.lane), chunk = block.warp % 2 * 4 + block.lane % 4;
  const int channel = (block.rank * S::kWarps + block.warp) * 32 + block.lane % 4 * 8;
  const uint32_t partial = block.memory + S::kPartial + block.warp * (S::kTokens * kRowBytes);
  PhiFragments<S::kHeld> phi;
  phi.template load<S::kPhiStreams, S::kColumns>(args.phi, args.C, channel, block.lane,
                                                 block.memory + S::kPhi +
                                                     block.warp * PhiFragments<S::kHeld>::kSharedBytes);
  for (RingCursor<S> at(args.M); at.more(); at.next()) {
    barrierWait(block.bars.ready(at.slot, box), at.parity);
    float sums[S::kGroups][kPhiBlocks + 1][4] = {};
    multiplyTile<S>(phi, block.box(at.slot, box) + token * 128 + (chunk ^ token) * 16, sums);
    __syncwarp();
    if (!kAggregate && block.lane == 0)
      barrierArrive(block.bars.free(at.slot));
    barrierWait(block.bars.partialFree(), (at.turn & 1) ^ 1);
#pragma unroll
    for (int group = 0; group < S::kGroups; ++group)
      storePartials(sums[group], partial + group * 8 * kRowBytes, laneAgain());
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
  const uint32_t partial = block.memory + S::kPartial + block.warp * (S::kTokens * kRowBytes);
  for (int k = block.lane; k < S::kTokens * kRowFloats; k += 32)
    storeSharedFloat(partial + 4 * k, 0);
}

/// Such a warp: its sums are zero. It goes no faster than the others, so that what they wait for is what they think.
template <typename S, bool kAggregate>
__device__ __forceinline__ void paddingRole(const RingArgs &args, const RingBlock<S> &block) {
  clearPartials(block);
  for (RingCursor<S> at(args.M); at.more(); at.next()) {
    barrierWait(block.bars.full(at.slot, block.warp / 2), at.parity);
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
