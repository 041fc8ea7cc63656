//===- AsyncCopy.cuh - Copies to shared memory, one a lane ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrappers of single PTX instructions. A thread waits for its own copies; a barrier of the block shows them
// to the others.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PTX_ASYNCCOPY_CUH
#define MHCRT_CUDA_PTX_ASYNCCOPY_CUH

#include "cuda/ptx/Pause.cuh"
#include "cuda/ptx/Shared.cuh"

namespace mhcrt {

/// Copies kBytes, 4, 8 or 16, or makes them zero where not `real`.
template <int kBytes>
__device__ __forceinline__ void copyAhead(void *to, const void *from, bool real) {
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(sharedAddress(to)), "l"(from), "r"(real ? 16 : 0)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(sharedAddress(to)), "l"(from), "n"(kBytes),
                 "r"(real ? kBytes : 0)
                 : "memory");
}

/// The same of 16 bytes to a shared address.
__device__ __forceinline__ void copyAhead(uint32_t to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

/// Arrives at a barrier, which counts the lane, when all copies of the lane so far are there.
__device__ __forceinline__ void arriveWhenCopied(uint32_t bar) {
  pauseInTests();
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
}

/// Ends a group of copies.
__device__ __forceinline__ void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits for all groups.
__device__ __forceinline__ void waitCopyGroups() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

/// Waits for all groups but the last kLeft.
template <int kLeft>
__device__ __forceinline__ void waitCopyGroupsBut() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

/// Waits for all copies, in groups or not.
__device__ __forceinline__ void waitCopies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

} // namespace mhcrt

#endif // MHCRT_CUDA_PTX_ASYNCCOPY_CUH
