//===- StreamDivision.h - Blocks of the passes over x -----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_STREAM_STREAMDIVISION_H
#define MHCRT_CUDA_STREAM_STREAMDIVISION_H

#include <cuda_runtime_api.h>
#include <stdint.h>

namespace mhcrt {

/// Blocks are as many as an H100 or H200 has multiprocessors, on every GPU.
constexpr int kSumPlaces = 132;
constexpr int kSlice = 128; ///< channels of a block of the stream kernel

/// How blocks divide the tiles of all slices; for each slice that a block has tiles of, it makes a partial sum of
/// d_phi. Where `together` blocks, a cluster, take the same tiles of as many slices side by side, they count as one
/// block and one slice here.
struct StreamDivision {
  int32_t slices, tiles, blocks; ///< tiles of one slice
  int32_t together = 1;

  /// As many blocks for each slice take its tiles in turn. Else each has a run of as many of all tiles, slice behind
  /// slice, and two slices where one ends in its run.
  __host__ __device__ bool inTurn() const { return blocks % slices == 0; }
  /// The first tile of a block's run.
  __host__ __device__ int64_t begin(int block) const { return int64_t(slices) * tiles * block / blocks; }
  /// Whose run has a tile.
  __host__ __device__ int blockOf(int64_t tile) const {
    return static_cast<int>(((tile + 1) * blocks - 1) / (int64_t(slices) * tiles));
  }
  /// The slice of these that has a channel.
  __host__ __device__ int sliceOf(int64_t channel) const { return static_cast<int>(channel / (kSlice * together)); }
  /// Blocks that have tiles of a slice.
  __host__ __device__ int groups(int slice) const {
    const int64_t tile = int64_t(slice) * tiles;
    return inTurn() ? blocks / slices : blockOf(tile + tiles - 1) - blockOf(tile) + 1;
  }
  /// As many as a slice may have.
  int mostGroups() const { return inTurn() ? blocks / slices : blocks / slices + 2; }
};

/// By the shape alone, so that every GPU adds alike.
StreamDivision streamDivision(int64_t M, int64_t C);

} // namespace mhcrt

#endif // MHCRT_CUDA_STREAM_STREAMDIVISION_H
