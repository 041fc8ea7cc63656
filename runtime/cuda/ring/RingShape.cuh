//===- RingShape.cuh - Width tiling of the ring kernel -------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_RING_RINGSHAPE_CUH
#define MHCRT_CUDA_RING_RINGSHAPE_CUH

#include "cuda/ptx/Barrier.cuh"
#include "cuda/ptx/Cluster.cuh"
#include "cuda/ring/PhiFragments.cuh"

#include <algorithm>
#include <type_traits>

namespace mhcrt {

constexpr int kSquares = 4; ///< where the sum of squares is in a token's row of partial sums

/// For a norm, a row has columns 0..23 and then sums of products of streams i <= k, in the order in which they are
/// made, of which two floats are unused: the place of a sum behind the columns.
__host__ __device__ constexpr int productPlace(int i, int k) {
  return i == 0 ? (k < 2 ? k : k == 2 ? 3 : 5) : i == 1 ? (k == 1 ? 2 : k == 2 ? 4 : 6) : 4 + i + k;
}
// Lanes of an owner that have them, where all others have what they have without a norm: of streams 0 and 2, of 1 and
// 3, and of squares from stream 0 on.
constexpr int kEvenLane = kSquares, kOddLane = 25, kSelfLane = 28;
constexpr int kGateFloats = 25; ///< of a token's row for the gates; odd, so that lanes are on different banks
constexpr int kMostTurns = 64;  ///< whose tiles' numbers a block has at once; a power of two
constexpr int kBlockMemory = 232448;
constexpr int kCoefficientBytes = 80; ///< of a token: h_res and h_post

/// Who writes y over x in a slot of the ring: nobody, warps of their own, or those that multiply.
enum class Mixing { none, mixers, multipliers };

/// kSplit blocks of a cluster share the channels; kWarps of a block multiply 32 channels each, so C = 32*kSplit*kWarps,
/// or less: what lies behind channel kWidth is zero and not stored. A tile has 8*kGroups tokens. kHeld of three blocks
/// of phi are in registers. Warps below kWide have kRegisters registers; all have the same where it is 0. Behind the
/// warps that multiply are mixers, one for each box, those that aggregate, and kSingles of one role each; mixers beyond
/// kWide follow those that aggregate. Where multipliers mix they aggregate too, and two or three warps have the other
/// roles.
template <int kSplit_, int kWarps_, int kGroups_, int kHeld_, int kWide_, int kThreads_, int kRegisters_,
          Mixing kMixing_, int kWidth_ = 32 * kSplit_ * kWarps_, bool kThroughMemory_ = false, bool kNorms_ = false,
          bool kF32_ = false>
struct RingTiling {
  using Normed = RingTiling<kSplit_, kWarps_, kGroups_, kHeld_, kWide_, kThreads_, kRegisters_, kMixing_, kWidth_,
                            kThroughMemory_, true>;
  static constexpr int kSplit = kSplit_, kWarps = kWarps_, kGroups = kGroups_, kHeld = kHeld_, kWide = kWide_;
  static constexpr int kThreads = kThreads_, kRegisters = kRegisters_;
  static constexpr Mixing kMixing = kMixing_;
  static constexpr bool kMixes = kMixing != Mixing::none, kMultipliersMix = kMixing == Mixing::multipliers;
  static constexpr bool kThroughMemory = kThroughMemory_; ///< no cluster: messages go through memory
  static constexpr bool kPairs = false;                   ///< see PairsShape
  static constexpr bool kStreamsLast = false;             ///< see LastShape
  static constexpr bool kCounted = false;                 ///< see CountedShape
  static constexpr bool kF32 = kF32_;                     ///< x and u are f32, else bf16
  using Element = std::conditional_t<kF32, float, __nv_bfloat16>;
  static constexpr bool kNorms = kNorms_; ///< see NormShape
  /// A token's partial sums are columns 0..3, sum of squares, columns 4..23, 3 unused; or see productPlace().
  static constexpr int kRowFloats = kNorms ? 36 : 28;
  static constexpr int kRowBytes = kRowFloats * 4;
  static constexpr int kColumns = kPhiColumns;        ///< that phi has
  static constexpr int kBoxChannels = kF32 ? 32 : 64; ///< 128 bytes
  static constexpr int kWarpsOfBox = kBoxChannels / 32;
  static constexpr int kBoxes = kWarps / kWarpsOfBox;
  static constexpr int kMixers = kMixing == Mixing::mixers ? kBoxes : 0;
  static constexpr int kAllRegisters = 65536 / kThreads / 8 * 8 * (kThreads / 32); ///< of a lane in all warps
  static constexpr int kLeft = (kAllRegisters - kWide * kRegisters) / std::max(1, kThreads / 32 - kWide) / 8 * 8;
  static constexpr int kFewRegisters = kThroughMemory ? kLeft : kMixes ? 72 : 64;    ///< of warps from kWide on
  static constexpr bool kSenderOwns = kMultipliersMix && kThreads / 32 < kWarps + 3; ///< one warp is both
  static constexpr int kSingles = kMultipliersMix ? 3 - kSenderOwns : kThroughMemory ? 6 - kMixers % 2 : 4;
  static constexpr int kRoles = kThreads / 32 - kSingles; ///< the first of the single warps
  static constexpr bool kWideMixers = kWarps + kMixers <= kWide;
  static constexpr int kFirstMixer = kWideMixers ? kWarps : kRoles - kMixers;
  static constexpr int kFirstAggregator = kWideMixers ? kWarps + kMixers : kWarps;
  static constexpr int kAggregators = kRoles - kWarps - kMixers;
  static constexpr int kPhiStreams = // of phi, loaded at once: as many as fit beside the blocks that are held
      kRegisters - 32 * kHeld >= 80 ? 4
      : kRegisters >= 112           ? 2
                                    : 1;
  static constexpr int kTokens = 8 * kGroups;
  static constexpr int kChannels = 32 * kWarps; ///< of a block
  static constexpr int kWidth = kWidth_;
  static constexpr bool kPads = kWidth < kChannels * kSplit;
  static constexpr int kOwned = std::max(1, kTokens / kSplit); ///< tokens of a tile whose sums one block finishes
  static constexpr int kOwners = kTokens / kOwned;             ///< blocks that own tokens of a tile
  /// The other half of the blocks own the next tile's tokens. Multipliers that mix were slower so without a norm.
  static constexpr bool kTakesTurns = kOwners < kSplit && (kNorms || !(kMixes || kThroughMemory));
  /// Tokens the gates take at once, one a lane: their time is that of one. Mixers leave no room for more, and 32 were
  /// slower where multipliers mix four tokens of a block without a norm.
  static constexpr bool kFewGateRows =
      kOwned == 1 || kMixing == Mixing::mixers || (kMultipliersMix && kOwned == 4 && !kNorms);
  static constexpr int kGateRows = kFewGateRows ? 16 : 32;
  static constexpr int kStreamBytes = kTokens * 128;                ///< of one stream in a box
  static constexpr int kBoxBytes = (kMixes ? 5 : 4) * kStreamBytes; ///< with f behind x
  static constexpr int kSlotBytes = kBoxes * kBoxBytes;
  // A warp's sums of a tile. Where registers do not hold those for a norm until the last tile's are sent, there are
  // two, or they lie where f was in the slot: that leaves room for a fifth slot with ten warps, and was slower with
  // eight.
  static constexpr int kColumnBytes = kNorms ? kPhiColumns * 4 : kRowBytes; ///< of a token
  static constexpr int kProductBytes = kRowBytes - kColumnBytes;            ///< of a token, those for a norm
  static constexpr bool kProductsInSlot = kNorms && kMixing == Mixing::mixers && kWarps == 10;
  static constexpr int kProductTurns = kProductsInSlot ? 0 : kMixing == Mixing::mixers ? 2 : 1;
  static constexpr int kPartialBytes = kTokens * (kColumnBytes + kProductTurns * kProductBytes);
  static constexpr int kReceivedBytes = kThroughMemory ? 0 : kSplit * kOwned * kRowBytes;
  static constexpr int kGateBytes = kGateRows * kGateFloats * 4;
  static constexpr int kWeightBytes = kNorms ? kChannels * 4 : 0; ///< of the norm
  static constexpr int kMixBytes = kMixes ? kTokens * kCoefficientBytes : 0;
  static constexpr int kNumberBytes = kThroughMemory || kNorms ? 0 : 4 * kMostTurns; ///< see CountedShape
  static constexpr int kBlockBarriers = 7; ///< those in front of the slots', see RingBarriers
  static constexpr int kSlotBarriers = 3 + kBoxes + (kMixes ? kBoxes + 1 : 0);

