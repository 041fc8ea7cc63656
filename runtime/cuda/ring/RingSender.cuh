//===- RingSender.cuh - A block's sums on their way -------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_RING_RINGSENDER_CUH
#define MHCRT_CUDA_RING_RINGSENDER_CUH

#include "cuda/ring/RingMultiply.cuh"

namespace mhcrt {

/// The block that owns a token of the cluster's tile number `tile`.
template <typename S>
__device__ __forceinline__ uint32_t ownerOf(int token, int tile) {
  return token / S::kOwned + (S::kTakesTurns ? tile % 2 * S::kOwners : 0);
}
/// Whether the block owns some of the tile's tokens, and which are the first.
template <typename S>
__device__ __forceinline__ bool owns(const RingBlock<S> &block, int tile) {
  return S::kTakesTurns ? block.rank / S::kOwners == tile % 2 : block.rank < S::kOwners;
}
/// The parity of received() of a tile that the block owns. Only such a tile completes it where the owner is a warp of
/// its own: one that waits for the gates, while the others' tiles pass, would else be two phases behind.
template <typename S>
__device__ __forceinline__ uint32_t receivedParity(const RingCursor<S> &at) {
  constexpr bool kAlternates = S::kTakesTurns && !S::kSenderOwns && S::kSlots % 2; // every other tile of a slot is its
  return kAlternates ? at.turn / (2 * S::kSlots) % 2 : at.parity;
}
template <typename S>
__device__ __forceinline__ uint32_t firstOwned(const RingBlock<S> &block) {
  return (S::kTakesTurns ? block.rank % S::kOwners : block.rank) * S::kOwned;
}

template <typename S>
__device__ __forceinline__ void freePartials(const RingBlock<S> &block) {
  __syncwarp();
  if (block.lane == 0)
    barrierArrive(block.bars.partialFree());
}

/// Adds the warps' rows, 16 bytes a lane and turn, which are then free.
template <typename S, int kTurns>
__device__ __forceinline__ void addWarps(const RingBlock<S> &block, float4 (&sums)[kTurns]) {
  constexpr int kPieces = S::kRowFloats / 4;
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    sums[turn] = make_float4(0, 0, 0, 0);
    const int piece = min(block.lane + 32 * turn, S::kTokens * kPieces - 1);
#pragma unroll
    for (int warp = 0; warp < S::kWarps; ++warp) {
      const float4 v = loadSharedFloat4(block.memory + S::kPartial + warp * (S::kTokens * S::kRowBytes) + piece * 16);
      sums[turn] = make_float4(sums[turn].x + v.x, sums[turn].y + v.y, sums[turn].z + v.z, sums[turn].w + v.w);
    }
  }
  freePartials(block);
}

/// A lane's piece of 16 bytes of a tile's sums in a turn of three, where there is a norm: six of columns of eight
/// tokens, two of sums of products, and in a turn of its own the last, which four lanes have, for warps in turns.
template <typename S>
struct NormPiece {
  static_assert(S::kTokens == 8 && S::kColumnBytes == 6 * 16 && S::kProductBytes == 3 * 16);
  int token, piece;
  uint32_t first, second; ///< of the first two warps' sums
  int step;               ///< from a box's two warps to the next

  __device__ __forceinline__ NormPiece(const RingBlock<S> &block, int turn, int slot, int tile) {
    const int item = block.lane + 32 * turn;
    const bool isColumn = item < 48;
    token = isColumn ? item / 6 : turn == 2 ? item % 8 : item / 2 % 8;
    piece = isColumn ? item % 6 : turn == 2 ? 8 : 6 + item % 2;
    const int inProducts = token * S::kProductBytes + (piece - 6) * 16;
    const uint32_t columns = block.memory + S::kPartial + item * 16;
    first = isColumn ? columns : productsOf(block, slot, tile, 0) + inProducts;
    second = isColumn ? columns + S::kPartialBytes : productsOf(block, slot, tile, 1) + inProducts;
    step = isColumn || !S::kProductsInSlot ? 2 * S::kPartialBytes : S::kBoxBytes;
  }

  /// The sum over the warps, from one on in steps.
  template <int kStep>
  __device__ __forceinline__ float4 add(int from) const {
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int turn = 0; turn < S::kWarps; turn += kStep) {
      const int warp = turn + from;
      if (S::kWarps % kStep != 0 && warp >= S::kWarps)
        break;
      const float4 v = loadSharedFloat4((warp % 2 ? second : first) + warp / 2 * step);
      sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
    }
    return sum;
  }

  __device__ __forceinline__ void send(const RingBlock<S> &block, int slot, int tile, float4 sum) const {
    const uint32_t owner = ownerOf<S>(token, tile), row = block.rank * S::kOwned + token % S::kOwned;
    const uint32_t to = block.received(slot) + row * S::kRowBytes + piece * 16;
    sendRemote(remoteAddress(to, owner), sum, remoteAddress(block.bars.received(slot), owner));
  }
};

