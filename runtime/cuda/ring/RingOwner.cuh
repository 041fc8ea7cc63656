//===- RingOwner.cuh - Sums, gates and residual maps ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_RING_RINGOWNER_CUH
#define MHCRT_CUDA_RING_RINGOWNER_CUH

#include "cuda/algebra/Format.cuh"
#include "cuda/algebra/Gate.cuh"
#include "cuda/algebra/Newton4.cuh"
#include "cuda/algebra/Norm.cuh"
#include "cuda/ring/RingSender.cuh"

namespace mhcrt {

/// The float of a token's row that a lane has: the lane's own, and where there is a norm, that of the same column.
template <typename S>
__device__ __forceinline__ int floatOf(int lane) {
  if constexpr (!S::kNorms)
    return min(lane, S::kRowFloats - 1);
  const int i = lane % 4;
  return lane < kSquares     ? lane
         : lane == kEvenLane ? kPhiColumns + productPlace(0, 2)
         : lane < kOddLane   ? lane - 1
         : lane == kOddLane  ? kPhiColumns + productPlace(1, 3)
                             : kPhiColumns + productPlace(i, i);
}

/// Adds what the blocks sent of this block's tokens; lane l has float l of their rows.
template <typename S>
__device__ __forceinline__ void ownSums(const RingBlock<S> &block, int slot, float (&sums)[S::kOwned]) {
#pragma unroll
  for (int k = 0; k < S::kOwned; ++k) {
    const uint32_t row = block.received(slot) + k * S::kRowBytes + floatOf<S>(block.lane) * 4;
    sums[k] = 0;
#pragma unroll
    for (int from = 0; from < S::kSplit; ++from)
      sums[k] += loadSharedFloat(row + from * (S::kOwned * S::kRowBytes));
  }
}

/// Where a token's row has a column.
__device__ constexpr int placeOf(int column) { return column < kSquares ? column : column + 1; }

/// `sum` of lane l is float l of the token's row.
template <int kColumns>
__device__ __forceinline__ void storeProjection(const RingArgs &args, int64_t token, int lane, float sum, float square,
                                                float multiplier) {
  const bool applied = args.statForm == MHCRT_STAT_APPLIED;
  const int column = lane < kSquares ? lane : lane - 1;
  if (args.proj && column < kColumns && lane != kSquares)
    args.proj[token * kColumns + column] = applied ? multiplier * sum : sum;
  if (args.stat && lane == kSquares)
    args.stat[token] = args.statForm == MHCRT_STAT_MEAN_SQUARE ? square : multiplier;
}

/// The gates' inputs of a batch of tokens on their way to another warp, each token's number in place of its squares.
/// The first batch is the smaller one: the last begins as soon as it is there, when the one before it is over.
template <typename S>
struct GateBatch {
  static_assert(S::kGateRows % S::kOwned == 0, "a batch ends with a tile");
  int rows = 0, batch = 0, most; ///< most: of the batch

  /// `tokens` that the block owns in all; as many batches as they need where that is not known.
  __device__ __forceinline__ explicit GateBatch(int tokens)
      : most(tokens > 0 ? (tokens - 1) % S::kGateRows + 1 : S::kGateRows) {}

  /// Lane l has float l of each of the tokens' rows.
  __device__ __forceinline__ void add(const RingBlock<S> &block, int token, const float (&values)[S::kOwned]) {
    const int half = batch & 1, row = half * S::kGateRows + rows;
    if (rows == 0)
      barrierWait(block.bars.gateFree(half), ((batch >> 1) & 1) ^ 1);
#pragma unroll
    for (int k = 0; k < S::kOwned; ++k)
      if (block.lane < kGateFloats)
        storeSharedFloat(block.memory + S::kGateInput + ((row + k) * kGateFloats + block.lane) * 4,
                         block.lane == kSquares ? __int_as_float(token + k) : values[k]);
    rows += S::kOwned;
  }

  /// A last batch behind the others, of whoever did not know which token is the last, or has none.
  __device__ __forceinline__ void end(const RingBlock<S> &block) {
    if (rows == 0)
      barrierWait(block.bars.gateFree(batch & 1), ((batch >> 1) & 1) ^ 1);
    finish(block, true);
  }

