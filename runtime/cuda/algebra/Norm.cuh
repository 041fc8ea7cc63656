//===- Norm.cuh - The multiplier of a token ---------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_ALGEBRA_NORM_CUH
#define MHCRT_CUDA_ALGEBRA_NORM_CUH

#include "cuda/ptx/Float.cuh"
#include "mhcrt/kernels.h"

namespace mhcrt {

/// The multiplier s of a token from its mean square.
__device__ inline float normMultiplier(float meanSquare, int32_t norm, float eps) {
  if (norm == MHCRT_NORM_INSIDE)
    return 1.0f / sqrtf(meanSquare + eps);
  return norm == MHCRT_NORM_OUTSIDE ? 1.0f / (sqrtf(meanSquare) + eps) : 1.0f;
}

/// The same, within units in the last place and without branches.
__device__ __forceinline__ float fastNormMultiplier(float meanSquare, int32_t norm, float eps) {
  if (norm == MHCRT_NORM_INSIDE)
    return reciprocalRootOf(meanSquare + eps);
  if (norm == MHCRT_NORM_OUTSIDE)
    return reciprocalOf((meanSquare == 0 ? 0.0f : meanSquare * reciprocalRootOf(meanSquare)) + eps);
  return 1.0f;
}

/// The multiplier s of token m from what its projection handed on.
__device__ inline float tokenMultiplier(const void *stat, int64_t m, int32_t form, float eps) {
  if (form == MHCRT_STAT_APPLIED)
    return 1.0f;
  const float value = static_cast<const float *>(stat)[m];
  return form == MHCRT_STAT_MEAN_SQUARE ? normMultiplier(value, MHCRT_NORM_INSIDE, eps) : value;
}

} // namespace mhcrt

#endif // MHCRT_CUDA_ALGEBRA_NORM_CUH
