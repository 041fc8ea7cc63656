//===- maximum.cuh - The larger number, or NaN ------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PRIM_MAXIMUM_CUH
#define MHCRT_CUDA_PRIM_MAXIMUM_CUH

namespace mhcrt {

/// NaN where one of them is: fmaxf leaves it out, and a token that is lost would look like one that is not.
__device__ __forceinline__ float maximumOf(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PRIM_MAXIMUM_CUH