__device__ __forceinline__ float4 addShuffled(float4 v, int distance) {
  return make_float4(v.x + __shfl_xor_sync(~0u, v.x, distance), v.y + __shfl_xor_sync(~0u, v.y, distance),
                     v.z + __shfl_xor_sync(~0u, v.z, distance), v.w + __shfl_xor_sync(~0u, v.w, distance));
}

template <typename S>
__device__ __forceinline__ void sendNormSums(const RingBlock<S> &block, int slot, int tile) {
  const NormPiece<S> first(block, 0, slot, tile), second(block, 1, slot, tile), last(block, 2, slot, tile);
  const float4 sums[2] = {first.template add<1>(0), second.template add<1>(0)};
  const float4 ofFour = last.template add<4>(block.lane / 8);
  freePartials(block);
  first.send(block, slot, tile, sums[0]), second.send(block, slot, tile, sums[1]);
  const float4 sum = addShuffled(addShuffled(ofFour, 8), 16);
  if (block.lane < 8)
    last.send(block, slot, tile, sum);
}

/// Adds the warps' rows of the cluster's tile number `tile` and sends them.
template <typename S>
__device__ __forceinline__ void sendSums(const RingBlock<S> &block, int slot, int tile) {
  if constexpr (S::kNorms) {
    sendNormSums(block, slot, tile);
    return;
  }
  constexpr int kPieces = S::kRowFloats / 4, kTurns = (S::kTokens * kPieces + 31) / 32;
  float4 sums[kTurns];
  addWarps(block, sums);
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    const int piece = block.lane + 32 * turn, token = piece / kPieces;
    if (token >= S::kTokens)
      continue;
    const uint32_t owner = ownerOf<S>(token, tile), row = block.rank * S::kOwned + token % S::kOwned;
    const uint32_t to = block.received(slot) + row * S::kRowBytes + piece % kPieces * 16;
    sendRemote(remoteAddress(to, owner), sums[turn], remoteAddress(block.bars.received(slot), owner));
  }
}

/// Announces the messages of a tile, before any block has what it takes to send them.
template <typename S>
__device__ __forceinline__ void announceSums(const RingBlock<S> &block, int slot, int tile) {
  if (block.lane == 0) {
    const bool isOwner = owns(block, tile);
    if (isOwner || (S::kTakesTurns && S::kSenderOwns))
      barrierExpect(block.bars.received(slot), isOwner ? S::kReceivedBytes : 0);
    barrierExpect(block.bars.hPre(slot), S::kTokens * 16);
  }
  __syncwarp();
}

/// Brings the weights of the norm of the block's channels. Whoever multiplies by them has waited for weights of
/// streams, which this warp announces later.
template <typename S>
__device__ __forceinline__ void bringWeights(const RingArgs &args, const RingBlock<S> &block) {
  if constexpr (S::kNorms) {
    float weights[S::kWarps];
#pragma unroll
    for (int turn = 0; turn < S::kWarps; ++turn) {
      const int channel = min(int(block.rank * S::kWarps + turn) * 32, S::kWidth - 32) + block.lane;
      weights[turn] = args.uWeightType == MHCRT_F32
                          ? static_cast<const float *>(args.uWeight)[channel]
                          : static_cast<float>(static_cast<const __nv_bfloat16 *>(args.uWeight)[channel]);
    }
#pragma unroll
    for (int turn = 0; turn < S::kWarps; ++turn)
      storeSharedFloat(block.weights(turn * 32 + block.lane), weights[turn]);
    __syncwarp();
  }
}

/// Without aggregate, nobody else awaits h_pre.
template <typename S, bool kAggregate>
__device__ __forceinline__ void senderRole(const RingArgs &args, const RingBlock<S> &block) {
  RingCursor<S> at(block, args.M);
  bringWeights(args, block);
  TileSource<S> source(args);
  for (; at.more(); at.next()) {
    source.begin(block, at.turn);
    barrierWait(block.bars.partialFull(), at.turn & 1);
    if (at.turn == 0)
      clusterWait(); // the other blocks have initialised their barriers
    if (!kAggregate)
      barrierWaitRemote(block.bars.hPre(at.slot), at.parity ^ 1); // of the slot's last tile, if it had one
    announceSums(block, at.slot, at.turn);
    sendSums(block, at.slot, at.turn);
  }
  for (int slot = 0; !kAggregate && slot < S::kSlots; ++slot, at.next())
    barrierWaitRemote(block.bars.hPre(at.slot), at.parity ^ 1);
}

} // namespace mhcrt

#endif // MHCRT_CUDA_RING_RINGSENDER_CUH
