//===- TensorMap.cu - Descriptors of tensor copies ------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "TensorMap.h"

#include <cudaTypedefs.h>

/// The driver's function, found through the runtime: libcuda is not linked. Null where the driver lacks it.
static PFN_cuTensorMapEncodeTiled_v12000 findEncode() {
  void *function = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found))
    return nullptr;
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

cudaError_t mhcrt::streamsMap(CUtensorMap &map, const void *x, int64_t M, int64_t C, int n, int tokens) {
  static const PFN_cuTensorMapEncodeTiled_v12000 encode = findEncode();
  if (!encode)
    return cudaErrorNotSupported;
  const cuuint64_t elements = C, bytes = 2 * elements;
  const cuuint64_t sizes[3] = {elements, static_cast<cuuint64_t>(M), static_cast<cuuint64_t>(n)};
  const cuuint64_t strides[2] = {n * bytes, bytes};
  const cuuint32_t box[3] = {64, static_cast<cuuint32_t>(tokens), static_cast<cuuint32_t>(n)}, steps[3] = {1, 1, 1};
  const CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, const_cast<void *>(x), sizes, strides, box,
                                 steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}
