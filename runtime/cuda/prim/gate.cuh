//===- gate.cuh - The small maths of a token's coefficients -----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PRIM_GATE_CUH
#define MHCRT_CUDA_PRIM_GATE_CUH

#include "mhcrt/kernels.h"

namespace mhcrt {

/// 1 / (1 + exp(-z)) without overflow for either sign.
__device__ inline float sigmoid(float z) {
  const float e = expf(-fabsf(z));
  return (z < 0 ? e : 1.0f) / (1.0f + e);
}

/// The multiplier s of a token from its mean square.
__device__ inline float normMultiplier(float meanSquare, int32_t norm, float eps) {
  if (norm == MHCRT_NORM_INSIDE)
    return 1.0f / sqrtf(meanSquare + eps);
  return norm == MHCRT_NORM_OUTSIDE ? 1.0f / (sqrtf(meanSquare) + eps) : 1.0f;
}

/// The multiplier s of token m from what its projection handed on.
__device__ inline float tokenMultiplier(const void *stat, int64_t m, int32_t form, float eps) {
  if (form == MHCRT_STAT_APPLIED)
    return 1.0f;
  const float value = static_cast<const float *>(stat)[m];
  return form == MHCRT_STAT_MEAN_SQUARE ? normMultiplier(value, MHCRT_NORM_INSIDE, eps) : value;
}

/// 0, 1 or 2: column j belongs to h_pre, h_post or the logits.
__device__ inline int gateGroup(int64_t j, int64_t n) { return j < n ? 0 : j < 2 * n ? 1 : 2; }

} // namespace mhcrt

#endif // MHCRT_CUDA_PRIM_GATE_CUH
