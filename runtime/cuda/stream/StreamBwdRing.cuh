//===- StreamBwdRing.cuh - Tiles of the stream kernel in a ring -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared memory of a block of stream_bwd_sm90.cu, and what fills and empties it. A slot holds 8 tokens: boxes of x,
// d_x_in (d_x is written over it) and d_u, and the tokens' rows of coefficients. Its barriers: full when the copies
// have come, done when d_x is there, free when the store and the product have read it.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_STREAM_STREAMBWDRING_CUH
#define MHCRT_CUDA_STREAM_STREAMBWDRING_CUH

#include "cuda/ptx/Barrier.cuh"
#include "cuda/ptx/BulkCopy.cuh"
#include "cuda/ptx/Cluster.cuh"
#include "cuda/ptx/Overlap.cuh"
#include "cuda/stream/StreamBwd.h"
#include "cuda/tile/Vec.cuh"

namespace mhcrt {

constexpr int kProductWarps = 4;
constexpr int kGradWarps = 8; ///< that make d_x
constexpr int kWarpChannels = kSlice / kGradWarps;
constexpr int kStoreWarp = kProductWarps + kGradWarps;
constexpr int kLoadWarp = kStoreWarp + 1;
constexpr int kStreamThreads = 32 * (kLoadWarp + 3);
constexpr int kStoresInFlight = 2;
constexpr int kSharedBytes = 232448;
constexpr uint32_t kStreamsBytes = kSlice * 4 * kSlotTokens * 2, kChannelsBytes = kSlice * kSlotTokens * 2;

constexpr uint32_t kPartBytes = 20; ///< of BlockPart

enum class Start { kNone, kAdd, kMix };

/// Shared memory: the slots' boxes, then their rows of coefficients, barriers. Pairs are two streams as four of half
/// the channels, 0 and 1 the halves of the first: a slot has both halves of d_u.
template <Start kStart, bool kHasDu, bool kIsPairs = false>
struct Layout {
  static constexpr bool kPairs = kIsPairs, kRuns = false;
  static constexpr uint32_t kDuBytes = kHasDu ? (kPairs ? 2 : 1) * kChannelsBytes : 0;
  static constexpr uint32_t kGrad = kStreamsBytes, kDu = 2 * kStreamsBytes;
  static constexpr uint32_t kBox = kDu + kDuBytes;
  static constexpr uint32_t kProjRow = kColumns * 4, kScalarRow = kScalars * 4, kMixRow = kPairs ? 16 : 64;
  static constexpr uint32_t kScalar = kSlotTokens * kProjRow, kMix = kScalar + kSlotTokens * kScalarRow;
  static constexpr uint32_t kRows = kMix + (kStart == Start::kMix ? kSlotTokens * kMixRow : 0);
  static constexpr uint32_t kBarriers = 512;
  static constexpr int kMostSlots = (kSharedBytes - kBarriers) / (kBox + kRows);
  static constexpr uint32_t kRowsAt = kMostSlots * kBox, kBarriersAt = kRowsAt + kMostSlots * kRows;
  static constexpr uint32_t kTotal = kBarriersAt + kBarriers;
  static_assert(24 * kMostSlots + 2 * kPartBytes <= kBarriers && kTotal <= kSharedBytes &&
                kMostSlots > kStoresInFlight);
};

/// The tiles of a block that takes those of its slice in turn with others.
struct BlockTurns {
  int slice, group; ///< group: which of the slice's partial sums is the block's
  int groups, tiles, count;

  __device__ __forceinline__ static BlockTurns of(const StreamDivision &division) {
    const int block = blockIdx.x / division.together;
    BlockTurns turns;
    turns.slice = block % division.slices * division.together + blockIdx.x % division.together;
    turns.group = block / division.slices;
    turns.groups = division.blocks / division.slices;
    turns.tiles = division.tiles;
    turns.count = (turns.tiles - turns.group + turns.groups - 1) / turns.groups;
    return turns;
  }

  __device__ int token(int s) const { return (tiles - 1 - group - s * groups) * kSlotTokens; }
};

/// Tiles of a block's run that are of one slice: `count`, from the last on back.
struct BlockPart {
  int slice, group; ///< as above
  int last, step, count;

  /// The first part of a run, 0, or its second, 1, which may have no tiles.
  __device__ __forceinline__ static BlockPart ofRun(const StreamDivision &division, int number) {
    const int block = blockIdx.x / division.together;
    const int slice = static_cast<int>(division.begin(block) / division.tiles) + number;
    const int64_t tile = int64_t(slice) * division.tiles; // the slice's first
    const int begin = static_cast<int>(max(division.begin(block) - tile, int64_t(0)));
    const int end = static_cast<int>(min(division.begin(block + 1) - tile, int64_t(division.tiles)));
    return {static_cast<int>(slice * division.together + blockIdx.x % division.together),
            block - division.blockOf(tile), division.tiles - 1 - begin, 1, end - begin};
  }

  __device__ __forceinline__ int token(int s) const { return (last - s * step) * kSlotTokens; }
};

static_assert(sizeof(BlockPart) == kPartBytes);

/// The ring that a block's tiles pass through.
struct Walk {
  char *shared;
  uint32_t base; ///< address of `shared`
  uint32_t full, done, free;
  uint32_t ready; ///< barriers of what the product reads: `full`, unless somebody makes it
  uint32_t slots;
  BlockTurns turns; ///< where there is no run
  BlockPart *parts; ///< of a run: two, in shared memory, as registers are few

