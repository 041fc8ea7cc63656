//===- stream_eight.cu - d_x of a projection of eight streams -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_x[m,k] = start + factor[m] * x[m,k] + h_pre[m,i] * d_u[m,c] + sum_j d_proj[m,j] * W[j,k]    W = phi * norm_weight
//   start    = d_x_in[m,k], or sum_o A[m,o,i] * d_out[m,o,c], or 0
//
// On Hopper bf16 streams have kernels of their own: stream_eight_sm90.cu, weight_eight_sm90.cu.
//
// Plan    A block has 32 channels of the eight streams, a warp those of one: its fragments of W, 80 columns in two bf16
//         terms, stay in registers. All that 16 tokens need is copied to shared memory three tiles ahead. Columns of
//         the fragments are in an order in which a lane has eight channels in a row.
// Bytes   per token 2K elements, and K/8 for d_u, K for d_out or d_x_in; 320 for d_proj.
// Needs   n = 8, N at most 80, layout nC, C a multiple of 16 bytes.
// Round   two bf16 terms per f32 value, three of four products; f32 sums, one rounding at the store.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Phi.cuh"
#include "cuda/ptx/AsyncCopy.cuh"
#include "cuda/ptx/Mma.cuh"
#include "cuda/stream/StreamTiles.h"
#include "cuda/tile/Columns.cuh"

#include <algorithm>

using namespace mhcrt;

namespace {

constexpr int kStreams = 8, kThreads = 32 * kStreams;
constexpr int kChannels = 32; ///< of a block
constexpr int kTokens = 16;   ///< of a tile
constexpr int kStages = 4;
constexpr int kSteps = 5;                          ///< of 16 columns
constexpr int kMixPitch = kStreams * kStreams + 4; ///< floats; eight tokens lie in different banks

struct EightStreams {
  const void *x, *start, *du; ///< start: d_x_in or d_out
  const uint4 *dProj;         ///< [tile][step][term][lane]
  const float *factor, *hPre, *hRes;
  PhiElements<AnyInput> phi;
  void *dx;
  int64_t M, C, runTiles;
  int32_t slices;
  bool mixed; ///< whether start is d_out
  bool outputFirst;
};

/// All that the tokens of a tile need.
template <typename T>
struct Stage {
  static constexpr int kVector = kLanesOf<T>, kVectors = kChannels / kVector;
  alignas(16) T x[kStreams][kTokens][kChannels];
  alignas(16) T start[kStreams][kTokens][kChannels];
  alignas(16) T du[kTokens][kChannels];
  alignas(16) float mix[kTokens][kMixPitch];
  alignas(16) float hPre[kTokens][kStreams];
  float factor[kTokens];
  uint4 dProj[kSteps][2][32];

  /// Tokens behind the last are the last one again; nothing stores theirs.
  __device__ __forceinline__ void copy(const EightStreams &args, int64_t tile, int64_t channel) {
    const int thread = threadIdx.x;
    const auto token = [&](int t) { return min(tile * kTokens + t, args.M - 1); };
    const auto copyVector = [&](T *to, const void *from, int64_t row, int vector) {
      const bool real = channel + vector < args.C;
      copyAhead<16>(to + vector, static_cast<const T *>(from) + (real ? row * args.C + channel + vector : 0), real);
    };
#pragma unroll
    for (int item = thread; item < kStreams * kTokens * kVectors; item += kThreads) {
      const int vector = item % kVectors * kVector, t = item / kVectors % kTokens, i = item / (kVectors * kTokens);
      const int64_t row = token(t) * kStreams + i;
      if (args.factor)
        copyVector(x[i][t], args.x, row, vector);
      if (args.start)
        copyVector(start[i][t], args.start, row, vector);
    }
    if (args.du && thread < kTokens * kVectors)
      copyVector(du[thread / kVectors], args.du, token(thread / kVectors), thread % kVectors * kVector);
    if (args.mixed)
      copyAhead<16>(&mix[thread / 16][thread % 16 * 4], args.hRes + token(thread / 16) * 64 + thread % 16 * 4, true);
    if (args.du && thread < 2 * kTokens)
      copyAhead<16>(&hPre[thread / 2][thread % 2 * 4], args.hPre + token(thread / 2) * kStreams + thread % 2 * 4, true);
    if (args.factor && thread < kTokens)
      copyAhead<4>(&factor[thread], args.factor + token(thread), true);
    for (int item = thread; item < kSteps * 2 * 32; item += kThreads)
      copyAhead<16>(&dProj[0][0][0] + item, args.dProj + tile * (kSteps * 2 * 32) + item, true);
  }
};

/// The fragments of W of a warp: column c of group j is channel c / 2 * 8 + 2 * j + c % 2, so that a lane's sums are of
/// eight channels in a row.
struct Weights {
  uint2 terms[kSteps][4][2];

