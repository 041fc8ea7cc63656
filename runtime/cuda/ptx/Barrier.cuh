//===- Barrier.cuh - Barriers of a block ------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrappers of single PTX instructions: mbarrier, in shared memory, and the numbered ones of bar. A shared address is
// the 32-bit address within the shared window.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PTX_BARRIER_CUH
#define MHCRT_CUDA_PTX_BARRIER_CUH

#include "cuda/ptx/Pause.cuh"

#include <stdint.h>

namespace mhcrt {

__device__ __forceinline__ void barrierInit(uint32_t bar, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barrierArrive(uint32_t bar) {
  pauseInTests();
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}

/// One arrival that also announces the bytes of the copies to come.
__device__ __forceinline__ void barrierExpect(uint32_t bar, uint32_t bytes) {
  pauseInTests();
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

/// Waits until the phase of this parity is complete. The caller is never two phases behind.
__device__ __forceinline__ void barrierWait(uint32_t bar, uint32_t parity) {
  pauseInTests();
  asm volatile("{\n .reg .pred P;\nLW:\n mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 P, [%0], %1;\n"
               " @P bra LD;\n bra LW;\nLD:\n}" ::"r"(bar),
               "r"(parity)
               : "memory");
}

/// Makes initialised barriers visible to other blocks and to bulk copies.
__device__ __forceinline__ void fenceBarrierInit() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Waits at barrier `barrier` of the block, which counts `threads` threads. 0 is that of __syncthreads().
__device__ __forceinline__ void syncNamed(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// Arrives there without a wait.
template <int kBarrier, int kThreadsThere>
__device__ __forceinline__ void arriveNamed() {
  asm volatile("bar.arrive %0, %1;" ::"n"(kBarrier), "n"(kThreadsThere) : "memory");
}
template <int kBarrier, int kThreadsThere>
__device__ __forceinline__ void syncNamed() {
  asm volatile("bar.sync %0, %1;" ::"n"(kBarrier), "n"(kThreadsThere) : "memory");
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PTX_BARRIER_CUH
