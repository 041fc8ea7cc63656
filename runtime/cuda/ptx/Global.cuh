//===- Global.cuh - Accesses to memory that is used once --------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrappers of single PTX instructions, for what is read or written once and not soon again by this multiprocessor.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PTX_GLOBAL_CUH
#define MHCRT_CUDA_PTX_GLOBAL_CUH

#include <stdint.h>
#include <vector_types.h>

namespace mhcrt {

__device__ __forceinline__ uint4 loadOnce(const void *p) {
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}
__device__ __forceinline__ void storeOnce(void *p, uint4 v) {
  asm volatile("st.global.L1::no_allocate.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}
/// The same where `stores`, without a branch that loads for the value would move into.
__device__ __forceinline__ void storeOnceIf(bool stores, void *p, uint4 v) {
  asm volatile("{\n .reg .pred P;\n setp.ne.u32 P, %5, 0;\n"
               " @P st.global.L1::no_allocate.v4.u32 [%0], {%1,%2,%3,%4};\n}" ::"l"(p),
               "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(uint32_t{stores})
               : "memory");
}
__device__ __forceinline__ void storeOnceIf(bool stores, void *p, uint32_t v) {
  asm volatile("{\n .reg .pred P;\n setp.ne.u32 P, %2, 0;\n @P st.global.L1::no_allocate.u32 [%0], %1;\n}" ::"l"(p),
               "r"(v), "r"(uint32_t{stores})
               : "memory");
}
__device__ __forceinline__ void storeOnce(void *p, uint2 v) {
  asm volatile("st.global.L1::no_allocate.v2.u32 [%0], {%1,%2};" ::"l"(p), "r"(v.x), "r"(v.y) : "memory");
}
__device__ __forceinline__ uint32_t loadWordOnce(const uint32_t *p) {
  uint32_t v;
  asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
__device__ __forceinline__ void storeWordOnce(uint32_t *p, uint32_t v) {
  asm volatile("st.global.L1::no_allocate.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PTX_GLOBAL_CUH
