//===- Cells.cuh - A thread per 16 bytes of interleaved streams -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layout [M,C,4]: a cell is 16 bytes of it, four streams of one channel (f32) or of two. What has no streams has four
// bytes beside a cell.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_TILE_CELLS_CUH
#define MHCRT_CUDA_TILE_CELLS_CUH

#include "cuda/tile/Columns.cuh"

namespace mhcrt {

/// Cells of a thread of a launch that goes over all of them: loads in flight.
constexpr int kThreadCells = 4;
constexpr int kBlockCells = kThreadCells * kColumnThreads;

/// Channels of a cell.
template <typename T>
constexpr int kCellChannels = kLanesOf<T> / 4;

inline int64_t cellsOf(int64_t C, int32_t type) { return columnsOf(4 * C, type); }
/// Four streams of each channel, whose cells are whole and few enough to count in 32 bits.
inline bool cellsFit(Needs &needs, int64_t M, int64_t n, int64_t C, int32_t layout, int32_t type) {
  const int64_t bytes = mhcrt_dtype_bytes(type);
  return needs.equal("n", n, 4) && needs.that(layout == MHCRT_LAYOUT_CN, "the layout [M,C,n]") &&
         needs.multiple("C", C, 4 / bytes) && needs.that(M > 0, "tokens") &&
         needs.atMost("M", M, (int64_t(1) << 30) - 1) &&
         needs.atMost("C", C, (((int64_t(1) << 32) - kBlockCells) / M - 1) * 4 / bytes);
}
inline unsigned cellBlocks(int64_t M, int64_t cells) {
  return static_cast<unsigned>((M * cells + kBlockCells - 1) / kBlockCells);
}

/// This thread's cell k.
__device__ __forceinline__ uint32_t cellAt(int k) {
  return blockIdx.x * kBlockCells + k * kColumnThreads + threadIdx.x;
}

/// Streams of a cell's channels, and back.
template <typename T>
__device__ __forceinline__ void widenCell(uint4 bits, float (&v)[4][kCellChannels<T>]) {
  float all[kLanesOf<T>];
  widen(bits, all, T());
#pragma unroll
  for (int e = 0; e < kLanesOf<T>; ++e)
    v[e % 4][e / 4] = all[e];
}
template <typename T>
__device__ __forceinline__ uint4 narrowCell(const float (&v)[4][kCellChannels<T>]) {
  float all[kLanesOf<T>];
#pragma unroll
  for (int e = 0; e < kLanesOf<T>; ++e)
    all[e] = v[e % 4][e / 4];
  return narrow(all, T());
}

/// The four bytes beside a cell.
template <typename T>
__device__ __forceinline__ void widenWord(uint32_t bits, float (&v)[kCellChannels<T>]) {
  float all[kLanesOf<T>];
  widen(make_uint4(bits, 0, 0, 0), all, T());
#pragma unroll
  for (int e = 0; e < kCellChannels<T>; ++e)
    v[e] = all[e];
}
template <typename T>
__device__ __forceinline__ uint32_t narrowWord(const float (&v)[kCellChannels<T>]) {
  float all[kLanesOf<T>] = {};
#pragma unroll
  for (int e = 0; e < kCellChannels<T>; ++e)
    all[e] = v[e];
  return narrow(all, T()).x;
}

/// Adds a bias, f32 where `wide`, to the channels of cell `index` of a token.
template <typename T>
__device__ __forceinline__ void addCellBias(const void *bias, bool wide, uint32_t index, float (&f)[kCellChannels<T>]) {
#pragma unroll
  for (int e = 0; e < kCellChannels<T>; ++e) {
    const uint32_t c = index * kCellChannels<T> + e;
    f[e] += wide ? static_cast<const float *>(bias)[c] : static_cast<float>(static_cast<const T *>(bias)[c]);
  }
}

} // namespace mhcrt

#endif // MHCRT_CUDA_TILE_CELLS_CUH
