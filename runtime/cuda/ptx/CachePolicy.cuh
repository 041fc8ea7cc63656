//===- CachePolicy.cuh - Lines that a cache keeps --------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrappers of single PTX instructions: policies, and accesses that have one.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PTX_CACHEPOLICY_CUH
#define MHCRT_CUDA_PTX_CACHEPOLICY_CUH

#include <cuda.h>
#include <stdint.h>

namespace mhcrt {

/// When the second-level cache needs room, a line goes before others, as usual, or when there are no others.
__device__ __forceinline__ uint64_t keepShort() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ __forceinline__ uint64_t keepAsUsual() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ __forceinline__ uint64_t keepLong() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// As those of ptx/Global.cuh.
__device__ __forceinline__ uint4 loadOnce(const void *p, uint64_t policy) {
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], %5;"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p), "l"(policy));
  return v;
}
__device__ __forceinline__ void storeOnce(void *p, float4 v, uint64_t policy) {
  asm volatile("st.global.L1::no_allocate.L2::cache_hint.v4.f32 [%0], {%1,%2,%3,%4}, %5;" ::"l"(p), "f"(v.x), "f"(v.y),
               "f"(v.z), "f"(v.w), "l"(policy)
               : "memory");
}

/// As that of ptx/BulkCopy.cuh.
__device__ __forceinline__ void loadChannels(uint32_t dst, const CUtensorMap *map, int token, int group, uint32_t bar,
                                             uint64_t policy) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
               "[%1, {%2, %3, %4}], [%5], %6;" ::"r"(dst),
               "l"(map), "r"(0), "r"(token), "r"(group), "r"(bar), "l"(policy)
               : "memory");
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PTX_CACHEPOLICY_CUH
