//===- RingCursor.cuh - Which tiles a cluster takes ------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clusters of an idle GPU divide the tiles beforehand. Beside other kernels, as the collectives of a training step,
// fewer run at once, and the others' tiles come in a second wave. A counted shape has only a cluster's first tiles
// follow from its number. Those behind them are taken from a counter in memory, where a cluster that comes late finds
// none left.
//
// A block has the numbers of a few turns' tiles in shared memory, where a warp of the cluster's first block writes
// them; the first bit of a word says in which round over the words it was written. That warp needs no credits: it
// writes the number of turn t + kGiven when it has sent the sums of tile t. By then every block has sent those of tile
// t - kSlots, for which its warps were through with the slot of tile t - 2 * kSlots, and so with the numbers before it.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_RING_RINGCURSOR_CUH
#define MHCRT_CUDA_RING_RINGCURSOR_CUH

#include "cuda/ptx/Cluster.cuh"
#include "cuda/ptx/Shared.cuh"
#include "cuda/ring/RingArgs.h"
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
  __device__ uint32_t weights(int channel) const { return memory + S::kWeights + channel * 4; }
  __device__ uint32_t mix(int slot) const { return memory + S::kMix + slot * S::kMixBytes; }
  __device__ uint32_t number(int turn) const { return memory + S::kNumbers + turn % kMostTurns * 4; }
};

template <typename S>
__device__ __forceinline__ int tilesOf(int64_t M) {
  return static_cast<int>((M + S::kTokens - 1) / S::kTokens);
}

/// Turns whose tiles follow from the cluster's number, so many that nobody waits for the others' numbers: a loader is
/// kSlots ahead of the warp that sends sums, which tells a number a turn after it has asked. Where multipliers mix,
/// they are ahead themselves, and read another turn before.
template <typename S>
constexpr int kGiven = S::kSlots + (S::kMultipliersMix ? 4 : 2);

constexpr uint32_t kRoundBit = 1u << 31;

/// The number of a turn's tile with the bit of its round.
__device__ __forceinline__ uint32_t numberWord(int turn, int tile) {
  return static_cast<uint32_t>(tile) | (turn & kMostTurns ? kRoundBit : 0);
}

/// Writes the numbers of a cluster's first tiles, and to the other places words of no round. Called by all threads.
template <typename S>
__device__ __forceinline__ void initNumbers(const RingBlock<S> &block) {
  static_assert(kGiven<S> + 2 * S::kSlots + 2 <= kMostTurns && S::kThreads >= kMostTurns);
  const int turn = threadIdx.x;
  if (S::kCounted && turn < kMostTurns)
    storeWord(block.number(turn),
              numberWord(turn < kGiven<S> ? turn : kMostTurns, clusterIndex() + turn * clusterCount()));
}

/// A number that is read before it is used, which hides how long that takes. A word that is too old is read again.
template <typename S>
class NumberAhead {
public:
  __device__ __forceinline__ void read(const RingBlock<S> &block, int turn) { word = loadWord(block.number(turn)); }
  /// The cluster's tile of a turn; none where that is behind the last. Nobody may ask for a turn behind that.
  __device__ __forceinline__ int take(const RingBlock<S> &block, int turn) {
    while ((word ^ numberWord(turn, 0)) & kRoundBit)
      read(block, turn);
    return static_cast<int>(word & ~kRoundBit);
  }

private:
  uint32_t word = 0;
};

/// Position of a warp on its way over the cluster's tiles.
template <typename S, bool kCounted = S::kCounted>
struct RingCursor {
  int tile, left, turn = 0, slot = 0;
  uint32_t parity = 0;

  __device__ RingCursor(const RingBlock<S> &, int64_t M) : tile(clusterIndex()) {
    const int step = clusterCount();
    left = (tilesOf<S>(M) - tile + step - 1) / step;
  }
  __device__ bool more() const { return left > 0; }
  __device__ int firstToken() const { return tile * S::kTokens; }
  __device__ int firstTokenBefore() const { return (tile - clusterCount()) * S::kTokens; }
  __device__ void next() {
    tile += clusterCount();
    --left;
    ++turn;
    if (++slot == S::kSlots) {
      slot = 0;
      parity ^= 1;
    }
  }
};

