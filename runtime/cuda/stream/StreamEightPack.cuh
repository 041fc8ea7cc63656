//===- StreamEightPack.cuh - Operands of d_x of eight streams ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The form in which stream_eight_sm90.cu reads all but the streams, and the launch that makes it.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_STREAM_STREAMEIGHTPACK_CUH
#define MHCRT_CUDA_STREAM_STREAMEIGHTPACK_CUH

#include "cuda/algebra/Phi.cuh"
#include "cuda/ptx/Mma.cuh"
#include "cuda/ptx/Overlap.cuh"

#include <cstddef>

namespace mhcrt::eight {

constexpr int kStreams = 8, kTokens = 16;
constexpr int kBox = 32;                     ///< channels of a block
constexpr int kWarps = 4, kWarpChannels = 8; ///< that make d_x
constexpr int kSteps = 5, kColumns = 16 * kSteps;

/// All that a token needs beside its streams. The size keeps eight tokens in different banks.
struct TokenRow {
  float mix[kStreams][kStreams]; ///< [o][i]
  float hPre[kStreams], unused[4];
};

/// All that a tile needs beside its streams.
struct TileRecord {
  uint4 dProj[kSteps][2][32];                  ///< d_proj / scale in two f16 terms, as fragments
  uint32_t products[2][2][kColumns / 8][8][4]; ///< in two bf16 terms: [8 tokens][term][8 columns][column][2 tokens]
  struct {
    float factor, scale; ///< scale: a power of two above every |d_proj|
  } scalars[kTokens];
  TokenRow rows[kTokens]; ///< read where there is a mix or d_u
};
constexpr int kRowsAt = offsetof(TileRecord, rows);
static_assert(sizeof(TokenRow) == 304 && sizeof(TileRecord) % 16 == 0 && kRowsAt % 16 == 0);

/// W / scale of eight channels of the eight streams.
struct WeightTile {
  uint2 terms[kSteps][kStreams][32];
  float scale, unused[3];
};

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
inline __device__ void packRecord(const Tokens &args, int64_t tile, PackRoom &room, TileRecord &to) {
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
      to.scalars[t].scale = scaleAbove(most);
      to.scalars[t].factor = args.factor && first + t < args.M ? args.factor[first + t] : 0.0f;
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
  for (int item = thread; item < kColumns * kTokens / 2; item += kPackThreads) {
    const int j = item / (kTokens / 2), pair = item % (kTokens / 2);
    const auto place = [&](int term) -> uint32_t & { return to.products[pair / 4][term][j / 8][j % 8][pair % 4]; };
    splitBf16(room[j][2 * pair], room[j][2 * pair + 1], place(0), place(1));
  }
  if (!args.hPre && !args.hRes)
    return;
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
inline __device__ void packWeights(const PhiElements<AnyInput> &phi, int64_t C, int64_t channel, PackRoom &room,
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
static __global__ void __launch_bounds__(kPackThreads)
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

} // namespace mhcrt::eight

#endif // MHCRT_CUDA_STREAM_STREAMEIGHTPACK_CUH