  // Shared memory. A slot of the ring takes part in everything that a tile needs on its way.
  static constexpr int kPerSlot = kSlotBytes + kReceivedBytes + kTokens * 16 + kMixBytes + kSlotBarriers * 8;
  static constexpr int kFixed = kWarps * PhiFragments<kHeld>::kSharedBytes + kWarps * kPartialBytes + kWeightBytes +
                                2 * (kGateBytes + 4) + kNumberBytes + kBlockBarriers * 8 + 16;
  static constexpr int kSlots = (kBlockMemory - kFixed) / kPerSlot;
  static constexpr int kRing = 0;
  static constexpr int kPhi = kRing + kSlots * kSlotBytes;
  static constexpr int kPartial = kPhi + kWarps * PhiFragments<kHeld>::kSharedBytes;
  static constexpr int kWeights = kPartial + kWarps * kPartialBytes;
  static constexpr int kReceived = kWeights + kWeightBytes;
  static constexpr int kHPre = kReceived + kSlots * kReceivedBytes;
  static constexpr int kMix = kHPre + kSlots * kTokens * 16;   ///< h_res and h_post of a tile
  static constexpr int kGateInput = kMix + kSlots * kMixBytes; ///< [2][kGateRows][kGateFloats]
  static constexpr int kGateCounts = kGateInput + 2 * kGateBytes;
  static constexpr int kNumbers = kGateCounts + 2 * 4; ///< of tiles
  static constexpr int kBarriers = (kNumbers + kNumberBytes + 7) / 8 * 8;
  static constexpr int kBytes = kBarriers + (kBlockBarriers + kSlots * kSlotBarriers) * 8;

