//===- Contexts.h - Contexts for the threads of PyTorch ---------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TORCH_CONTEXTS_H
#define MHCRT_TORCH_CONTEXTS_H

#include "mhcrt/mhcrt.h"

namespace mhcrt {

/// A context of `threads` threads that no other call uses now. There are as many of each number of threads as calls
/// ever ran at a time, not as there are threads that call. Throws where the system has none.
class BorrowedContext {
public:
  explicit BorrowedContext(int32_t threads);
  ~BorrowedContext();
  BorrowedContext(const BorrowedContext &) = delete;
  BorrowedContext &operator=(const BorrowedContext &) = delete;

  mhcrt_context *get() const { return context; }

private:
  mhcrt_context *context = nullptr;
};

} // namespace mhcrt

#endif // MHCRT_TORCH_CONTEXTS_H
