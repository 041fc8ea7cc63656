//===- Tf32Mma.cuh - f32 products on matrix tiles ---------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A float is cut into two tf32 terms. Three of the four products of terms keep 21 bits of a product; bf16 and f16 are
// one term.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PRIM_TF32MMA_CUH
#define MHCRT_CUDA_PRIM_TF32MMA_CUH

#include <stdint.h>

namespace mhcrt {

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

#endif // MHCRT_CUDA_PRIM_TF32MMA_CUH
