//===- stream_bwd_sm90.cu - d_x and d_phi from one look at x --------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_x[i,c] = start[i,c] + h_pre[i] * d_u[c] + sum_j d_proj[j] W[j,i,c] + t * x[i,c]          W = phi * norm_weight
//   start    = nothing, d_x_in[i,c], or sum_o mix[o,i] * d_x_in[o,c]
//   product[i,c,j] = sum_m x[m,i,c] * d_proj[m,j]                     one partial sum per group of blocks
//
// Plan    A block owns 128 channels of the four streams and walks over tiles of 8 tokens, the last tile first: the
//         pass before it left the last tokens in the second-level cache. C/128 slices times groups of blocks fill the
//         device; blocks exchange nothing. Tiles come and go by bulk tensor copies through a ring of slots, x with
//         128-byte swizzle; d_x is written over the slot's start. 16 warps:
//           0-3   product, one stream each: 96 sums per thread for the whole launch. x^T by transposing loads, k =
//                 tokens; one 16x8x16 tile takes 8 tokens with the first bf16 term of d_proj (k 0-7) and the second
//                 (k 8-15).
//           4-11  d_x: two warpgroups take the tiles in turn. A warp has 32 channels, whose W stays in registers for
//                 the whole launch, a lane one token and 8 channels of each stream. Rows 0-7 of A are the first f16
//                 terms of the tokens' d_proj, 8-15 the second; B is W, in an order that makes the lane's channel
//                 pairs its columns of the result. Powers of two, per token and per warp, keep both below 1.
//           12    stores        13   loads        14, 15   idle
//         A slot belongs to one warpgroup (their number divides the slots'): no one waits two phases ahead.
// Bytes   per token 8C for x, 8C for d_x_in, 2C for d_u, 8C for d_x; 128 (with mix 192) per slice from the
//         second-level cache; 384C per group for the partial sums.
// Needs   C a multiple of 128 up to 16384; rows of tokens aligned to 16 bytes. One block per multiprocessor: 160, 152
//         and 48 registers a thread by role, no spills; 200192 bytes of shared memory with mix, 195072 without,
//         209408 without d_u.
// Round   f32 sums, d_x rounded once. d_x: W in f16, 2^-11 of it (2^-24 of the largest in the warp's channels, where
//         that is more), an eighth of what d_x loses when it is stored; d_proj to 2^-23. d_phi: d_proj to 2^-17, x
//         exactly. This is bf16x3 of mhc.projection_bwd for d_x in bf16.
// Time    one H200, us and percent of a copy's bandwidth in the same run, with the product:
//           M x C              8192x4096  8192x7168  8192x2560  4096x1280  65536x768  32768x4096
//           26C, d_x_in        245  84    391  92    164  79     47  68    356  87     895   92
//           26C, mix           242  85    384  94    161  80     47  68    360  86     894   92
//         With W in two bf16 terms, twice the tiles and all eight warps on one slot, the first was 213 us (96): it is
//         not the arithmetic that limits it.
//
//===------------------------------------------------------------------------===//
#include "StreamBwdRing.cuh"
#include "prim/PhiView.cuh"
#include "prim/TileMap.h"

#include <algorithm>

