//===- Launch.cuh - Grids of simple kernels ---------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_HOST_LAUNCH_CUH
#define MHCRT_CUDA_HOST_LAUNCH_CUH

#include "cuda/host/Context.h"

#include <algorithm>
#include <cuda_runtime.h>

namespace mhcrt {

constexpr int kThreads = 256;

/// Blocks that take `count` pieces of work in turns: enough to fill the GPU eight times over, no more than are needed.
inline unsigned gridForBlocks(const mhcrt_context &context, int64_t count) {
  const int64_t most = int64_t(context.multiprocessors) * 64;
  return static_cast<unsigned>(std::max<int64_t>(1, std::min(count, most)));
}

/// The same for `items` items, one a thread and turn.
inline unsigned gridFor(const mhcrt_context &context, int64_t items) {
  return gridForBlocks(context, divideUp(items, kThreads));
}

/// Launches a kernel. The error is its own: cudaGetLastError() may have that of a call before it.
template <typename... Parameters, typename... Arguments>
cudaError_t launchKernel(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, size_t sharedBytes,
                         cudaStream_t stream, const Arguments &...arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = sharedBytes;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

/// The first item of this thread and the step to its next.
__device__ inline int64_t firstItem() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline int64_t itemStep() { return int64_t(gridDim.x) * blockDim.x; }

} // namespace mhcrt

#endif // MHCRT_CUDA_HOST_LAUNCH_CUH
