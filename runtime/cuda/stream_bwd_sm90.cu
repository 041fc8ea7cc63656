//===- stream_bwd_sm90.cu - d_x and d_phi from one look at x --------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_x[i,c] = start[i,c] + h_pre[i] * d_u[c] + sum_j d_proj[j] W[j,i,c] + t * x[i,c]          W = phi * norm_weight
//   start    = nothing, d_x_in[i,c], or sum_o mix[o,i] * d_x_in[o,c]
//   product[i,c,j] = sum_m x[m,i,c] * d_proj[m,j]                     one partial sum per group of blocks
//
// Plan    A block owns 128 channels of the four streams and walks over tiles of 8 tokens, the last tile first: the pass
//         before it left the last tokens in the second-level cache. C/128 slices times groups of blocks fill the
//         device; blocks exchange nothing. Tiles come and go by bulk tensor copies through a ring of slots, x with 128
//         byte swizzle; d_x is written over the slot's start. 16 warps:
//           0-3   product, one stream each: 96 sums per thread for the whole launch. x^T by transposing loads, k =
//                 tokens; one 16x8x16 tile takes 8 tokens with the first bf16 term of d_proj (k 0-7) and the second
//                 (k 8-15).
//           4-11  d_x: two warpgroups take the tiles in turn, a warp has 32 channels. A lane has one token and 4
//                 channels of each stream, twice. Rows 0-7 of A are the first terms of the tokens' d_proj, 8-15 the
//                 second; B is W, in an order that makes the lane's channel pairs its columns of the result.
//           12    stores        13   loads        14, 15   idle
//         A slot belongs to one warpgroup (their number divides the slots'), so that no one waits two phases ahead.
// Bytes   per token 8C for x, 8C for d_x_in, 2C for d_u, 8C for d_x; 128 (with mix 192) per slice from the second-level
//         cache; 384C per group for the partial sums.
// Needs   C a multiple of 128 up to 16384; rows of tokens aligned to 16 bytes.
// Round   f32 sums of bf16 products in 2 x 2 terms: 2^-16 of the addend; W in one term where it is bf16. d_x rounded
//         once.
//
//===------------------------------------------------------------------------===//
#include "StreamBwd.h"
#include "prim/BulkCopy.cuh"
#include "prim/Elements.cuh"
#include "prim/TensorMap.h"

#include <algorithm>

namespace mhcrt {
namespace {

constexpr int kProductWarps = 4;
constexpr int kGroups = 2; ///< warpgroups that make d_x
constexpr int kGradWarps = 4 * kGroups;
constexpr int kStoreWarp = kProductWarps + kGradWarps;
constexpr int kLoadWarp = kStoreWarp + 1;
constexpr int kThreads = 32 * (kLoadWarp + 3);
constexpr int kStoresInFlight = 2;
constexpr int kSharedBytes = 232448;
constexpr uint32_t kStreamsBytes = kSlice * 4 * kSlotTokens * 2, kChannelsBytes = kSlice * kSlotTokens * 2;

enum class Start { kNone, kAdd, kMix };

/// Shared memory: the slots' boxes, then their rows of coefficients, W, barriers.
template <Start kStart, bool kHasDu, int kTerms>
struct Layout {
  static constexpr uint32_t kGrad = kStreamsBytes, kDu = 2 * kStreamsBytes;
  static constexpr uint32_t kBox = kDu + (kHasDu ? kChannelsBytes : 0);
  static constexpr uint32_t kProjRow = kColumns * 4, kScalarRow = kScalars * 4, kMixRow = 64;
  static constexpr uint32_t kScalar = kSlotTokens * kProjRow, kMix = kScalar + kSlotTokens * kScalarRow;
  static constexpr uint32_t kRows = kMix + (kStart == Start::kMix ? kSlotTokens * kMixRow : 0);
  static constexpr uint32_t kUnit = kTerms * 4 * 3 * 512; ///< W of 32 channels
  static constexpr uint32_t kBarriers = 256;
  static constexpr int kSlots = (kSharedBytes - 4 * kUnit - kBarriers) / (kBox + kRows) / kGroups * kGroups;
  static constexpr uint32_t kRowsAt = kSlots * kBox, kPhiAt = kRowsAt + kSlots * kRows,
                            kBarriersAt = kPhiAt + 4 * kUnit;
  static constexpr uint32_t kTotal = kBarriersAt + kBarriers;
  static_assert(24 * kSlots <= kBarriers && kTotal <= kSharedBytes && kSlots > kStoresInFlight);
};

/// The tiles of one block, and the ring that they pass through.
struct Walk {
  uint32_t base; ///< of shared memory
  uint32_t full, done, free;
  int group, groups, tiles, count, slice;