template <typename S>
struct RingCursor<S, true> {
  const RingBlock<S> &block;
  int tile, tiles, turn = 0, slot = 0;
  uint32_t parity = 0;
  NumberAhead<S> ahead;

  __device__ __forceinline__ RingCursor(const RingBlock<S> &block, int64_t M)
      : block(block), tile(clusterIndex()), tiles(tilesOf<S>(M)) {
    ahead.read(block, 1);
  }
  __device__ __forceinline__ bool more() const { return tile < tiles; }
  __device__ __forceinline__ int firstToken() const { return tile * S::kTokens; }
  __device__ __forceinline__ int firstTokenBefore() const {
    return static_cast<int>(loadWord(block.number(turn - 1)) & ~kRoundBit) * S::kTokens;
  }
  __device__ __forceinline__ void next() {
    ++turn;
    if (++slot == S::kSlots) {
      slot = 0;
      parity ^= 1;
    }
    if (more()) // else nobody is told a further one
      tile = ahead.take(block, turn);
    if (more())
      ahead.read(block, turn + 1);
  }
};

/// The tile that comes next in the slot of a cursor's, asked for at every turn.
template <typename S, bool kCounted = S::kCounted>
struct NextInSlot {
  int tile;

  __device__ explicit NextInSlot(const RingBlock<S> &) {}
  __device__ bool find(const RingCursor<S> &at) {
    tile = at.tile + S::kSlots * clusterCount();
    return at.left > S::kSlots;
  }
};

template <typename S>
struct NextInSlot<S, true> {
  int tile = clusterIndex() + (S::kSlots - 1) * clusterCount();
  NumberAhead<S> ahead;

  __device__ __forceinline__ explicit NextInSlot(const RingBlock<S> &block) { ahead.read(block, S::kSlots); }
  __device__ __forceinline__ bool find(const RingCursor<S> &at) {
    if (tile < at.tiles) {
      tile = ahead.take(at.block, at.turn + S::kSlots);
      ahead.read(at.block, at.turn + 1 + S::kSlots);
    }
    return tile < at.tiles;
  }
};

/// Where a cluster's tiles come from behind those that are given: a warp of its first block asks, and tells all blocks
/// a turn later, so that it does not wait for the answer. Every cluster is told once that there is no tile left; behind
/// the last of these questions the counter is zero.
template <typename S, bool kCounted = S::kCounted>
class TileSource {
public:
  __device__ explicit TileSource(const RingArgs &) {}
  __device__ void begin(const RingBlock<S> &, int) {}
};

template <typename S>
class TileSource<S, true> {
public:
  __device__ __forceinline__ explicit TileSource(const RingArgs &args)
      : counter(args.counter), tiles(tilesOf<S>(args.M)), last(clusterIndex() + (kGiven<S> - 1) * clusterCount()) {
    if (tiles <= kGiven<S> * clusterCount())
      counter = nullptr; // not all clusters would ask
  }

  /// Begins a turn.
  __device__ __forceinline__ void begin(const RingBlock<S> &block, int turn) {
    if (isAsked)
      tell(block, turn - 1 + kGiven<S>);
    isAsked = block.rank == 0 && last < tiles;
    if (isAsked && counter && block.lane == 0)
      answer = atomicInc(counter, tiles - kGiven<S> * clusterCount() + clusterCount() - 1);
  }

private:
  __device__ __forceinline__ void tell(const RingBlock<S> &block, int turn) {
    last = counter ? kGiven<S> * clusterCount() + __shfl_sync(~0u, answer, 0) : last + clusterCount();
    if (block.lane < S::kSplit)
      storeWord(remoteAddress(block.number(turn), block.lane), numberWord(turn, last));
  }

  uint32_t *counter;
  int tiles, last;
  uint32_t answer = 0; ///< of the first lane
  bool isAsked = false;
};

} // namespace mhcrt

#endif // MHCRT_CUDA_RING_RINGCURSOR_CUH