  __device__ Weights(const PhiElements<AnyInput> &phi, int64_t k, int64_t live, int g, int q) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int channel = g / 2 * 8 + 2 * j + g % 2;
      const float scale = channel < live ? phi.scale(k + channel) : 0.0f;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        float v[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          const int row = 16 * step + 2 * q + r / 2 * 8 + r % 2;
          v[r] = channel < live && row < phi.N ? phi.at(row, k + channel) * scale : 0.0f;
        }
        splitBf16(v[0], v[1], terms[step][j][0].x, terms[step][j][1].x);
        splitBf16(v[2], v[3], terms[step][j][0].y, terms[step][j][1].y);
      }
    }
  }
};

/// sum_j d_proj[m,j] * W[j,k]: of group j, two channels of tokens g and g + 8. The small products are added apart.
template <typename T>
__device__ __forceinline__ void multiply(const Stage<T> &stage, const Weights &w, int lane, float (&sums)[4][4]) {
  float small[4][4] = {};
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const uint4 high = stage.dProj[step][0][lane], low = stage.dProj[step][1][lane];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const uint2 wHigh = w.terms[step][j][0], wLow = w.terms[step][j][1];
      multiplyBf16(sums[j], high.x, high.y, high.z, high.w, wHigh.x, wHigh.y);
      multiplyBf16(small[j], high.x, high.y, high.z, high.w, wLow.x, wLow.y);
      multiplyBf16(small[j], low.x, low.y, low.z, low.w, wHigh.x, wHigh.y);
    }
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int r = 0; r < 4; ++r)
      sums[j][r] += small[j][r];
}

/// dx += weight * from, of eight channels.
template <typename T>
__device__ __forceinline__ void addEight(float weight, const T *from, float (&dx)[8]) {
  constexpr int kLanes = kLanesOf<T>;
#pragma unroll
  for (int part = 0; part < 8 / kLanes; ++part) {
    float v[kLanes];
    widen(reinterpret_cast<const uint4 *>(from)[part], v, T());
#pragma unroll
    for (int e = 0; e < kLanes; ++e)
      dx[part * kLanes + e] = fmaf(weight, v[e], dx[part * kLanes + e]);
  }
}

/// Stores eight channels, of which `live` are there.
template <typename T>
__device__ __forceinline__ void storeEight(T *to, const float (&dx)[8], int64_t live) {
  constexpr int kLanes = kLanesOf<T>;
#pragma unroll
  for (int part = 0; part < 8 / kLanes; ++part) {
    if (part * kLanes >= live)
      break;
    float v[kLanes];
#pragma unroll
    for (int e = 0; e < kLanes; ++e)
      v[e] = dx[part * kLanes + e];
    storeOnce(to + part * kLanes, narrow(v, T()));
  }
}

