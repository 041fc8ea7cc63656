//===- stream_eight_sm90.cu - d_x of a projection of eight bf16 streams ---===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formula of stream_eight.cu.
//
// Plan    A launch packs d_proj with h_pre, the mix and the factor as a record per tile of 16 tokens, and W as
// fragments.
//         Then a block has 64 channels of the eight streams, a warp 8 of them: its W, 80 columns, stays in registers,
//         and a lane has two channels of all streams of two tokens, so that each value of d_out is widened once for
//         eight results. A thread copies boxes of x, start and d_u and the tile's record to a ring of slots, the last
//         tile first, as what was read last is still in the second-level cache; d_x is written over the slot's start,
//         and another thread stores it.
// Bytes   per token 2K elements, and K/8 for d_u, K for d_out or d_x_in; 624 per slice of channels from the
//         second-level cache.
// Needs   bf16; n = 8, N at most 80, layout nC, C a multiple of 64.
// Round   W in f16, 2^-11 of it (2^-24 of the largest in the warp's channels, where that is more), an eighth of what
//         d_x loses when it is stored; d_proj in two f16 terms, to 2^-23; f32 sums, one rounding at the store.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Phi.cuh"
#include "cuda/host/LaunchOverlapping.h"
#include "cuda/host/TensorMap.h"
#include "cuda/ptx/Barrier.cuh"
#include "cuda/ptx/BulkCopy.cuh"
#include "cuda/ptx/Mma.cuh"
#include "cuda/ptx/Overlap.cuh"
#include "cuda/stream/StreamTiles.h"
#include "cuda/tile/RingPlace.cuh"

#include <algorithm>

using namespace mhcrt;

namespace {

constexpr int kStreams = 8, kTokens = 16;
constexpr int kBox = 64;                     ///< channels of a block
constexpr int kWarps = 8, kWarpChannels = 8; ///< that make d_x
constexpr int kSteps = 5, kColumns = 16 * kSteps;
constexpr int kThreads = 32 * (kWarps + 2);

/// All that a token needs beside its streams. The size keeps eight tokens in different banks.
struct TokenRow {
  float mix[kStreams][kStreams]; ///< [o][i]
  float hPre[kStreams];
  float factor, scale, unused[2]; ///< scale: a power of two above every |d_proj|
};

/// All that a tile needs beside its streams: d_proj / scale in two f16 terms.
struct TileRecord {
  uint4 dProj[kSteps][2][32];
  TokenRow rows[kTokens];
};
static_assert(sizeof(TokenRow) == 304 && sizeof(TileRecord) % 16 == 0);

/// W / scale of eight channels of the eight streams.
struct WeightTile {
  uint2 terms[kSteps][kStreams][32];
  float scale, unused[3];
};

constexpr int kStreamBytes = kTokens * kBox * 2, kStreamsBytes = kStreams * kStreamBytes;
constexpr int kStartAt = kStreamsBytes, kDuAt = 2 * kStreamsBytes,
              kRecordAt = kDuAt + kStreamBytes; ///< places in a slot
constexpr int kSlotBytes = (kRecordAt + static_cast<int>(sizeof(TileRecord)) + 1023) / 1024 * 1024;
constexpr int kSlots = 5, kBarriers = kSlots * kSlotBytes;
constexpr int kSharedBytes = kBarriers + 3 * kSlots * 8;
static_assert(kSharedBytes <= 232448);

enum class Start { none, added, mixed };

struct Eight {
  const TileRecord *records; ///< [tile]
  const WeightTile *weights; ///< [slice][warp]
  int32_t tiles, runs, slices;
  bool hasX, hasDu;
  Start start;
};

/// A block's tiles: every one of `runs` blocks takes the next.
struct Walk {
  int slice, first, step;

  __device__ explicit Walk(const Eight &args)
      : slice(blockIdx.x % args.slices), first(args.tiles - 1 - static_cast<int>(blockIdx.x) / args.slices),
        step(args.runs) {}
};

struct Ring {
  uint32_t memory;
  RingPlace<kSlots> place{memory + kBarriers};

