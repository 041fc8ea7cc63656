//===- RingPlace.cuh - A place in a ring of slots ---------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_TILE_RINGPLACE_CUH
#define MHCRT_CUDA_TILE_RINGPLACE_CUH

#include <stdint.h>

namespace mhcrt {

/// A place in a ring of slots with a barrier each where they are full and where they are free.
template <int kSlots>
struct RingPlace {
  uint32_t barriers, slot = 0, parity = 0;

  __device__ uint32_t full() const { return barriers + 8 * slot; }
  __device__ uint32_t free() const { return barriers + 8 * (kSlots + slot); }
  __device__ void advance() {
    if (++slot == kSlots) {
      slot = 0;
      parity ^= 1;
    }
  }
};

} // namespace mhcrt

#endif // MHCRT_CUDA_TILE_RINGPLACE_CUH
