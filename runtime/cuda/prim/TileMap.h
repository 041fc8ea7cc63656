//===- TileMap.h - Descriptors of bulk tensor copies ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of bf16 seen as groups of 64 channels: a box has `tokens` tokens and `groups` groups, and lies in shared
// memory as [group][stream][token][64 channels] with 128-byte swizzle.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PRIM_TILEMAP_H
#define MHCRT_CUDA_PRIM_TILEMAP_H

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <stdint.h>

namespace mhcrt {

struct TileMapShape {
  int64_t M, C;
  uint32_t tokens, groups;
};

/// The driver's function: nothing links against the driver.
inline PFN_cuTensorMapEncodeTiled_v12000 encoder() {
  static const PFN_cuTensorMapEncodeTiled_v12000 function = [] {
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result) !=
            cudaSuccess ||
        result != cudaDriverEntryPointSuccess)
      found = nullptr;
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
  }();
  return function;
}

inline bool encodeMap(CUtensorMap *map, const void *data, uint32_t rank, const cuuint64_t *sizes,
                      const cuuint64_t *strides, const cuuint32_t *box) {
  const cuuint32_t steps[4] = {1, 1, 1, 1};
  return encoder() && encoder()(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, rank, const_cast<void *>(data), sizes, strides,
                                box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

/// Of a tensor [M,4,C]. False when the driver refuses.
inline bool makeStreamsMap(CUtensorMap *map, const void *data, const TileMapShape &shape) {
  const cuuint64_t M = shape.M, C = shape.C;
  const cuuint64_t sizes[4] = {64, M, 4, C / 64}, strides[3] = {C * 8, C * 2, 128};
  const cuuint32_t box[4] = {64, shape.tokens, 4, shape.groups};
  return encodeMap(map, data, 4, sizes, strides, box);
}

/// Of a tensor [M,C].
inline bool makeChannelsMap(CUtensorMap *map, const void *data, const TileMapShape &shape) {
  const cuuint64_t M = shape.M, C = shape.C;
  const cuuint64_t sizes[3] = {64, M, C / 64}, strides[2] = {C * 2, 128};
  const cuuint32_t box[3] = {64, shape.tokens, shape.groups};
  return encodeMap(map, data, 3, sizes, strides, box);
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PRIM_TILEMAP_H
