//===- Memory.h - Allocation of GPU memory -------------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_HOST_MEMORY_H
#define MHCRT_CUDA_HOST_MEMORY_H

#include "mhcrt/cuda.h"

#include <cuda_runtime_api.h>

namespace mhcrt {

/// The caller's functions; null where memory comes from cudaMalloc.
struct Allocator {
  mhcrt_cuda_alloc alloc = nullptr;
  mhcrt_cuda_free free = nullptr;
  void *user = nullptr;
};

/// Memory of the GPU, and who takes it back.
struct DeviceBlock {
  void *data = nullptr;
  int64_t size = 0;
  Allocator from;
  unsigned long long capture = 0; ///< the number of the one that it was taken for; 0 where it serves all calls
  bool isInGraph = false;         ///< a graph that was captured outside of the context has its address

  int64_t bytes() const { return size; }
};

/// Counters of tiles that a context has where it shares the GPU: 64 KiB.
constexpr int64_t kTileCounters = 1 << 14;

/// Memory that a kernel needs for the time of its call.
struct CallMemory {
  DeviceBlock lasting; ///< serves all calls; unused where the caller has an allocator
  DeviceBlock ofCall;  ///< of the caller's allocator, for the present call

  int64_t bytes() const { return lasting.size + ofCall.size; }
};

} // namespace mhcrt

#endif // MHCRT_CUDA_HOST_MEMORY_H
