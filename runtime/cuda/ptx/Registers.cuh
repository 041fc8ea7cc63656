//===- Registers.cuh - The registers of a warp ------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PTX_REGISTERS_CUH
#define MHCRT_CUDA_PTX_REGISTERS_CUH

#include <stdint.h>

namespace mhcrt {

template <int kCount>
__device__ __forceinline__ void raiseRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}

template <int kCount>
__device__ __forceinline__ void lowerRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}

/// The lane, read where it is used: what is made of it is not kept in registers all along.
__device__ __forceinline__ int laneAgain() {
  int lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PTX_REGISTERS_CUH
