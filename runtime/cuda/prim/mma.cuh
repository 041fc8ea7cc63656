//===- mma.cuh - 16-bit pairs and their matrix tiles ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PRIM_MMA_CUH
#define MHCRT_CUDA_PRIM_MMA_CUH

#include <cuda_fp16.h>
#include <stdint.h>

namespace mhcrt {

__device__ __forceinline__ float lowBf16(uint32_t pair) { return __uint_as_float(pair << 16); }
__device__ __forceinline__ float highBf16(uint32_t pair) { return __uint_as_float(pair & 0xffff0000u); }

__device__ __forceinline__ uint32_t packBf16(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

/// Two floats as two bf16 terms each: the error is 2^-17 of the value.
__device__ __forceinline__ void splitBf16(float low, float high, uint32_t &first, uint32_t &second) {
  first = packBf16(low, high);
  second = packBf16(low - lowBf16(first), high - highBf16(first));
}

__device__ __forceinline__ uint32_t packF16(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

/// Two floats as two f16 terms each: the error is 2^-23 of the value, or 2^-25 where that is more.
__device__ __forceinline__ void splitF16(float low, float high, uint32_t &first, uint32_t &second) {
  first = packF16(low, high);
  const float2 rounded = __half22float2(*reinterpret_cast<const __half2 *>(&first));
  second = packF16(low - rounded.x, high - rounded.y);
}

/// The least power of two above every |v| <= most, and its inverse; both are normal numbers.
__device__ __forceinline__ float scaleAbove(float most) {
  const uint32_t exponent = (__float_as_uint(most) >> 23) + 1;
  return __uint_as_float(min(max(exponent, 1u), 253u) << 23);
}
__device__ __forceinline__ float inverseScale(float scale) {
  return __uint_as_float((254u << 23) - __float_as_uint(scale));
}

/// d += A B of bf16, 16 x 16 times 16 x 8.
__device__ __forceinline__ void multiplyBf16(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                                             uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/// The same of f16.
__device__ __forceinline__ void multiplyF16(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                                            uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/// d += A B of f16, 16 x 8 times 8 x 8.
__device__ __forceinline__ void multiplyF16(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t b0) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(b0));
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PRIM_MMA_CUH
