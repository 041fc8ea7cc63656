//===- Element.cuh - Elements of any type, for tests ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_CUDA_ELEMENT_CUH
#define MHCRT_TEST_CUDA_ELEMENT_CUH

#include "mhcrt/mhcrt.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace mhcrt::test {

__device__ inline double loadElement(const void *from, int32_t type, int64_t k) {
  if (type == MHCRT_BF16)
    return __bfloat162float(static_cast<const __nv_bfloat16 *>(from)[k]);
  if (type == MHCRT_F16)
    return __half2float(static_cast<const __half *>(from)[k]);
  return static_cast<const float *>(from)[k];
}

__device__ inline void storeElement(void *to, int32_t type, int64_t k, float value) {
  if (type == MHCRT_BF16)
    static_cast<__nv_bfloat16 *>(to)[k] = __float2bfloat16_rn(value);
  else if (type == MHCRT_F16)
    static_cast<__half *>(to)[k] = __float2half_rn(value);
  else
    static_cast<float *>(to)[k] = value;
}

} // namespace mhcrt::test

#endif // MHCRT_TEST_CUDA_ELEMENT_CUH
