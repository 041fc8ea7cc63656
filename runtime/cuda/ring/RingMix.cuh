//===- RingMix.cuh - post in the slots of the ring -------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_RING_RINGMIX_CUH
#define MHCRT_CUDA_RING_RINGMIX_CUH

#include "cuda/algebra/Mix.cuh"
#include "cuda/ptx/AsyncCopy.cuh"
#include "cuda/ptx/BulkCopy.cuh"
#include "cuda/ring/RingMultiply.cuh"

namespace mhcrt {

/// Operands of post beside x and f.
struct RingMixArgs {
  const float *hPost, *hRes;
  const void *bias; ///< null when there is none
  int32_t biasType;
  bool outputFirst; ///< of h_res
  bool stores;      ///< y, whose map is not read otherwise
};

/// Maps of tensors whose boxes are copied.
struct RingMixMaps {
  CUtensorMap x, f, y;
};

constexpr int kPrefetchedTiles = 8;

/// Fetches the block's part of phi and the boxes of its first tiles into the second-level cache, a copy or two a
/// thread. Called before the wait for earlier kernels, which leave memory idle while they end.
template <typename S>
__device__ __forceinline__ void prefetchFirst(const RingArgs &args, const RingBlock<S> &block,
                                              const RingMixMaps &maps) {
  const int rows = 4 * kPhiColumns, k = threadIdx.x, item = k - rows;
  const int channels = S::kPads ? min(S::kChannels, S::kWidth - int(block.rank) * S::kChannels) : S::kChannels;
  if (channels <= 0)
    return;
  const int channelBytes = args.phi.type == MHCRT_F32 ? 4 : 2, bytes = channels * channelBytes;
  const char *phi = static_cast<const char *>(args.phi.phi);
  const int64_t first = int64_t{k} * S::kWidth + block.rank * S::kChannels;
  if (args.phi.rowsFirst() && k < rows)
    prefetchBulk(phi + first * channelBytes, bytes);
  else if (!args.phi.rowsFirst() && k < 4)
    prefetchBulk(phi + first * kPhiColumns * channelBytes, kPhiColumns * bytes);
  const int token = (clusterIndex() + item / S::kBoxes * clusterCount()) * S::kTokens;
  if (item < 0 || item >= kPrefetchedTiles * S::kBoxes || token >= args.M)
    return;
  const int group = block.rank * S::kBoxes + item % S::kBoxes;
  prefetchStreams(&maps.x, token, group);
  prefetchChannels(&maps.f, token, group);
}

template <typename S>
__device__ __forceinline__ void loadMixBox(const RingBlock<S> &block, const RingMixMaps &maps, int slot, int box,
                                           int firstToken) {
  const uint32_t to = block.box(slot, box), bar = block.bars.full(slot, box);
  const int group = block.rank * S::kBoxes + box;
  barrierExpect(bar, S::kBoxBytes);
  loadStreams(to, &maps.x, firstToken, group, bar);
  loadChannels(to + 4 * S::kStreamBytes, &maps.f, firstToken, group, bar);
}

/// Where a slot has h_res and h_post of a token. Mixers have h_post of four tokens behind their h_res, so that the two
/// tokens that eight lanes read at once, a distance of four, are on different banks; multipliers were slower so.
template <typename S>
struct CoefficientPlace {
  static __device__ __forceinline__ int hRes(int token) {
    return S::kMultipliersMix ? token * 64 : token * 64 + token / 4 * 64;
  }
  static __device__ __forceinline__ int hPost(int token) {
    return S::kMultipliersMix ? S::kTokens * 64 + token * 16 : (token / 4 + 1) * 256 + token * 16;
  }
};

/// h_res and h_post of a tile, those of the tokens that there are, by one lane.
template <typename S>
__device__ __forceinline__ void loadCoefficients(const RingArgs &args, const RingMixArgs &mix,
                                                 const RingBlock<S> &block, int slot, int firstToken) {
  static_assert(S::kMultipliersMix, "one copy each");
  const int tokens = static_cast<int>(min(args.M - firstToken, int64_t{S::kTokens}));
  const uint32_t bar = block.bars.coefficients(slot), to = block.mix(slot);
  barrierExpect(bar, tokens * kCoefficientBytes);
  bulkLoad(to, mix.hRes + int64_t{firstToken} * 16, tokens * 64, bar);
  bulkLoad(to + S::kTokens * 64, mix.hPost + int64_t{firstToken} * 4, tokens * 16, bar);
}

/// The same by all lanes of a warp, 16 bytes at a time.
template <typename S>
__device__ __forceinline__ void copyCoefficients(const RingArgs &args, const RingMixArgs &mix,
                                                 const RingBlock<S> &block, int slot, int firstToken) {
  static_assert(S::kTokens * 4 == 32, "a row of h_res a lane");
  using Place = CoefficientPlace<S>;
  const int ofRow = block.lane / 4, ofToken = block.lane;
  if (firstToken + ofRow < args.M)
    copyAhead(block.mix(slot) + Place::hRes(ofRow) + block.lane % 4 * 16,
              mix.hRes + int64_t{firstToken} * 16 + block.lane * 4);
  if (ofToken < S::kTokens && firstToken + ofToken < args.M)
    copyAhead(block.mix(slot) + Place::hPost(ofToken), mix.hPost + int64_t{firstToken + ofToken} * 4);
  arriveWhenCopied(block.bars.coefficients(slot));
}

/// The output's number is the first of h_res.
template <typename S>
__device__ __forceinline__ PostCoefficients coefficientsOf(const RingMixArgs &mix, const RingBlock<S> &block, int slot,
                                                           int token) {
  PostCoefficients h;
#pragma unroll
  for (int k = 0; k < 4; ++k)
    reinterpret_cast<float4 &>(h.mix[k]) =
        loadSharedFloat4(block.mix(slot) + CoefficientPlace<S>::hRes(token) + k * 16);
  reinterpret_cast<float4 &>(h.post) = loadSharedFloat4(block.mix(slot) + CoefficientPlace<S>::hPost(token));
  if (!mix.outputFirst) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int o = 0; o < i; ++o) {
        const float other = h.mix[i][o];
        h.mix[i][o] = h.mix[o][i], h.mix[o][i] = other;
      }
  }
  return h;
}