  __device__ __forceinline__ void finish(const RingBlock<S> &block, bool last) {
    if (rows < most && !last)
      return;
    const int half = batch & 1;
    if (block.lane == 0)
      storeSharedInt(block.memory + S::kGateCounts + half * 4, last ? rows + 2 * S::kGateRows : rows);
    __syncwarp();
    if (block.lane == 0)
      barrierArrive(block.bars.gateFull(half));
    rows = 0;
    most = S::kGateRows;
    ++batch;
  }
};

/// The gate of stream i of four.
template <typename S>
__device__ constexpr int gateOf(int i) {
  return S::kPairs ? i / 2 : i;
}

/// Adds the values of four neighbours, in each of them.
__device__ __forceinline__ float sumOfFour(float v) {
  const float other = __shfl_xor_sync(~0u, v, 1), third = __shfl_xor_sync(~0u, v, 2);
  return (v + other) + (third + __shfl_xor_sync(~0u, v, 3));
}

/// Stands in where u is not normalised.
template <typename S, bool kNorms = S::kNorms>
struct OwnedProducts {
  __device__ __forceinline__ OwnedProducts(const RingBlock<S> &, int, const float (&)[S::kOwned]) {}
  __device__ __forceinline__ float multiplier(const RingArgs &, int, float, float) const { return 1; }
};

/// Sums of products of a token's streams, four lanes a token: lane 4*k + i has those of stream i of token k.
template <typename S>
struct OwnedProducts<S, true> {
  float across = 0, next = 0;

  /// Four sums have no room in the lanes of the others.
  __device__ __forceinline__ OwnedProducts(const RingBlock<S> &block, int slot, const float (&sums)[S::kOwned]) {
    const int i = block.lane % 4, token = block.lane / 4 % S::kOwned;
    const uint32_t row = block.received(slot) + token * S::kRowBytes +
                         (kPhiColumns + productPlace(min(i, (i + 1) % 4), max(i, (i + 1) % 4))) * 4;
#pragma unroll
    for (int from = 0; from < S::kSplit; ++from)
      next += loadSharedFloat(row + from * (S::kOwned * S::kRowBytes));
#pragma unroll
    for (int k = 0; k < S::kOwned; ++k) {
      const float ofToken = __shfl_sync(~0u, sums[k], i % 2 ? kOddLane : kEvenLane);
      across = token == k ? ofToken : across;
    }
  }

  /// `self`: of squares of the stream. Rounding may leave less than zero where streams cancel each other out.
  __device__ __forceinline__ float multiplier(const RingArgs &args, int lane, float self, float weight) const {
    const float ofNext = __shfl_sync(~0u, weight, lane / 4 * 4 + (lane + 1) % 4),
                ofAcross = __shfl_xor_sync(~0u, weight, 2);
    const float sum = sumOfFour(weight * fmaf(weight, self, fmaf(2 * ofNext, next, ofAcross * across)));
    const float meanSquare = (sum < 0 ? 0 : sum) * (1.0f / S::kWidth); // a NaN stays
    return reciprocalRootOf(meanSquare + args.uEps);
  }
};

/// Scalars of one of a tile's tokens from its sums, four lanes a token: lane 4*k + i has the gate of stream i of token
/// k. Lanes behind them repeat the tokens.
template <typename S, bool kAggregate>
struct OwnedScalars {
  float square = 0, self, multiplier, gate; ///< self: see OwnedProducts
  static_assert(S::kOwned * 4 <= 32 && S::kOwned * S::kSplit <= 32);

