//===- RingTest.cpp - Who waits for the ring's messages -------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A message to another block is ordered by its barrier alone: one that nobody awaits may land in the shared memory of
// the next kernel. The sender's role runs here, on instructions that take notes, as lane 0 of one block.
//
//===------------------------------------------------------------------------===//
#include <algorithm>
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>
#include <map>

// In place of the instructions.
#define MHCRT_CUDA_PTX_BARRIER_CUH
#define MHCRT_CUDA_PTX_CLUSTER_CUH
#define MHCRT_CUDA_PTX_OVERLAP_CUH
#define MHCRT_CUDA_PTX_SHARED_CUH

static struct {
  unsigned x;
} threadIdx;
static void __syncwarp() {}
static float __shfl_sync(unsigned, float value, int) { return value; }
static float __shfl_xor_sync(unsigned, float value, int) { return value; }
static float __uint_as_float(uint32_t) { return 0; }
static float __int_as_float(int) { return 0; }
static uint32_t atomicInc(uint32_t *counter, uint32_t most) {
  const uint32_t old = *counter;
  *counter = old >= most ? 0 : old + 1;
  return old;
}
static uint32_t __float_as_uint(float) { return 0; }

namespace mhcrt {

using std::max, std::min;

/// The barriers that messages arrive at. All that is announced comes at once.
struct Barriers {
  std::map<uint32_t, int> announced, awaited; ///< phases
};
static Barriers barriers;

static void barrierExpect(uint32_t bar, uint32_t) { ++barriers.announced[bar]; }
static void barrierWaitRemote(uint32_t bar, uint32_t parity) {
  // A phase of the other parity is the one before, which is complete.
  const int phases = barriers.announced[bar];
  barriers.awaited[bar] = (phases & 1) != static_cast<int>(parity) ? phases : phases - 1;
}
static void barrierWait(uint32_t, uint32_t) {}
static void barrierArrive(uint32_t) {}
static void barrierInit(uint32_t, uint32_t) {}
static void fenceBarrierInit() {}
static void clusterWait() {}
static int ofCluster = 0, clusters = 1;
static int clusterIndex() { return ofCluster; }
static int clusterCount() { return clusters; }
static uint32_t remoteAddress(uint32_t a, uint32_t) { return a; }
static void sendRemote(uint32_t, float4, uint32_t) {}
static uint4 loadShared4(uint32_t) { return {}; }
static float loadSharedFloat(uint32_t) { return 0; }
static float4 loadSharedFloat4(uint32_t) { return {}; }
static int loadSharedInt(uint32_t) { return 0; }
static void storeShared4(uint32_t, uint4) {}
static void storeSharedFloat4(uint32_t, float4) {}
static void storeSharedFloat(uint32_t, float) {}
static void storeSharedInt(uint32_t, int) {}
static std::map<uint32_t, uint32_t> words; ///< of shared memory
static void storeWord(uint32_t to, uint32_t word) { words[to] = word; }
static uint32_t loadWord(uint32_t from) { return words[from]; }

} // namespace mhcrt

// The host's compiler knows no registers of the others.
#define asm(...)
#include "cuda/ring/RingOwner.cuh"
#undef asm

using namespace mhcrt;

