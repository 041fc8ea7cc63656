//===- stream_eight_sm90.cu - gradients of a projection of eight streams ---===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formula of stream_eight.cu, and dW[j,k] = sum_m d_proj[m,j] * x[m,k], of bf16 streams.
//
// Plan    A launch packs d_proj with h_pre, the mix and the factor as a record per tile of 16 tokens, and W as
//         fragments. Then a block has 32 channels of the eight streams and a run of tokens. Four warps make d_x, 8
//         channels each: their W, 80 columns, stays in registers, and a lane has two channels of all streams of two
//         tokens, so that each value of d_out is widened once for eight results. Two warpgroups make dW, four streams
//         each: A is x as it lies in memory, whose rows are values of M, and the tiles' sums, which matrix units do not
//         round to nearest, are added in registers. A thread copies boxes of x, start and d_u and the tile's record to
//         a ring of slots, the last tile first, as what was read last is still in the second-level cache; d_x is
//         written over the slot's start, and another thread stores it.
// Bytes   per token 2K elements, and K/8 for d_u, K for d_out or d_x_in; 640 to 900 per slice of channels from the
//         second-level cache; for each run 320K of sums.
// Needs   bf16; n = 8, N at most 80, layout nC, C a multiple of 32.
// Round   d_x: W in f16, 2^-11 of it (2^-24 of the largest in the warp's channels, where that is more), an eighth of
//         what d_x loses when it is stored; d_proj in two f16 terms, to 2^-23; f32 sums, one rounding at the store.
//         dW: d_proj in two bf16 terms; f32 sums.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/LaunchOverlapping.h"
#include "cuda/host/TensorMap.h"
#include "cuda/ptx/Barrier.cuh"
#include "cuda/ptx/BulkCopy.cuh"
#include "cuda/ptx/Overlap.cuh"
#include "cuda/ptx/Registers.cuh"
#include "cuda/ptx/Warpgroup.cuh"
#include "cuda/stream/StreamEightPack.cuh"
#include "cuda/stream/StreamTiles.h"
#include "cuda/tile/RingPlace.cuh"

#include <algorithm>

using namespace mhcrt;
using namespace mhcrt::eight;

namespace {

constexpr int kProductGroups = 2, kProductRows = 2; ///< warpgroups that make dW; 64 elements of K each, so often
constexpr int kThreads = 32 * kWarps + 128 * kProductGroups + 128;
static_assert(kProductGroups * kProductRows * 64 == kStreams * kBox);

constexpr int kStreamBytes = kTokens * kBox * 2, kStreamsBytes = kStreams * kStreamBytes;
constexpr int kStartAt = kStreamsBytes, kDuAt = 2 * kStreamsBytes,
              kRecordAt = kDuAt + kStreamBytes; ///< places in a slot
constexpr int kSlotBytes = (kRecordAt + static_cast<int>(sizeof(TileRecord)) + 1023) / 1024 * 1024;
constexpr int kSlots = 7, kBarriers = kSlots * kSlotBytes;
constexpr int kSharedBytes = kBarriers + 3 * kSlots * 8;
static_assert(kSharedBytes <= 232448);

enum class Start { none, added, mixed };

struct Eight {
  const TileRecord *records; ///< [tile]
  const WeightTile *weights; ///< [slice][warp]
  float *partials;           ///< [run][N][K] of dW, or null
  int64_t N, C;
  int32_t tiles, runTiles, slices, units; ///< units: a slice of channels for a run of tokens
  bool hasX, hasDu;                       ///< hasX: whether d_x has a part of x
  Start start;

  __device__ bool hasRows() const { return hasDu || start == Start::mixed; }
};

/// The work of a block, unit by unit, the last run first.
struct Walk {
  const Eight &args;
  int unit = blockIdx.x;

  __device__ bool more() const { return unit < args.units; }
  __device__ void next() { unit += gridDim.x; }
  __device__ int slice() const { return unit % args.slices; }
  __device__ int run() const { return (args.units - 1 - unit) / args.slices; }
  __device__ int firstTile() const { return run() * args.runTiles; }
  __device__ int lastTile() const { return min(args.tiles, firstTile() + args.runTiles) - 1; }
};

struct Ring {
  uint32_t memory;
  RingPlace<kSlots> place{memory + kBarriers};

