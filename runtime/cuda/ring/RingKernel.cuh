//===- RingKernel.cuh - Projection and aggregate in a ring ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   P = x phi^T, ms = mean of x^2 over the 4C values, s = 1/rms                     projection
//   h_pre, h_post, z = gates(s * P), h_res = residual map of z,
//   u[c] = sum_i h_pre[i] x[i,c], or by h_in in place of h_pre                      pre; x[c,i] in the layout Cn
//
// Plan    A cluster of blocks splits the channels and walks over tiles of 8 or 16 tokens. phi stays where it is used,
//         in registers and shared memory (PhiFragments.cuh); x goes through a ring of tiles in shared memory. Warps:
//           multiply   32 channels of four streams each. Columns of phi are the rows of A, tokens the columns of B; a
//                      fourth product, x by itself, has the sums of squares in its diagonal.
//           sender     adds the warps' partial sums and sends each token's to the block that owns the token.
//           owner      adds the blocks' sums: s, h_pre, proj, stat. Sends h_pre to all blocks.
//           gates      h_post and the residual map, one token a lane: nothing waits for them.
//           aggregate  u of a tile, whose slot is then free.
//           loader     fills free slots by tensor copies, which clip the last tile.
//         Sums are in a fixed order that C decides: deterministic, and a token's bits do not depend on its neighbours.
//         Messages need no credits: a block sends its sums of tile t + slots only when slot t is free, that is when
//         h_pre of tile t has arrived, for which every owner had read its sums. Without aggregate the sender waits for
//         it. Only its barrier orders a message, no barrier of the cluster: somebody waits for each, the last ones too.
// Bytes   per token 8C of x, 2C of u, of f32 16C and 4C, 4*(2n + n*n); phi once per cluster.
// Needs   sm_90, with room for a cluster; C of the shapes' list.
// Round   phi in two bf16 terms (2^-17 of its value), x of f32 too, products exact, sums in f32; u rounded once.
//         Against f64: proj 5e-6 at most, h_pre, h_post and h_res 4e-6, u one rounding.
// Result  One H200, graph replay over inputs beyond the caches, us (% of the fewest bytes at the speed of a 1 GiB copy
//         of the same run, 4.24 TB/s), M = 8192:
//           C           2048     2560     3072     4096     5120      6144      7168
//           projection  38 (84)  48 (84)  55 (88)  70 (91)  89 (90)   108 (89)  129 (86)
//           pre         50 (81)  59 (85)  70 (86)  89 (91)  109 (91)  134 (89)  160 (88)
//         32768x4096: 256 (99) and 324 (98). 65536x768: 104 (93) and 147 (83). 128x4096: 6.9 and 10.8.
//         docs/performance.md, "Pre by the clock", has what each role takes, and what was slower.
//         112 of 132 multiprocessors at a split of 16, else 120; no spills; shared memory 214 to 228 kB.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_RING_RINGKERNEL_CUH
#define MHCRT_CUDA_RING_RINGKERNEL_CUH

#include "cuda/ptx/BulkCopy.cuh"
#include "cuda/ring/RingOwner.cuh"

namespace mhcrt {

/// u of 8 channels, of 4 in f32, from those of the streams, from the first on in steps. Where it is normalised,
/// `weights` is where those of the channels are.
template <typename S, int kFirst = 0, int kStep = 1>
__device__ __forceinline__ uint4 weigh(const uint4 (&x)[4], float4 h, uint32_t weights) {
  using T = typename S::Element;
  float sum[kLanesOf<T>];
  float4 scale[2];
  if constexpr (S::kNorms)
    scale[0] = loadSharedFloat4(weights), scale[1] = loadSharedFloat4(weights + 16);
#pragma unroll
  for (int i = kFirst; i < 4; i += kStep) {
    float v[kLanesOf<T>];
    widen(x[i], v, T());
#pragma unroll
    for (int e = 0; e < kLanesOf<T>; ++e)
      sum[e] = i == kFirst ? part(h, 0) * v[e] : fmaf(part(h, i), v[e], sum[e]);
  }
#pragma unroll
  for (int e = 0; e < kLanesOf<T> && S::kNorms; ++e)
    sum[e] *= part(scale[e / 4], e % 4);
  return narrow(sum, T());
}

/// A warp has four tokens of some of a tile's boxes at a time: a line of memory per token, 16 bytes a lane. They are
/// the same four in all boxes, unless the warps are an odd number.
template <typename S>
struct AggregatorShare {
  static constexpr int kFours = S::kTokens / 4, kPieces = S::kBoxes * kFours;
  static constexpr int kTurns = (kPieces + S::kAggregators - 1) / S::kAggregators;
  static constexpr bool kSameFour = S::kAggregators % kFours == 0;
  static constexpr int kStep = S::kAggregators / kFours; ///< boxes from one turn to the next, where these are the same
  static constexpr bool kAllThere = kSameFour && kPieces % S::kAggregators == 0 && !S::kPads;
  int index, boxes;       ///< of the warp; of the block, those that have channels
  int inTile, chunk;      ///< of a lane: its token in the first turn, and its place in a line
  uint32_t inBox, inSlot; ///< where its channels of the first stream are in the first turn