  __device__ __forceinline__ OwnedScalars(const RingArgs &args, int lane, const float (&sums)[S::kOwned], float alpha,
                                          float beta) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < S::kOwned; ++k) {
      const float ofSquares = __shfl_sync(~0u, sums[k], S::kNorms ? kSelfLane + lane % 4 : kSquares),
                  ofGate = __shfl_sync(~0u, sums[k], gateOf<S>(lane % 4));
      square = lane / 4 % S::kOwned == k ? ofSquares : square;
      sum = lane / 4 % S::kOwned == k ? ofGate : sum;
    }
    self = square;
    if (S::kNorms)
      square = sumOfFour(self);
    square *= 1.0f / (4 * S::kWidth);
    multiplier = fastNormMultiplier(square, args.norm, args.normEps);
    gate = kAggregate ? roundedTo(fastSigmoid(fmaf(multiplier * sum, alpha, beta)) + args.preEps, args.hPreFormat) : 0;
  }

  /// A token's value, of those above: all lanes have that of the only one.
  __device__ __forceinline__ static float ofToken(float value, int k) {
    return S::kOwned == 1 ? value : __shfl_sync(~0u, value, 4 * k);
  }
  /// The same of the gate of stream lane % 4.
  __device__ __forceinline__ float gateOfToken(int k, int lane) const {
    constexpr bool kHasIt = S::kOwned == 1 && !S::kPairs;
    return kHasIt ? gate : __shfl_sync(~0u, gate, 4 * k + (S::kPairs ? lane % 2 * 2 : lane % 4));
  }

  /// Sends the weights that u is mixed by to all blocks, a token and a block per lane, times the multiplier of a norm.
  __device__ __forceinline__ void sendWeights(const RingBlock<S> &block, int slot, float weight, float norm) const {
    const int k = block.lane / S::kSplit % S::kOwned, to = block.lane % S::kSplit;
    float4 h = make_float4(__shfl_sync(~0u, weight, 4 * k), __shfl_sync(~0u, weight, 4 * k + 1),
                           __shfl_sync(~0u, weight, 4 * k + 2), __shfl_sync(~0u, weight, 4 * k + 3));
    if constexpr (S::kNorms) {
      const float own = S::kSplit < 4 ? __shfl_sync(~0u, norm, 4 * k) : norm; // else these lanes have it
      h = make_float4(h.x * own, h.y * own, h.z * own, h.w * own);
    }
    if (block.lane < S::kOwned * S::kSplit)
      sendRemote(remoteAddress(block.hPre(slot) + (firstOwned(block) + k) * 16, to), h,
                 remoteAddress(block.bars.hPre(slot), to));
  }
};

/// Whether the tile is the last of which its owner has tokens; false where that is not known.
template <typename S>
__device__ __forceinline__ bool isLastOwned(const RingCursor<S> &at) {
  if constexpr (S::kCounted)
    return false;
  else
    return at.left <= (S::kTakesTurns ? 2 : 1);
}

/// One tile of an owner, each step for all of its tokens so that their latencies overlap.
template <typename S, bool kAggregate>
__device__ __forceinline__ void finishTile(const RingArgs &args, const RingBlock<S> &block, const RingCursor<S> &at,
                                           float alpha, float beta, float given, GateBatch<S> &batch) {
  const int lane = block.lane, first = at.firstToken() + firstOwned(block);
  float sums[S::kOwned], logits[S::kOwned];
  ownSums(block, at.slot, sums);
  const OwnedProducts<S> products(block, at.slot, sums);
  const OwnedScalars<S, kAggregate> own(args, lane, sums, alpha, beta);
  const float weight = args.hIn ? given : own.gate;
  own.sendWeights(block, at.slot, weight, products.multiplier(args, lane, own.self, weight));
  if (kAggregate) {
#pragma unroll
    for (int k = 0; k < S::kOwned; ++k) {
      const float gate = own.gateOfToken(k, lane), logit = own.ofToken(own.multiplier, k) * sums[k];
      logits[k] = lane < (S::kPairs ? 2 : 4) ? gate : logit;
    }
    batch.add(block, first, logits);
    batch.finish(block, isLastOwned(at));
  }
#pragma unroll
  for (int k = 0; k < S::kOwned; ++k) {
    const float square = own.ofToken(own.square, k), multiplier = own.ofToken(own.multiplier, k);
    if (first + k < args.M)
      storeProjection<S::kColumns>(args, first + k, lane, sums[k], square, multiplier);
  }
  if (kAggregate && args.hPre && lane < 4 * S::kOwned && first + lane / 4 < args.M && !(S::kPairs && lane % 2))
    args.hPre[S::kPairs ? int64_t(first) * 2 + lane / 2 : int64_t(first) * 4 + lane] = own.gate;
}