/// Adds to the product what else token t of a tile gets in stream i, from channel `at` of the block on.
template <typename T>
__device__ __forceinline__ void addOthers(const EightStreams &args, const Stage<T> &stage, int i, int t, int at,
                                          float (&dx)[8]) {
  if (args.mixed) {
    const int stepO = args.outputFirst ? kStreams : 1, stepI = args.outputFirst ? 1 : kStreams;
#pragma unroll
    for (int o = 0; o < kStreams; ++o)
      addEight(stage.mix[t][o * stepO + i * stepI], &stage.start[o][t][at], dx);
  } else if (args.start) {
    addEight(1.0f, &stage.start[i][t][at], dx);
  }
  if (args.du)
    addEight(stage.hPre[t][i], &stage.du[t][at], dx);
  if (args.factor)
    addEight(stage.factor[t], &stage.x[i][t][at], dx);
}

template <typename T>
__global__ void __launch_bounds__(kThreads, 1) streamEightKernel(const __grid_constant__ EightStreams args) {
  extern __shared__ uint4 raw[];
  auto *stages = reinterpret_cast<Stage<T> *>(raw);
  beginOverlapped();
  const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4, i = threadIdx.x / 32;
  const int64_t channel = int64_t(blockIdx.x % args.slices) * kChannels, k = i * args.C + channel;
  const int64_t tiles = (args.M + kTokens - 1) / kTokens, first = blockIdx.x / args.slices * args.runTiles;
  const int64_t last = min(tiles, first + args.runTiles);
  const auto copy = [&](int64_t tile) {
    if (tile < last)
      stages[(tile - first) % kStages].copy(args, tile, channel);
    commitCopies();
  };
  for (int ahead = 0; ahead < kStages - 1; ++ahead)
    copy(first + ahead);
  const Weights weights(args.phi, k, args.C - channel, g, q);
#pragma unroll 1
  for (int64_t tile = first; tile < last; ++tile) {
    waitCopyGroupsBut<kStages - 2>();
    __syncthreads(); // the tile is there, and the one before is not used any more
    copy(tile + kStages - 1);
    const Stage<T> &stage = stages[(tile - first) % kStages];
    float sums[4][4] = {};
    multiply(stage, weights, lane, sums);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int t = g + 8 * half;
      const int64_t m = tile * kTokens + t;
      float dx[8];
#pragma unroll
      for (int e = 0; e < 8; ++e)
        dx[e] = sums[e / 2][2 * half + e % 2];
      addOthers(args, stage, i, t, 8 * q, dx);
      if (m < args.M)
        storeEight(static_cast<T *>(args.dx) + m * args.phi.K + k + 8 * q, dx, args.C - channel - 8 * q);
    }
  }
}

constexpr int kPackThreads = 128;

/// The fragments of d_proj, of rows g and g + 8 and columns 2*q and 2*q + 8 on, in both terms. Zero behind the last.
__global__ void __launch_bounds__(kPackThreads)
    streamEightPackKernel(const float *dProj, int64_t M, int64_t N, int64_t items, uint4 *to) {
  beginOverlapped();
  const int64_t item = int64_t(blockIdx.x) * kPackThreads + threadIdx.x, place = item / 32;
  if (item >= items)
    return;
  const int lane = item % 32, g = lane / 4, q = lane % 4, step = place % kSteps;
  const auto pair = [&](int row, int column, uint32_t &high, uint32_t &low) {
    const int64_t m = place / kSteps * kTokens + row, j = 16 * step + column;
    const auto at = [&](int64_t j) { return m < M && j < N ? dProj[m * N + j] : 0.0f; };
    splitBf16(at(j), at(j + 1), high, low);
  };
  uint4 high, low;
  pair(g, 2 * q, high.x, low.x);
  pair(g + 8, 2 * q, high.y, low.y);
  pair(g, 2 * q + 8, high.z, low.z);
  pair(g + 8, 2 * q + 8, high.w, low.w);
  to[place * 64 + lane] = high;
  to[place * 64 + 32 + lane] = low;
}

int64_t tilesOf(const ProjectionBwdArgs &a) { return divideUp(a.M, kTokens); }

template <typename T>
cudaError_t launch(const EightStreams &args, unsigned blocks, cudaStream_t stream) {
  constexpr auto *kKernel = streamEightKernel<T>;
  constexpr int kBytes = kStages * sizeof(Stage<T>);
  const cudaError_t error = allowShared<kKernel>(kBytes);
  return error ? error : launchOverlapping(kKernel, blocks, kThreads, 1, kBytes, stream, args);
}

} // namespace

