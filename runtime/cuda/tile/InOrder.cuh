//===- InOrder.cuh - Loads that are under way together ----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_TILE_INORDER_CUH
#define MHCRT_CUDA_TILE_INORDER_CUH

namespace mhcrt {

/// Calls take(load(k)) for k = first, first + step, ... below `end`, in this order, with kBatch loads under way. A loop
/// that is unrolled by as much has them one after the other behind its last whole turn.
template <int kBatch = 8, class Index, class Load, class Take>
__device__ __forceinline__ void inOrder(Index first, Index end, Index step, const Load &load, const Take &take) {
#pragma unroll 1
  for (Index at = first; at < end; at += kBatch * step) {
    decltype(load(at)) values[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i)
      if (at + i * step < end)
        values[i] = load(at + i * step);
#pragma unroll
    for (int i = 0; i < kBatch; ++i)
      if (at + i * step < end)
        take(values[i]);
  }
}

} // namespace mhcrt

#endif // MHCRT_CUDA_TILE_INORDER_CUH