  __device__ uint32_t slot() const { return memory + place.slot * kSlotBytes; }
  __device__ uint32_t done() const { return memory + kBarriers + 8 * (2 * kSlots + place.slot); }
  /// Called by one thread. A slot is free when its d_x is stored and its x in dW.
  __device__ void init(bool hasProducts) const {
    for (int k = 0; k < 3 * kSlots; ++k)
      barrierInit(memory + kBarriers + 8 * k, k < kSlots       ? 1
                                              : k < 2 * kSlots ? 1 + hasProducts * 4 * kProductGroups
                                                               : kWarps);
    fenceBarrierInit();
  }
};

/// Called by one thread, as storeTiles() by another.
__device__ void loadTiles(const Eight &args, Ring ring, const CUtensorMap *mapX, const CUtensorMap *mapStart,
                          const CUtensorMap *mapDu) {
  const bool hasStart = args.start != Start::none, hasX = args.hasX || args.partials;
  const uint32_t recordBytes = args.hasRows() ? sizeof(TileRecord) : kRowsAt;
  const uint32_t bytes = recordBytes + (hasX + hasStart) * kStreamsBytes + (args.hasDu ? kStreamBytes : 0);
  for (Walk walk{args}; walk.more(); walk.next())
#pragma unroll 1
    for (int tile = walk.lastTile(); tile >= walk.firstTile(); --tile, ring.place.advance()) {
      const uint32_t slot = ring.slot(), full = ring.place.full();
      barrierWait(ring.place.free(), ring.place.parity ^ 1);
      barrierExpect(full, bytes);
      if (hasStart)
        loadStreams(slot + kStartAt, mapStart, tile * kTokens, walk.slice(), full);
      if (hasX)
        loadStreams(slot, mapX, tile * kTokens, walk.slice(), full);
      if (args.hasDu)
        loadStreams(slot + kDuAt, mapDu, tile * kTokens, walk.slice(), full);
      bulkLoad(slot + kRecordAt, args.records + tile, recordBytes, full);
    }
}

__device__ void storeTiles(const Eight &args, Ring ring, const CUtensorMap *mapDx) {
  for (Walk walk{args}; walk.more(); walk.next())
#pragma unroll 1
    for (int tile = walk.lastTile(); tile >= walk.firstTile(); --tile, ring.place.advance()) {
      barrierWait(ring.done(), ring.place.parity);
      storeStreams(mapDx, tile * kTokens, walk.slice(), ring.slot() + kStartAt);
      commitStores();
      waitStoresRead<0>();
      barrierArrive(ring.place.free());
    }
  waitStores();
}

/// The fragments of W of a warp: column c of stream i is channel c of the warp's eight.
struct Weights {
  uint2 terms[kSteps][kStreams];
  float scale;

  __device__ __forceinline__ Weights(const WeightTile &from, int lane) : scale(from.scale) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
#pragma unroll
      for (int i = 0; i < kStreams; ++i)
        terms[step][i] = from.terms[step][i][lane];
  }
};

/// Two channels of the eight streams of tokens g and g + 8.
using Sums = float[kStreams][4];

/// sum_j d_proj[m,j] / scale * W[j,k] / scale. The small products come first.
__device__ __forceinline__ void multiply(const TileRecord &record, const Weights &w, int lane, Sums &sums) {
#pragma unroll
  for (int term = 1; term >= 0; --term)
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const uint4 a = record.dProj[step][term][lane];
#pragma unroll
      for (int i = 0; i < kStreams; ++i)
        multiplyF16(sums[i], a.x, a.y, a.z, a.w, w.terms[step][i].x, w.terms[step][i].y);
    }
}

/// Adds to the product what else token g + 8 * half gets: `factor` of x, and the rest by `row`. `at`: the lane's
/// channels of its first stream in a box.
template <Start kOf, bool kHasDu>
__device__ __forceinline__ void addOthers(const char *slot, float factor, const TokenRow &row, int at, int half,
                                          bool hasX, Sums &sums) {
  const auto pairOf = [&](int place, int i) {
    return *reinterpret_cast<const uint32_t *>(slot + place + i * kStreamBytes + at);
  };
  const auto add = [&](int i, float by, uint32_t pair) {
    float *sum = &sums[i][2 * half];
    sum[0] = fmaf(by, lowBf16(pair), sum[0]);
    sum[1] = fmaf(by, highBf16(pair), sum[1]);
  };
  const auto addToAll = [&](const float (&by)[kStreams], uint32_t pair) {
    const auto *four = reinterpret_cast<const float4 *>(by);
    const float4 low = four[0], high = four[1];
    add(0, low.x, pair), add(1, low.y, pair), add(2, low.z, pair), add(3, low.w, pair);
    add(4, high.x, pair), add(5, high.y, pair), add(6, high.z, pair), add(7, high.w, pair);
  };
  if constexpr (kOf == Start::mixed) {
#pragma unroll
    for (int o = 0; o < kStreams; ++o)
      addToAll(row.mix[o], pairOf(kStartAt, o));
  } else if constexpr (kOf == Start::added) {
#pragma unroll
    for (int i = 0; i < kStreams; ++i)
      add(i, 1.0f, pairOf(kStartAt, i));
  }
  if constexpr (kHasDu)
    addToAll(row.hPre, pairOf(kDuAt, 0));
  if (hasX) {
#pragma unroll
    for (int i = 0; i < kStreams; ++i)
      add(i, factor, pairOf(0, i));
  }
}

