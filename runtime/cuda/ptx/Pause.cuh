//===- Pause.cuh - Pauses that test barriers --------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PTX_PAUSE_CUH
#define MHCRT_CUDA_PTX_PAUSE_CUH

#include <stdint.h>

namespace mhcrt {

/// Stands before every arrival at a barrier, every wait and every message. Nothing; but in the library of
/// runtime/test/cuda-paused a warp sleeps there for up to 4 us, mostly less than 0.3, otherwise in each run. Whoever
/// relies on who is usually first makes other bits then.
__device__ __forceinline__ void pauseInTests() {
#ifdef MHCRT_TEST_PAUSES
  const uint32_t hash = (static_cast<uint32_t>(clock64()) + (blockIdx.x << 8) + (threadIdx.x >> 5)) * 2654435761u;
  __nanosleep(hash >> (hash & 0x700 ? 24 : 20));
#endif
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PTX_PAUSE_CUH