  __device__ __forceinline__ explicit AggregatorShare(const RingBlock<S> &block)
      : index(block.warp - S::kFirstAggregator),
        boxes(S::kPads ? min(S::kBoxes, S::kWidth / S::kBoxChannels - int(block.rank) * S::kBoxes) : S::kBoxes),
        inTile(index % kFours * 4 + block.lane / 8), chunk(block.lane % 8),
        inBox(inTile * 128 + (chunk ^ (inTile & 7)) * 16), inSlot(box(0) * S::kBoxBytes + inBox) {}

  __device__ __forceinline__ int box(int turn) const {
    return kSameFour ? index / kFours + turn * kStep : (index + turn * S::kAggregators) / kFours;
  }
  __device__ __forceinline__ bool has(int turn) const { return kAllThere || box(turn) < boxes; }
  __device__ __forceinline__ int inTileAt(int turn) const {
    return kSameFour ? inTile : (index + turn * S::kAggregators) % kFours * 4 + inTile % 4;
  }
  __device__ __forceinline__ uint32_t inSlotAt(int turn) const {
    if (kAllThere)
      return inSlot + turn * (kStep * S::kBoxBytes);
    const int token = inTileAt(turn);
    return min(box(turn), S::kBoxes - 1) * S::kBoxBytes +
           (kSameFour ? inBox : token * 128 + (chunk ^ (token & 7)) * 16);
  }
};

/// u of two channels, whose streams lie beside each other; of one in f32.
template <typename S>
__device__ __forceinline__ uint32_t weighBeside(uint4 x, float4 h) {
  using T = typename S::Element;
  float v[kLanesOf<T>], sum[2];
  widen(x, v, T());
#pragma unroll
  for (int channel = 0; channel < kLanesOf<T> / 4; ++channel) {
    sum[channel] = h.x * v[4 * channel];
#pragma unroll
    for (int i = 1; i < 4; ++i)
      sum[channel] = fmaf(part(h, i), v[4 * channel + i], sum[channel]);
  }
  return S::kF32 ? __float_as_uint(sum[0]) : packBf16(sum[0], sum[1]);
}

template <typename S>
__device__ __forceinline__ void aggregateRole(const RingArgs &args, const RingBlock<S> &block) {
  using Share = AggregatorShare<S>;
  constexpr int kAtOnce = 2; // boxes with loads in flight: more was no faster
  constexpr int kPerToken = S::kPairs ? 2 : 1;
  using Word = std::conditional_t<S::kF32, uint32_t, uint16_t>; // that holds a number
  constexpr int kRow = kPerToken * S::kWidth;
  constexpr int kInRow = S::kStreamsLast ? S::kBoxChannels / 4 : S::kBoxChannels; // of u that a box has in a row
  const Share share(block);
  Word *const u = static_cast<Word *>(args.u) + block.rank * (S::kBoxes * kInRow) + share.chunk * (kInRow / 8) +
                  (Share::kSameFour ? share.box(0) * kInRow : 0);
  const int64_t stored = args.u ? args.M : 0; // tokens
  for (RingCursor<S> at(block, args.M); at.more(); at.next()) {
    if (block.lane < S::kBoxes) // complete before what comes next; who reads a box has seen its barrier
      barrierWait(block.bars.ready(at.slot, block.lane), at.parity);
    __syncwarp();
    barrierWaitRemote(block.bars.hPre(at.slot), at.parity);
    float4 h[kAtOnce];
    h[0] = loadSharedFloat4(block.hPre(at.slot) + share.inTile * 16);
    const uint32_t slot = block.box(at.slot, 0);
    const int64_t sameToken = at.firstToken() + share.inTile;
    Word *const sameRow = u + sameToken * kRow;
#pragma unroll
    for (int turn = 0; turn < Share::kTurns; turn += kAtOnce) {
      uint4 x[kAtOnce][4];
#pragma unroll
      for (int k = 0; k < kAtOnce && turn + k < Share::kTurns; ++k) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          x[k][i] = loadShared4(slot + share.inSlotAt(turn + k) + i * S::kStreamBytes);
        if (Share::kSameFour)
          h[k] = h[0];
        else if (turn + k > 0)
          h[k] = loadSharedFloat4(block.hPre(at.slot) + share.inTileAt(turn + k) * 16);
      }
      if (turn + kAtOnce >= Share::kTurns) {
        __syncwarp();
        if (block.lane == 0)
          barrierArrive(block.bars.free(at.slot));
      }
#pragma unroll
      for (int k = 0; k < kAtOnce && turn + k < Share::kTurns; ++k) {
        const int box = share.box(turn + k);
        const int64_t token = Share::kSameFour ? sameToken : at.firstToken() + share.inTileAt(turn + k);
        Word *const to =
            Share::kSameFour ? sameRow + (turn + k) * (Share::kStep * kInRow) : u + token * kRow + box * kInRow;
        const bool stores = token < stored && share.has(turn + k);
        const uint32_t weights = block.weights(box * 64 + share.chunk * 8);
        if constexpr (S::kStreamsLast) {
#pragma unroll
          for (int quarter = 0; quarter < 4; ++quarter)
            storeOnceIf(stores, to + quarter * (kRow / 4), weighBeside<S>(x[k][quarter], h[k]));
        } else if constexpr (S::kPairs) {
          storeOnceIf(stores, to, weigh<S, 0, 2>(x[k], h[k], weights));
          storeOnceIf(stores, to + S::kWidth, weigh<S, 1, 2>(x[k], h[k], weights));
        } else {
          storeOnceIf(stores, to, weigh<S>(x[k], h[k], weights));
        }
      }
    }
  }
}

