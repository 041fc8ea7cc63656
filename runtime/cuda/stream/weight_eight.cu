//===- weight_eight.cu - dW of a projection of eight streams --------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dW[j,k] = sum_m d_proj[m,j] * x[m,k]
//
// Plan    A block has 256 elements of K and a run of tokens, a warp 32 of them for all of 80 columns: x is read once.
//         16 tokens are copied to shared memory three tiles ahead. The tiles' sums, which they do not round to nearest,
//         are added in shared memory every kFlush tiles.
// Bytes   per token K elements of x and 320 for d_proj; for each run 320K of sums.
// Needs   N at most 80, rows of x of whole 16 bytes.
// Round   two bf16 terms of d_proj, and of an x that is not bf16, three of four products; f32 sums.
//
//===------------------------------------------------------------------------===//
#include "cuda/ptx/AsyncCopy.cuh"
#include "cuda/ptx/Mma.cuh"
#include "cuda/stream/StreamTiles.h"
#include "cuda/tile/Columns.cuh"

#include <type_traits>

using namespace mhcrt;

namespace {

constexpr int kWarps = 8, kThreads = 32 * kWarps;
constexpr int kRow = 32;    ///< elements of K of a warp
constexpr int kTokens = 16; ///< of a tile
constexpr int kStages = 4;
constexpr int kPanels = 5; ///< of 16 columns
constexpr int kFlush = 4;  ///< tiles whose sums are in registers

struct WeightEight {
  const void *x;
  const uint4 *dProj; ///< [tile][panel][term][lane]
  float *partials;    ///< [run][N][K]
  int64_t M, N, K, length;
  int32_t slices;
};

template <typename T>
struct Stage {
  static constexpr int kVector = kLanesOf<T>, kVectors = kWarps * kRow / kVector;
  static constexpr int kPitch = kWarps * kRow + kVector; ///< eight tokens lie in different banks
  alignas(16) T x[kTokens][kPitch];
  uint4 dProj[kPanels][2][32];

  /// Tokens behind the last are the last one again, with d_proj zero.
  __device__ __forceinline__ void copy(const WeightEight &args, int64_t tile, int64_t k) {
#pragma unroll
    for (int item = threadIdx.x; item < kTokens * kVectors; item += kThreads) {
      const int t = item / kVectors, vector = item % kVectors * kVector;
      const bool real = k + vector < args.K;
      const int64_t at = real ? min(tile * kTokens + t, args.M - 1) * args.K + k + vector : 0;
      copyAhead<16>(&x[t][vector], static_cast<const T *>(args.x) + at, real);
    }
    for (int item = threadIdx.x; item < kPanels * 2 * 32; item += kThreads)
      copyAhead<16>(&dProj[0][0][0] + item, args.dProj + tile * (kPanels * 2 * 32) + item, true);
  }
};

/// The fragments of a warp's row of x, eight elements of K each, of tokens 2*q, 2*q + 8 and those behind: in one term
/// or two.
template <typename T>
struct Elements {
  uint2 high[4], low[4];

  __device__ __forceinline__ Elements(const Stage<T> &stage, int warp, int lane) {
    const int column = warp * kRow + lane / 4, q = lane % 4;
    const auto pair = [&](int t, int e, uint32_t &first, uint32_t &second) {
      splitBf16(static_cast<float>(stage.x[t][column + 8 * e]), static_cast<float>(stage.x[t + 1][column + 8 * e]),
                first, second);
    };
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      pair(2 * q, e, high[e].x, low[e].x);
      pair(2 * q + 8, e, high[e].y, low[e].y);
    }
  }
};
template <>
struct Elements<__nv_bfloat16> {
  uint2 high[4];

  __device__ __forceinline__ Elements(const Stage<__nv_bfloat16> &stage, int warp, int lane) {
#pragma unroll
    for (int e = 0; e < 4; e += 2) {
      const uint4 four = loadTransposed(sharedAddress(&stage.x[lane % 16][warp * kRow + 8 * e + lane / 16 * 8]));
      high[e] = make_uint2(four.x, four.y);
      high[e + 1] = make_uint2(four.z, four.w);
    }
  }
};

using Sums = float[kPanels][4][4]; ///< of a panel and eight elements of K: columns g and g + 8, elements 2*q on

template <typename T>
__device__ __forceinline__ void multiply(const Stage<T> &stage, int warp, int lane, Sums &sums) {
  const Elements<T> x(stage, warp, lane);
#pragma unroll
  for (int panel = 0; panel < kPanels; ++panel) {
    const uint4 high = stage.dProj[panel][0][lane], low = stage.dProj[panel][1][lane];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      multiplyBf16(sums[panel][e], high.x, high.y, high.z, high.w, x.high[e].x, x.high[e].y);
      multiplyBf16(sums[panel][e], low.x, low.y, low.z, low.w, x.high[e].x, x.high[e].y);
      if constexpr (!std::is_same_v<T, __nv_bfloat16>)
        multiplyBf16(sums[panel][e], high.x, high.y, high.z, high.w, x.low[e].x, x.low[e].y);
    }
  }
}

