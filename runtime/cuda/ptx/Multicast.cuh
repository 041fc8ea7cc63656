//===- Multicast.cuh - Copies to all blocks of a cluster ------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PTX_MULTICAST_CUH
#define MHCRT_CUDA_PTX_MULTICAST_CUH

#include "cuda/ptx/Pause.cuh"

#include <cuda.h>
#include <stdint.h>

namespace mhcrt {

/// Copies a box as loadChannels() does to the same place of each block that has a bit in `blocks`, whose own barriers
/// at the place of `bar` are told.
__device__ __forceinline__ void loadChannelsForAll(uint32_t dst, const CUtensorMap *map, int token, int group,
                                                   uint32_t bar, uint16_t blocks) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
               "[%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(dst),
               "l"(map), "r"(0), "r"(token), "r"(group), "r"(bar), "h"(blocks)
               : "memory");
}

/// Arrives at a barrier of any block of the cluster.
__device__ __forceinline__ void barrierArriveRemote(uint32_t bar) {
  pauseInTests();
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(bar) : "memory");
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PTX_MULTICAST_CUH