namespace mhcrt {
namespace {

/// One warp's stream of the product. Tokens behind the last one have zeros in x, but anything in their rows.
template <class L>
__device__ __forceinline__ void sumProduct(const StreamBwdArgs &args, const Walk &walk, int stream) {
  const int lane = threadIdx.x & 31, g = lane >> 2, q = lane & 3;
  const uint32_t row = lane & 7, myX = walk.base + stream * 1024 + row * 128;
  float sums[8][3][4] = {};
  Slot<L::kSlots> slot;
#pragma unroll 1
  for (int s = 0; s < walk.count; ++s) {
    barrierWait(walk.full + 8 * slot.at, slot.parity);
    uint4 x[4]; // of 4 x 32 channels: two blocks of 16 rows each
#pragma unroll
    for (int j = 0; j < 4; ++j)
      x[j] = loadTransposed(myX + slot.at * L::kBox + (j >> 1) * 4096 + ((((j & 1) * 4 + (lane >> 3)) ^ row) * 16));
    const auto *proj = sharedAt<float>(walk.shared, L::kRowsAt + slot.at * L::kRows + 2 * q * L::kProjRow) + g;
    const int left = static_cast<int>(args.M) - walk.token(s) - 2 * q;
#pragma unroll
    for (int n = 0; n < 3; ++n) {
      const float a = left > 0 ? proj[n * 8] : 0.0f;
      const float b = left > 1 ? proj[kColumns + n * 8] : 0.0f;
      uint32_t first, second;
      splitBf16(a, b, first, second);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        multiplyBf16(sums[2 * j][n], x[j].x, x[j].y, x[j].x, x[j].y, first, second);
        multiplyBf16(sums[2 * j + 1][n], x[j].z, x[j].w, x[j].z, x[j].w, first, second);
      }
    }
    __syncwarp();
    if (lane == 0)
      barrierArrive(walk.free + 8 * slot.at);
    slot.advance();
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

/// A lane's part of W: tiles of 8 columns (rows of B) by 8 channels, divided by `scale`. Tile t has the channels t/2*16
/// + n/2*4 + t%2*2 + n%2 of the warp's, in the order of its columns n.
struct PhiTiles {
  float scale;
  uint32_t parts[4][3][4]; ///< [tile][8 columns][stream]: rows 2q, 2q+1 of B's column n

  __device__ __forceinline__ PhiTiles(const StreamBwdArgs &args, int64_t channel) {
    const PhiView phi = {args.phi, args.phiType, args.phiLayout, 4 * args.C, kColumns};
    scale = scaleAbove(mostOf(args, phi, channel));
    const float inverse = inverseScale(scale);
    const int n = (threadIdx.x & 31) >> 2, q = threadIdx.x & 3;
#pragma unroll
    for (int tile = 0; tile < 4; ++tile)
#pragma unroll
      for (int stream = 0; stream < 4; ++stream) {
        const int64_t k = stream * args.C + channel + tile / 2 * 16 + n / 2 * 4 + tile % 2 * 2 + n % 2;
        const float weight = weightAt(args, k) * inverse;
#pragma unroll
        for (int part = 0; part < 3; ++part)
          parts[tile][part][stream] =
              packF16(phi.at(part * 8 + 2 * q, k) * weight, phi.at(part * 8 + 2 * q + 1, k) * weight);
      }
  }

private:
  __device__ __forceinline__ static float weightAt(const StreamBwdArgs &args, int64_t k) {
    return args.weight ? element(args.weight, args.weightType, k) : 1.0f;
  }

  /// The greatest |W| of the warp's channels, one per lane.
  __device__ __forceinline__ static float mostOf(const StreamBwdArgs &args, const PhiView &phi, int64_t channel) {
    float most = 0.0f;
#pragma unroll 2
    for (int stream = 0; stream < 4; ++stream) {
      const int64_t k = stream * args.C + channel + (threadIdx.x & 31);
      const float weight = fabsf(weightAt(args, k));
#pragma unroll
      for (int column = 0; column < kColumns; ++column)
        most = fmaxf(most, fabsf(phi.at(column, k)) * weight);
    }
#pragma unroll
    for (int offset = 16; offset; offset /= 2)
      most = fmaxf(most, __shfl_xor_sync(~0u, most, offset));
    return most;
  }
};

/// A token's coefficients, as a lane needs them.
template <class L, Start kStart>
struct Token {
  float4 pre;
  float factor, scale;
  float mix[4][4];              ///< [i][o]
  uint32_t first[3], second[3]; ///< d_proj / scale, columns part * 8 + 2q, +1, in two f16 terms

  __device__ __forceinline__ Token(char *shared, uint32_t rows, int token, bool transposed) {
    const auto *scalars = sharedAt<float4>(shared, rows + L::kScalar + token * L::kScalarRow);
    pre = scalars[0];
    factor = scalars[1].x;
    scale = scalars[1].y;
    if (kStart == Start::kMix) {
      const auto *row = sharedAt<float4>(shared, rows + L::kMix + token * L::kMixRow);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int o = 0; o < 4; ++o)
          mix[i][o] = transposed ? part(row[i], o) : part(row[o], i);
    }
    const float inverse = inverseScale(scale);
    const auto *pairs = sharedAt<float2>(shared, rows + token * L::kProjRow) + (threadIdx.x & 3);
#pragma unroll
    for (int n = 0; n < 3; ++n)
      splitF16(pairs[n * 4].x * inverse, pairs[n * 4].y * inverse, first[n], second[n]);
  }
};

/// 4 channels of each stream of one token as they lie in a slot. x, du: offsets in shared memory, of the first stream.
template <class L, Start kStart, bool kHasDu>
struct Channels {
  uint2 xs[4], grads[4], us;