  __device__ int token(int s) const { return (tiles - 1 - group - s * groups) * kSlotTokens; }
};

template <int kSlots>
struct Slot {
  uint32_t at, parity = 0;
  __device__ explicit Slot(uint32_t first) : at(first) {}
  __device__ void advance(uint32_t by) {
    at += by;
    if (at >= kSlots) {
      at -= kSlots;
      parity ^= 1;
    }
  }
};

/// W of the block's slice in the order of the matrix tiles: [unit of 32 channels][pair k][part][lane][stream] words.
/// Lane (n, q) of pair k has channel (k>>1)*16 + (n>>1)*4 + (k&1)*2 + (n&1) and columns part%3 * 8 + 2q, +1.
template <int kTerms>
__device__ __forceinline__ void packPhi(const StreamBwdArgs &args, char *packed, int slice, int thread, int threads) {
  const PhiView phi = {args.phi, args.phiType, args.phiLayout, 4 * args.C, kColumns};
  for (int word = thread; word < 4 * kSlice * (kColumns / 2); word += threads) {
    const int channel = word % kSlice, stream = word / kSlice % 4, pair = word / (4 * kSlice);
    const int64_t k = stream * args.C + slice * kSlice + channel;
    const float weight = args.weight ? element(args.weight, args.weightType, k) : 1.0f;
    uint32_t first, second;
    splitBf16(phi.at(2 * pair, k) * weight, phi.at(2 * pair + 1, k) * weight, first, second);
    const int c = channel % 32, q = pair % 4, part = pair / 4;
    const int tile = (c >> 4 << 1) | (c >> 1 & 1), lane = ((c >> 2 & 3) << 1 | (c & 1)) * 4 + q;
    const int at = (((channel / 32 * 4 + tile) * 3 * kTerms + part) * 32 + lane) * 4 + stream;
    uint32_t *out = reinterpret_cast<uint32_t *>(packed) + at;
    out[0] = first;
    if (kTerms == 2)
      out[3 * 128] = second;
  }
}

template <class L, Start kStart, bool kHasDu>
__device__ __forceinline__ void loadTile(const StreamBwdArgs &args, const Walk &walk, uint32_t slot, int token,
                                         const CUtensorMap *x, const CUtensorMap *dxIn, const CUtensorMap *du) {
  const uint32_t bar = walk.full + 8 * slot, box = walk.base + slot * L::kBox;
  const uint32_t rows = walk.base + L::kRowsAt + slot * L::kRows;
  const int count = min(kSlotTokens, static_cast<int>(args.M) - token), group = walk.slice * (kSlice / 64);
  barrierExpect(bar, (kStart == Start::kNone ? 1 : 2) * kStreamsBytes + (kHasDu ? kChannelsBytes : 0) +
                         count * (L::kRows / kSlotTokens));
  loadStreams(box, x, token, group, bar);
  bulkLoad(rows, args.dProj + static_cast<int64_t>(token) * kColumns, count * L::kProjRow, bar);
  bulkLoad(rows + L::kScalar, args.scalars + static_cast<int64_t>(token) * kScalars, count * L::kScalarRow, bar);
  if (kStart == Start::kMix)
    bulkLoad(rows + L::kMix, args.mix + static_cast<int64_t>(token) * 16, count * L::kMixRow, bar);
  if (kStart != Start::kNone)
    loadStreams(box + L::kGrad, dxIn, token, group, bar);
  if (kHasDu)
    loadChannels(box + L::kDu, du, token, group, bar);
}

template <class L>
__device__ __forceinline__ void storeTiles(const Walk &walk, const CUtensorMap *dx) {
  Slot<L::kSlots> slot(0), read(0);
  for (int s = 0; s < walk.count; ++s) {
    barrierWait(walk.done + 8 * slot.at, slot.parity);
    storeStreams(dx, walk.token(s), walk.slice * (kSlice / 64), walk.base + slot.at * L::kBox + L::kGrad);
    commitStores();
    slot.advance(1);
    if (s < kStoresInFlight)
      continue;
    waitStoresRead<kStoresInFlight>();
    barrierArrive(walk.free + 8 * read.at);
    read.advance(1);
  }
  waitStores();
}

/// One warp's stream of the product. Tokens behind the last one have zeros in x, but anything in their rows.
template <class L>
__device__ __forceinline__ void sumProduct(const StreamBwdArgs &args, const Walk &walk, int stream) {
  const int lane = threadIdx.x & 31, g = lane >> 2, q = lane & 3;
  const uint32_t row = lane & 7, myX = walk.base + stream * 1024 + row * 128;
  float sums[8][3][4] = {};
  Slot<L::kSlots> slot(0);
  for (int s = 0; s < walk.count; ++s) {
    barrierWait(walk.full + 8 * slot.at, slot.parity);
    uint4 x[4]; // of 4 x 32 channels: two blocks of 16 rows each
#pragma unroll
    for (int j = 0; j < 4; ++j)
      x[j] = loadTransposed(myX + slot.at * L::kBox + (j >> 1) * 4096 + ((((j & 1) * 4 + (lane >> 3)) ^ row) * 16));
    const uint32_t proj = walk.base + L::kRowsAt + slot.at * L::kRows + 2 * q * L::kProjRow + g * 4;
    const int left = static_cast<int>(args.M) - walk.token(s) - 2 * q;
#pragma unroll
    for (int n = 0; n < 3; ++n) {
      const float a = left > 0 ? loadSharedFloat(proj + n * 32) : 0.0f;
      const float b = left > 1 ? loadSharedFloat(proj + L::kProjRow + n * 32) : 0.0f;
      uint32_t first, second;
      splitBf16(a, b, first, second);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        multiply16(sums[2 * j][n], x[j].x, x[j].y, x[j].x, x[j].y, first, second);
        multiply16(sums[2 * j + 1][n], x[j].z, x[j].w, x[j].z, x[j].w, first, second);
      }
    }
    __syncwarp();
    if (lane == 0)
      barrierArrive(walk.free + 8 * slot.at);
    slot.advance(1);
  }
  float *out = args.partials + ((walk.group * 4 + stream) * args.C + walk.slice * kSlice) * kColumns + 2 * q;
#pragma unroll
  for (int m = 0; m < 8; ++m)
#pragma unroll
    for (int n = 0; n < 3; ++n) {
      *reinterpret_cast<float2 *>(out + (m * 16 + g) * kColumns + n * 8) = make_float2(sums[m][n][0], sums[m][n][1]);
      *reinterpret_cast<float2 *>(out + (m * 16 + g + 8) * kColumns + n * 8) =
          make_float2(sums[m][n][2], sums[m][n][3]);
    }
}

/// What a lane keeps of its token's coefficients.
template <Start kStart>
struct Token {
  float pre[4], factor;
  float mix[4][4];              ///< [i][o]
  uint32_t first[3], second[3]; ///< d_proj, columns part * 8 + 2q, +1, in two bf16 terms

