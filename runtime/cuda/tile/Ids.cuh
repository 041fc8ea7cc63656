//===- Ids.cuh - Row numbers and cuts that cannot be ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_TILE_IDS_CUH
#define MHCRT_CUDA_TILE_IDS_CUH

#include "cuda/host/Context.h"
#include "cuda/host/CutFault.h"

namespace mhcrt {

/// Keeps the bad id of the lowest position and the size of its table; mhcrt_synchronize reports them. All threads of a
/// launch have one size, and launches follow one another.
__device__ inline void reportId(IdFault *fault, int32_t id, int64_t position, int64_t size) {
  constexpr int64_t kMost = UINT32_MAX - 1;
  const auto place = static_cast<unsigned long long>(position < kMost ? position : kMost);
  const unsigned long long mine = place << 32 | static_cast<uint32_t>(id);
  if (mine < atomicMin(&fault->first, mine))
    fault->size = size;
}

/// Keeps the bad cut of the lowest position and what was needed of it: at least `needed` where `isBound`, else that.
__device__ inline void reportCut(IdFault *fault, int32_t cut, int64_t position, int32_t needed, bool isBound) {
  const auto place = static_cast<unsigned long long>(position) << 32;
  atomicMin(&fault->first, place | static_cast<uint32_t>(cut));
  atomicMin(reinterpret_cast<unsigned long long *>(&fault->size),
            place | (isBound ? kCutBound : 0) | static_cast<uint32_t>(needed));
}

} // namespace mhcrt

#endif // MHCRT_CUDA_TILE_IDS_CUH
