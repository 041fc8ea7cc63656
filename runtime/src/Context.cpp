//===- Context.cpp - Threads, memory and errors of one caller -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Context.h"
#include "ContextState.h"
#include "cpu/Amx.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <sched.h>
#include <sys/mman.h>
#include <system_error>

using namespace mhcrt;

// More than any machine we know has; a request above it is a mistake.
static constexpr int32_t kMaxThreads = 1024;

/// Memory from this size on is asked for in large pages: a row of one stream is a page of its own otherwise, and
/// kernels that take channels by channels come to a dozen of them for each token.
static constexpr int64_t kLargePage = 2 << 20, kLargeBlock = 2 * kLargePage;

/// Null where there is none; std::free() gives it back.
static void *allocate(int64_t bytes) {
  if (bytes > INT64_MAX - kLargePage)
    return nullptr;
  const bool isLarge = bytes >= kLargeBlock;
  const int64_t alignment = isLarge ? kLargePage : kAlignment, size = roundUp(bytes, alignment);
  void *data = std::aligned_alloc(alignment, size);
#ifdef MADV_HUGEPAGE
  if (data && isLarge)
    madvise(data, size, MADV_HUGEPAGE); // a wish: the memory is as good without
#endif
  return data;
}

Block::~Block() { std::free(data); }

void *Block::reserve(int64_t bytes, int64_t &allocations) {
  if (bytes <= size)
    return data;
  if (bytes > INT64_MAX - kAlignment)
    return nullptr;
  bytes = roundUp(bytes, kAlignment);
  // The new block comes first: when there is no memory for it, the old one stays usable.
  void *fresh = allocate(bytes);
  if (!fresh)
    return nullptr;
  ++allocations;
  std::free(data);
  data = fresh;
  size = bytes;
  return data;
}

mhcrt_context::mhcrt_context(int threads) : pool(threads), amx(amxUnit()) {}

/// Makes `block` hold `bytes`; null with the error set when the memory is not to be had.
static char *reserve(mhcrt_context &context, mhcrt::Block &block, const char *kernel, int64_t bytes) {
  void *data = block.reserve(std::max<int64_t>(bytes, 1), context.allocations);
  if (!data)
    context.fail(MHCRT_OUT_OF_MEMORY, "%s: no memory for %lld bytes of scratch", kernel, static_cast<long long>(bytes));
  return static_cast<char *>(data);
}

bool mhcrt_context::reserveScratch(const char *kernel, int64_t shared, int64_t perThread) {
  // Threads' blocks start a cache line apart, so that no two write to one line.
  sharedBytes = shared > INT64_MAX - kAlignment ? INT64_MAX : roundUp(shared, kAlignment);
  threadBytes = perThread > INT64_MAX - kAlignment ? INT64_MAX : roundUp(perThread, kAlignment);
  int64_t total = saturatingAdd(sharedBytes, saturatingMul(threadBytes, pool.threads()));
  scratchBase = reserve(*this, scratch, kernel, total);
  return scratchBase != nullptr;
}

char *mhcrt_context::reserveBetween(const char *kernel, int64_t bytes) {
  return reserve(*this, between, kernel, bytes);
}

static int usableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

extern "C" {

mhcrt_status mhcrt_context_create(int32_t threads, mhcrt_context **context) {
  if (!context)
    return MHCRT_INVALID_ARGUMENT;
  *context = nullptr;
  if (threads < 0 || threads > kMaxThreads)
    return MHCRT_INVALID_ARGUMENT;
  try {
    *context = new mhcrt_context(threads == 0 ? usableCores() : threads);
  } catch (const std::bad_alloc &) {
    return MHCRT_OUT_OF_MEMORY;
  } catch (const std::system_error &) {
    return MHCRT_UNAVAILABLE; // the system gives no more threads
  }
  return MHCRT_OK;
}

void mhcrt_context_destroy(mhcrt_context *context) { delete context; }

int32_t mhcrt_context_threads(const mhcrt_context *context) { return context->pool.threads(); }

int32_t mhcrt_context_amx(const mhcrt_context *context) { return context->amx != nullptr; }

mhcrt_status mhcrt_context_set_amx(mhcrt_context *context, int32_t amx) {
  if (amx && !amxUnit())
    return MHCRT_UNAVAILABLE;
  context->amx = amx ? amxUnit() : nullptr;
  return MHCRT_OK;
}

void *mhcrt_workspace(mhcrt_context *context, int64_t bytes) {
  if (bytes < 0) {
    context->fail(MHCRT_INVALID_ARGUMENT, "mhcrt_workspace: 'bytes' is %lld; needed at least 0",
                  static_cast<long long>(bytes));
    return nullptr;
  }
  // A model without buffers asks for 0 bytes; null would tell it that there is no memory.
  void *data = context->workspace.reserve(std::max<int64_t>(bytes, 1), context->allocations);
  if (!data)
    context->fail(MHCRT_OUT_OF_MEMORY, "mhcrt_workspace: no memory for %lld bytes of workspace",
                  static_cast<long long>(bytes));
  return data;
}

void mhcrt_parallel_loop(mhcrt_context *context, void (*body)(void *frame, int64_t begin, int64_t end), void *frame,
                         int64_t count, int64_t work) {
  // Some ten microseconds of memory traffic, which is what waking a thread costs.
  constexpr int64_t kElements = 1 << 15;
  const int64_t length = std::max<int64_t>(1, kElements / std::max<int64_t>(1, work));
  context->parallelFor(divideUp(count, length),
                       [&](int64_t tile, int) { body(frame, tile * length, std::min(count, (tile + 1) * length)); });
}

int32_t mhcrt_context_device(const mhcrt_context *) { return MHCRT_CPU; }

void *mhcrt_buffer_create(mhcrt_context *context, int64_t bytes) {
  void *buffer = bytes < 0 ? nullptr : allocate(std::max(kAlignment, bytes));
  if (!buffer)
    context->fail(MHCRT_OUT_OF_MEMORY, "mhcrt_buffer_create: no memory for %lld bytes", static_cast<long long>(bytes));
  return buffer;
}

void mhcrt_buffer_destroy(mhcrt_context *, void *buffer) { std::free(buffer); }

mhcrt_status mhcrt_copy(mhcrt_context *context, void *to, const void *from, int64_t bytes) {
  if (bytes)
    std::memcpy(to, from, bytes);
  return context->status;
}

mhcrt_status mhcrt_synchronize(mhcrt_context *context) { return context->status; }

} // extern "C"