  template <class L>
  __device__ __forceinline__ void load(uint32_t rows, int token, int q, bool transposed) {
    const float4 h = loadSharedFloat4(rows + L::kScalar + token * L::kScalarRow);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      pre[i] = part(h, i);
    factor = loadSharedFloat(rows + L::kScalar + token * L::kScalarRow + 16);
    if (kStart == Start::kMix) {
      float4 row[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        row[i] = loadSharedFloat4(rows + L::kMix + token * L::kMixRow + i * 16);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int o = 0; o < 4; ++o)
          mix[i][o] = transposed ? part(row[i], o) : part(row[o], i);
    }
#pragma unroll
    for (int n = 0; n < 3; ++n) {
      const uint2 pair = loadShared2(rows + token * L::kProjRow + n * 32 + q * 8);
      splitBf16(__uint_as_float(pair.x), __uint_as_float(pair.y), first[n], second[n]);
    }
  }
};

/// Four streams of a channel pair: sums 0, 1 get what the first terms of d_proj give, 2, 3 the second.
template <int kTerms, Start kStart>
__device__ __forceinline__ void addProjection(float (&sums)[4][4], const Token<kStart> &token, uint32_t phi) {
  if constexpr (kTerms == 1) {
    const uint4 b0 = loadShared4(phi), b1 = loadShared4(phi + 512), b2 = loadShared4(phi + 1024);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      multiply16(sums[i], token.first[0], token.second[0], token.first[1], token.second[1], part(b0, i), part(b1, i));
      multiply8(sums[i], token.first[2], token.second[2], part(b2, i));
    }
  } else {
#pragma unroll
    for (int j = 0; j < 3; ++j) { // k = 48: columns 0..23 with W's first term, then with its second
      const uint4 b0 = loadShared4(phi + j * 1024), b1 = loadShared4(phi + j * 1024 + 512);
      const int p = 2 * j % 3, r = (2 * j + 1) % 3;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        multiply16(sums[i], token.first[p], token.second[p], token.first[r], token.second[r], part(b0, i), part(b1, i));
    }
  }
}