  static_assert(kWarps % 2 == 0 && kBytes <= kBlockMemory);
  static_assert(!kProductsInSlot || 2 * kTokens * kProductBytes <= kStreamBytes, "of both warps of a box");
  static_assert(!kTakesTurns || kSplit == 2 * kOwners);
  static_assert(kWidth % 64 == 0 && kWidth <= kChannels * kSplit);
  static_assert(kMultipliersMix ? kAggregators == 0
                                : kAggregators >= 2 && kWide % 4 == 0 && (kWide == 0 || kThreads % 128 == 0));
  static_assert(kSlots >= (kMultipliersMix ? 2 : 3), "a tile is multiplied, one arrives; one has no u yet");
  static_assert(kMultipliersMix || kWide == 0 || kFewRegisters <= kLeft, "warps would wait for registers for ever");
};

/// Shapes of pre and projection.
template <int kSplit, int kWarps, int kGroups, int kHeld, int kWide, int kThreads, int kRegisters>
struct RingShape : RingTiling<kSplit, kWarps, kGroups, kHeld, kWide, kThreads, kRegisters, Mixing::none> {};
/// The same of fewer channels than the blocks have room for.
template <int kWidth, int kSplit, int kWarps, int kGroups, int kHeld, int kWide, int kThreads, int kRegisters>
struct PaddedShape : RingTiling<kSplit, kWarps, kGroups, kHeld, kWide, kThreads, kRegisters, Mixing::none, kWidth> {};

/// The same of a gang of blocks, which RingGang.cuh explains.
template <int kSplit, int kWarps, int kGroups, int kHeld, int kWide, int kThreads, int kRegisters>
struct GangShape : RingTiling<kSplit, kWarps, kGroups, kHeld, kWide, kThreads, kRegisters, Mixing::none,
                              32 * kSplit * kWarps, true> {};

/// A shape whose streams are halves of two, 0 and 1 those of the first; columns behind theirs are zero.
template <typename S>
struct PairsShape : S {
  static constexpr bool kPairs = true;
  static constexpr int kColumns = 8;
};

/// A shape of x in the layout Cn: each of the four quarters of a token has all streams of its channels.
template <typename S>
struct LastShape : S {
  static constexpr bool kStreamsLast = true;
  static_assert(!S::kPairs && !S::kMixes);
};

/// A shape whose tiles come from a counter.
template <typename S>
struct CountedShape : S {
  static constexpr bool kCounted = true;
  static_assert(!S::kThroughMemory && !S::kNorms, "all gangs run at once; others have no room for numbers");
};

/// The same with u normalised.
template <typename S>
struct NormShape : S::Normed {
  static_assert(!S::kPairs && !S::kThroughMemory && S::kGroups == 1);
};

/// Shapes of post_pre, by mixers and by multipliers that mix tiles of 8 tokens.
template <int kSplit, int kWarps, int kHeld, int kWide, int kThreads, int kRegisters>
struct MixersShape : RingTiling<kSplit, kWarps, 1, kHeld, kWide, kThreads, kRegisters, Mixing::mixers> {};
template <int kSplit, int kWarps, int kHeld, int kThreads, int kRegisters>
struct MixingShape : RingTiling<kSplit, kWarps, 1, kHeld, kWarps, kThreads, kRegisters, Mixing::multipliers> {};
template <int kWidth, int kSplit, int kWarps, int kHeld, int kThreads, int kRegisters>
struct PaddedMixingShape
    : RingTiling<kSplit, kWarps, 1, kHeld, kWarps, kThreads, kRegisters, Mixing::multipliers, kWidth> {};
template <int kSplit, int kWarps, int kHeld, int kWide, int kThreads, int kRegisters>
struct MixersGangShape
    : RingTiling<kSplit, kWarps, 1, kHeld, kWide, kThreads, kRegisters, Mixing::mixers, 32 * kSplit * kWarps, true> {};

/// Barriers of one block, by shared address.
template <typename S>
struct RingBarriers {
  uint32_t base;