  template <class L>
  __device__ __forceinline__ static Walk of(const StreamBwdArgs &args, int slots, char *shared, L) {
    Walk walk;
    walk.shared = shared;
    walk.base = sharedAddress(shared);
    walk.full = walk.base + L::kBarriersAt;
    walk.done = walk.full + 8 * L::kMostSlots;
    walk.free = walk.done + 8 * L::kMostSlots;
    walk.ready = walk.full;
    walk.slots = slots;
    if constexpr (L::kRuns)
      walk.parts = sharedAt<BlockPart>(shared, L::kBarriersAt + 24 * L::kMostSlots);
    else
      walk.turns = BlockTurns::of(divisionOf(args));
    return walk;
  }

  /// Called by one thread, before the others use the barriers and the parts.
  template <bool kRuns>
  __device__ __forceinline__ void init(const StreamBwdArgs &args, int readers) const {
    for (uint32_t i = 0; i < slots; ++i) {
      barrierInit(full + 8 * i, 1);
      barrierInit(done + 8 * i, kGradWarps);
      barrierInit(free + 8 * i, readers);
    }
    fenceBulk();
    if constexpr (kRuns) {
      const StreamDivision division = divisionOf(args);
      for (int part = 0; part < 2 && !division.inTurn(); ++part)
        parts[part] = BlockPart::ofRun(division, part);
    }
  }

  /// Calls body(part) for each part of the block.
  template <bool kRuns, class Body>
  __device__ __forceinline__ void forEachPart(const Body &body) const {
    if constexpr (!kRuns) {
      body(turns);
    } else {
#pragma unroll 1
      for (int part = 0; part < 2 && parts[part].count > 0; ++part)
        body(parts[part]);
    }
  }

private:
  __device__ __forceinline__ static StreamDivision divisionOf(const StreamBwdArgs &args) {
    const int together = clusterSize();
    return {static_cast<int>(args.C) / (kSlice * together), (static_cast<int>(args.M) + kSlotTokens - 1) / kSlotTokens,
            static_cast<int>(gridDim.x) / together, together};
  }
};

struct Slot {
  uint32_t at = 0, parity = 0;
  __device__ void advance(const Walk &walk) {
    if (++at == walk.slots) {
      at = 0;
      parity ^= 1;
    }
  }
};

template <class L, Start kStart, bool kHasDu>
__device__ __forceinline__ void loadTile(const StreamBwdArgs &args, const Walk &walk, int slice, uint32_t slot,
                                         int token, const CUtensorMap *x, const CUtensorMap *dxIn,
                                         const CUtensorMap *du) {
  const uint32_t bar = walk.full + 8 * slot, box = walk.base + slot * L::kBox;
  const uint32_t rows = walk.base + L::kRowsAt + slot * L::kRows;
  const int count = min(kSlotTokens, static_cast<int>(args.M) - token), group = slice * (kSlice / 64);
  barrierExpect(bar, (kStart == Start::kNone ? 1 : 2) * kStreamsBytes + L::kDuBytes + count * (L::kRows / kSlotTokens));
  loadStreams(box, x, token, group, bar);
  bulkLoad(rows, args.dProj + static_cast<int64_t>(token) * kColumns, count * L::kProjRow, bar);
  bulkLoad(rows + L::kScalar, args.scalars + static_cast<int64_t>(token) * kScalars, count * L::kScalarRow, bar);
  if (kStart == Start::kMix)
    bulkLoad(rows + L::kMix, args.mix + static_cast<int64_t>(token) * (L::kMixRow / 4), count * L::kMixRow, bar);
  if (kStart != Start::kNone)
    loadStreams(box + L::kGrad, dxIn, token, group, bar);
  if (kHasDu)
    loadChannels(box + L::kDu, du, token, group, bar);
  if (kHasDu && L::kPairs)
    loadChannels(box + L::kDu + kChannelsBytes, du, token, static_cast<int>(args.C / 64) + group, bar);
}

/// Called by one thread.
template <class L, Start kStart, bool kHasDu>
__device__ __forceinline__ void loadTiles(const StreamBwdArgs &args, const Walk &walk, const CUtensorMap *x,
                                          const CUtensorMap *dxIn, const CUtensorMap *du) {
  waitForEarlierKernels();
  Slot slot;
  walk.forEachPart<L::kRuns>([&](const auto &part) {
    const int slice = part.slice;
#pragma unroll 1
    for (int s = 0; s < part.count; ++s) {
      if (s >= static_cast<int>(walk.slots))
        barrierWait(walk.free + 8 * slot.at, slot.parity ^ 1);
      loadTile<L, kStart, kHasDu>(args, walk, slice, slot.at, part.token(s), x, dxIn, du);
      slot.advance(walk);
    }
  });
}

/// Slots whose stores are under way: one is free again when those of the next kStoresInFlight are.
template <class L>
struct StoredSlots {
  Slot oldest;
  int count = 0;

  /// The stores of a part's tile s.
  __device__ __forceinline__ void add(const Walk &walk, int s) {
    commitStores();
    if ((L::kRuns ? count : s) < kStoresInFlight) {
      ++count;
      return;
    }
    waitStoresRead<kStoresInFlight>();
    barrierArrive(walk.free + 8 * oldest.at);
    oldest.advance(walk);
  }
};

/// Called by one thread.
template <class L>
__device__ __forceinline__ void storeTiles(const Walk &walk, const CUtensorMap *dx) {
  Slot slot;
  StoredSlots<L> stored;
  walk.forEachPart<L::kRuns>([&](const auto &part) {
#pragma unroll 1
    for (int s = 0; s < part.count; ++s) {
      barrierWait(walk.done + 8 * slot.at, slot.parity);
      storeStreams(dx, part.token(s), part.slice * (kSlice / 64), walk.base + slot.at * L::kBox + L::kGrad);
      stored.add(walk, s);
      slot.advance(walk);
    }
  });
  waitStores();
}

} // namespace mhcrt

#endif // MHCRT_CUDA_STREAM_STREAMBWDRING_CUH
