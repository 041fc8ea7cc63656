//===- Overlap.cuh - Kernels that start while others end --------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programmatic dependent launch: a kernel's blocks are placed where those of the kernel before leave room, and wait for
// its memory. Every kernel launched by launchOverlapping() waits by beginOverlapped() before it reads what the kernel
// before it may write, or writes what that one may read; streamBwd() says why it need not. The kernels before that one
// are done when it starts. Memory that such a kernel reads was not constant all its life: no non-coherent loads.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PTX_OVERLAP_CUH
#define MHCRT_CUDA_PTX_OVERLAP_CUH

namespace mhcrt {

/// Waits for the kernels before this one when it was launched to overlap with them.
__device__ __forceinline__ void waitForEarlierKernels() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/// Lets the next kernel be launched; it waits for this one's memory.
__device__ __forceinline__ void launchLaterKernels() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

/// The next kernel starts only when this one has waited, so that it finds the memory of all but this one.
__device__ __forceinline__ void beginOverlapped() {
#if __CUDA_ARCH__ >= 900
  waitForEarlierKernels();
  launchLaterKernels();
#endif
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PTX_OVERLAP_CUH
