//===- PhiView.cuh - Single elements of weights -----------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PRIM_PHIVIEW_CUH
#define MHCRT_CUDA_PRIM_PHIVIEW_CUH

#include "mhcrt/kernels.h"
#include "mma.cuh"

namespace mhcrt {

/// Element `at` of an f32 or bf16 tensor.
__device__ __forceinline__ float element(const void *data, int32_t type, int64_t at) {
  if (type == MHCRT_F32)
    return static_cast<const float *>(data)[at];
  return lowBf16(static_cast<const unsigned short *>(data)[at]);
}

/// A projection weight [columns,K] or [K,columns].
struct PhiView {
  const void *data;
  int32_t type, layout;
  int64_t K, columns;
  __device__ __forceinline__ float at(int64_t column, int64_t k) const {
    return element(data, type, layout == MHCRT_PHI_LAYOUT_OUT_IN ? column * K + k : k * columns + column);
  }
};

} // namespace mhcrt

#endif // MHCRT_CUDA_PRIM_PHIVIEW_CUH
