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
/// and the sums of its gradient, sums from the block that is together with this one, barriers.
template <Start kStart, bool kHasRuns>
struct BoundaryLayout {
  static constexpr bool kRuns = kHasRuns;
  static constexpr uint32_t kGrad = kStreamsBytes, kF = 2 * kStreamsBytes, kDu = kF + kChannelsBytes;
  static constexpr uint32_t kBox = kDu + kChannelsBytes;
  static constexpr uint32_t kProjRow = boundaryRowBytes(kStart == Start::kMix), kRows = kSlotTokens * kProjRow;
  static constexpr uint32_t kWarpSums = kSlotTokens * kTokenSums * 4, kSums = kGradWarps * kWarpSums;
  static constexpr uint32_t kBarriers = 512, kBias = kSlice * 4, kBiasSums = kGradWarps * 32 * 4 * 8;
  static constexpr uint32_t kMessages = 4, kMessage = kWarpSums / kSumWarps; ///< sums from another block
  static constexpr int kMostSlots =
      (kSharedBytes - kBarriers - SharedSums::kBytes - kBias - kBiasSums - kMessages * kMessage) /
      (kBox + kRows + kSums);
  static constexpr uint32_t kRowsAt = kMostSlots * kBox, kSumsAt = kRowsAt + kMostSlots * kRows;
  static constexpr uint32_t kProductAt = kSumsAt + kMostSlots * kSums;
  static constexpr uint32_t kBiasAt = kProductAt + SharedSums::kBytes, kBiasSumsAt = kBiasAt + kBias;
  static constexpr uint32_t kExchangeAt = kBiasSumsAt + kBiasSums;
  static constexpr uint32_t kBarriersAt = kExchangeAt + kMessages * kMessage, kTotal = kBarriersAt + kBarriers;
  static constexpr uint32_t kExchangeBarriers = 256; ///< behind kBarriersAt
  static_assert(24 * kMostSlots + 2 * kPartBytes <= kExchangeBarriers &&
                kExchangeBarriers + 2 * 8 * kMessages <= kBarriers && kTotal <= kSharedBytes &&
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

__device__ __forceinline__ void addTo(float4 &sum, const float4 &other) {
  sum.x += other.x, sum.y += other.y, sum.z += other.z, sum.w += other.w;
}

/// Sums of tokens on their way between two blocks that are together. Each of the kSumWarps has a part of a slot's
/// tokens, and each block adds and stores those of one of the warps, which the other block's warp sends it.
template <class L>
struct SumsExchange {
  static constexpr uint32_t kMessage = L::kMessage;
  static_assert(kSumWarps == 2, "a warp for each of the two blocks");

  uint32_t ring, full, free; ///< addresses in this block
  uint32_t other;            ///< rank
  uint32_t count = 0;        ///< of messages so far

  __device__ __forceinline__ SumsExchange(const Walk &walk, uint32_t other)
      : ring(walk.base + L::kExchangeAt), full(walk.base + L::kBarriersAt + L::kExchangeBarriers),
        free(full + 8 * L::kMessages), other(other) {}

  /// Called by one thread.
  __device__ __forceinline__ void init() const {
    for (uint32_t i = 0; i < 2 * L::kMessages; ++i)
      barrierInit(full + 8 * i, 1);
    fenceBarrierInit();
  }

  /// Called by a warp: the lanes that have a piece send it.
  __device__ __forceinline__ void send(int lane, const float4 &sum) {
    const uint32_t at = count % L::kMessages;
    if (count >= L::kMessages)
      waitRead(count - L::kMessages);
    if (lane * 16 < kMessage)
      sendRemote(remoteAddress(ring + at * kMessage + lane * 16, other), sum, remoteAddress(full + 8 * at, other));
    ++count;
  }

  /// Called by a warp: the other block's piece of a lane.
  __device__ __forceinline__ float4 receive(int lane) {
    const uint32_t at = count % L::kMessages;
    if (lane == 0)
      barrierExpect(full + 8 * at, kMessage);
    barrierWaitRemote(full + 8 * at, count / L::kMessages & 1);
    float4 sum = {};
    if (lane * 16 < kMessage)
      sum = loadSharedFloat4(ring + at * kMessage + lane * 16);
    __syncwarp();
    if (lane == 0)
      barrierArriveRead(remoteAddress(free + 8 * at, other));
    ++count;
    return sum;
  }

  /// Waits until all that was sent is read: nobody writes to a block that leaves.
  __device__ __forceinline__ void finish() const {
    for (uint32_t last = min(count, L::kMessages); last > 0; --last)
      waitRead(count - last);
  }

private:
  __device__ __forceinline__ void waitRead(uint32_t message) const {
    barrierWaitRemote(free + 8 * (message % L::kMessages), message / L::kMessages & 1);
  }
};

/// Called by each of kSumWarps, which have a part of the tokens: adds the other warps' sums of a slot's tokens, in
/// their order, and those of the block that is together with this one. One warp alone takes as long for a slot as those
/// that make its gradients.
template <class L>
__device__ __forceinline__ void storeTokenSums(const BoundaryBwdArgs &args, const Walk &walk, int warp) {
  constexpr int kPieces = L::kMessage / 16, kTokenPieces = kTokenSums / 4;
  static_assert(kPieces <= 32 && kPieces * kSumWarps * 16 == L::kWarpSums);
  const int lane = threadIdx.x & 31, piece = warp * kPieces + lane;
  const bool isPair = args.division.together > 1, sends = isPair && warp != static_cast<int>(clusterRank());
  SumsExchange<L> exchange(walk, clusterRank() ^ 1);
  Slot slot;
  walk.forEachPart<L::kRuns>([&](const auto &part) {
    const int64_t first = part.slice / args.division.together * args.M;
#pragma unroll 1
    for (int s = 0; s < part.count; ++s) {
      barrierWait(walk.done + 8 * slot.at, slot.parity);
      float4 sum = {};
      if (lane < kPieces) {
        const uint32_t from = walk.base + L::kSumsAt + slot.at * L::kSums + piece * 16;
        sum = loadSharedFloat4(from);
#pragma unroll
        for (int other = 1; other < kGradWarps; ++other)
          addTo(sum, loadSharedFloat4(from + other * L::kWarpSums));
      }
      __syncwarp();
      if (lane == 0)
        barrierArrive(walk.free + 8 * slot.at);
      slot.advance(walk);
      if (sends) {
        exchange.send(lane, sum);
        continue;
      }
      if (isPair)
        addTo(sum, exchange.receive(lane));
      const int token = part.token(s);
      auto *to = reinterpret_cast<float4 *>(args.sums) + (first + token) * kTokenPieces + piece;
      if (lane < kPieces && token + piece / kTokenPieces < static_cast<int>(args.M))
        storeOnce(to, sum, token < args.keptSums ? keepLong() : keepAsUsual());
    }
  });
  if (sends)
    exchange.finish();
}

} // namespace mhcrt

#endif // MHCRT_CUDA_STREAM_BOUNDARYBWDRING_CUH
