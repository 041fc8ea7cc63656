//===- NormBwd.cuh - The part of d_x from the statistic ---------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_ALGEBRA_NORMBWD_CUH
#define MHCRT_CUDA_ALGEBRA_NORMBWD_CUH

#include "cuda/tile/Element.cuh"
#include "mhcrt/kernels.h"
#include "src/BoundedFactor.h"

namespace mhcrt {

/// sqrt(ms) is 1/s - eps, unless that is this close to nothing: then it is taken from x again.
constexpr float kLeastRoot = 16;

struct NormView {
  const void *x; ///< [M,K] bf16, or [M,width] where that is one of several equal parts
  int64_t K;
  int32_t norm;
  float eps;
  int64_t width;
};

/// Mean square of a token's x, by a whole warp.
__device__ inline float rowMeanSquare(const NormView &norm, int64_t token) {
  float sum = 0.0f;
  for (int64_t k = threadIdx.x % 32; k < norm.K; k += 32) {
    const float v = WideOrBf16Input{norm.x, MHCRT_BF16}[token * norm.width + k % norm.width];
    sum = fmaf(v, v, sum);
  }
#pragma unroll
  for (int offset = 16; offset; offset /= 2)
    sum += __shfl_xor_sync(~0u, sum, offset);
  return sum / static_cast<float>(norm.K);
}

/// Factor of x in d_x that comes from the gradient of the multiplier s. Called by whole warps, one token per lane.
__device__ inline float statisticFactor(const NormView &norm, float s, float dStat, int64_t token) {
  const float K = static_cast<float>(norm.K);
  if (norm.norm == MHCRT_NORM_NONE)
    return 0.0f;
  if (norm.norm == MHCRT_NORM_CLAMP && isClamped(s, norm.eps))
    return 0.0f;
  if (norm.norm != MHCRT_NORM_OUTSIDE)
    return boundedFactor(-s * s * s / K * dStat, s, dStat);
  float root = 1.0f / s - norm.eps;
  for (uint32_t left = __ballot_sync(~0u, root < kLeastRoot * norm.eps); left; left &= left - 1) {
    const int lane = __ffs(left) - 1;
    const float again = sqrtf(rowMeanSquare(norm, __shfl_sync(~0u, token, lane)));
    if (lane == static_cast<int>(threadIdx.x % 32))
      root = again;
  }
  return root > 0.0f ? boundedFactor(-s * s / (K * root) * dStat, s, dStat) : 0.0f;
}

} // namespace mhcrt

#endif // MHCRT_CUDA_ALGEBRA_NORMBWD_CUH
