//===- BulkCopy.cuh - Bulk copies of one block ------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrappers of single PTX instructions. A shared address is the 32-bit address within the shared window.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PTX_BULKCOPY_CUH
#define MHCRT_CUDA_PTX_BULKCOPY_CUH

#include "cuda/ptx/Shared.cuh"

#include <cuda.h>
#include <stdint.h>

namespace mhcrt {

/// Makes earlier ordinary accesses to shared memory visible to later bulk copies: those of this thread, and those of
/// other threads of the block that a barrier has shown it. A proxy fence acts in its own thread and composes with what
/// synchronizes threads: those that write may have it before they arrive, or the one that copies when it has waited.
__device__ __forceinline__ void fenceBulk() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// `bytes` is a multiple of 16, and both addresses are aligned to 16.
__device__ __forceinline__ void bulkLoad(uint32_t dst, const void *src, uint32_t bytes, uint32_t bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dst),
               "l"(src), "r"(bytes), "r"(bar)
               : "memory");
}

/// The same into the second-level cache, which all blocks share: allowed before others have written what is there.
__device__ __forceinline__ void prefetchBulk(const void *src, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(src), "r"(bytes) : "memory");
}

/// A box of streams: all four streams and all 64 channels of each group from `group` on.
__device__ __forceinline__ void loadStreams(uint32_t dst, const CUtensorMap *map, int token, int group, uint32_t bar) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
               "[%1, {%2, %3, %2, %4}], [%5];" ::"r"(dst),
               "l"(map), "r"(0), "r"(token), "r"(group), "r"(bar)
               : "memory");
}

__device__ __forceinline__ void prefetchStreams(const CUtensorMap *map, int token, int group) {
  asm volatile("cp.async.bulk.prefetch.tensor.4d.L2.global.tile [%0, {%1, %2, %1, %3}];" ::"l"(map), "r"(0), "r"(token),
               "r"(group)
               : "memory");
}

/// The same of a tensor without streams.
__device__ __forceinline__ void loadChannels(uint32_t dst, const CUtensorMap *map, int token, int group, uint32_t bar) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
               "[%1, {%2, %3, %4}], [%5];" ::"r"(dst),
               "l"(map), "r"(0), "r"(token), "r"(group), "r"(bar)
               : "memory");
}

__device__ __forceinline__ void prefetchChannels(const CUtensorMap *map, int token, int group) {
  asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1, %2, %3}];" ::"l"(map), "r"(0), "r"(token),
               "r"(group)
               : "memory");
}

__device__ __forceinline__ void storeStreams(const CUtensorMap *map, int token, int group, uint32_t src) {
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %1, %3}], [%4];" ::"l"(map),
               "r"(0), "r"(token), "r"(group), "r"(src)
               : "memory");
}

/// The same of a tensor without streams.
__device__ __forceinline__ void storeChannels(const CUtensorMap *map, int token, int group, uint32_t src) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map),
               "r"(0), "r"(token), "r"(group), "r"(src)
               : "memory");
}

__device__ __forceinline__ void commitStores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/// Waits until all but the newest kNewest groups of stores have read shared memory.
template <int kNewest>
__device__ __forceinline__ void waitStoresRead() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kNewest) : "memory");
}

__device__ __forceinline__ void waitStores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

} // namespace mhcrt

#endif // MHCRT_CUDA_PTX_BULKCOPY_CUH
