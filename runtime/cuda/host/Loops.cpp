//===- Loops.cpp - Loop kernels and constants of a compiled model ---------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "cuda/host/CallGuard.h"

using namespace mhcrt;

static constexpr int kThreads = 256;
/// Threads of one launch: the first dimension of a grid holds no more blocks.
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

/// A copy of what is on the host. Null data with the error set where that fails.
static DeviceBlock copyConstant(mhcrt_context &context, const char *name, const void *host, int64_t bytes,
                                cudaStream_t stream) {
  const DeviceBlock block = context.allocate(name, bytes, stream);
  if (!block.data)
    return block;
  const cudaError_t error = cudaMemcpyAsync(block.data, host, bytes, cudaMemcpyDefault, stream);
  if (error == cudaSuccess)
    return block;
  context.check(error, name);
  context.release(block);
  return {};
}

/// The same while the context's stream is captured: on a stream that runs, and done when it returns.
static DeviceBlock copyBesideCapture(mhcrt_context &context, const char *name, const void *host, int64_t bytes) {
  cudaStream_t stream = nullptr;
  cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  context.check(error, name);
  if (error != cudaSuccess)
    return {};
  const DeviceBlock block = copyConstant(context, name, host, bytes, stream);
  context.check(cudaStreamSynchronize(stream), name);
  forget(cudaStreamDestroy(stream));
  return block;
}

extern "C" {

void mhcrt_cuda_loop(mhcrt_context *context, const void *image, int64_t, const char *name, void **arguments,
                     int64_t count) {
  const CallGuard guard(*context, "mhcrt_cuda_loop");
  if (!guard || context->status != MHCRT_OK || count <= 0)
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
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction) {
    forget(error);
    context->fail(MHCRT_UNAVAILABLE, "%s: the model has no code for this GPU, sm_%d; compile it for that one", name,
                  context->arch);
  } else if (context->check(error, name) == MHCRT_OK)
    ++context->launches;
}

const void *mhcrt_constant(mhcrt_context *context, const void *host, int64_t bytes) {
  constexpr const char *kName = "mhcrt_constant";
  const CallGuard guard(*context, kName);
  if (!guard)
    return nullptr;
  const auto known = context->constants.find(host);
  if (known != context->constants.end())
    return known->second.data;
  unsigned long long capture = 0;
  if (context->status != MHCRT_OK || !context->askCapture(kName, capture) ||
      !context->mayAllocate(kName, bytes, capture))
    return nullptr;
  const DeviceBlock block = capture ? copyBesideCapture(*context, kName, host, bytes)
                                    : copyConstant(*context, kName, host, bytes, context->stream);
  if (!block.data)
    return nullptr;
  context->constants[host] = block;
  return block.data;
}

} // extern "C"
