//===- Format.cuh - Rounding in registers -----------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_ALGEBRA_FORMAT_CUH
#define MHCRT_CUDA_ALGEBRA_FORMAT_CUH

#include "mhcrt/kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace mhcrt {

/// A number rounded to a mhcrt_format, to nearest even.
__device__ __forceinline__ float roundedTo(float value, int32_t format) {
  if (format == MHCRT_FORMAT_BF16)
    return __bfloat162float(__float2bfloat16_rn(value));
  return format == MHCRT_FORMAT_F16 ? __half2float(__float2half_rn(value)) : value;
}

// Rounding of the result of every op of an iteration.
struct KeepF32 {
  __device__ __forceinline__ float operator()(float value) const { return value; }
};
/// Both formats are tried, for a branch at every rounding would make the lines of a matrix wait for each other.
struct RoundTo {
  int32_t format;
  __device__ __forceinline__ float operator()(float value) const {
    const float bf16 = roundedTo(value, MHCRT_FORMAT_BF16), f16 = roundedTo(value, MHCRT_FORMAT_F16);
    return format == MHCRT_FORMAT_BF16 ? bf16 : f16;
  }
};

} // namespace mhcrt

#endif // MHCRT_CUDA_ALGEBRA_FORMAT_CUH