namespace {

/// After `turns` tiles of its cluster.
template <typename S>
void expectAllAwaited(int turns) {
  SCOPED_TRACE("C=" + std::to_string(S::kWidth) + ", " + std::to_string(turns) + " tiles");
  barriers = {};
  RingArgs args = {};
  args.M = int64_t{turns} * S::kTokens;
  const RingBlock<S> block = {0, 0, {S::kBarriers}, S::kRoles, 0};
  senderRole<S, false>(args, block);
  for (int slot = 0; slot < S::kSlots; ++slot) {
    const uint32_t bar = block.bars.hPre(slot);
    EXPECT_EQ(barriers.announced[bar], (turns + S::kSlots - 1 - slot) / S::kSlots) << "slot " << slot;
    EXPECT_EQ(barriers.awaited[bar], barriers.announced[bar]) << "slot " << slot;
  }
}

TEST(CudaRing, TheSenderOfAProjectionWaitsForTheLastMessages) {
  for (int turns = 1; turns < 30; ++turns) {
    expectAllAwaited<RingShape<16, 8, 2, 3, 8, 512, 192>>(turns);
    expectAllAwaited<RingShape<2, 12, 1, 2, 12, 640, 112>>(turns);
  }
}

/// Each token of two tiles, one behind the other, has one owner, which knows of it.
template <typename S>
void expectOneOwnerEach() {
  for (int tile = 0; tile < 2; ++tile)
    for (unsigned rank = 0; rank < S::kSplit; ++rank) {
      SCOPED_TRACE("C=" + std::to_string(S::kWidth) + ", tile " + std::to_string(tile) + ", block " +
                   std::to_string(rank));
      const RingBlock<S> block = {0, rank, {S::kBarriers}, S::kRoles, 0};
      int owned = 0;
      for (int token = 0; token < S::kTokens; ++token)
        if (ownerOf<S>(token, tile) == rank) {
          EXPECT_EQ(token, static_cast<int>(firstOwned(block)) + owned);
          ++owned;
        }
      EXPECT_EQ(owned, owns(block, tile) ? S::kOwned : 0);
    }
}

TEST(CudaRing, HalvesOfAClusterOwnTilesInTurnsWhereThereIsANorm) {
  expectOneOwnerEach<NormShape<MixersShape<16, 8, 2, 12, 640, 112>>>();
  expectOneOwnerEach<NormShape<MixersShape<8, 10, 1, 0, 768, 80>>>();
  expectOneOwnerEach<NormShape<MixingShape<2, 12, 1, 448, 128>>>();
  expectOneOwnerEach<MixersShape<16, 8, 2, 12, 640, 112>>();
  static_assert(NormShape<MixersShape<16, 8, 2, 12, 640, 112>>::kTakesTurns);
}

/// Clusters that come when the others have ended find the tiles taken that did not follow from their number.
template <typename S>
void expectTakenOnce(int count, int tiles) {
  SCOPED_TRACE("C=" + std::to_string(S::kWidth) + ", " + std::to_string(count) + " clusters, " + std::to_string(tiles) +
               " tiles");
  uint32_t counter = 0;
  RingArgs args = {};
  args.M = int64_t{tiles} * S::kTokens, args.counter = &counter;
  clusters = count;
  std::vector<int> taken(tiles);
  for (ofCluster = 0; ofCluster < count; ++ofCluster) {
    const RingBlock<S> block = {0, 0, {S::kBarriers}, S::kRoles, 0};
    for (threadIdx.x = 0; threadIdx.x < S::kThreads; ++threadIdx.x)
      initNumbers(block);
    RingCursor<S> at(block, args.M);
    NextInSlot<S> next(block);
    TileSource<S> source(args);
    std::vector<int> ahead;
    for (; at.more(); at.next()) {
      source.begin(block, at.turn);
      ++taken[at.tile];
      if (at.turn >= S::kSlots) {
        EXPECT_EQ(at.tile, ahead[at.turn - S::kSlots]);
      }
      next.find(at);
      ahead.push_back(next.tile);
    }
    EXPECT_LE(at.turn, ofCluster == 0 ? tiles : kGiven<S>);
  }
  ofCluster = 0, clusters = 1, threadIdx.x = 0;
  EXPECT_EQ(taken, std::vector<int>(tiles, 1));
  EXPECT_EQ(counter, 0u);
}

TEST(CudaRing, EachTileIsTakenOnceFromACounter) {
  for (int count : {1, 2, 7})
    for (int tiles : {count, 3 * count + 1, 10 * count, 10 * count + 1, 17 * count - 1, 100 * count + 3}) {
      expectTakenOnce<CountedShape<RingShape<16, 8, 2, 3, 8, 512, 192>>>(count, tiles);
      expectTakenOnce<CountedShape<MixingShape<16, 14, 1, 512, 128>>>(count, tiles);
      expectTakenOnce<CountedShape<MixersShape<16, 8, 2, 12, 640, 112>>>(count, tiles);
    }
}

} // namespace
