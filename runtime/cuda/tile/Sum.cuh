//===- Sum.cuh - Sums over the threads of a block ---------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trees of fixed shape: the same bits at every run.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_TILE_SUM_CUH
#define MHCRT_CUDA_TILE_SUM_CUH

#include "cuda/host/Launch.cuh"

namespace mhcrt {

constexpr int kWarp = 32;
constexpr int kWarps = kThreads / kWarp;

/// In all lanes.
__device__ inline float warpSum(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(~0u, value, offset);
  return value;
}

/// Room of the sums of one block of kBlock threads.
template <int kCount, int kBlock = kThreads>
struct BlockRoom {
  float warps[kBlock / kWarp][kCount];
  float totals[kCount];
};

/// Adds each value over the threads of the block. All threads may read room.totals until the next call.
template <int kCount, int kBlock>
__device__ inline void blockSum(const float (&values)[kCount], BlockRoom<kCount, kBlock> &room) {
  const int warp = threadIdx.x / kWarp;
  __syncthreads(); // the last call's totals were read
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    const float sum = warpSum(values[k]);
    if (threadIdx.x % kWarp == 0)
      room.warps[warp][k] = sum;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < kCount; k += kBlock) {
    float sum = room.warps[0][k];
    for (int w = 1; w < kBlock / kWarp; ++w)
      sum += room.warps[w][k];
    room.totals[k] = sum;
  }
  __syncthreads();
}

} // namespace mhcrt

#endif // MHCRT_CUDA_TILE_SUM_CUH
