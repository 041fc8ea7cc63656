//===- RingGang.cuh - The ring of blocks without a cluster ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of RingKernel.cuh, with its roles and its rounding, for widths whose phi leaves 16 blocks, the most of a
// cluster, too little room for x.
//
// Plan    A gang of kSplit blocks shares the channels, and gangs the tiles of 8 tokens. Messages go through memory,
//         that is through the second-level cache:
//           sender     stores the block's sums of a tile. A word's last bit says in which round over the slots it was
//                      written, so that data and its arrival are one message: nothing is fenced or counted.
//           owner      of a tile's token k in turn t is block (8*t + k) % kSplit. It reads the rows until all have the
//                      round's bit, adds them, and stores what u is mixed by, which is no NaN of all bits.
//           receiver   reads that of a tile until it is there, for the warps of its block that aggregate.
//         A block stores its sums of a slot again when it has the weights of the slot's last tile, for which all owners
//         had read them. All bits of the messages are set by a launch before this one.
//         Blocks wait for each other, so that all must run at once: the launch is cooperative, and waits where other
//         kernels leave too few multiprocessors.
// Bytes   those of RingKernel.cuh; the messages stay in the second-level cache but for 16 bytes a token.
// Needs   sm_90, with room for a gang; C of the shapes' list.
// Round   the blocks' sums lose their last bit, 2^-23 of their value.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_RING_RINGGANG_CUH
#define MHCRT_CUDA_RING_RINGGANG_CUH

#include "cuda/ring/RingKernel.cuh"

namespace mhcrt {

/// Messages of blocks to each other; all bits are set before.
struct GangMessages {
  uint4 *sums;    ///< [gang][slot][token][block][kRowPieces]; the last bit of a word says in which round it was written
  uint4 *weights; ///< [token], what u is mixed by; kNoWeight where that is not there yet
};
constexpr uint32_t kNoWeight = ~0u; ///< a NaN that no sum is
constexpr int kRowPieces = 7;       ///< of a row of partial sums, 16 bytes each

__device__ __forceinline__ uint4 loadMessage(const uint4 *from) {
  pauseInTests();
  uint4 v;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
}
__device__ __forceinline__ void storeMessage(uint4 *to, uint4 v) {
  pauseInTests();
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}

/// Where the sums of a tile's first token are.
template <typename S>
__device__ __forceinline__ uint4 *sumsOf(const GangMessages &messages, int slot) {
  return messages.sums + int64_t(clusterIndex() * S::kSlots + slot) * (S::kTokens * S::kSplit * kRowPieces);
}

__device__ __forceinline__ uint32_t tagged(float v, uint32_t tag) { return (__float_as_uint(v) & ~1u) | tag; }
__device__ __forceinline__ float untagged(uint32_t v) { return __uint_as_float(v & ~1u); }
__device__ __forceinline__ bool hasTag(uint4 v, uint32_t tag) {
  return (((v.x ^ tag) | (v.y ^ tag) | (v.z ^ tag) | (v.w ^ tag)) & 1) == 0;
}

/// Adds the warps' rows and stores them. Those of a slot's last tile have been read when its weights are here.
template <typename S>
__device__ __forceinline__ void gangSenderRole(const RingArgs &args, const GangMessages &messages,
                                               const RingBlock<S> &block) {
  constexpr int kTurns = (S::kTokens * kRowPieces + 31) / 32;
  for (RingCursor<S> at(block, args.M); at.more(); at.next()) {
    barrierWait(block.bars.partialFull(), at.turn & 1);
    float4 sums[kTurns];
    addWarps(block, sums);
    barrierWait(block.bars.hPre(at.slot), at.parity ^ 1);
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) {
      const int item = block.lane + 32 * turn, token = item / kRowPieces;
      if (token < S::kTokens)
        storeMessage(sumsOf<S>(messages, at.slot) + (token * S::kSplit + block.rank) * kRowPieces + item % kRowPieces,
                     make_uint4(tagged(sums[turn].x, at.parity), tagged(sums[turn].y, at.parity),
                                tagged(sums[turn].z, at.parity), tagged(sums[turn].w, at.parity)));
    }
  }
}

