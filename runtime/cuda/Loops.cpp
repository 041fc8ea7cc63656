//===- Loops.cpp - Loop kernels and constants of a compiled model ---------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Context.h"
#include "mhcrt/cuda.h"

using namespace mhcrt;

static constexpr int kThreads = 256;
/// Of one launch: what the first dimension of a grid takes.
static constexpr int64_t kMostThreads = int64_t{INT32_MAX} * kThreads;

/// Loads the image at its first use.
static cudaError_t findLoop(mhcrt_context &context, const void *image, const char *name, cudaKernel_t &kernel) {
  auto [place, isNew] = context.loops.try_emplace({image, name}, nullptr);
  kernel = place->second;
  if (!isNew && kernel)
    return cudaSuccess;
  cudaLibrary_t &library = context.images[image];
  cudaError_t error = cudaSuccess;
  if (!library)
    error = cudaLibraryLoadData(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (error == cudaSuccess)
    error = cudaLibraryGetKernel(&kernel, library, name);
  place->second = error == cudaSuccess ? kernel : nullptr;
  return error;
}

extern "C" {

void mhcrt_cuda_loop(mhcrt_context *context, const void *image, int64_t, const char *name, void **arguments,
                     int64_t count) {
  if (context->status != MHCRT_OK || count <= 0)
    return;
  if (count > kMostThreads) {
    context->fail(MHCRT_INVALID_ARGUMENT, "%s: 'count' is %lld; needed at most %lld", name,
                  static_cast<long long>(count), static_cast<long long>(kMostThreads));
    return;
  }
  const Range range(*context, name);
  cudaKernel_t kernel = nullptr;
  cudaError_t error = findLoop(*context, image, name, kernel);
  if (error == cudaSuccess)
    error = cudaLaunchKernel(reinterpret_cast<const void *>(kernel), dim3(divideUp(count, kThreads)), dim3(kThreads),
                             arguments, 0, context->stream);
  if (context->check(error, name) == MHCRT_OK)
    ++context->launches;
}

const void *mhcrt_constant(mhcrt_context *context, const void *host, int64_t bytes) {
  void *&memory = context->constants[host];
  if (memory || context->status != MHCRT_OK)
    return memory;
  memory = mhcrt_buffer_create(context, bytes);
  if (memory && mhcrt_copy(context, memory, host, bytes) != MHCRT_OK)
    return nullptr;
  return memory;
}

} // extern "C"