/// Eight channels of f, from first() on, with their bias. One branch for all, so that latencies overlap behind it.
template <typename First>
__device__ __forceinline__ void widenBranch(const RingMixArgs &mix, uint4 branch, First first, float (&f)[8]) {
  widen(branch, f, __nv_bfloat16());
  if (!mix.bias)
    return;
  float bias[8];
  if (mix.biasType == MHCRT_F32)
    loadEight<float>(mix.bias, first(), bias);
  else
    loadEight<__nv_bfloat16>(mix.bias, first(), bias);
#pragma unroll
  for (int e = 0; e < 8; ++e)
    f[e] += bias[e];
}

/// 8 channels of a token in a box, where f lies behind the streams: x, and then y.
template <typename S>
struct MixColumn {
  uint4 streams[4], branch;

  __device__ __forceinline__ void load(uint32_t at) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      streams[i] = loadShared4(at + i * S::kStreamBytes);
    branch = loadShared4(at + 4 * S::kStreamBytes);
  }

  /// y over x for the channels from first() on.
  template <typename First>
  __device__ __forceinline__ void mix(const RingMixArgs &args, const PostCoefficients &h, First first) {
    float f[8];
    widenBranch(args, branch, first, f);
    uint32_t words[4][4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float pair[2] = {f[2 * k], f[2 * k + 1]};
      float v[4][2], sum[2];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        v[i][0] = lowBf16(part(streams[i], k)), v[i][1] = highBf16(part(streams[i], k));
#pragma unroll
      for (int o = 0; o < 4; ++o) {
        h.write<true>(o, pair, v, KeepAll(), sum);
        words[o][k] = packBf16(sum[0], sum[1]);
      }
    }
#pragma unroll
    for (int o = 0; o < 4; ++o)
      streams[o] = make_uint4(words[o][0], words[o][1], words[o][2], words[o][3]);
  }

  __device__ __forceinline__ void store(uint32_t at) const {
#pragma unroll
    for (int o = 0; o < 4; ++o)
      storeShared4(at + o * S::kStreamBytes, streams[o]);
  }
};

template <typename S>
__device__ __forceinline__ void mixLoaderRole(const RingArgs &args, const RingMixArgs &mix, const RingBlock<S> &block,
                                              const RingMixMaps &maps) {
  for (RingCursor<S> at(block, args.M); at.more(); at.next()) {
    barrierWait(block.bars.free(at.slot), at.parity ^ 1);
    copyCoefficients(args, mix, block, at.slot, at.firstToken());
    if (block.lane == 0) {
      if (S::kProductsInSlot) // written since f came
        fenceBulk();
      for (int box = 0; box < S::kBoxes; ++box)
        loadMixBox(block, maps, at.slot, box, at.firstToken());
    }
    __syncwarp();
  }
}

/// A warp mixes its box of every tile and stores it where y is wanted. A slot is free of its stores when the next tile
/// has come: it is in use for longer than that anyway.
template <typename S>
__device__ __forceinline__ void mixRole(const RingArgs &args, const RingMixArgs &mix, const RingBlock<S> &block,
                                        const RingMixMaps &maps) {
  const int box = block.warp - S::kFirstMixer, group = block.rank * S::kBoxes + box;
  const int token = tokenOfLane(block.lane), chunk = block.lane % 4;
  for (RingCursor<S> at(block, args.M); at.more(); at.next()) {
    barrierWait(block.bars.coefficients(at.slot), at.parity);
    const PostCoefficients h = coefficientsOf(mix, block, at.slot, token);
    barrierWait(block.bars.full(at.slot, box), at.parity);
    if (block.lane == 0 && at.turn > 0) {
      waitStoresRead<0>();
      barrierArrive(block.bars.free(at.slot > 0 ? at.slot - 1 : S::kSlots - 1));
    }
    __syncwarp();
    const uint32_t tile = block.box(at.slot, box), row = tile + token * 128;
    // One half after the other: the second finds its instructions loaded, and its loads would not come earlier.
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      const uint32_t place = row + ((half * 4 + chunk) ^ token) * 16;
      MixColumn<S> y;
      y.load(place);
      y.mix(mix, h, [=] { return group * 64 + (half * 4 + chunk) * 8; });
      y.store(place);
    }
    if (!S::kThroughMemory) { // before the fence, which only the copy waits for; gangs were 2 % slower with it
      __syncwarp();
      if (block.lane == 0)
        barrierArrive(block.bars.mixed(at.slot, box));
    }
    fenceBulk();
    __syncwarp();
    if (block.lane == 0) {
      if (S::kThroughMemory)
        barrierArrive(block.bars.mixed(at.slot, box));
      if (mix.stores)
        storeStreams(&maps.y, at.firstToken(), group, tile);
      commitStores();
    }
  }
  if (block.lane == 0)
    waitStores();
}

} // namespace mhcrt

#endif // MHCRT_CUDA_RING_RINGMIX_CUH
