//===- Resident.cu - A kernel beside those under test ---------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Resident.h"

#include <cstdint>
#include <cuda_runtime.h>

using namespace mhcrt::test;

namespace {
constexpr int kCluster = 16, kMostBlocks = 1024, kSharedBytes = 227 << 10;
constexpr uint64_t kMostNanoseconds = 5'000'000'000;
} // namespace

struct Resident::Flags {
  volatile int ends, started[kMostBlocks];
};

namespace {

__device__ uint64_t nanoseconds() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void residentKernel(volatile int *ends, volatile int *started) {
  const uint64_t end = nanoseconds() + kMostNanoseconds;
  started[blockIdx.x] = 1;
  while (!*ends && nanoseconds() < end)
    __nanosleep(100000); // questions to the host's memory slow down what runs beside
}

struct Config {
  cudaLaunchAttribute cluster = {};
  cudaLaunchConfig_t launch = {};

  Config(int clusters, cudaStream_t stream) {
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {kCluster, 1, 1};
    launch.gridDim = dim3(clusters * kCluster), launch.blockDim = dim3(32);
    launch.dynamicSmemBytes = kSharedBytes, launch.stream = stream;
    launch.attrs = &cluster, launch.numAttrs = 1;
  }
};

} // namespace

int Resident::most() {
  int clusters = 0;
  const Config config(1, nullptr);
  if (cudaFuncSetAttribute(residentKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes) ||
      cudaFuncSetAttribute(residentKernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) ||
      cudaOccupancyMaxActiveClusters(&clusters, residentKernel, &config.launch)) {
    cudaGetLastError(); // is no error of what comes next
    return 0;
  }
  return clusters;
}

Resident::Resident(int clusters) {
  cudaHostAlloc(reinterpret_cast<void **>(&flags), sizeof(Flags), cudaHostAllocMapped);
  *flags = {};
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const Config config(clusters, stream);
  cudaLaunchKernelEx(&config.launch, residentKernel, &flags->ends, static_cast<volatile int *>(flags->started));
  for (int block = 0; block < clusters * kCluster; ++block)
    while (!flags->started[block] && runs())
      continue;
}

Resident::~Resident() {
  flags->ends = 1;
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  cudaFreeHost(flags);
}

bool Resident::runs() const { return cudaStreamQuery(stream) == cudaErrorNotReady; }
