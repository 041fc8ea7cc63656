//===- TensorMap.cpp - Descriptors of tensor copies -----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "cuda/host/TensorMap.h"

#include <cudaTypedefs.h>

/// The driver's function, found through the runtime: libcuda is not linked. Null where the driver lacks it.
static PFN_cuTensorMapEncodeTiled_v12000 findEncode() {
  void *function = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found))
    return nullptr;
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

/// Reads go to memory in lines of 128 bytes where a box has one group, else of 256: no more than the box has, or two
/// narrow ones side by side.
static cudaError_t encodeMap(CUtensorMap &map, const void *data, uint32_t rank, const cuuint64_t *sizes,
                             const cuuint64_t *strides, const cuuint32_t *box,
                             CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B) {
  static const PFN_cuTensorMapEncodeTiled_v12000 encode = findEncode();
  if (!encode)
    return cudaErrorNotSupported;
  const cuuint32_t steps[4] = {1, 1, 1, 1};
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, rank, const_cast<void *>(data), sizes, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
             box[rank - 1] == 1 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B : CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

/// `token` and `stream` are bytes from one to the next.
static cudaError_t fourStreams(CUtensorMap &map, const void *data, const mhcrt::TileShape &shape, cuuint64_t token,
                               cuuint64_t stream) {
  const cuuint64_t sizes[4] = {64, cuuint64_t(shape.M), 4, cuuint64_t(shape.C) / 64}, strides[3] = {token, stream, 128};
  const cuuint32_t box[4] = {64, shape.tokens, 4, shape.groups};
  return encodeMap(map, data, 4, sizes, strides, box);
}

cudaError_t mhcrt::streamsMap(CUtensorMap &map, const void *data, const TileShape &shape) {
  return fourStreams(map, data, shape, shape.C * 8, shape.C * 2);
}

cudaError_t mhcrt::equalStreamsMap(CUtensorMap &map, const void *data, const TileShape &shape) {
  return fourStreams(map, data, shape, shape.C * 2, 0);
}

cudaError_t mhcrt::channelsMap(CUtensorMap &map, const void *data, const TileShape &shape) {
  const cuuint64_t M = shape.M, C = shape.C;
  const cuuint64_t sizes[3] = {64, M, C / 64}, strides[2] = {C * 2, 128};
  const cuuint32_t box[3] = {64, shape.tokens, shape.groups};
  return encodeMap(map, data, 3, sizes, strides, box);
}

cudaError_t mhcrt::narrowMap(CUtensorMap &map, const void *data, const NarrowShape &shape) {
  const cuuint64_t C = shape.C;
  const cuuint64_t sizes[4] = {32, cuuint64_t(shape.M), shape.streams, C / 32},
                   strides[3] = {C * 2 * shape.streams, C * 2, 64};
  const cuuint32_t box[4] = {32, shape.tokens, shape.streams, 1};
  return encodeMap(map, data, 4, sizes, strides, box, CU_TENSOR_MAP_SWIZZLE_64B);
}
