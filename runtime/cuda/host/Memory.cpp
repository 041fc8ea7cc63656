//===- Memory.cpp - Workspace, scratch and buffers ------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "cuda/host/CallGuard.h"

#include <algorithm>
#include <utility>

using namespace mhcrt;

// Kernels of large tiles may keep their accumulators' partial sums a cache line apart.
static constexpr int64_t kAlignment = 256;

static int64_t blockBytes(int64_t bytes) {
  return bytes > INT64_MAX - kAlignment ? bytes : roundUp(std::max<int64_t>(bytes, 1), kAlignment);
}

bool mhcrt_context::mayAllocate(const char *what, int64_t bytes, unsigned long long capture) {
  if (capture && !allocator.alloc)
    fail(MHCRT_INVALID_ARGUMENT,
         "%s: %lld bytes of memory are needed while the stream is captured; make the same calls once before, or set an "
         "allocator",
         what, static_cast<long long>(blockBytes(bytes)));
  return !capture || allocator.alloc;
}

/// Null where the allocator's memory is no use.
static void *allocateByCaller(mhcrt_context &context, const char *what, int64_t bytes, cudaStream_t stream) {
  const Allocator &from = context.allocator;
  void *data = from.alloc(from.user, bytes, stream);
  const auto address = reinterpret_cast<uintptr_t>(data);
  if (!data)
    context.fail(MHCRT_OUT_OF_MEMORY, "%s: the allocator has no memory for %lld bytes", what,
                 static_cast<long long>(bytes));
  if (address % kAlignment == 0)
    return data;
  context.fail(MHCRT_INVALID_ARGUMENT, "%s: the allocator's memory is at %#llx; needed a multiple of %lld", what,
               static_cast<unsigned long long>(address), static_cast<long long>(kAlignment));
  from.free(from.user, data, bytes, stream);
  return nullptr;
}

DeviceBlock mhcrt_context::allocate(const char *what, int64_t bytes, cudaStream_t user) {
  bytes = blockBytes(bytes);
  if (allocator.alloc) {
    void *data = allocateByCaller(*this, what, bytes, user);
    return data ? DeviceBlock{data, bytes, allocator} : DeviceBlock();
  }
  void *data = nullptr;
  const cudaError_t error = cudaMalloc(&data, bytes);
  if (error == cudaSuccess)
    return {data, bytes, {}};
  forget(error);
  size_t free = 0, total = 0;
  forget(cudaMemGetInfo(&free, &total));
  fail(MHCRT_OUT_OF_MEMORY, "%s: no memory for %lld bytes on the GPU, which has %lld free (%s)", what,
       static_cast<long long>(bytes), static_cast<long long>(free), cudaGetErrorString(error));
  return {};
}

void mhcrt_context::release(const DeviceBlock &block) {
  if (!block.data)
    return;
  if (block.from.free)
    block.from.free(block.from.user, block.data, block.size, stream);
  else
    forget(cudaFree(block.data)); // waits for the work that uses it
}

void mhcrt_context::replace(DeviceBlock &block, const DeviceBlock &fresh) {
  if (block.isInGraph)
    kept.push_back(block);
  else
    release(block);
  block = fresh;
}

void *mhcrt_context::reserve(CallMemory &memory, const char *what, int64_t bytes) {
  DeviceBlock &block = allocator.alloc ? memory.ofCall : memory.lasting;
  unsigned long long capture = 0;
  if (!allocator.alloc && !askCapture(what, capture))
    return nullptr;
  block.isInGraph |= capture && !recorded;
  if (bytes <= block.size && block.data)
    return block.data;
  if (!mayAllocate(what, bytes, capture))
    return nullptr;
  const DeviceBlock fresh = allocate(what, bytes, stream);
  if (!fresh.data)
    return nullptr;
  allocations += !allocator.alloc;
  replace(block, fresh);
  return block.data;
}

uint32_t *mhcrt_context::tileCounter(const char *kernel) {
  unsigned long long capture = 0;
  if (!isShared || !askCapture(kernel, capture))
    return nullptr;
  auto *first = static_cast<uint32_t *>(counters.data);
  if (!capture)
    return first;
  return countersInGraphs + 1 < kTileCounters ? first + ++countersInGraphs : nullptr;
}

void mhcrt_context::endCall() {
  for (CallMemory *memory : {&scratch, &between})
    release(std::exchange(memory->ofCall, {}));
  wholeMisses.clear();
}

void *mhcrt_context::reserveWorkspace(const char *what, int64_t bytes) {
  unsigned long long capture = 0;
  if (!askCapture(what, capture))
    return nullptr;
  if (bytes <= workspace.size && workspace.data) {
    workspace.isInGraph |= capture && !recorded;
    return workspace.data;
  }
  for (const DeviceBlock &own : kept)
    if (capture && own.capture == capture && bytes <= own.size)
      return own.data;
  if (!mayAllocate(what, bytes, capture))
    return nullptr;
  DeviceBlock fresh = allocate(what, bytes, stream);
  if (!fresh.data)
    return nullptr;
  ++allocations;
  fresh.capture = capture;
  if (capture)
    kept.push_back(fresh);
  else
    replace(workspace, fresh);
  return fresh.data;
}

extern "C" {

void *mhcrt_workspace(mhcrt_context *context, int64_t bytes) {
  const CallGuard guard(*context, "mhcrt_workspace");
  if (!guard)
    return nullptr;
  if (bytes < 0) {
    context->fail(MHCRT_INVALID_ARGUMENT, "mhcrt_workspace: 'bytes' is %lld; needed at least 0",
                  static_cast<long long>(bytes));
    return nullptr;
  }
  return context->reserveWorkspace("mhcrt_workspace", bytes);
}

void *mhcrt_buffer_create(mhcrt_context *context, int64_t bytes) {
  const CallGuard guard(*context, "mhcrt_buffer_create");
  if (!guard)
    return nullptr;
  if (bytes < 0) {
    context->fail(MHCRT_INVALID_ARGUMENT, "mhcrt_buffer_create: 'bytes' is %lld; needed at least 0",
                  static_cast<long long>(bytes));
    return nullptr;
  }
  unsigned long long capture = 0;
  if (!context->askCapture("mhcrt_buffer_create", capture) ||
      !context->mayAllocate("mhcrt_buffer_create", bytes, capture))
    return nullptr;
  const DeviceBlock block = context->allocate("mhcrt_buffer_create", bytes, context->stream);
  if (block.from.free)
    context->buffers[block.data] = block;
  return block.data;
}

void mhcrt_buffer_destroy(mhcrt_context *context, void *buffer) {
  const CallGuard guard(*context, "mhcrt_buffer_destroy");
  if (!guard)
    return;
  const auto known = context->buffers.find(buffer);
  if (known == context->buffers.end()) {
    context->release({buffer, 0, {}});
    return;
  }
  context->release(known->second);
  context->buffers.erase(known);
}

mhcrt_status mhcrt_cuda_set_allocator(mhcrt_context *context, mhcrt_cuda_alloc alloc, mhcrt_cuda_free free,
                                      void *user) {
  const CallGuard guard(*context, "mhcrt_cuda_set_allocator");
  if (!guard)
    return MHCRT_INVALID_ARGUMENT;
  if (!alloc != !free)
    return context->fail(MHCRT_INVALID_ARGUMENT,
                         "mhcrt_cuda_set_allocator: '%s' is null; needed both functions or none",
                         alloc ? "free" : "alloc");
  context->allocator = {alloc, free, user};
  return context->status;
}

} // extern "C"