/// The lane's weight of h_in, if there is one: as OwnedScalars has the gates. Tokens behind the last are not stored.
template <typename S>
__device__ __forceinline__ float givenWeight(const RingArgs &args, const RingBlock<S> &block, int firstToken) {
  const int64_t token = firstToken + firstOwned(block) + block.lane / 4 % S::kOwned;
  return args.hIn ? args.hIn[min(token, args.M - 1) * (S::kPairs ? 2 : 4) + gateOf<S>(block.lane % 4)] : 0.0f;
}

/// Tiles of which a block owns tokens; 0 where that is not known.
template <typename S>
__device__ __forceinline__ int ownedTiles(const RingBlock<S> &block, const RingArgs &args) {
  if constexpr (S::kCounted)
    return 0;
  else if constexpr (S::kTakesTurns)
    return (RingCursor<S>(block, args.M).left + (owns(block, 0) ? 1 : 0)) / 2;
  else
    return RingCursor<S>(block, args.M).left;
}

/// The tokens that a block owns, tile by tile.
template <typename S, bool kAggregate>
struct TileOwner {
  float alpha, beta;
  int tiles; ///< ownedTiles()
  GateBatch<S> batch;

  __device__ __forceinline__ TileOwner(const RingArgs &args, const RingBlock<S> &block)
      : alpha(kAggregate ? args.alpha[0] : 0), beta(kAggregate ? args.beta[gateOf<S>(block.lane & 3)] : 0),
        tiles(ownedTiles(block, args)), batch(tiles * S::kOwned) {}

  /// Waits for the sums of its tokens of a tile, where it has some. `given`: givenWeight().
  __device__ __forceinline__ void finish(const RingArgs &args, const RingBlock<S> &block, const RingCursor<S> &at,
                                         float given) {
    if (!owns(block, at.turn)) {
      if (S::kTakesTurns && S::kSenderOwns) // complete since it was announced: 1 to 2 % faster with this than without
        barrierWait(block.bars.received(at.slot), at.parity);
      return;
    }
    barrierWaitRemote(block.bars.received(at.slot), receivedParity(at));
    finishTile<S, kAggregate>(args, block, at, alpha, beta, given, batch);
  }

  __device__ __forceinline__ void end(const RingBlock<S> &block) {
    if (kAggregate && tiles == 0)
      batch.end(block);
  }
};

template <typename S, bool kAggregate>
__device__ __forceinline__ void ownerRole(const RingArgs &args, const RingBlock<S> &block) {
  if (!S::kTakesTurns && block.rank >= S::kOwners)
    return;
  TileOwner<S, kAggregate> owner(args, block);
  for (RingCursor<S> at(block, args.M); at.more(); at.next()) {
    const float given = kAggregate ? givenWeight(args, block, at.firstToken()) : 0; // on its way while the sums come
    owner.finish(args, block, at, given);
  }
  owner.end(block);
}

/// Parameters of h_post and the residual map, as they are needed.
struct ReadParameters {
  const RingArgs &args;

  __device__ __forceinline__ float alpha(int k) const { return args.alpha[k]; }
  __device__ __forceinline__ float beta(int column) const { return args.beta[column]; }
  __device__ __forceinline__ const SinkhornOptions &sinkhorn() const { return args.sinkhorn; }
};

/// The same, read before there is a token: lane l has beta[l]. All lanes ask for them together.
struct HeldParameters {
  float alphas[3], betas;
  SinkhornOptions map; ///< of the residual map

  __device__ __forceinline__ HeldParameters(const RingArgs &args, int lane, int columns)
      : alphas{0, args.alpha[1], args.alpha[2]}, betas(args.beta[min(lane, columns - 1)]), map(args.sinkhorn) {}
  __device__ __forceinline__ float alpha(int k) const { return alphas[k]; }
  __device__ __forceinline__ float beta(int column) const { return __shfl_sync(~0u, betas, column); }
  __device__ __forceinline__ const SinkhornOptions &sinkhorn() const { return map; }
};

