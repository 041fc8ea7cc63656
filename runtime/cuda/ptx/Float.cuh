//===- Float.cuh - Numbers by single instructions ---------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Without the branches of a division or a root, which would end their overlap with others.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PTX_FLOAT_CUH
#define MHCRT_CUDA_PTX_FLOAT_CUH

#include <math.h>

namespace mhcrt {

/// NaN where one of them is: fmaxf leaves it out, and a token that is lost would look like one that is not.
__device__ __forceinline__ float maximumOf(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

/// 1 / d within a unit in the last place; infinite for 0, and 0 for an infinite d.
__device__ __forceinline__ float reciprocalOf(float d) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(d));
  const float rest = fmaf(-d, r, 1.0f); // not finite where d is 0 or infinite, and r exact
  return fabsf(rest) < 1 ? fmaf(r, rest, r) : r;
}

/// The same where neither d nor the result is infinite or 0: NaN there.
__device__ __forceinline__ float finiteReciprocalOf(float d) {
  float r;
  asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(d));
  return fmaf(r, fmaf(-d, r, 1.0f), r);
}

/// 1 / sqrt(v), infinite for 0.
__device__ __forceinline__ float reciprocalRootOf(float v) {
  float r;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
  const float rest = fmaf(-v * r, r, 1.0f);
  return fabsf(rest) < 1 ? fmaf(0.5f * r, rest, r) : r;
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PTX_FLOAT_CUH
