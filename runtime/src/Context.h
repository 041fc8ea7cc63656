//===- Context.h - Contents of a context ---------------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_CONTEXT_H
#define MHCRT_SRC_CONTEXT_H

#include "CallState.h"
#include "ThreadPool.h"

#include <algorithm>

namespace mhcrt {

struct AmxUnit;

constexpr int64_t kAlignment = 64;

/// A 64-byte aligned block that only grows. Its content is lost when it grows.
class Block {
public:
  Block() = default;
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;
  ~Block();

  /// Null when the memory is not to be had.
  void *reserve(int64_t bytes, int64_t &allocations);
  int64_t bytes() const { return size; }

private:
  void *data = nullptr;
  int64_t size = 0;
};

} // namespace mhcrt

struct mhcrt_context : mhcrt::CallState {
  explicit mhcrt_context(int threads);

  mhcrt::ThreadPool pool;
  const mhcrt::AmxUnit *amx; ///< null: kernels take their portable variants
  mhcrt::Block workspace;    ///< the compiled model's, through mhcrt_workspace
  mhcrt::Block scratch;      ///< of the kernel that runs now
  mhcrt::Block between;      ///< what one kernel of a call leaves for the next
  /// `shared` bytes for all threads followed by `perThread` bytes for each; null with the error set when the memory is
  /// not to be had. `kernel` is named in the message.
  bool reserveScratch(const char *kernel, int64_t shared, int64_t perThread);
  /// `bytes` bytes that other scratch memory does not move; null as above.
  char *reserveBetween(const char *kernel, int64_t bytes);
  char *sharedScratch() { return scratchBase; }
  char *threadScratch(int thread) { return scratchBase + sharedBytes + thread * threadBytes; }

  /// Calls body(tile, thread) for every tile.
  template <typename Function>
  void parallelFor(int64_t tiles, Function body) {
    pool.run(
        tiles, [](void *argument, int64_t tile, int thread) { (*static_cast<Function *>(argument))(tile, thread); },
        &body);
  }

private:
  char *scratchBase = nullptr;
  int64_t sharedBytes = 0;
  int64_t threadBytes = 0;
};

#endif // MHCRT_SRC_CONTEXT_H
