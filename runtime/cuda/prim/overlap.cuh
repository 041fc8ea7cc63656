//===- overlap.cuh - Kernels that start while others end --------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programmatic dependent launch: a kernel's blocks are placed where those of the kernel before leave room, and wait for
// its memory. Every kernel launched by launchOverlapping() waits by beginOverlapped() before it reads what the kernel
// before it may write, or writes what that one may read; streamBwd() says why it need not. The kernels before that one
// are done when it starts. Memory that such a kernel reads was not constant all its life: no non-coherent loads.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PRIM_OVERLAP_CUH
#define MHCRT_CUDA_PRIM_OVERLAP_CUH

#include "BulkCopy.cuh"

#include <atomic>
#include <cuda_runtime.h>

namespace mhcrt {

/// The next kernel starts only when this one has waited, so that it finds the memory of all but this one.
__device__ __forceinline__ void beginOverlapped() {
#if __CUDA_ARCH__ >= 900
  waitForEarlierKernels();
  launchLaterKernels();
#endif
}

/// Lets a kernel have `bytes` of dynamic shared memory. Asks once for each device: later launches make no other call.
template <auto *kKernel>
cudaError_t allowShared(int bytes) {
  static std::atomic<uint64_t> known; // a bit for each device
  int device;
  if (const cudaError_t error = cudaGetDevice(&device))
    return error;
  const uint64_t bit = uint64_t{1} << device % 64;
  if (known & bit)
    return cudaSuccess;
  const cudaError_t error = cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (!error)
    known |= bit;
  return error;
}

/// Clusters of `cluster` blocks.
template <typename... Parameters, typename... Arguments>
cudaError_t launchOverlapping(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, unsigned cluster,
                              size_t sharedBytes, cudaStream_t stream, const Arguments &...arguments) {
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = sharedBytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = cluster > 1 ? 2 : 1;
  return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PRIM_OVERLAP_CUH
