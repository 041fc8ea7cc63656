//===- Prefetch.cuh - Copies into the second-level cache -------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Before the wait for earlier kernels, too: that cache is the one that all of them write.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PTX_PREFETCH_CUH
#define MHCRT_CUDA_PTX_PREFETCH_CUH

#include <stdint.h>

namespace mhcrt {

constexpr int kLineBytes = 128;

__device__ __forceinline__ void prefetchLine(const void *p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p) : "memory");
}

/// Whole lines of `bytes` from `from` on, in each of `rows` rows that are `step` bytes apart: by a warp.
__device__ __forceinline__ void prefetchRows(const void *from, int rows, int64_t step, int bytes) {
  const int lines = bytes / kLineBytes;
  for (int k = threadIdx.x % 32; k < rows * lines; k += 32)
    prefetchLine(static_cast<const char *>(from) + k / lines * step + k % lines * kLineBytes);
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PTX_PREFETCH_CUH