/// 4 channels of each stream of one token, from the slot and back over the slot's start.
template <class L, Start kStart, bool kHasDu, int kTerms>
__device__ __forceinline__ void gradChannels(const Token<kStart> &token, uint32_t x, uint32_t du, uint32_t phi) {
  uint2 xs[4], grads[4], us = {};
#pragma unroll
  for (int i = 0; i < 4; ++i)
    xs[i] = loadShared2(x + i * 1024);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    grads[i] = kStart == Start::kNone ? make_uint2(0, 0) : loadShared2(x + L::kGrad + i * 1024);
  if (kHasDu)
    us = loadShared2(du);
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    float sums[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        auto half = [&](const uint2 &pairs) { return e ? highBf16(part(pairs, k)) : lowBf16(part(pairs, k)); };
        float sum = kHasDu ? token.pre[i] * half(us) : 0.0f;
        if (kStart == Start::kAdd)
          sum += half(grads[i]);
        if (kStart == Start::kMix) {
#pragma unroll
          for (int o = 0; o < 4; ++o)
            sum = fmaf(token.mix[i][o], half(grads[o]), sum);
        }
        sums[i][e] = sum;
        sums[i][2 + e] = token.factor * half(xs[i]);
      }
    addProjection<kTerms>(sums, token, phi + k * (kTerms * 3 * 512));
#pragma unroll
    for (int i = 0; i < 4; ++i)
      setPart(xs[i], k, packBf16(sums[i][0] + sums[i][2], sums[i][1] + sums[i][3]));
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    storeShared2(x + L::kGrad + i * 1024, xs[i]);
}

/// The token order keeps the 8-byte accesses to swizzled boxes free of bank conflicts.
template <class L, Start kStart, bool kHasDu, int kTerms>
__device__ __forceinline__ void makeGrads(const StreamBwdArgs &args, const Walk &walk, int warp) {
  const int lane = threadIdx.x & 31, g = lane >> 2, q = lane & 3, unit = warp & 3;
  const int row = ((g & 3) << 1) | (g >> 2);
  const uint32_t inRow = row * 128 + ((((unit & 1) * 4 + (q >> 1)) ^ row) * 16) + (q & 1) * 8;
  const uint32_t myX = walk.base + (unit >> 1) * 4096 + inRow;
  const uint32_t myDu = walk.base + L::kDu + (unit >> 1) * 1024 + inRow;
  const uint32_t myPhi = walk.base + L::kPhiAt + unit * L::kUnit + lane * 16;
  Slot<L::kSlots> slot(warp >> 2);
  for (int s = warp >> 2; s < walk.count; s += kGroups) {
    barrierWait(walk.full + 8 * slot.at, slot.parity);
    Token<kStart> token;
    token.template load<L>(walk.base + L::kRowsAt + slot.at * L::kRows, row, q, args.transposed);
#pragma unroll 1
    for (uint32_t half = 0; half < 2; ++half)
      gradChannels<L, kStart, kHasDu, kTerms>(token, (myX + slot.at * L::kBox) ^ (half * 32),
                                              (myDu + slot.at * L::kBox) ^ (half * 32),
                                              myPhi + half * 2 * (kTerms * 3 * 512));
    fenceBulk();
    __syncwarp();
    if (lane == 0)
      barrierArrive(walk.done + 8 * slot.at);
    slot.advance(kGroups);
  }
}

