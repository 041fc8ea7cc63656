//===- Columns.cuh - One thread per 16 bytes of a token ---------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A column is 16 bytes of channels of one token, in each of its streams.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_TILE_COLUMNS_CUH
#define MHCRT_CUDA_TILE_COLUMNS_CUH

#include "cuda/host/LaunchOverlapping.h"
#include "cuda/host/Needs.h"
#include "cuda/ptx/Overlap.cuh"
#include "cuda/tile/Vec.cuh"
#include "mhcrt/kernels.h"

#include <type_traits>

namespace mhcrt {

constexpr int kColumnThreads = 128;

/// This thread's column: `token` and the index within it. A launch has fewer than 2^32 columns.
struct Column {
  uint32_t token, index;

  __device__ __forceinline__ explicit Column(uint32_t columns) {
    const uint32_t item = blockIdx.x * kColumnThreads + threadIdx.x;
    token = item / columns;
    index = item - token * columns;
  }
  /// Index of this column in stream `i`, in units of 16 bytes.
  template <int n = 4>
  __device__ __forceinline__ int64_t at(int i, uint32_t columns) const {
    return (int64_t(token) * n + i) * columns + index;
  }
  __device__ __forceinline__ int64_t flat(uint32_t columns) const { return int64_t(token) * columns + index; }
};

inline int64_t columnsOf(int64_t C, int32_t type) { return C * mhcrt_dtype_bytes(type) / 16; }

/// Streams one behind the other, whose columns are whole and few enough to count in 32 bits.
inline bool columnsAreWhole(Needs &needs, int64_t M, int64_t C, int32_t layout, int32_t type) {
  return needs.that(layout == MHCRT_LAYOUT_NC, "the layout [M,n,C]") &&
         needs.multiple("C", C, 16 / mhcrt_dtype_bytes(type)) && needs.that(M > 0, "tokens") &&
         needs.atMost("M", M, (int64_t(1) << 29) - 1) &&
         needs.atMost("C", C, (((int64_t(1) << 32) - kColumnThreads) / M - 1) * 16 / mhcrt_dtype_bytes(type));
}

/// Four of them.
inline bool columnsFit(Needs &needs, int64_t M, int64_t n, int64_t C, int32_t layout, int32_t type) {
  return needs.equal("n", n, 4) && columnsAreWhole(needs, M, C, layout, type);
}

/// Two or eight of them.
inline bool otherColumnsFit(Needs &needs, int64_t M, int64_t n, int64_t C, int32_t layout, int32_t type) {
  return needs.that(n == 2 || n == 8, "2 or 8 streams") && columnsAreWhole(needs, M, C, layout, type);
}

/// Calls body(std::integral_constant<int, n>()) for two or eight streams.
template <typename Body>
auto withOtherStreams(int64_t n, Body body) {
  return n == 2 ? body(std::integral_constant<int, 2>()) : body(std::integral_constant<int, 8>());
}

inline unsigned columnBlocks(int64_t M, int64_t columns) {
  return static_cast<unsigned>((M * columns + kColumnThreads - 1) / kColumnThreads);
}

/// Calls body(T()) with the C++ type of `dtype`.
template <typename Body>
auto withElement(int32_t dtype, Body body) {
  if (dtype == MHCRT_BF16)
    return body(__nv_bfloat16());
  if (dtype == MHCRT_F16)
    return body(__half());
  return body(float());
}

} // namespace mhcrt

#endif // MHCRT_CUDA_TILE_COLUMNS_CUH
