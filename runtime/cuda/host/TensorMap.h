//===- TensorMap.h - Descriptors of tensor copies ---------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of bf16 seen as groups of 64 channels: a box has `tokens` tokens and `groups` groups, and lies in shared
// memory as [group][stream][token][64 channels] with the 128-byte swizzle. What lies behind the last token is read as
// zero and not written. Narrow boxes have one group of 32 channels, the 64-byte swizzle.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_HOST_TENSORMAP_H
#define MHCRT_CUDA_HOST_TENSORMAP_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdint.h>

namespace mhcrt {

struct TileShape {
  int64_t M, C; ///< of the tensor
  uint32_t tokens, groups;
};
struct NarrowShape {
  int64_t M, C; ///< of the tensor
  uint32_t tokens, streams;
};

/// Map of a tensor [M,4,C].
cudaError_t streamsMap(CUtensorMap &map, const void *data, const TileShape &shape);
/// The same of a tensor [M,C], each of whose rows stands for four streams.
cudaError_t equalStreamsMap(CUtensorMap &map, const void *data, const TileShape &shape);
/// Map of a tensor [M,C].
cudaError_t channelsMap(CUtensorMap &map, const void *data, const TileShape &shape);
/// Map of a tensor [M,streams,C], of narrow boxes that have all streams.
cudaError_t narrowMap(CUtensorMap &map, const void *data, const NarrowShape &shape);

} // namespace mhcrt

#endif // MHCRT_CUDA_HOST_TENSORMAP_H