template <Start kStart, bool kHasDu, int kTerms>
__global__ void __launch_bounds__(kThreads, 1)
    streamBwdKernel(const __grid_constant__ StreamBwdArgs args, const __grid_constant__ CUtensorMap mapX,
                    const __grid_constant__ CUtensorMap mapDxIn, const __grid_constant__ CUtensorMap mapDu,
                    const __grid_constant__ CUtensorMap mapDx) {
  using L = Layout<kStart, kHasDu, kTerms>;
  extern __shared__ __align__(1024) char shared[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, slices = static_cast<int>(args.C) / kSlice;
  Walk walk;
  walk.base = sharedAddress(shared);
  walk.full = walk.base + L::kBarriersAt;
  walk.done = walk.full + 8 * L::kSlots;
  walk.free = walk.done + 8 * L::kSlots;
  walk.slice = blockIdx.x % slices;
  walk.group = blockIdx.x / slices;
  walk.groups = gridDim.x / slices;
  walk.tiles = (static_cast<int>(args.M) + kSlotTokens - 1) / kSlotTokens;
  walk.count = (walk.tiles - walk.group + walk.groups - 1) / walk.groups;
  if (threadIdx.x == 0) {
    for (int i = 0; i < L::kSlots; ++i) {
      barrierInit(walk.full + 8 * i, 1);
      barrierInit(walk.done + 8 * i, 4);
      barrierInit(walk.free + 8 * i, 1 + (args.partials ? kProductWarps : 0));
    }
    fenceBulk();
  }
  __syncthreads();
  if (warp < kStoreWarp) {
    packPhi<kTerms>(args, shared + L::kPhiAt, walk.slice, threadIdx.x, 32 * kStoreWarp);
    asm volatile("bar.sync 1, %0;" ::"n"(32 * kStoreWarp) : "memory");
  }

  if (warp >= kStoreWarp) {
    lowerRegisters<40>();
    if (warp == kStoreWarp && lane == 0) {
      storeTiles<L>(walk, &mapDx);
    } else if (warp == kLoadWarp && lane == 0) {
      waitForEarlierKernels();
      Slot<L::kSlots> slot(0);
      for (int s = 0; s < walk.count; ++s) {
        if (s >= L::kSlots)
          barrierWait(walk.free + 8 * slot.at, slot.parity ^ 1);
        loadTile<L, kStart, kHasDu>(args, walk, slot.at, walk.token(s), &mapX, &mapDxIn, &mapDu);
        slot.advance(1);
      }
    }
  } else if (warp < kProductWarps) {
    raiseRegisters<152>();
    if (args.partials)
      sumProduct<L>(args, walk, warp);
  } else {
    raiseRegisters<160>();
    makeGrads<L, kStart, kHasDu, kTerms>(args, walk, warp - kProductWarps);
  }
}

template <Start kStart, bool kHasDu, int kTerms>
cudaError_t launch(const StreamBwdArgs &args, int multiprocessors, cudaStream_t stream) {
  using L = Layout<kStart, kHasDu, kTerms>;
  const TensorMapShape shape = {args.M, args.C, kSlotTokens, kSlice / 64};
  CUtensorMap x, dxIn = {}, du = {}, dx;
  if (!makeStreamsMap(&x, args.x, shape) || !makeStreamsMap(&dx, args.dx, shape) ||
      (kStart != Start::kNone && !makeStreamsMap(&dxIn, args.dxIn, shape)) ||
      (kHasDu && !makeChannelsMap(&du, args.du, shape)))
    return cudaErrorInvalidValue;
  const auto kernel = streamBwdKernel<kStart, kHasDu, kTerms>;
  if (const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, L::kTotal))
    return error;
  const int blocks = static_cast<int>(args.C / kSlice) * streamBwdGroups(args.M, args.C, multiprocessors);
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = kThreads;
  config.dynamicSmemBytes = L::kTotal;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = args.overlaps ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, args, x, dxIn, du, dx);
}

template <int kTerms>
cudaError_t launchTerms(const StreamBwdArgs &args, int multiprocessors, cudaStream_t stream) {
  if (args.du)
    return args.mix    ? launch<Start::kMix, true, kTerms>(args, multiprocessors, stream)
           : args.dxIn ? launch<Start::kAdd, true, kTerms>(args, multiprocessors, stream)
                       : launch<Start::kNone, true, kTerms>(args, multiprocessors, stream);
  return args.dxIn ? launch<Start::kAdd, false, kTerms>(args, multiprocessors, stream)
                   : launch<Start::kNone, false, kTerms>(args, multiprocessors, stream);
}

} // namespace

int streamBwdGroups(int64_t M, int64_t C, int multiprocessors) {
  const int64_t tiles = (M + kSlotTokens - 1) / kSlotTokens;
  return static_cast<int>(std::min<int64_t>(tiles, multiprocessors / (C / kSlice)));
}

cudaError_t streamBwdSm90(const StreamBwdArgs &args, int multiprocessors, cudaStream_t stream) {
  const bool exact = args.phiType == MHCRT_BF16 && !args.weight;
  return exact ? launchTerms<1>(args, multiprocessors, stream) : launchTerms<2>(args, multiprocessors, stream);
}

} // namespace mhcrt
