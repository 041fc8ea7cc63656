//===- FastFloat.cuh - Floats for results of 16 bits ----------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One instruction each, within 2^-21 of the value; what has no normal float is 0.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PTX_FASTFLOAT_CUH
#define MHCRT_CUDA_PTX_FASTFLOAT_CUH

namespace mhcrt {

/// 2^x.
__device__ __forceinline__ float fastPowerOf2(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

/// 1 / x; 0 for an infinite x.
__device__ __forceinline__ float fastReciprocal(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

/// 1 / sqrt(x), also of an x that is no normal float; infinite for 0.
__device__ __forceinline__ float fastReciprocalRoot(float x) {
  float r;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PTX_FASTFLOAT_CUH
