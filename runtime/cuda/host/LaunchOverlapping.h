//===- LaunchOverlapping.h - Launches of kernels that overlap ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels wait by beginOverlapped(), of ptx/Overlap.cuh. Code for GPUs before 9.0 waits for nothing, and those
// overlap no kernels.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_HOST_LAUNCHOVERLAPPING_H
#define MHCRT_CUDA_HOST_LAUNCHOVERLAPPING_H

#include <atomic>
#include <cuda_runtime.h>

namespace mhcrt {

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

/// Whether the current GPU may start a kernel while another one ends.
inline cudaError_t askOverlap(bool &overlaps) {
  int device = 0, major = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  overlaps = major >= 9;
  return error;
}

/// Clusters of `cluster` blocks; one block where kernels do not overlap.
template <typename... Parameters, typename... Arguments>
cudaError_t launchOverlapping(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, unsigned cluster,
                              size_t sharedBytes, cudaStream_t stream, const Arguments &...arguments) {
  bool overlaps = false;
  if (const cudaError_t error = askOverlap(overlaps))
    return error;
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
  config.numAttrs = !overlaps ? 0 : cluster > 1 ? 2 : 1;
  return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

} // namespace mhcrt

#endif // MHCRT_CUDA_HOST_LAUNCHOVERLAPPING_H