bool mhcrt::streamEightTakes(const ProjectionBwdArgs &a, const generic::StreamShares &shares, Needs &needs) {
  return needs.equal("n", a.n, kStreams) && needs.atMost("N", a.N, 16 * kSteps) &&
         needs.that(a.layout == MHCRT_LAYOUT_NC, "the layout [M,n,C]") &&
         needs.multiple("C", a.C, 16 / mhcrt_dtype_bytes(a.x_type)) && needs.atMost("K", a.K, (1 << 24) - 1) &&
         needs.that(a.M > 0, "tokens") && needs.atMost("M", a.M, (int64_t(1) << 30) - 1) &&
         (!a.d_x || needs.type("d_x", a.d_x_type, a.x_type)) &&
         (!a.d_x_in || needs.type("d_x_in", a.d_x_in_type, a.x_type)) &&
         needs.that(a.d_x || a.d_phi || a.d_norm_weight, "a gradient") &&
         (!shares.dOut || needs.absent("d_x_in", a.d_x_in)) &&
         needs.aligned({a.x, a.d_x_in, a.d_x, shares.du, shares.dOut, shares.hRes});
}

int64_t mhcrt::streamEightBytes(const ProjectionBwdArgs &a) {
  const int64_t fragments = saturatingMul(tilesOf(a), kSteps * 64 * sizeof(uint4));
  return std::max({fragments, streamEightSm90Takes(a) ? streamEightSm90Bytes(a) : 0,
                   a.x_type == MHCRT_BF16 ? weightEightSm90Bytes(a) : 0});
}

static cudaError_t launchStreams(const ProjectionBwdArgs &a, const generic::StreamShares &shares, const float *factor,
                                 uint4 *fragments, int multiprocessors, cudaStream_t stream) {
  const int64_t tiles = tilesOf(a), items = tiles * kSteps * 32;
  if (const cudaError_t error =
          launchOverlapping(streamEightPackKernel, static_cast<unsigned>(divideUp(items, kPackThreads)), kPackThreads,
                            1, 0, stream, static_cast<const float *>(a.d_proj), a.M, a.N, items, fragments))
    return error;
  const int64_t slices = divideUp(a.C, kChannels), runs = std::max<int64_t>(1, multiprocessors / slices);
  const int64_t runTiles = divideUp(tiles, runs);
  const EightStreams args = {a.x,
                             shares.dOut ? shares.dOut : a.d_x_in,
                             shares.du,
                             fragments,
                             factor,
                             shares.hPre,
                             shares.hRes,
                             phiElementsOf(a, a.N),
                             a.d_x,
                             a.M,
                             a.C,
                             runTiles,
                             static_cast<int32_t>(slices),
                             shares.dOut != nullptr,
                             shares.orient == MHCRT_ORIENT_OI};
  const auto blocks = static_cast<unsigned>(slices * divideUp(tiles, runTiles));
  return withElement(a.x_type, [&](auto type) { return launch<decltype(type)>(args, blocks, stream); });
}

cudaError_t mhcrt::streamEight(const ProjectionBwdArgs &a, const generic::StreamShares &shares, const float *factor,
                               float *partials, void *scratch, int multiprocessors, bool isHopper,
                               cudaStream_t stream) {
  auto *fragments = static_cast<uint4 *>(scratch);
  cudaError_t error = cudaSuccess;
  if (isHopper && streamEightSm90Takes(a))
    return streamEightSm90(a, shares, factor, partials, scratch, multiprocessors, stream);
  if (a.d_x)
    error = launchStreams(a, shares, factor, fragments, multiprocessors, stream);
  if (error || !partials)
    return error;
  return isHopper && a.x_type == MHCRT_BF16 ? weightEightSm90(a, partials, scratch, multiprocessors, stream)
                                            : weightEight(a, partials, fragments, stream);
}
