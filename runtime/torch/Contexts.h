//===- Contexts.h - Contexts for the threads of PyTorch ---------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TORCH_CONTEXTS_H
#define MHCRT_TORCH_CONTEXTS_H

#include "mhcrt/mhcrt.h"

#include <string>

namespace mhcrt {

/// Where a tensor is.
struct TensorPlace {
  int32_t type = 0;  ///< PyTorch's number of the kind of device
  int32_t index = 0; ///< of a GPU; 0 elsewhere

  bool isGpu() const;
  std::string text() const; ///< "cuda:0"
  bool operator==(const TensorPlace &other) const { return type == other.type && index == other.index; }
};

/// The runtime of one kind of device.
struct Backend {
  mhcrt_status (*create)(int32_t threads, mhcrt_context **context);
  const char *(*lastError)(const mhcrt_context *context);
  void (*clearError)(mhcrt_context *context);
};

/// A context that no other call uses now: of the CPU, with as many threads as PyTorch has; or of a GPU, for PyTorch's
/// present stream there. There are as many of each as calls ever ran at a time, not as there are threads that call.
/// Throws where the system has none.
class BorrowedContext {
public:
  explicit BorrowedContext(TensorPlace place);
  ~BorrowedContext();
  BorrowedContext(const BorrowedContext &) = delete;
  BorrowedContext &operator=(const BorrowedContext &) = delete;

  mhcrt_context *get() const { return context; }
  const char *error() const { return backend.lastError(context); }

private:
  const TensorPlace place;
  const Backend &backend;
  const intptr_t kind; ///< the number of threads, or the stream
  mhcrt_context *context = nullptr;
};

/// As which kernels of GPUs are launched; 0 is as many as there are.
int32_t multiprocessors();

} // namespace mhcrt

/// For all GPUs, from now on; the caller says that no kernel is called meanwhile.
extern "C" __attribute__((visibility("default"))) void mhc_torch_set_multiprocessors(int32_t count);

#endif // MHCRT_TORCH_CONTEXTS_H
