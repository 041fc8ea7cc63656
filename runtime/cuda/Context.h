//===- Context.h - What a context of the CUDA backend holds -----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_CONTEXT_H
#define MHCRT_CUDA_CONTEXT_H

#include "src/CallState.h"

#include <cuda_runtime_api.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mhcrt {

/// Memory of the GPU that only grows. Its content is lost when it grows.
class DeviceBlock {
public:
  DeviceBlock() = default;
  DeviceBlock(const DeviceBlock &) = delete;
  DeviceBlock &operator=(const DeviceBlock &) = delete;
  ~DeviceBlock() { cudaFree(data); }

  /// Null with the error set when the memory is not to be had; `what` is named in the message. Work that uses the old
  /// block has ended when it returns.
  void *reserve(mhcrt_context &context, int64_t bytes, const char *what);
  int64_t bytes() const { return size; }
  void *get() const { return data; }

private:
  void *data = nullptr;
  int64_t size = 0;
};

/// The first row number of an op's calls that its table does not have; all bits are one where there is none.
struct IdFault {
  unsigned long long first; ///< its position, at most 2^32 - 2, above the number itself
  int64_t size;             ///< rows of the table
};

/// A variant that calls of an op took.
struct Choice {
  const char *op, *variant;
  int64_t calls, last;  ///< how many, and the number of the last among the calls of all ops
  std::string fallback; ///< what kept the other variants from the first call that the last row took; else empty
};

/// The library of dense products and its plans (matmul.cpp).
class Products;

} // namespace mhcrt

struct mhcrt_context : mhcrt::CallState {
  int device = 0;
  int arch = 0; ///< compute capability times ten: 90
  int multiprocessors = 0;
  cudaStream_t stream = nullptr;
  cudaStream_t ownStream = nullptr; ///< made with the context; null until then

  mhcrt::DeviceBlock workspace; ///< the compiled model's, through mhcrt_workspace
  mhcrt::DeviceBlock scratch;   ///< of the kernels: calls follow one another on one stream, so that they share it

  std::map<std::string, std::string, std::less<>> pins; ///< op to variant
  std::vector<mhcrt::Choice> choices;
  int64_t calls = 0; ///< of ops, for their choices
  bool strict = false;
  bool isRecorded = false; ///< into a graph: no memory may be asked for
  bool hasRanges = false;  ///< NVTX ranges name the calls

  mhcrt::DeviceBlock idFaults;               ///< an IdFault per op of kIdOps
  std::shared_ptr<mhcrt::Products> products; ///< null until the first matmul

  std::map<const void *, void *> constants;     ///< address on the host to memory of the GPU
  std::map<const void *, cudaLibrary_t> images; ///< of loop kernels
  std::map<std::pair<const void *, std::string>, cudaKernel_t> loops;

  mhcrt_context() = default;
  ~mhcrt_context();

  /// Binds device, stream and what the driver says of them.
  mhcrt_status open();
  /// Null with the error set when the memory is not to be had.
  void *reserveScratch(const char *kernel, int64_t bytes) { return scratch.reserve(*this, bytes, kernel); }
  /// False with the error set while calls are recorded into a graph, which no memory can be made for.
  bool mayAllocate(const char *what, int64_t bytes);
  /// Where `kernel`, one of the ops that read row numbers, reports a bad one. Null with the error set when there is no
  /// memory.
  mhcrt::IdFault *idFault(const char *kernel);
  /// Waits for all work, and makes an error of a bad row number that a kernel met.
  mhcrt_status synchronize();
  /// `error` as the context's status; `what` is the kernel or function that met it.
  mhcrt_status check(cudaError_t error, const char *what);
};

namespace mhcrt {

/// A range of NVTX around a call, named by op and source location, where the context wants them.
class Range {
public:
  Range(const mhcrt_context &context, const char *op) : isOpen(context.hasRanges) {
    if (isOpen)
      open(context, op);
  }
  Range(const Range &) = delete;
  Range &operator=(const Range &) = delete;
  ~Range() {
    if (isOpen)
      close();
  }

private:
  static void open(const mhcrt_context &context, const char *op);
  static void close();

  bool isOpen;
};

} // namespace mhcrt

#endif // MHCRT_CUDA_CONTEXT_H