/// Adds to what the lane has in shared memory, and starts anew.
__device__ __forceinline__ void flush(float4 *to, Sums &sums) {
#pragma unroll
  for (int panel = 0; panel < kPanels; ++panel)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      float4 &all = to[(panel * 4 + e) * kThreads];
      float4 v = all;
      float (&own)[4] = sums[panel][e];
      v.x += own[0], v.y += own[1], v.z += own[2], v.w += own[3];
      all = v;
      own[0] = own[1] = own[2] = own[3] = 0;
    }
}

template <typename T>
struct Memory {
  Stage<T> stages[kStages];
  float4 sums[kPanels * 4 * kThreads];
};

template <typename T>
__global__ void __launch_bounds__(kThreads, 1) weightEightKernel(const __grid_constant__ WeightEight args) {
  extern __shared__ uint4 raw[];
  auto &memory = *reinterpret_cast<Memory<T> *>(raw);
  beginOverlapped();
  const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4, warp = threadIdx.x / 32;
  const int64_t k = int64_t(blockIdx.x % args.slices) * (kWarps * kRow), run = blockIdx.x / args.slices;
  const int64_t first = run * args.length / kTokens;
  const int64_t last = (min(args.M, (run + 1) * args.length) + kTokens - 1) / kTokens;
  const auto copy = [&](int64_t tile) {
    if (tile < last)
      memory.stages[(tile - first) % kStages].copy(args, tile, k);
    commitCopies();
  };
  for (int ahead = 0; ahead < kStages - 1; ++ahead)
    copy(first + ahead);
  float4 *all = memory.sums + threadIdx.x;
#pragma unroll
  for (int item = 0; item < kPanels * 4; ++item)
    all[item * kThreads] = make_float4(0, 0, 0, 0);
  Sums sums = {};
#pragma unroll 1
  for (int64_t tile = first; tile < last; ++tile) {
    waitCopyGroupsBut<kStages - 2>();
    __syncthreads(); // the tile is there, and the one before is not used any more
    copy(tile + kStages - 1);
    multiply(memory.stages[(tile - first) % kStages], warp, lane, sums);
    if ((tile - first) % kFlush == kFlush - 1)
      flush(all, sums);
  }
  flush(all, sums);
  const int64_t at = k + warp * kRow + 2 * q;
  for (int panel = 0; panel < kPanels; ++panel)
    for (int e = 0; e < 4; ++e) {
      const float4 v = all[(panel * 4 + e) * kThreads];
      const auto store = [&](int64_t j, float one, float next) {
        if (j < args.N && at + 8 * e < args.K)
          *reinterpret_cast<float2 *>(args.partials + (run * args.N + j) * args.K + at + 8 * e) =
              make_float2(one, next);
      };
      store(16 * panel + g, v.x, v.y);
      store(16 * panel + g + 8, v.z, v.w);
    }
}

constexpr int kPackThreads = 128;

/// The fragments of d_proj, of columns g and g + 8 and tokens 2*q and 2*q + 8 on, in both terms. Zero behind the last.
__global__ void __launch_bounds__(kPackThreads)
    weightEightPackKernel(const float *dProj, int64_t M, int64_t N, int64_t items, uint4 *to) {
  beginOverlapped();
  const int64_t item = int64_t(blockIdx.x) * kPackThreads + threadIdx.x, place = item / 32;
  if (item >= items)
    return;
  const int lane = item % 32, g = lane / 4, q = lane % 4;
  const int64_t column = 16 * (place % kPanels);
  const auto pair = [&](int j, int t, uint32_t &high, uint32_t &low) {
    const int64_t m = place / kPanels * kTokens + t;
    const auto at = [&](int64_t m) { return m < M && column + j < N ? dProj[m * N + column + j] : 0.0f; };
    splitBf16(at(m), at(m + 1), high, low);
  };
  uint4 high, low;
  pair(g, 2 * q, high.x, low.x);
  pair(g + 8, 2 * q, high.y, low.y);
  pair(g, 2 * q + 8, high.z, low.z);
  pair(g + 8, 2 * q + 8, high.w, low.w);
  to[place * 64 + lane] = high;
  to[place * 64 + 32 + lane] = low;
}

template <typename T>
cudaError_t launch(const WeightEight &args, unsigned blocks, cudaStream_t stream) {
  constexpr auto *kKernel = weightEightKernel<T>;
  const cudaError_t error = allowShared<kKernel>(sizeof(Memory<T>));
  return error ? error : launchOverlapping(kKernel, blocks, kThreads, 1, sizeof(Memory<T>), stream, args);
}

} // namespace

cudaError_t mhcrt::weightEight(const ProjectionBwdArgs &a, float *partials, uint4 *fragments, cudaStream_t stream) {
  const int64_t items = divideUp(a.M, kTokens) * kPanels * 32;
  if (const cudaError_t error =
          launchOverlapping(weightEightPackKernel, static_cast<unsigned>(divideUp(items, kPackThreads)), kPackThreads,
                            1, 0, stream, static_cast<const float *>(a.d_proj), a.M, a.N, items, fragments))
    return error;
  const generic::TokenRuns runs = streamTilesRuns(a);
  const auto slices = static_cast<int32_t>(divideUp(a.K, kWarps * kRow));
  const WeightEight args = {a.x, fragments, partials, a.M, a.N, a.K, runs.length, slices};
  return withElement(a.x_type, [&](auto type) {
    return launch<decltype(type)>(args, static_cast<unsigned>(slices * runs.count), stream);
  });
}
