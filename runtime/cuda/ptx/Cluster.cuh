//===- Cluster.cuh - Clusters of blocks, messages between them --*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrappers of single PTX instructions. A shared address is the 32-bit address within the shared window.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PTX_CLUSTER_CUH
#define MHCRT_CUDA_PTX_CLUSTER_CUH

#include "cuda/ptx/Pause.cuh"

#include <stdint.h>

namespace mhcrt {

__device__ __forceinline__ uint32_t clusterRank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ int clusterIndex() {
  int index;
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(index));
  return index;
}
__device__ __forceinline__ int clusterCount() {
  int count;
  asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(count));
  return count;
}

/// Both halves of the cluster's barrier, for all threads of a converged warp. It orders no memory: fenceBarrierInit()
/// makes barriers visible to other blocks, and messages are ordered by theirs.
__device__ __forceinline__ void clusterArrive() {
  pauseInTests();
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void clusterWait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

/// Blocks of this block's cluster.
__device__ __forceinline__ int clusterSize() {
  int size;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}

/// The address of `a`, a shared address of this block, in block `rank` of the cluster.
__device__ __forceinline__ uint32_t remoteAddress(uint32_t a, uint32_t rank) {
  uint32_t remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(a), "r"(rank));
  return remote;
}

/// Writes 16 bytes to a remote address and counts them at the remote barrier.
__device__ __forceinline__ void sendRemote(uint32_t to, float4 v, uint32_t bar) {
  pauseInTests();
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1,%2,%3,%4}, [%5];" ::"r"(to),
               "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w), "r"(bar)
               : "memory");
}

/// Writes a word to shared memory, of this block or, by a remote address, of another.
__device__ __forceinline__ void storeWord(uint32_t to, uint32_t word) {
  pauseInTests();
  asm volatile("st.relaxed.cluster.shared::cluster.u32 [%0], %1;" ::"r"(to), "r"(word) : "memory");
}
/// The word at an address of this block, which others write.
__device__ __forceinline__ uint32_t loadWord(uint32_t from) {
  pauseInTests();
  uint32_t word;
  asm volatile("ld.relaxed.cluster.shared::cta.u32 %0, [%1];" : "=r"(word) : "r"(from) : "memory");
  return word;
}

/// An arrival at a remote barrier that says only what this warp has read of shared memory: one that releases more would
/// also wait for its stores to global memory.
__device__ __forceinline__ void barrierArriveRead(uint32_t remoteBar) {
  pauseInTests();
  asm volatile("fence.release.sync_restrict::shared::cta.cluster;\n"
               "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(remoteBar)
               : "memory");
}

/// barrierWait for data that other blocks of the cluster sent, all of it in shared memory: a wait that acquires more
/// would also drop what the first-level cache holds.
__device__ __forceinline__ void barrierWaitRemote(uint32_t bar, uint32_t parity) {
  pauseInTests();
  asm volatile("{\n .reg .pred P;\nLW:\n mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 P, [%0], %1;\n"
               " @P bra LD;\n bra LW;\nLD:\n fence.acquire.sync_restrict::shared::cluster.cluster;\n}" ::"r"(bar),
               "r"(parity)
               : "memory");
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PTX_CLUSTER_CUH
