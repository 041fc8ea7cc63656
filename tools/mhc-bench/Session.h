//===- Session.h - A runtime, a context and its memory ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_BENCH_SESSION_H
#define MHC_TOOLS_BENCH_SESSION_H

#include "Runtime.h"
#include <utility>

namespace mhc::bench {

/// A runtime and a context of it.
struct Session {
  Runtime runtime;
  mhcrt_context *context = nullptr;

  bool isOnGpu() const { return runtime.chosen != nullptr; }
  llvm::Error error() const {
    llvm::Error error = llvm::createStringError(runtime.lastError(context));
    runtime.clearError(context);
    return error;
  }
  /// Fixes variants of a GPU's kernels, such as "post=generic".
  llvm::Error pin(llvm::ArrayRef<std::string> pins) const {
    for (const std::string &pin : pins)
      if (runtime.pin(context, pin.c_str()) != MHCRT_OK)
        return error();
    return llvm::Error::success();
  }
};

/// Memory where the kernels of a session work.
class Buffer {
public:
  Buffer(const Session &session, int64_t bytes)
      : session(&session), data(session.runtime.createBuffer(session.context, bytes)) {}
  Buffer(Buffer &&other) : session(other.session), data(std::exchange(other.data, nullptr)) {}
  Buffer &operator=(Buffer &&) = delete;
  ~Buffer() {
    if (data)
      session->runtime.destroyBuffer(session->context, data);
  }
  void *get() const { return data; }

private:
  const Session *session;
  void *data;
};

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_SESSION_H
