//===- TensorMap.h - Descriptors of bulk tensor copies ----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of bf16 seen as groups of 64 channels: a box has `tokens` tokens and `groups` groups, and lies in shared
// memory as [group][stream][token][64 channels] with 128-byte swizzle.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PRIM_TENSORMAP_H
#define MHCRT_CUDA_PRIM_TENSORMAP_H

#include <cuda.h>
#include <stdint.h>

namespace mhcrt {

struct TensorMapShape {
  int64_t M, C;
  uint32_t tokens, groups;
};

/// Of a tensor [M,4,C]. False when the driver refuses.
bool makeStreamsMap(CUtensorMap *map, const void *data, const TensorMapShape &shape);
/// Of a tensor [M,C].
bool makeChannelsMap(CUtensorMap *map, const void *data, const TensorMapShape &shape);

} // namespace mhcrt

#endif // MHCRT_CUDA_PRIM_TENSORMAP_H
