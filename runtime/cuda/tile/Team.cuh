//===- Team.cuh - A block that goes over whole tokens -----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The warps of a block share the channels of one token at a time and add up its sums. C alone decides the number of
// warps, and with it the order of the sums.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_TILE_TEAM_CUH
#define MHCRT_CUDA_TILE_TEAM_CUH

#include "cuda/tile/Columns.cuh"

#include <algorithm>

namespace mhcrt {

constexpr int kMostTeamWarps = 8;

/// Warps of the block: as few idle threads in the last turn as can be, then as few warps.
inline int teamWarps(int64_t columns) {
  int best = 1;
  int64_t least = INT64_MAX;
  for (int warps = 3; warps <= kMostTeamWarps; ++warps) {
    const int64_t threads = warps * 32, work = (columns + threads - 1) / threads * threads;
    if (work < least) {
      least = work;
      best = warps;
    }
  }
  return best;
}

/// Position of a thread of a block: a column of a token, then the next, then those of the block's next token.
struct Place {
  uint32_t token, column;

  /// In stream `i`, and where there are no streams, in 16 bytes.
  template <int n = 4>
  __device__ __forceinline__ uint64_t of(uint32_t i, uint32_t columns) const {
    return uint64_t(token * n + i) * columns + column;
  }
  __device__ __forceinline__ uint64_t flat(uint32_t columns) const { return uint64_t(token) * columns + column; }

  __device__ __forceinline__ Place next(uint32_t columns) const {
    const uint32_t to = column + blockDim.x;
    return to - threadIdx.x < columns ? Place{token, to} : Place{token + gridDim.x, threadIdx.x};
  }
};

/// Halves the values that each lane holds until one is left, which is summed over the warp. kValues is a power of two
/// up to 32. Compile-time recursion keeps the values in registers.
template <int kValues, int kDistance = 16>
__device__ __forceinline__ float spreadSums(const float (&v)[kValues]) {
  if constexpr (kDistance == 0) {
    return v[0];
  } else if constexpr (kValues == 1) {
    const float sum[1] = {v[0] + __shfl_xor_sync(~0u, v[0], kDistance)};
    return spreadSums<1, kDistance / 2>(sum);
  } else {
    const bool upper = threadIdx.x & kDistance;
    float half[kValues / 2];
#pragma unroll
    for (int k = 0; k < kValues / 2; ++k) {
      const float mine = upper ? v[k + kValues / 2] : v[k], other = upper ? v[k] : v[k + kValues / 2];
      half[k] = mine + __shfl_xor_sync(~0u, other, kDistance);
    }
    return spreadSums<kValues / 2, kDistance / 2>(half);
  }
}

/// Index of the value that spreadSums<kValues> leaves in this lane.
template <int kValues>
__device__ __forceinline__ int spreadIndex(int lane) {
  int index = 0, distance = 16;
#pragma unroll
  for (int count = kValues / 2; count >= 1; count /= 2, distance /= 2)
    index += (lane & distance) ? count : 0;
  return index;
}

/// Adds kValues sums of all threads of the block. Threads 0 .. kValues-1 return value threadIdx.x; the others what is
/// of no use. Two calls in a row use two buffers, so that one barrier is enough.
template <int kValues, int kPadded>
__device__ __forceinline__ float teamSum(float (&sums)[kPadded], int parity) {
  __shared__ float buffer[2][kMostTeamWarps][kPadded];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  buffer[parity][warp][spreadIndex<kPadded>(lane)] = spreadSums<kPadded>(sums);
  __syncthreads();
  float total = 0;
  if (threadIdx.x < kValues) {
    total = buffer[parity][0][threadIdx.x];
    for (int other = 1; other < warps; ++other)
      total += buffer[parity][other][threadIdx.x];
  }
  return total;
}

} // namespace mhcrt

#endif // MHCRT_CUDA_TILE_TEAM_CUH