__device__ __forceinline__ float4 add(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__device__ __forceinline__ float4 shuffle(float4 v, int lane) {
  return make_float4(__shfl_sync(~0u, v.x, lane), __shfl_sync(~0u, v.y, lane), __shfl_sync(~0u, v.z, lane),
                     __shfl_sync(~0u, v.w, lane));
}

/// A token's sums over the blocks, once they are there; lane l has float l of its row.
template <typename S>
__device__ __forceinline__ float addBlocks(const uint4 *rows, int lane, uint32_t tag) {
  constexpr int kAtOnce = 8, kStep = 4; // rows that the lanes read at once
  constexpr bool kWhole = S::kSplit % (kStep * kAtOnce) == 0;
  const int step = min(lane / kRowPieces, kStep - 1);
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 1
  for (int first = step; first < S::kSplit; first += kStep * kAtOnce) {
    uint4 v[kAtOnce];
    bool isThere;
    do {
      isThere = true;
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        v[k] = loadMessage(rows + (kWhole ? first + k * kStep : min(first + k * kStep, S::kSplit - 1)) * kRowPieces +
                           lane % kRowPieces);
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        isThere = isThere && hasTag(v[k], tag);
    } while (!isThere);
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      if (kWhole || first + k * kStep < S::kSplit)
        sum = add(sum, make_float4(untagged(v[k].x), untagged(v[k].y), untagged(v[k].z), untagged(v[k].w)));
  }
  __syncwarp();
  const int piece = lane / 4;
  sum = add(add(shuffle(sum, piece), shuffle(sum, piece + kRowPieces)),
            add(shuffle(sum, piece + 2 * kRowPieces), shuffle(sum, piece + 3 * kRowPieces)));
  return part(sum, lane % 4);
}

/// Finishes some tokens for all blocks: token k of the gang's turn t is that of block (t * tokens + k) % kSplit.
template <typename S, bool kAggregate>
__device__ __forceinline__ void gangOwnerRole(const RingArgs &args, const GangMessages &messages,
                                              const RingBlock<S> &block) {
  static_assert(S::kRowFloats == 4 * kRowPieces, "no sums for a norm");
  static_assert(S::kSplit >= S::kTokens, "a block owns one token of a tile");
  static_assert(S::kSlots >= S::kSplit / S::kTokens,
                "an owner that is early would take sums of two rounds before, which have the same bit");
  const int lane = block.lane, i = lane % 4;
  const float alpha = kAggregate ? args.alpha[0] : 0, beta = kAggregate ? args.beta[i] : 0;
  GateBatch<S> batch(0);
  int k = block.rank;
  for (RingCursor<S> at(block, args.M); at.more();
       at.next(), k += k < S::kTokens ? S::kSplit - S::kTokens : -S::kTokens) {
    if (k >= S::kTokens)
      continue;
    const int token = at.firstToken() + k;
    const float given = args.hIn ? args.hIn[min(int64_t(token), args.M - 1) * 4 + i] : 0;
    const float sum = addBlocks<S>(sumsOf<S>(messages, at.slot) + k * (S::kSplit * kRowPieces), lane, at.parity);
    const float square = __shfl_sync(~0u, sum, kSquares) * (1.0f / (4 * S::kWidth));
    const float multiplier = fastNormMultiplier(square, args.norm, args.normEps), ofGate = __shfl_sync(~0u, sum, i);
    const float gate =
        kAggregate ? roundedTo(fastSigmoid(fmaf(multiplier * ofGate, alpha, beta)) + args.preEps, args.hPreFormat) : 0;
    const float weight = args.hIn ? given : gate;
    const uint32_t word = __float_as_uint(weight) == kNoWeight ? 0x7fffffffu : __float_as_uint(weight);
    const uint4 words = make_uint4(__shfl_sync(~0u, word, 0), __shfl_sync(~0u, word, 1), __shfl_sync(~0u, word, 2),
                                   __shfl_sync(~0u, word, 3));
    if (lane == 0)
      storeMessage(messages.weights + token, words);
    if (token < args.M)
      storeProjection<S::kColumns>(args, token, lane, sum, square, multiplier);
    if (kAggregate && args.hPre && lane < 4 && token < args.M)
      args.hPre[int64_t(token) * 4 + lane] = gate;
    if (kAggregate) {
      const float logits[S::kOwned] = {lane < kSquares ? gate : multiplier * sum};
      batch.add(block, token, logits);
      batch.finish(block, false);
    }
  }
  if (kAggregate)
    batch.end(block);
}

/// Hands the weights of each tile on to the warps that wait for them.
template <typename S>
__device__ __forceinline__ void gangReceiverRole(const RingArgs &args, const GangMessages &messages,
                                                 const RingBlock<S> &block) {
  for (RingCursor<S> at(block, args.M); at.more(); at.next()) {
    if (block.lane < S::kTokens) {
      const uint4 *from = messages.weights + at.firstToken() + block.lane;
      uint4 v;
      do
        v = loadMessage(from);
      while (v.x == kNoWeight || v.y == kNoWeight || v.z == kNoWeight || v.w == kNoWeight);
      storeShared4(block.hPre(at.slot) + block.lane * 16, v);
    }
    __syncwarp();
    if (block.lane == 0)
      barrierArrive(block.bars.hPre(at.slot));
  }
}

template <typename S>
__device__ __forceinline__ RingBlock<S> gangBlock(const unsigned char *memory) {
  RingBlock<S> block = ringBlock<S>(memory);
  block.rank = blockIdx.y;
  return block;
}

/// The roles of a block's warps, as takeRoles() has them. The sender may be the last of the wide warps.
template <typename S, bool kAggregate, typename Load, typename Mix>
__device__ __forceinline__ void takeGangRoles(const RingArgs &args, const GangMessages &messages,
                                              const RingBlock<S> &block, Load load, Mix mix) {
  constexpr bool kWideAggregate = kAggregate && S::kFirstAggregator < S::kWide;
  constexpr bool kFewAggregate = kAggregate && S::kWide < S::kFirstAggregator + S::kAggregators;
  if (block.warp < S::kWide) {
    raiseRegisters<S::kRegisters>();
    if (block.warp < S::kWarps)
      multiplyRole<S, kAggregate>(args, block);
    else if (block.warp < S::kFirstAggregator)
      mix();
    else if (kWideAggregate && block.warp < S::kRoles)
      aggregateRole<S>(args, block);
    else if constexpr (S::kRoles < S::kWide)
      gangSenderRole<S>(args, messages, block);
  } else {
    lowerRegisters<S::kFewRegisters>();
    if (block.warp == S::kRoles)
      gangSenderRole<S>(args, messages, block);
    else if (block.warp == S::kRoles + 3)
      load();
    else if (block.warp == S::kRoles + 1)
      gangOwnerRole<S, kAggregate>(args, messages, block);
    else if (block.warp == S::kRoles + 2)
      gangReceiverRole<S>(args, messages, block);
    else if (kAggregate && block.warp == S::kRoles + 4)
      gatesRole<S>(args, block);
    else if (kFewAggregate && block.warp < S::kRoles)
      aggregateRole<S>(args, block);
  }
}

template <typename S, bool kAggregate>
__global__ void __launch_bounds__(S::kThreads, 1)
    gangKernel(const __grid_constant__ RingArgs args, const __grid_constant__ GangMessages messages,
               const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const RingBlock<S> block = gangBlock<S>(memory);
  block.bars.init(kAggregate ? S::kAggregators : S::kWarps);
  __syncthreads();
  beginOverlapped();
  takeGangRoles<S, kAggregate>(args, messages, block, [&] { loaderRole<S, kAggregate>(args, block, &map); }, [] {});
}

constexpr int kClearThreads = 128, kClearBlocks = 264;

/// Sets all bits of messages.
template <typename T>
__global__ void __launch_bounds__(kClearThreads) clearMessagesKernel(T *messages, int64_t count) {
  beginOverlapped();
  for (int64_t item = blockIdx.x * kClearThreads + threadIdx.x; item < count; item += gridDim.x * kClearThreads)
    messages[item] = make_uint4(~0u, ~0u, ~0u, ~0u);
}

} // namespace mhcrt

#endif // MHCRT_CUDA_RING_RINGGANG_CUH