/// The matrix of a token, less the outer product of h_post and h_pre where the inner residual is folded; stored where
/// `isStored`.
template <int n, typename Parameters>
__device__ __forceinline__ void storeCoefficients(const RingArgs &args, const Parameters &parameters, int64_t token,
                                                  uint32_t row, bool isStored) {
  alignas(16) float post[n], mix[n * n];
#pragma unroll
  for (int o = 0; o < n; ++o)
    post[o] = roundedTo(args.postMult * fastSigmoid(fmaf(loadSharedFloat(row + placeOf(n + o) * 4), parameters.alpha(1),
                                                         parameters.beta(n + o))),
                        args.hPostFormat);
#pragma unroll
  for (int k = 0; k < n * n; ++k)
    mix[k] = fmaf(loadSharedFloat(row + placeOf(2 * n + k) * 4), parameters.alpha(2), parameters.beta(2 * n + k));
  if (args.resMap != MHCRT_RES_MAP_IDENTITY) {
    if constexpr (n == 4) {
      if (parameters.sinkhorn().isNewton())
        newtonLimit(mix, parameters.sinkhorn().iters);
      else
        sinkhornMix(mix, parameters.sinkhorn());
    } else {
      sinkhornMix(mix, parameters.sinkhorn());
    }
  }
  if (args.foldPre) {
#pragma unroll
    for (int k = 0; k < n * n; ++k)
      mix[k] = fmaf(-post[k / n], loadSharedFloat(row + k % n * 4), mix[k]);
  }
#pragma unroll
  for (int k = 0; k < n * n; ++k)
    mix[k] = roundedTo(mix[k], args.hResFormat);
  if (!isStored)
    return;
  using Row = std::conditional_t<n == 4, float4, float2>;
  reinterpret_cast<Row *>(args.hPost)[token] = reinterpret_cast<const Row &>(post);
#pragma unroll
  for (int o = 0; o < n; ++o)
    reinterpret_cast<Row *>(args.hRes)[token * n + o] = reinterpret_cast<const Row &>(mix[n * o]);
}

/// Begins, in a cluster, with a batch of no tokens and one iteration, whatever its rows hold: the warp would only wait,
/// and finds its code loaded when the first token comes.
template <typename S>
__device__ __forceinline__ void gatesRole(const RingArgs &args, const RingBlock<S> &block) {
  if (block.rank >= S::kOwners && !S::kThroughMemory && !S::kTakesTurns)
    return;
  HeldParameters held(args, block.lane, S::kColumns);
  for (int batch = S::kThroughMemory ? 0 : -1;; ++batch) {
    const int half = batch & 1;
    const bool isEmpty = !S::kThroughMemory && batch < 0;
    if (!isEmpty)
      barrierWait(block.bars.gateFull(half), (batch >> 1) & 1);
    const int count = isEmpty ? 0 : loadSharedInt(block.memory + S::kGateCounts + half * 4);
    const bool last = count >= 2 * S::kGateRows;
    const int tokens = last ? count - 2 * S::kGateRows : count;
    held.map.iters = tokens > 0 ? args.sinkhorn.iters : 1;
    const auto rowAt = [&](int k) {
      return block.memory + S::kGateInput + (half * S::kGateRows + k) * kGateFloats * 4;
    };
    const auto tokenAt = [&](int k) { return loadSharedInt(rowAt(k) + kSquares * 4); };
    const int k = max(min(block.lane, tokens - 1), 0);
    if constexpr (!S::kThroughMemory)
      storeCoefficients<S::kPairs ? 2 : 4>(args, held, tokenAt(k), rowAt(k),
                                           block.lane < tokens && tokenAt(k) < args.M);
    else if (block.lane < tokens && tokenAt(block.lane) < args.M) // gangs were 1 % slower with parameters held
      storeCoefficients<4>(args, ReadParameters{args}, tokenAt(block.lane), rowAt(block.lane), true);
    __syncwarp();
    if (block.lane == 0 && !isEmpty)
      barrierArrive(block.bars.gateFree(half));
    if (last)
      return;
  }
}

} // namespace mhcrt

#endif // MHCRT_CUDA_RING_RINGOWNER_CUH