template <Start kOf, bool kHasDu>
__device__ void makeTiles(const Eight &args, Ring ring, char *shared) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, q = lane % 4;
  const int at = g * (kBox * 2) + ((warp ^ g / 2) * 16) + q * 4;
  for (Walk walk{args}; walk.more(); walk.next()) {
    const Weights weights(args.weights[walk.slice() * kWarps + warp], lane);
#pragma unroll 1
    for (int tile = walk.lastTile(); tile >= walk.firstTile(); --tile, ring.place.advance()) {
      barrierWait(ring.place.full(), ring.place.parity);
      char *slot = shared + ring.place.slot * kSlotBytes;
      const auto &record = *reinterpret_cast<const TileRecord *>(slot + kRecordAt);
      Sums sums = {};
      multiply(record, weights, lane, sums);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int token = g + 8 * half;
        const float2 scalars = *reinterpret_cast<const float2 *>(&record.scalars[token]);
        const float scale = scalars.y * weights.scale;
#pragma unroll
        for (int i = 0; i < kStreams; ++i)
          sums[i][2 * half] *= scale, sums[i][2 * half + 1] *= scale;
        addOthers<kOf, kHasDu>(slot, scalars.x, record.rows[token], at + half * (kStreamBytes / 2), half, args.hasX,
                               sums);
      }
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int i = 0; i < kStreams; ++i)
          *reinterpret_cast<uint32_t *>(slot + kStartAt + i * kStreamBytes + at + half * (kStreamBytes / 2)) =
              packBf16(sums[i][2 * half], sums[i][2 * half + 1]);
      fenceBulk();
      __syncwarp();
      if (lane == 0)
        barrierArrive(ring.done());
    }
  }
}

/// A lane's share of 64 elements of K by 80 columns, as multiplyNarrow() has them, so often.
using Products = float[kProductRows][kColumns / 2];

__device__ __forceinline__ void storeProducts(const Eight &args, const Walk &walk, int group, const Products &sums) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const int64_t K = kStreams * args.C;
#pragma unroll
  for (int rows = 0; rows < kProductRows; ++rows)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = (group * kProductRows + rows) * 64 + 16 * warp + lane / 4 + 8 * half;
      float *to = args.partials + (walk.run() * args.N + lane % 4 * 2) * K + row / kBox * args.C + walk.slice() * kBox +
                  row % kBox;
#pragma unroll
      for (int j = 0; j < kColumns / 8; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          if (8 * j + lane % 4 * 2 + e < args.N)
            to[(8 * j + e) * K] = sums[rows][4 * j + 2 * half + e];
    }
}

__device__ void multiplyTiles(const Eight &args, Ring ring, int group) {
  constexpr int kHalf = sizeof(TileRecord::products) / 2, kTerm = kHalf / 2;
  for (Walk walk{args}; walk.more(); walk.next()) {
    Products sums = {};
#pragma unroll 1
    for (int tile = walk.lastTile(); tile >= walk.firstTile(); --tile, ring.place.advance()) {
      barrierWait(ring.place.full(), ring.place.parity);
      const uint32_t slot = ring.slot();
      const uint64_t proj = plainOperandAt(slot + kRecordAt + offsetof(TileRecord, products), kHalf);
#pragma unroll
      for (int rows = 0; rows < kProductRows; ++rows) {
        const uint64_t x = halfOperandAt(slot + (group * kProductRows + rows) * 2 * kStreamBytes, kStreamBytes);
        float products[kColumns / 2];
        beginProducts();
        multiplyNarrow(products, x, proj + kTerm / 16, false); // the small ones first
        multiplyNarrow(products, x, proj, true);
        commitProducts();
        waitProducts(products);
#pragma unroll
        for (int j = 0; j < kColumns / 2; ++j)
          sums[rows][j] += products[j];
      }
      if (threadIdx.x % 32 == 0)
        barrierArrive(ring.place.free());
    }
    storeProducts(args, walk, group, sums);
  }
}

template <Start kOf, bool kHasDu>
__global__ void __launch_bounds__(kThreads, 1)
    streamEightSm90Kernel(const __grid_constant__ Eight args, const __grid_constant__ CUtensorMap mapX,
                          const __grid_constant__ CUtensorMap mapStart, const __grid_constant__ CUtensorMap mapDu,
                          const __grid_constant__ CUtensorMap mapDx) {
  extern __shared__ __align__(1024) char shared[];
  const Ring ring{sharedAddress(shared)};
  if (threadIdx.x == 0)
    ring.init(args.partials);
  __syncthreads();
  beginOverlapped();
  const int group = threadIdx.x / 128;
  if (group == 0) {
    raiseRegisters<192>();
    makeTiles<kOf, kHasDu>(args, ring, shared);
  } else if (group <= kProductGroups) {
    raiseRegisters<144>();
    if (args.partials)
      multiplyTiles(args, ring, group - 1);
  } else {
    lowerRegisters<32>();
    if (threadIdx.x == kThreads - 128)
      loadTiles(args, ring, &mapX, &mapStart, &mapDu);
    else if (threadIdx.x == kThreads - 96)
      storeTiles(args, ring, &mapDx);
  }
}

