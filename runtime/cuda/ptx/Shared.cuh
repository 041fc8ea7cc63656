//===- Shared.cuh - Accesses to shared memory -------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrappers of single PTX instructions. A shared address is the 32-bit address within the shared window.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PTX_SHARED_CUH
#define MHCRT_CUDA_PTX_SHARED_CUH

#include <stdint.h>

namespace mhcrt {

__device__ __forceinline__ uint32_t sharedAddress(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

/// Address of the byte `offset` in shared memory.
template <class T>
__device__ __forceinline__ T *sharedAt(char *shared, uint32_t offset) {
  return reinterpret_cast<T *>(shared + offset);
}

__device__ __forceinline__ uint4 loadShared4(uint32_t a) {
  uint4 r;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "r"(a));
  return r;
}
__device__ __forceinline__ uint2 loadShared2(uint32_t a) {
  uint2 r;
  asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(r.x), "=r"(r.y) : "r"(a));
  return r;
}
__device__ __forceinline__ float2 loadSharedFloat2(uint32_t a) {
  const uint2 r = loadShared2(a);
  return make_float2(__uint_as_float(r.x), __uint_as_float(r.y));
}
__device__ __forceinline__ float loadSharedFloat(uint32_t a) {
  float r;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(r) : "r"(a));
  return r;
}
__device__ __forceinline__ float4 loadSharedFloat4(uint32_t a) {
  const uint4 r = loadShared4(a);
  return make_float4(__uint_as_float(r.x), __uint_as_float(r.y), __uint_as_float(r.z), __uint_as_float(r.w));
}
__device__ __forceinline__ int loadSharedInt(uint32_t a) {
  int v;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(v) : "r"(a) : "memory");
  return v;
}
__device__ __forceinline__ void storeShared4(uint32_t a, uint4 v) {
  asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(a), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
__device__ __forceinline__ void storeSharedFloat4(uint32_t a, float4 v) {
  storeShared4(a, make_uint4(__float_as_uint(v.x), __float_as_uint(v.y), __float_as_uint(v.z), __float_as_uint(v.w)));
}
__device__ __forceinline__ void storeSharedFloat(uint32_t a, float v) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(a), "f"(v) : "memory");
}
__device__ __forceinline__ void storeSharedInt(uint32_t a, int v) {
  asm volatile("st.shared.s32 [%0], %1;" ::"r"(a), "r"(v) : "memory");
}

/// Four 8x8 tiles of 16-bit elements, each transposed.
/// Four 8 x 8 matrices, of whose rows the 32 lanes give the addresses.
__device__ __forceinline__ uint4 loadMatrices(uint32_t a) {
  uint4 r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
               : "r"(a)
               : "memory");
  return r;
}
__device__ __forceinline__ void storeMatrices(uint32_t a, uint4 v) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(a), "r"(v.x), "r"(v.y), "r"(v.z),
               "r"(v.w)
               : "memory");
}
/// Two, whose rows lanes 0 to 15 give.
__device__ __forceinline__ void storeMatrices(uint32_t a, uint2 v) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"(a), "r"(v.x), "r"(v.y) : "memory");
}

__device__ __forceinline__ uint4 loadTransposed(uint32_t a) {
  uint4 r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
               : "r"(a)
               : "memory");
  return r;
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PTX_SHARED_CUH
