//===- Divisor.cuh - Divisors of a Sinkhorn step -------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_ALGEBRA_DIVISOR_CUH
#define MHCRT_CUDA_ALGEBRA_DIVISOR_CUH

#include "cuda/ptx/Float.cuh"
#include "src/SinkhornOptions.h"

#include <math.h>

namespace mhcrt {

/// max(sum + add, least): every kind of divisor without a branch, which would make the lines wait for each other.
struct Divisor {
  float add, least;

  /// `eps` is that of the options, rounded as the iteration is.
  __device__ __forceinline__ Divisor(const SinkhornOptions &options, float eps)
      : add(options.denom == MHCRT_DENOM_ADD ? eps : 0.0f),
        least(options.denom == MHCRT_DENOM_CLAMP ? eps : -INFINITY) {}

  /// The sum itself.
  __device__ __forceinline__ static Divisor sum() { return Divisor(0.0f, -INFINITY); }

  template <typename Round>
  __device__ __forceinline__ float of(float sum, Round round) const {
    return maximumOf(round(round(sum) + add), least);
  }

  /// Whether `divisor` follows its sum: one that the limit set is a constant.
  __device__ __forceinline__ bool isFree(float divisor) const { return divisor > least; }

private:
  __device__ __forceinline__ Divisor(float add, float least) : add(add), least(least) {}
};

} // namespace mhcrt

#endif // MHCRT_CUDA_ALGEBRA_DIVISOR_CUH