int64_t tilesOf(const ProjectionBwdArgs &a) { return divideUp(a.M, kTokens); }

/// Parts of the scratch memory.
struct Rooms {
  generic::ScratchPlan plan;
  int64_t records, weights;

  explicit Rooms(const ProjectionBwdArgs &a) {
    records = plan.add(saturatingMul(tilesOf(a), sizeof(TileRecord)));
    weights = plan.add(saturatingMul(a.C / kWarpChannels, sizeof(WeightTile)));
  }
};

template <Start kOf, bool kHasDu>
cudaError_t launch(const Eight &args, const ProjectionBwdArgs &a, const generic::StreamShares &shares,
                   int multiprocessors, cudaStream_t stream) {
  constexpr auto *kKernel = streamEightSm90Kernel<kOf, kHasDu>;
  const NarrowShape streams = {a.M, a.C, kTokens, kStreams}, one = {a.M, a.C, kTokens, 1};
  CUtensorMap x, start, du, dx;
  cudaError_t error = narrowMap(x, a.x, streams);
  if (!error)
    error = narrowMap(dx, a.d_x, streams);
  start = du = dx; // which are not read where there is none
  if (!error && kOf != Start::none)
    error = narrowMap(start, shares.dOut ? shares.dOut : a.d_x_in, streams);
  if (!error && kHasDu)
    error = narrowMap(du, shares.du, one);
  if (!error)
    error = allowShared<kKernel>(kSharedBytes);
  return error ? error
               : launchOverlapping(kKernel, static_cast<unsigned>(std::min(args.units, multiprocessors)), kThreads, 1,
                                   kSharedBytes, stream, args, x, start, du, dx);
}

template <bool kHasDu>
cudaError_t launchStart(const Eight &args, const ProjectionBwdArgs &a, const generic::StreamShares &shares,
                        int multiprocessors, cudaStream_t stream) {
  return args.start == Start::mixed   ? launch<Start::mixed, kHasDu>(args, a, shares, multiprocessors, stream)
         : args.start == Start::added ? launch<Start::added, kHasDu>(args, a, shares, multiprocessors, stream)
                                      : launch<Start::none, kHasDu>(args, a, shares, multiprocessors, stream);
}

} // namespace

bool mhcrt::streamEightSm90Takes(const ProjectionBwdArgs &a) {
  return a.d_x && a.x_type == MHCRT_BF16 && a.C % kBox == 0;
}

int64_t mhcrt::streamEightSm90Bytes(const ProjectionBwdArgs &a) { return Rooms(a).plan.bytes(); }

cudaError_t mhcrt::streamEightSm90(const ProjectionBwdArgs &a, const generic::StreamShares &shares, const float *factor,
                                   float *partials, void *scratch, int multiprocessors, cudaStream_t stream) {
  const Rooms rooms(a);
  auto *records = reinterpret_cast<TileRecord *>(static_cast<char *>(scratch) + rooms.records);
  auto *weights = reinterpret_cast<WeightTile *>(static_cast<char *>(scratch) + rooms.weights);
  const auto tiles = static_cast<int32_t>(tilesOf(a)), slices = static_cast<int32_t>(a.C / kBox);
  const Tokens tokens = {static_cast<const float *>(a.d_proj), factor, shares.hPre,
                         shares.dOut ? shares.hRes : nullptr,  a.M,    a.N,
                         shares.orient == MHCRT_ORIENT_OI};
  const auto blocks = static_cast<unsigned>(a.C / kWarpChannels + tiles);
  if (const cudaError_t error = launchOverlapping(streamEightPackSm90Kernel, blocks, kPackThreads, 1, 0, stream, tokens,
                                                  phiElementsOf(a, a.N), a.C, records, weights))
    return error;
  const generic::TokenRuns runs = streamTilesRuns(a);
  const Eight args = {records,
                      weights,
                      partials,
                      a.N,
                      a.C,
                      tiles,
                      static_cast<int32_t>(runs.length / kTokens),
                      slices,
                      static_cast<int32_t>(slices * runs.count),
                      factor != nullptr,
                      shares.du != nullptr,
                      shares.dOut ? Start::mixed
                      : a.d_x_in  ? Start::added
                                  : Start::none};
  return args.hasDu ? launchStart<true>(args, a, shares, multiprocessors, stream)
                    : launchStart<false>(args, a, shares, multiprocessors, stream);
}
