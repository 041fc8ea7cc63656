//===- Gate.cuh - The small maths of a token's coefficients -----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_ALGEBRA_GATE_CUH
#define MHCRT_CUDA_ALGEBRA_GATE_CUH

#include "cuda/ptx/Float.cuh"

namespace mhcrt {

/// 1 / (1 + exp(-z)) without overflow for either sign.
__device__ inline float sigmoid(float z) {
  const float e = expf(-fabsf(z));
  return (z < 0 ? e : 1.0f) / (1.0f + e);
}

/// The same, one unit in the last place off.
__device__ __forceinline__ float fastSigmoid(float z) {
  const float e = expf(-fabsf(z));
  return (z < 0 ? e : 1.0f) * reciprocalOf(1.0f + e);
}

/// 0, 1 or 2: column j belongs to h_pre, h_post or the logits.
__device__ inline int gateGroup(int64_t j, int64_t n) { return j < n ? 0 : j < 2 * n ? 1 : 2; }

} // namespace mhcrt

#endif // MHCRT_CUDA_ALGEBRA_GATE_CUH
