//===- Mma.cuh - Terms of f32 and their matrix tiles ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two bf16 or f16 lie in a word.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PTX_MMA_CUH
#define MHCRT_CUDA_PTX_MMA_CUH

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

/// d += A B of bf16, 16 x 8 times 8 x 8.
__device__ __forceinline__ void multiplyBf16(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(b));
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

/// A float as two tf32 terms. Three of the four products of terms keep 21 bits of a product; bf16 and f16 are one term.
struct Tf32Pair {
  uint32_t high, low;
};

/// The high term is rounded to nearest; of the low one the tiles ignore what is behind 2^-21 of the value.
__device__ __forceinline__ Tf32Pair splitTf32(float v) {
  const uint32_t high = (__float_as_uint(v) + 0x1000u) & 0xffffe000u;
  return {high, __float_as_uint(v - __uint_as_float(high))};
}

/// d += A B with 16 x 8 times 8 x 8. Lane 4*g + q has A[g][q], A[g+8][q], A[g][q+4], A[g+8][q+4] in `a`, B[q][g],
/// B[q+4][g] in b0 and b1, and of d columns 2*q and 2*q + 1 of rows g and g + 8.
__device__ __forceinline__ void multiplyTf32(float (&d)[4], const uint4 &a, uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
               "{%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PTX_MMA_CUH