  __device__ __forceinline__ Channels(char *shared, uint32_t x, uint32_t du) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      xs[i] = *sharedAt<uint2>(shared, x + i * 1024);
#pragma unroll
    for (int i = 0; i < 4 && kStart != Start::kNone; ++i)
      grads[i] = *sharedAt<uint2>(shared, x + L::kGrad + i * 1024);
    if (kHasDu)
      us = *sharedAt<uint2>(shared, du);
  }
};

/// Their d_x, back over the slot's start. tiles: of W, from the first of these channels' on.
template <class L, Start kStart, bool kHasDu>
__device__ __forceinline__ void gradChannels(char *shared, const Token<L, kStart> &token, float scale,
                                             const uint32_t (&tiles)[4][3][4], int first,
                                             const Channels<L, kStart, kHasDu> &in, uint32_t x) {
  uint32_t dx[4][2];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    float products[4][4] = {}; // 0, 1: what the first terms of d_proj give, 2, 3: the second
#pragma unroll
    for (int i = 0; i < 4; ++i)
      multiplyF16(products[i], token.first[0], token.second[0], token.first[1], token.second[1], tiles[first + k][0][i],
                  tiles[first + k][1][i]);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      multiplyF16(products[i], token.first[2], token.second[2], tiles[first + k][2][i]);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float sums[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        auto half = [&](const uint2 &pairs) { return e ? highBf16(part(pairs, k)) : lowBf16(part(pairs, k)); };
        float sum = token.factor * half(in.xs[i]);
        if (kHasDu)
          sum = fmaf(part(token.pre, i), half(in.us), sum);
        if (kStart == Start::kAdd)
          sum += half(in.grads[i]);
        if (kStart == Start::kMix) {
#pragma unroll
          for (int o = 0; o < 4; ++o)
            sum = fmaf(token.mix[i][o], half(in.grads[o]), sum);
        }
        sums[e] = fmaf(products[i][e] + products[i][2 + e], scale, sum);
      }
      dx[i][k] = packBf16(sums[0], sums[1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    *sharedAt<uint2>(shared, x + L::kGrad + i * 1024) = make_uint2(dx[i][0], dx[i][1]);
}

/// The token order keeps the 8-byte accesses to swizzled boxes free of bank conflicts.
template <class L, Start kStart, bool kHasDu>
__device__ __forceinline__ void makeGrads(const StreamBwdArgs &args, const Walk &walk, int warp) {
  const int lane = threadIdx.x & 31, g = lane >> 2, q = lane & 3, unit = warp & 3;
  const int row = ((g & 3) << 1) | (g >> 2);
  const uint32_t inRow = row * 128 + ((((unit & 1) * 4 + (q >> 1)) ^ row) * 16) + (q & 1) * 8;
  const PhiTiles phi(args, walk.slice * kSlice + unit * kWarpChannels);
  Slot<L::kSlots> slot;
  slot.at = warp >> 2;
#pragma unroll 1
  for (int s = warp >> 2; s < walk.count; s += kGroups) {
    barrierWait(walk.full + 8 * slot.at, slot.parity);
    const Token<L, kStart> token(walk.shared, L::kRowsAt + slot.at * L::kRows, row, args.transposed);
    const float scale = token.scale * phi.scale;
    const uint32_t x = slot.at * L::kBox + (unit >> 1) * 4096 + inRow;
    const uint32_t du = slot.at * L::kBox + L::kDu + (unit >> 1) * 1024 + inRow;
    const Channels<L, kStart, kHasDu> low(walk.shared, x, du), high(walk.shared, x ^ 32, du ^ 32);
    gradChannels(walk.shared, token, scale, phi.parts, 0, low, x);
    gradChannels(walk.shared, token, scale, phi.parts, 2, high, x ^ 32);
    fenceBulk();
    __syncwarp();
    if (lane == 0)
      barrierArrive(walk.done + 8 * slot.at);
    slot.advance(kGroups);
  }
}

template <Start kStart, bool kHasDu>
__global__ void __launch_bounds__(kStreamThreads, 1)
    streamBwdKernel(const __grid_constant__ StreamBwdArgs args, const __grid_constant__ CUtensorMap mapX,
                    const __grid_constant__ CUtensorMap mapDxIn, const __grid_constant__ CUtensorMap mapDu,
                    const __grid_constant__ CUtensorMap mapDx) {
  using L = Layout<kStart, kHasDu>;
  extern __shared__ __align__(1024) char shared[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const Walk walk = Walk::of(args, shared, L());
  if (threadIdx.x == 0)
    walk.initBarriers(L::kSlots, 1 + (args.partials ? kProductWarps : 0));
  __syncthreads();
  if (warp >= kStoreWarp) {
    lowerRegisters<48>();
    if (warp == kStoreWarp && lane == 0)
      storeTiles<L>(walk, &mapDx);
    else if (warp == kLoadWarp && lane == 0)
      loadTiles<L, kStart, kHasDu>(args, walk, &mapX, &mapDxIn, &mapDu);
  } else if (warp < kProductWarps) {
    raiseRegisters<160>();
    if (args.partials)
      sumProduct<L>(args, walk, warp);
  } else {
    raiseRegisters<152>();
    makeGrads<L, kStart, kHasDu>(args, walk, warp - kProductWarps);
  }
}

template <Start kStart, bool kHasDu>
cudaError_t launch(const StreamBwdArgs &args, int multiprocessors, cudaStream_t stream) {
  using L = Layout<kStart, kHasDu>;
  const TileMapShape shape = {args.M, args.C, kSlotTokens, kSlice / 64};
  CUtensorMap x, dxIn = {}, du = {}, dx;
  if (!makeStreamsMap(&x, args.x, shape) || !makeStreamsMap(&dx, args.dx, shape) ||
      (kStart != Start::kNone && !makeStreamsMap(&dxIn, args.dxIn, shape)) ||
      (kHasDu && !makeChannelsMap(&du, args.du, shape)))
    return cudaErrorInvalidValue;
  const auto kernel = streamBwdKernel<kStart, kHasDu>;
  if (const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, L::kTotal))
    return error;
  const int blocks = static_cast<int>(args.C / kSlice) * streamBwdGroups(args.M, args.C, multiprocessors);
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = kStreamThreads;
  config.dynamicSmemBytes = L::kTotal;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = args.overlaps ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, args, x, dxIn, du, dx);
}

} // namespace

int streamBwdGroups(int64_t M, int64_t C, int multiprocessors) {
  const int64_t tiles = (M + kSlotTokens - 1) / kSlotTokens;
  return static_cast<int>(std::min(tiles, std::max<int64_t>(1, multiprocessors / (C / kSlice))));
}

cudaError_t streamBwd(const StreamBwdArgs &args, int multiprocessors, cudaStream_t stream) {
  if (args.du)
    return args.mix    ? launch<Start::kMix, true>(args, multiprocessors, stream)
           : args.dxIn ? launch<Start::kAdd, true>(args, multiprocessors, stream)
                       : launch<Start::kNone, true>(args, multiprocessors, stream);
  return args.dxIn ? launch<Start::kAdd, false>(args, multiprocessors, stream)
                   : launch<Start::kNone, false>(args, multiprocessors, stream);
}

} // namespace mhcrt
