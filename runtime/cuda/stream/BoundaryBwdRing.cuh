//===- BoundaryBwdRing.cuh - Tiles of the boundary's gradient ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared memory of a block of boundary_bwd_sm90.cu, and what fills and empties it. As StreamBwdRing.cuh, with one box
// more: y is written over x, d_x over the start of dy, d_f over f. A slot is done when these are there, and free when
// the store, the product and the sums of its tokens have read it.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_STREAM_BOUNDARYBWDRING_CUH
#define MHCRT_CUDA_STREAM_BOUNDARYBWDRING_CUH

#include "cuda/ptx/CachePolicy.cuh"
#include "cuda/stream/BoundaryBwd.h"
#include "cuda/stream/StreamBwdProduct.cuh"
#include "cuda/stream/StreamBwdRing.cuh"

namespace mhcrt {

constexpr int kSumWarp = kLoadWarp + 1, kSumWarps = 2;
static_assert(32 * (kSumWarp + kSumWarps) == kStreamThreads);

/// Shared memory: the slots' boxes, their rows of coefficients, their warps' sums of tokens, sums of d_phi, the bias
/// and the sums of its gradient, barriers.
template <Start kStart, bool kHasRuns>
struct BoundaryLayout {
  static constexpr bool kRuns = kHasRuns;
  static constexpr uint32_t kGrad = kStreamsBytes, kF = 2 * kStreamsBytes, kDu = kF + kChannelsBytes;
  static constexpr uint32_t kBox = kDu + kChannelsBytes;
  static constexpr uint32_t kProjRow = boundaryRowBytes(kStart == Start::kMix), kRows = kSlotTokens * kProjRow;
  static constexpr uint32_t kWarpSums = kSlotTokens * kTokenSums * 4, kSums = kGradWarps * kWarpSums;
  static constexpr uint32_t kBarriers = 512, kBias = kSlice * 4, kBiasSums = kGradWarps * 32 * 4 * 8;
  static constexpr int kMostSlots =
      (kSharedBytes - kBarriers - SharedSums::kBytes - kBias - kBiasSums) / (kBox + kRows + kSums);
  static constexpr uint32_t kRowsAt = kMostSlots * kBox, kSumsAt = kRowsAt + kMostSlots * kRows;
  static constexpr uint32_t kProductAt = kSumsAt + kMostSlots * kSums;
  static constexpr uint32_t kBiasAt = kProductAt + SharedSums::kBytes, kBiasSumsAt = kBiasAt + kBias;
  static constexpr uint32_t kBarriersAt = kBiasSumsAt + kBiasSums, kTotal = kBarriersAt + kBarriers;
  static_assert(24 * kMostSlots + 2 * kPartBytes <= kBarriers && kTotal <= kSharedBytes &&
                kMostSlots > kStoresInFlight);
};

struct BoundaryMaps {
  CUtensorMap x, f, start, du, dx, df;
};

template <class L, Start kStart>
__device__ __forceinline__ void loadTile(const BoundaryBwdArgs &args, const Walk &walk, int slice, uint32_t slot,
                                         int token, const BoundaryMaps &maps) {
  const uint32_t bar = walk.full + 8 * slot, box = walk.base + slot * L::kBox;
  const int group = slice * (kSlice / 64);
  barrierExpect(bar, L::kBox - (kStart == Start::kNone ? kStreamsBytes : 0) + L::kRows);
  loadStreams(box, &maps.x, token, group, bar);
  loadChannels(box + L::kF, &maps.f, token, group, bar);
  bulkLoad(walk.base + L::kRowsAt + slot * L::kRows,
           reinterpret_cast<const char *>(args.rows) + int64_t(token) * L::kProjRow, L::kRows, bar);
  if (kStart != Start::kNone)
    loadStreams(box + L::kGrad, &maps.start, token, group, bar);
  loadChannels(box + L::kDu, &maps.du, token, group, bar, keepShort());
}

/// Called by one thread.
template <class L, Start kStart>
__device__ __forceinline__ void loadTiles(const BoundaryBwdArgs &args, const Walk &walk, const BoundaryMaps &maps) {
  waitForEarlierKernels();
  Slot slot;
  walk.forEachPart<L::kRuns>([&](const auto &part) {
#pragma unroll 1
    for (int s = 0; s < part.count; ++s) {
      if (L::kRuns || s >= static_cast<int>(walk.slots)) // a slot that had no tile is free at once
        barrierWait(walk.free + 8 * slot.at, slot.parity ^ 1);
      loadTile<L, kStart>(args, walk, part.slice, slot.at, part.token(s), maps);
      slot.advance(walk);
    }
  });
}

/// Called by one thread.
template <class L>
__device__ __forceinline__ void storeTiles(const Walk &walk, const BoundaryMaps &maps) {
  Slot slot;
  StoredSlots<L> stored;
  walk.forEachPart<L::kRuns>([&](const auto &part) {
    const int group = part.slice * (kSlice / 64);
#pragma unroll 1
    for (int s = 0; s < part.count; ++s) {
      barrierWait(walk.done + 8 * slot.at, slot.parity);
      fenceBulk(); // for all that wrote: they are short of time, and this thread has it
      const uint32_t box = walk.base + slot.at * L::kBox;
      storeStreams(&maps.dx, part.token(s), group, box + L::kGrad);
      storeChannels(&maps.df, part.token(s), group, box + L::kF);
      stored.add(walk, s);
      slot.advance(walk);
    }
  });
  waitStores();
}

/// Called by each of kSumWarps, which have a part of the tokens: adds the other warps' sums of a slot's tokens, in
/// their order. One warp alone takes as long for a slot as those that make its gradients.
template <class L>
__device__ __forceinline__ void storeTokenSums(const BoundaryBwdArgs &args, const Walk &walk, int warp) {
  constexpr int kPieces = L::kWarpSums / 16 / kSumWarps, kTokenPieces = kTokenSums / 4;
  static_assert(kPieces <= 32 && kPieces * kSumWarps * 16 == L::kWarpSums);
  const int lane = threadIdx.x & 31, piece = warp * kPieces + lane;
  Slot slot;
  walk.forEachPart<L::kRuns>([&](const auto &part) {
#pragma unroll 1
    for (int s = 0; s < part.count; ++s) {
      barrierWait(walk.done + 8 * slot.at, slot.parity);
      if (lane < kPieces) {
        const uint32_t from = walk.base + L::kSumsAt + slot.at * L::kSums + piece * 16;
        float4 sum = loadSharedFloat4(from);
#pragma unroll
        for (int other = 1; other < kGradWarps; ++other) {
          const float4 its = loadSharedFloat4(from + other * L::kWarpSums);
          sum.x += its.x, sum.y += its.y, sum.z += its.z, sum.w += its.w;
        }
        const int token = part.token(s);
        auto *to = reinterpret_cast<float4 *>(args.sums) + (part.slice * args.M + token) * kTokenPieces + piece;
        if (token + piece / kTokenPieces < static_cast<int>(args.M))
          storeOnce(to, sum, token < args.keptSums ? keepLong() : keepAsUsual());
      }
      __syncwarp();
      if (lane == 0)
        barrierArrive(walk.free + 8 * slot.at);
      slot.advance(walk);
    }
  });
}

} // namespace mhcrt

#endif // MHCRT_CUDA_STREAM_BOUNDARYBWDRING_CUH
