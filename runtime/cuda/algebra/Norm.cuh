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

/// The multiplier s of a token from its mean square. A NaN stays.
__device__ inline float normMultiplier(float meanSquare, int32_t norm, float eps) {
  const float root = sqrtf(norm == MHCRT_NORM_INSIDE ? meanSquare + eps : meanSquare);
  const float clamped = root < eps ? eps : root;
  const float divisor = norm == MHCRT_NORM_OUTSIDE ? root + eps : norm == MHCRT_NORM_CLAMP ? clamped : root;
  return norm == MHCRT_NORM_NONE ? 1.0f : 1.0f / divisor;
}

/// The same, within units in the last place and without branches.
__device__ __forceinline__ float fastNormMultiplier(float meanSquare, int32_t norm, float eps) {
  if (norm == MHCRT_NORM_INSIDE)
    return reciprocalRootOf(meanSquare + eps);
  const float inverse = reciprocalRootOf(meanSquare);
  if (norm == MHCRT_NORM_OUTSIDE)
    return reciprocalOf((meanSquare == 0 ? 0.0f : meanSquare * inverse) + eps);
  const float most = norm == MHCRT_NORM_CLAMP ? reciprocalOf(eps) : 1.0f;
  return norm == MHCRT_NORM_NONE || inverse > most ? most : inverse;
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