  __device__ uint32_t slot() const { return memory + place.slot * kSlotBytes; }
  __device__ uint32_t done() const { return memory + kBarriers + 8 * (2 * kSlots + place.slot); }
  /// Called by one thread.
  __device__ void init() const {
    for (int k = 0; k < 3 * kSlots; ++k)
      barrierInit(memory + kBarriers + 8 * k, k < 2 * kSlots ? 1 : kWarps);
    fenceBarrierInit();
  }
};

/// Called by one thread, as storeTiles() by another.
__device__ void loadTiles(const Eight &args, Ring ring, const CUtensorMap *mapX, const CUtensorMap *mapStart,
                          const CUtensorMap *mapDu) {
  const Walk walk(args);
  const bool hasStart = args.start != Start::none;
  const uint32_t bytes = sizeof(TileRecord) + (args.hasX + hasStart) * kStreamsBytes + (args.hasDu ? kStreamBytes : 0);
#pragma unroll 1
  for (int tile = walk.first; tile >= 0; tile -= walk.step, ring.place.advance()) {
    const uint32_t slot = ring.slot(), full = ring.place.full();
    barrierWait(ring.place.free(), ring.place.parity ^ 1);
    barrierExpect(full, bytes);
    for (int i = 0; i < kStreams; ++i) {
      const int group = i * args.slices + walk.slice;
      if (hasStart)
        loadChannels(slot + kStartAt + i * kStreamBytes, mapStart, tile * kTokens, group, full);
      if (args.hasX)
        loadChannels(slot + i * kStreamBytes, mapX, tile * kTokens, group, full);
    }
    if (args.hasDu)
      loadChannels(slot + kDuAt, mapDu, tile * kTokens, walk.slice, full);
    bulkLoad(slot + kRecordAt, args.records + tile, sizeof(TileRecord), full);
  }
}

__device__ void storeTiles(const Eight &args, Ring ring, const CUtensorMap *mapDx) {
  const Walk walk(args);
#pragma unroll 1
  for (int tile = walk.first; tile >= 0; tile -= walk.step, ring.place.advance()) {
    barrierWait(ring.done(), ring.place.parity);
    for (int i = 0; i < kStreams; ++i)
      storeChannels(mapDx, tile * kTokens, i * args.slices + walk.slice, ring.slot() + kStartAt + i * kStreamBytes);
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

/// Adds to the product what else token g + 8 * half gets. `at`: the lane's channels of its first stream in a box.
template <Start kOf, bool kHasDu>
__device__ __forceinline__ void addOthers(const char *slot, const TokenRow &row, int at, int half, bool hasX,
                                          Sums &sums) {
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
      add(i, row.factor, pairOf(0, i));
  }
}

template <Start kOf, bool kHasDu>
__device__ void makeTiles(const Eight &args, Ring ring, char *shared) {
  const Walk walk(args);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, q = lane % 4;
  const Weights weights(args.weights[walk.slice * kWarps + warp], lane);
  const int at = g * 128 + ((warp ^ g) * 16) + q * 4;
#pragma unroll 1
  for (int tile = walk.first; tile >= 0; tile -= walk.step, ring.place.advance()) {
    barrierWait(ring.place.full(), ring.place.parity);
    char *slot = shared + ring.place.slot * kSlotBytes;
    const auto &record = *reinterpret_cast<const TileRecord *>(slot + kRecordAt);
    Sums sums = {};
    multiply(record, weights, lane, sums);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const TokenRow &row = record.rows[g + 8 * half];
      const float scale = row.scale * weights.scale;
#pragma unroll
      for (int i = 0; i < kStreams; ++i)
        sums[i][2 * half] *= scale, sums[i][2 * half + 1] *= scale;
      addOthers<kOf, kHasDu>(slot, row, at + half * 1024, half, args.hasX, sums);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int i = 0; i < kStreams; ++i)
        *reinterpret_cast<uint32_t *>(slot + kStartAt + i * kStreamBytes + at + half * 1024) =
            packBf16(sums[i][2 * half], sums[i][2 * half + 1]);
    fenceBulk();
    __syncwarp();
    if (lane == 0)
      barrierArrive(ring.done());
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
    ring.init();
  __syncthreads();
  beginOverlapped();
  const int warp = threadIdx.x / 32;
  if (warp < kWarps)
    makeTiles<kOf, kHasDu>(args, ring, shared);
  else if (threadIdx.x == 32 * kWarps)
    loadTiles(args, ring, &mapX, &mapStart, &mapDu);
  else if (threadIdx.x == 32 * (kWarps + 1))
    storeTiles(args, ring, &mapDx);
}

/// Tensors that a tile's record is made of.
struct Tokens {
  const float *dProj, *factor, *hPre, *hRes; ///< null where there is none
  int64_t M, N;
  bool outputFirst;
};

constexpr int kPackThreads = 256;
constexpr int kValues = kStreams * kWarpChannels; ///< of a column of a WeightTile
using PackRoom = float[kColumns][kValues + 1];

/// Tokens behind the last are zeros.
__device__ void packRecord(const Tokens &args, int64_t tile, PackRoom &room, TileRecord &to) {
  __shared__ float inverse[kTokens];
  const int64_t first = tile * kTokens;
  const int thread = threadIdx.x;
  for (int item = thread; item < kTokens * kColumns; item += kPackThreads) {
    const int t = item / kColumns, j = item % kColumns;
    room[j][t] = first + t < args.M && j < args.N ? args.dProj[(first + t) * args.N + j] : 0.0f;
  }
  __syncthreads();
  if (thread < 8 * kTokens) {
    const int t = thread / 8;
    float most = 0;
    for (int j = thread % 8; j < kColumns; j += 8)
      most = fmaxf(most, fabsf(room[j][t]));
    for (int offset = 4; offset; offset /= 2)
      most = fmaxf(most, __shfl_xor_sync(~0u, most, offset));
    if (thread % 8 == 0) {
      TokenRow &row = to.rows[t];
      row.scale = scaleAbove(most);
      row.factor = args.factor && first + t < args.M ? args.factor[first + t] : 0.0f;
      inverse[t] = inverseScale(scaleAbove(most));
    }
  }
  __syncthreads();
  const int lane = thread % 32, g = lane / 4, q = lane % 4, step = thread / 32;
  const auto pair = [&](int t, int column, uint32_t &high, uint32_t &low) {
    const int j = 16 * step + column;
    splitF16(room[j][t] * inverse[t], room[j + 1][t] * inverse[t], high, low);
  };
  if (step < kSteps) {
    uint4 high, low;
    pair(g, 2 * q, high.x, low.x);
    pair(g + 8, 2 * q, high.y, low.y);
    pair(g, 2 * q + 8, high.z, low.z);
    pair(g + 8, 2 * q + 8, high.w, low.w);
    to.dProj[step][0][lane] = high;
    to.dProj[step][1][lane] = low;
  }
  constexpr int kMix = kStreams * kStreams;
  for (int item = thread; item < kTokens * (kMix + kStreams); item += kPackThreads) {
    const int t = item / (kMix + kStreams), place = item % (kMix + kStreams), o = place / kStreams,
              i = place % kStreams;
    const int64_t m = first + t;
    float v = 0;
    if (m < args.M && place < kMix && args.hRes)
      v = args.hRes[m * kMix + (args.outputFirst ? place : i * kStreams + o)];
    else if (m < args.M && place >= kMix && args.hPre)
      v = args.hPre[m * kStreams + i];
    (place < kMix ? to.rows[t].mix[o][i] : to.rows[t].hPre[i]) = v;
  }
}

/// Eight channels from `channel` on.
__device__ void packWeights(const PhiElements<AnyInput> &phi, int64_t C, int64_t channel, PackRoom &room,
                            WeightTile &to) {
  __shared__ float most[kPackThreads / 32];
  float mine = 0;
#pragma unroll 5
  for (int item = threadIdx.x; item < kColumns * kValues; item += kPackThreads) {
    const int j = item / kValues, place = item % kValues;
    const int64_t k = place / kWarpChannels * C + channel + place % kWarpChannels;
    const float v = j < phi.N ? phi.at(j, k) * phi.scale(k) : 0.0f;
    room[j][place] = v;
    mine = fmaxf(mine, fabsf(v));
  }
  for (int offset = 16; offset; offset /= 2)
    mine = fmaxf(mine, __shfl_xor_sync(~0u, mine, offset));
  if (threadIdx.x % 32 == 0)
    most[threadIdx.x / 32] = mine;
  __syncthreads();
  for (float other : most)
    mine = fmaxf(mine, other);
  const float scale = scaleAbove(mine), inverse = inverseScale(scale);
  for (int item = threadIdx.x; item < kSteps * kStreams * 32; item += kPackThreads) {
    const int lane = item % 32, i = item / 32 % kStreams, step = item / (32 * kStreams);
    const int row = 16 * step + lane % 4 * 2, place = i * kWarpChannels + lane / 4;
    const auto pair = [&](int row) { return packF16(room[row][place] * inverse, room[row + 1][place] * inverse); };
    to.terms[step][i][lane] = make_uint2(pair(row), pair(row + 8));
  }
  if (threadIdx.x == 0)
    to.scale = scale;
}

/// A block per tile of W, and then one per tile of tokens.
__global__ void __launch_bounds__(kPackThreads)
    streamEightPackSm90Kernel(const __grid_constant__ Tokens tokens, const __grid_constant__ PhiElements<AnyInput> phi,
                              int64_t C, TileRecord *records, WeightTile *weights) {
  __shared__ PackRoom room;
  beginOverlapped();
  const int64_t weightTiles = C / kWarpChannels, tile = blockIdx.x - weightTiles;
  if (tile < 0)
    packWeights(phi, C, int64_t(blockIdx.x) * kWarpChannels, room, weights[blockIdx.x]);
  else
    packRecord(tokens, tile, room, records[tile]);
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
                   cudaStream_t stream) {
  constexpr auto *kKernel = streamEightSm90Kernel<kOf, kHasDu>;
  CUtensorMap x, start, du, dx;
  cudaError_t error = channelsMap(x, a.x, {a.M, a.K, kTokens, 1});
  if (!error)
    error = channelsMap(dx, a.d_x, {a.M, a.K, kTokens, 1});
  start = du = dx; // which are not read where there is none
  if (!error && kOf != Start::none)
    error = channelsMap(start, shares.dOut ? shares.dOut : a.d_x_in, {a.M, a.K, kTokens, 1});
  if (!error && kHasDu)
    error = channelsMap(du, shares.du, {a.M, a.C, kTokens, 1});
  if (!error)
    error = allowShared<kKernel>(kSharedBytes);
  return error ? error
               : launchOverlapping(kKernel, static_cast<unsigned>(args.slices * args.runs), kThreads, 1, kSharedBytes,
                                   stream, args, x, start, du, dx);
}

template <bool kHasDu>
cudaError_t launchStart(const Eight &args, const ProjectionBwdArgs &a, const generic::StreamShares &shares,
                        cudaStream_t stream) {
  return args.start == Start::mixed   ? launch<Start::mixed, kHasDu>(args, a, shares, stream)
         : args.start == Start::added ? launch<Start::added, kHasDu>(args, a, shares, stream)
                                      : launch<Start::none, kHasDu>(args, a, shares, stream);
}

} // namespace

bool mhcrt::streamEightSm90Takes(const ProjectionBwdArgs &a) { return a.x_type == MHCRT_BF16 && a.C % kBox == 0; }

int64_t mhcrt::streamEightSm90Bytes(const ProjectionBwdArgs &a) { return Rooms(a).plan.bytes(); }

cudaError_t mhcrt::streamEightSm90(const ProjectionBwdArgs &a, const generic::StreamShares &shares, const float *factor,
                                   void *scratch, int multiprocessors, cudaStream_t stream) {
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
  const Eight args = {records,
                      weights,
                      tiles,
                      std::min(tiles, std::max(1, multiprocessors / slices)),
                      slices,
                      factor != nullptr,
                      shares.du != nullptr,
                      shares.dOut ? Start::mixed
                      : a.d_x_in  ? Start::added
                                  : Start::none};
  return args.hasDu ? launchStart<true>(args, a, shares, stream) : launchStart<false>(args, a, shares, stream);
}