template <typename S, bool kAggregate>
__device__ __forceinline__ void loaderRole(const RingArgs &args, const RingBlock<S> &block, const CUtensorMap *map) {
  constexpr int kBesidePhi = 2; // tiles: with more, phi is the last to come. The product alone is bound by memory
  if (block.lane != 0)
    return;
  for (RingCursor<S> at(block, args.M); at.more(); at.next()) {
    if (kAggregate && at.turn == kBesidePhi)
      barrierWait(block.bars.phi(), 0);
    barrierWait(block.bars.free(at.slot), at.parity ^ 1);
    for (int box = 0; box < S::kBoxes; ++box) {
      barrierExpect(block.bars.full(at.slot, box), S::kBoxBytes);
      loadStreams(block.box(at.slot, box), map, at.firstToken(), block.rank * S::kBoxes + box,
                  block.bars.full(at.slot, box));
    }
  }
}

/// `readers` arrive where a slot may be filled again. Nothing here is of earlier kernels.
template <typename S>
__device__ __forceinline__ void startRing(const RingBlock<S> &block, int readers) {
  block.bars.init(readers);
  initNumbers(block);
  __syncthreads();
  clusterArrive(); // the sender waits before it first writes to another block, the others before they leave
}

/// The roles of a block's warps, of which load() and mix() are the kernel's own.
template <typename S, bool kAggregate, typename Load, typename Mix>
__device__ __forceinline__ void takeRoles(const RingArgs &args, const RingBlock<S> &block, Load load, Mix mix) {
  if (block.warp < S::kWide) {
    raiseRegisters<S::kRegisters>();
    if (isPadding(block))
      paddingRole<S, kAggregate>(args, block);
    else if (block.warp < S::kWarps)
      multiplyRole<S, kAggregate>(args, block);
    else if (S::kWideMixers && block.warp < S::kFirstAggregator)
      mix();
    else if constexpr (kAggregate && S::kWide > S::kFirstAggregator)
      aggregateRole<S>(args, block);
  } else {
    if constexpr (S::kWide > 0)
      lowerRegisters<S::kFewRegisters>();
    if (block.warp == S::kRoles)
      senderRole<S, kAggregate>(args, block);
    else if (block.warp == S::kRoles + 1)
      ownerRole<S, kAggregate>(args, block);
    else if (block.warp == S::kRoles + 3)
      load();
    else if (kAggregate && block.warp == S::kRoles + 2)
      gatesRole<S>(args, block);
    else if (S::kWide == 0 && block.warp < S::kWarps)
      multiplyRole<S, kAggregate>(args, block);
    else if (!S::kWideMixers && block.warp >= S::kFirstMixer)
      mix();
    else if constexpr (kAggregate && S::kWide < S::kFirstAggregator + S::kAggregators)
      aggregateRole<S>(args, block);
  }
  __syncwarp();
  if (block.warp != S::kRoles)
    clusterWait();
  clusterArrive(); // by a warp that has waited for what other blocks write to it: nobody leaves before that is there
  clusterWait();
}

template <typename S>
__device__ __forceinline__ RingBlock<S> ringBlock(const unsigned char *memory) {
  const uint32_t base = sharedAddress(memory);
  return {base, clusterRank(), {base + S::kBarriers}, int(threadIdx.x / 32), int(threadIdx.x % 32)};
}

template <typename S, bool kAggregate>
__global__ void __launch_bounds__(S::kThreads, 1)
    ringKernel(const __grid_constant__ RingArgs args, const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const RingBlock<S> block = ringBlock<S>(memory);
  startRing(block, kAggregate ? S::kAggregators : S::kWarps);
  beginOverlapped();
  takeRoles<S, kAggregate>(args, block, [&] { loaderRole<S, kAggregate>(args, block, &map); }, [] {});
}

} // namespace mhcrt

#endif // MHCRT_CUDA_RING_RINGKERNEL_CUH
