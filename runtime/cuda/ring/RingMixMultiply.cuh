//===- RingMixMultiply.cuh - post, product and u by one warp ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where phi leaves memory for two slots, and registers for no warps that mix and aggregate. A warp that multiplies
// mixes its channels, keeps y in registers for the product and for u, and its slot is free as soon as y is stored,
// where that is wanted. u of a tile is made when the sums of the next are on their way. Two warps have channels of one
// box: each arrives at its barrier, and the first of them waits there, has the fence between the stores of both and the
// copy, and copies. The second goes on.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_RING_RINGMIXMULTIPLY_CUH
#define MHCRT_CUDA_RING_RINGMIXMULTIPLY_CUH

#include "cuda/ring/RingKernel.cuh"
#include "cuda/ring/RingMix.cuh"

namespace mhcrt {

/// Waits for h_pre of the tile before `at`, whose slot it returns.
template <typename S>
__device__ __forceinline__ int awaitWeights(const RingBlock<S> &block, const RingCursor<S> &at) {
  const bool wraps = at.slot == 0;
  const int slot = wraps ? S::kSlots - 1 : at.slot - 1;
  barrierWaitRemote(block.bars.hPre(slot), wraps ? at.parity ^ 1 : at.parity);
  return slot;
}

/// u of a lane's token and channels, of the tile before `at`.
template <typename S>
__device__ __forceinline__ void aggregateHeld(const RingArgs &args, const RingBlock<S> &block, const RingCursor<S> &at,
                                              const uint4 (&y)[4], int channel) {
  const int slot = awaitWeights(block, at), inTile = tokenOfLane(laneAgain());
  const int64_t token = at.firstTokenBefore() + inTile;
  const float4 h = loadSharedFloat4(block.hPre(slot) + inTile * 16);
  if (args.u && token < args.M)
    storeOnce(static_cast<uint16_t *>(args.u) + token * S::kWidth + channel,
              weigh<S>(y, h, block.weights(channel - block.rank * S::kChannels)));
}

template <typename S>
__device__ __forceinline__ void mixMultiplyRole(const RingArgs &args, const RingMixArgs &mix, const RingBlock<S> &block,
                                                const RingMixMaps &maps) {
  // y is copied before this product, where the other warp of the box has mixed; first of all where that was faster.
  constexpr int kCopyBefore = S::kSplit < 8 || S::kWarps < 12 ? 0 : 3;
  // Three slots and fewer are filled again when the sums are on their way: y has left by then, without a wait.
  constexpr bool kRefillsLate = S::kSlots <= 3;
  const int box = block.warp / 2;
  const int channel = (block.rank * S::kWarps + block.warp) * 32; // the warp's first
  // Made again where they are used, for want of registers.
  const auto copies = [&] { return block.warp % 2 == 0 && laneAgain() == 0; };
  if (copies())
    for (RingCursor<S> at(block, args.M); at.more() && at.turn < S::kSlots; at.next())
      loadMixBox(block, maps, at.slot, box, at.firstToken());
  __syncwarp();
  PhiFragments<S::kHeld> phi;
  phi.template load<S::kPhiStreams, S::kColumns>(args.phi, args.C, channel + block.lane % 4 * 8, block.lane,
                                                 block.memory + S::kPhi +
                                                     block.warp * PhiFragments<S::kHeld>::kSharedBytes);
  uint4 before[4];
  NextInSlot<S> next(block);
  RingCursor<S> at(block, args.M);
  const auto refill = [&] { // the slot, whose y has been copied
    if (copies() && next.find(at)) {
      waitStoresRead<0>();
      loadMixBox(block, maps, at.slot, box, next.tile * S::kTokens);
    }
    __syncwarp();
  };
  for (; at.more(); at.next()) {
    barrierWait(block.bars.coefficients(at.slot), at.parity);
    barrierWait(block.bars.full(at.slot, box), at.parity);
    const int lane = laneAgain(), token = tokenOfLane(lane), chunk = block.warp % 2 * 4 + lane % 4;
    const uint32_t from = block.box(at.slot, box) + token * 128 + (chunk ^ token) * 16;
    float sums[S::kGroups][kPhiBlocks + 1][4] = {};
    MixColumn<S> y;
    y.load(from);
    y.mix(mix, coefficientsOf(mix, block, at.slot, token), [&] { return channel + laneAgain() % 4 * 8; });
    y.store(from);
    __syncwarp();
    if (laneAgain() == 0)
      barrierArrive(block.bars.mixed(at.slot, box));
    __syncwarp();
    StreamProducts products = {};
    if constexpr (S::kNorms)
      products.multiply(y.streams, laneAgain(), [](int) {});
#pragma unroll
    for (int stream = 0; stream < 4; ++stream) {
      if (stream == kCopyBefore) {
        if (copies()) {
          barrierWait(block.bars.mixed(at.slot, box), at.parity);
          fenceBulk();
          if (mix.stores)
            storeStreams(&maps.y, at.firstToken(), block.rank * S::kBoxes + box, block.box(at.slot, box));
          commitStores();
        }
        __syncwarp();
      }
      multiplyStream<S>(phi, stream, {y.streams[stream]}, sums);
    }
    if (!kRefillsLate)
      refill();
    barrierWait(block.bars.partialFree(), (at.turn & 1) ^ 1);
    const uint32_t partial = block.memory + S::kPartial + block.warp * S::kPartialBytes;
    storePartials<S>(sums[0], partial, laneAgain());
#pragma unroll
    for (int k = 0; k < 3 && S::kNorms; ++k)
      products.store<S>(productsOf(block, at.slot, at.turn, block.warp), laneAgain(), k);
    __syncwarp();
    if (laneAgain() == 0)
      barrierArrive(block.bars.partialFull());
    if (kRefillsLate)
      refill();
    if (at.turn > 0)
      aggregateHeld(args, block, at, before, channel + laneAgain() % 4 * 8);
#pragma unroll
    for (int o = 0; o < 4; ++o)
      before[o] = y.streams[o];
  }
  aggregateHeld(args, block, at, before, channel + laneAgain() % 4 * 8);
  if (copies())
    waitStores();
}

/// A warp whose channels are behind the last: its sums are zero. It waits as the others do, so that in a block of such
/// warps alone somebody waits for each load and message.
template <typename S>
__device__ __forceinline__ void paddingMixRole(const RingArgs &args, const RingBlock<S> &block) {
  clearPartials(block);
  RingCursor<S> at(block, args.M);
  for (; at.more(); at.next()) {
    barrierWait(block.bars.coefficients(at.slot), at.parity);
    barrierWait(block.bars.partialFree(), (at.turn & 1) ^ 1);
    __syncwarp();
    if (block.lane == 0)
      barrierArrive(block.bars.partialFull());
    if (at.turn > 0)
      awaitWeights(block, at);
  }
  awaitWeights(block, at);
}

/// Sender, loader of coefficients, which have been read when a tile's partial sums are there, and owner where no other
/// warp is.
template <typename S>
__device__ __forceinline__ void exchangeRole(const RingArgs &args, const RingMixArgs &mix, const RingBlock<S> &block) {
  if (block.lane == 0)
    for (RingCursor<S> at(block, args.M); at.more() && at.turn < S::kSlots; at.next())
      loadCoefficients(args, mix, block, at.slot, at.firstToken());
  bringWeights(args, block);
  __syncwarp();
  TileOwner<S, S::kSenderOwns> owner(args, block);
  TileSource<S> source(args);
  NextInSlot<S> next(block);
  for (RingCursor<S> at(block, args.M); at.more(); at.next()) {
    const float given = S::kSenderOwns ? givenWeight(args, block, at.firstToken()) : 0;
    source.begin(block, at.turn);
    barrierWait(block.bars.partialFull(), at.turn & 1);
    if (at.turn == 0)
      clusterWait(); // the other blocks have initialised their barriers
    announceSums(block, at.slot, at.turn);
    sendSums(block, at.slot, at.turn);
    if (block.lane == 0 && next.find(at))
      loadCoefficients(args, mix, block, at.slot, next.tile * S::kTokens);
    __syncwarp();
    if constexpr (S::kSenderOwns)
      owner.finish(args, block, at, given);
  }
  if constexpr (S::kSenderOwns)
    owner.end(block);
}

template <typename S>
__device__ __forceinline__ void takeMixMultiplyRoles(const RingArgs &args, const RingMixArgs &mix,
                                                     const RingBlock<S> &block, const RingMixMaps &maps) {
  if (isPadding(block))
    paddingMixRole(args, block);
  else if (block.warp < S::kWarps)
    mixMultiplyRole(args, mix, block, maps);
  else if (block.warp == S::kRoles)
    exchangeRole(args, mix, block);
  else if (!S::kSenderOwns && block.warp == S::kRoles + 1)
    ownerRole<S, true>(args, block);
  else
    gatesRole(args, block);
  __syncwarp();
  if (block.warp != S::kRoles)
    clusterWait();
  clusterArrive(); // nobody leaves before all messages are awaited, as in takeRoles()
  clusterWait();
}

} // namespace mhcrt

#endif // MHCRT_CUDA_RING_RINGMIXMULTIPLY_CUH
