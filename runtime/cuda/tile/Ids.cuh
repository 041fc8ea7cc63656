//===- Ids.cuh - Row numbers that a table does not have ---------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_TILE_IDS_CUH
#define MHCRT_CUDA_TILE_IDS_CUH

#include "cuda/host/Context.h"

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

} // namespace mhcrt

#endif // MHCRT_CUDA_TILE_IDS_CUH
