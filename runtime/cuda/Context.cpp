//===- Context.cpp - Device, memory and errors of one caller --------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Context.h"
#include "mhcrt/cuda.h"
#include "src/ContextState.h"

#include <algorithm>
#include <cstring>
#include <new>

using namespace mhcrt;

// Kernels of large tiles may keep their accumulators' partial sums a cache line apart.
static constexpr int64_t kAlignment = 256;

bool mhcrt_context::mayAllocate(const char *what, int64_t bytes) {
  if (isRecorded)
    fail(MHCRT_INVALID_ARGUMENT,
         "%s: %lld bytes of memory are needed while calls are recorded into a graph; make the "
         "same calls once before",
         what, static_cast<long long>(bytes));
  return !isRecorded;
}

void *DeviceBlock::reserve(mhcrt_context &context, int64_t bytes, const char *what) {
  if (bytes <= size && data)
    return data;
  if (!context.mayAllocate(what, bytes))
    return nullptr;
  size_t free = 0, total = 0;
  void *fresh = nullptr;
  const int64_t wanted = bytes > INT64_MAX - kAlignment ? bytes : roundUp(std::max<int64_t>(bytes, 1), kAlignment);
  cudaError_t error = cudaMalloc(&fresh, wanted);
  if (error != cudaSuccess) {
    cudaGetLastError(); // the next call must not see it
    cudaMemGetInfo(&free, &total);
    context.fail(MHCRT_OUT_OF_MEMORY, "%s: no memory for %lld bytes on the GPU, which has %lld free (%s)", what,
                 static_cast<long long>(wanted), static_cast<long long>(free), cudaGetErrorString(error));
    return nullptr;
  }
  ++context.allocations;
  cudaFree(data); // waits for the work that uses it
  data = fresh;
  size = wanted;
  return data;
}

mhcrt_context::~mhcrt_context() {
  for (auto &[host, memory] : constants)
    cudaFree(memory);
  for (auto &[image, library] : images)
    cudaLibraryUnload(library);
  if (ownStream)
    cudaStreamDestroy(ownStream);
}

mhcrt_status mhcrt_context::check(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return status;
  return fail(MHCRT_DEVICE_ERROR, "%s: %s (%s)", what, cudaGetErrorString(error), cudaGetErrorName(error));
}

/// The ops that read row numbers.
static constexpr const char *kIdOps[] = {"mhcrt_take", "mhcrt_take_bwd"};
static constexpr int kIdOpCount = 2;

IdFault *mhcrt_context::idFault(const char *kernel) {
  const bool isNew = idFaults.bytes() == 0;
  auto *faults = static_cast<IdFault *>(idFaults.reserve(*this, kIdOpCount * sizeof(IdFault), kernel));
  if (!faults || (isNew && check(cudaMemsetAsync(faults, 0xFF, idFaults.bytes(), stream), kernel) != MHCRT_OK))
    return nullptr;
  const auto *op = std::find_if(kIdOps, kIdOps + kIdOpCount, [&](const char *op) { return !std::strcmp(op, kernel); });
  return faults + (op - kIdOps);
}

mhcrt_status mhcrt_context::synchronize() {
  constexpr unsigned long long kNone = ~0ull;
  IdFault found[kIdOpCount] = {{kNone, 0}, {kNone, 0}};
  if (void *faults = idFaults.get())
    check(cudaMemcpyAsync(found, faults, sizeof(found), cudaMemcpyDeviceToHost, stream), "mhcrt_synchronize");
  check(cudaStreamSynchronize(stream), "mhcrt_synchronize");
  for (int op = 0; op < kIdOpCount; ++op)
    if (found[op].first != kNone) {
      fail(MHCRT_INVALID_ARGUMENT, "%s: 'ids' has %d at %lld; needed 0 to %lld", kIdOps[op],
           static_cast<int32_t>(found[op].first), static_cast<long long>(found[op].first >> 32),
           static_cast<long long>(found[op].size - 1));
      cudaMemsetAsync(static_cast<IdFault *>(idFaults.get()) + op, 0xFF, sizeof(IdFault), stream);
    }
  return status;
}

mhcrt_status mhcrt_context::open() {
  int major = 0, minor = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess)
    error = cudaStreamCreateWithFlags(&ownStream, cudaStreamNonBlocking);
  arch = major * 10 + minor;
  stream = ownStream;
  return error == cudaSuccess ? MHCRT_OK : MHCRT_DEVICE_ERROR;
}

extern "C" {

mhcrt_status mhcrt_context_create(int32_t threads, mhcrt_context **context) {
  if (!context)
    return MHCRT_INVALID_ARGUMENT;
  *context = nullptr;
  if (threads < 0)
    return MHCRT_INVALID_ARGUMENT;
  auto *fresh = new (std::nothrow) mhcrt_context;
  if (!fresh)
    return MHCRT_OUT_OF_MEMORY;
  const mhcrt_status status = fresh->open();
  if (status != MHCRT_OK)
    delete fresh;
  else
    *context = fresh;
  return status;
}

void mhcrt_context_destroy(mhcrt_context *context) { delete context; }

int32_t mhcrt_context_threads(const mhcrt_context *) { return 1; }

int32_t mhcrt_context_amx(const mhcrt_context *) { return 0; }

mhcrt_status mhcrt_context_set_amx(mhcrt_context *, int32_t amx) { return amx ? MHCRT_UNAVAILABLE : MHCRT_OK; }

int32_t mhcrt_context_device(const mhcrt_context *) { return MHCRT_CUDA; }

void *mhcrt_workspace(mhcrt_context *context, int64_t bytes) {
  if (bytes < 0) {
    context->fail(MHCRT_INVALID_ARGUMENT, "mhcrt_workspace: 'bytes' is %lld; needed at least 0",
                  static_cast<long long>(bytes));
    return nullptr;
  }
  return context->workspace.reserve(*context, bytes, "mhcrt_workspace");
}

void *mhcrt_buffer_create(mhcrt_context *context, int64_t bytes) {
  void *buffer = nullptr;
  if (!context->mayAllocate("mhcrt_buffer_create", bytes))
    return nullptr;
  cudaError_t error = cudaMalloc(&buffer, std::max<int64_t>(bytes, 1));
  if (error == cudaSuccess)
    return buffer;
  cudaGetLastError();
  context->fail(MHCRT_OUT_OF_MEMORY, "mhcrt_buffer_create: no memory for %lld bytes on the GPU (%s)",
                static_cast<long long>(bytes), cudaGetErrorString(error));
  return nullptr;
}

void mhcrt_buffer_destroy(mhcrt_context *, void *buffer) { cudaFree(buffer); }

mhcrt_status mhcrt_copy(mhcrt_context *context, void *to, const void *from, int64_t bytes) {
  return context->check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, context->stream), "mhcrt_copy");
}

mhcrt_status mhcrt_synchronize(mhcrt_context *context) { return context->synchronize(); }

mhcrt_status mhcrt_cuda_set_stream(mhcrt_context *context, void *stream) {
  context->stream = static_cast<cudaStream_t>(stream);
  return context->status;
}

} // extern "C"