  __device__ uint32_t partialFull() const { return base; }
  __device__ uint32_t partialFree() const { return base + 8; }
  __device__ uint32_t gateFull(int half) const { return base + 16 + 8 * half; }
  __device__ uint32_t gateFree(int half) const { return base + 32 + 8 * half; }
  __device__ uint32_t phi() const { return base + 48; } ///< warps have their part of phi
  __device__ uint32_t received(int slot) const { return base + 8 * S::kBlockBarriers + 8 * slot; }
  __device__ uint32_t hPre(int slot) const { return received(S::kSlots + slot); }
  __device__ uint32_t free(int slot) const { return received(2 * S::kSlots + slot); }
  __device__ uint32_t full(int slot, int box) const { return received(3 * S::kSlots + slot * S::kBoxes + box); }
  __device__ uint32_t mixed(int slot, int box) const { return full(S::kSlots + slot, box); }
  __device__ uint32_t coefficients(int slot) const { return full(2 * S::kSlots, slot); }
  /// Where the streams that are multiplied wait.
  __device__ uint32_t ready(int slot, int box) const { return S::kMixes ? mixed(slot, box) : full(slot, box); }

  static constexpr int kCount = S::kBlockBarriers + S::kSlots * S::kSlotBarriers;

  /// Called by all threads. `readers` arrive where a slot of the ring may be filled again.
  __device__ void init(int readers) const {
    for (int k = threadIdx.x; k < kCount; k += S::kThreads) {
      const bool isFree = k >= S::kBlockBarriers + 2 * S::kSlots && k < S::kBlockBarriers + 3 * S::kSlots;
      int arrivals = k == 0 || k == 6 ? S::kWarps : isFree ? readers : 1;
      if constexpr (S::kMixing == Mixing::mixers) // lanes that have copied coefficients
        arrivals = k >= kCount - S::kSlots ? 32 : arrivals;
      if constexpr (S::kMultipliersMix) { // both warps with channels of a box say that they have mixed theirs
        constexpr int kMixed = S::kBlockBarriers + (3 + S::kBoxes) * S::kSlots;
        arrivals = k >= kMixed && k < kMixed + S::kSlots * S::kBoxes ? 2 : arrivals;
      }
      barrierInit(base + 8 * k, arrivals);
    }
    fenceBarrierInit();
  }
};

} // namespace mhcrt

#endif // MHCRT_CUDA_RING_RINGSHAPE_CUH
