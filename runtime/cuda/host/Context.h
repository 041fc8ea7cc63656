//===- Context.h - Context of the CUDA backend ---------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_HOST_CONTEXT_H
#define MHCRT_CUDA_HOST_CONTEXT_H

#include "cuda/host/Memory.h"
#include "src/CallState.h"

#include <atomic>
#include <cuda_runtime_api.h>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace mhcrt {

/// The first bad row number or cut that calls of an op met; all bits are one where there is none.
struct IdFault {
  unsigned long long first; ///< its position, at most 2^32 - 2, above the number itself
  int64_t size;             ///< rows of the table; of a cut: CutFault.h
};

/// A variant that calls of an op took.
struct Choice {
  const char *op, *variant;
  int64_t calls, last;  ///< how many, and the number of the last among the calls of all ops
  std::string fallback; ///< mhcrt_cuda_choice's
};

/// An error that is not reported, and that the thread's next launch must not report either.
inline void forget(cudaError_t error) {
  if (error != cudaSuccess)
    cudaGetLastError();
}

/// The library of dense products and its plans (matmul.cpp).
class Products;

} // namespace mhcrt

struct mhcrt_context : mhcrt::CallState {
  int device = 0;
  int arch = 0; ///< compute capability times ten: 90
  int multiprocessors = 0;
  bool isShared = false; ///< `multiprocessors` are fewer than there are: other kernels run beside the context's
  std::atomic<const char *> running{nullptr};  ///< the call in progress; null where there is none
  std::atomic<const char *> intruder{nullptr}; ///< one that was made meanwhile

  cudaStream_t stream = nullptr;
  cudaStream_t ownStream = nullptr; ///< made with the context; null until then
  std::thread::id streamThread;     ///< which set it
  cudaStream_t recorded = nullptr;  ///< the stream that mhcrt_cuda_record_begin captures; null where none is
  cudaEvent_t turn = nullptr;       ///< orders two streams
  cudaEvent_t behind = nullptr;     ///< what ran before a captured stream was set
  bool isBehindOwed = false;        ///< calls that run, and are not captured, have to wait for `behind`

  mhcrt::Allocator allocator;
  mhcrt::DeviceBlock workspace;         ///< the compiled model's, through mhcrt_workspace
  mhcrt::CallMemory scratch;            ///< of the kernels, which share it: calls follow one another
  mhcrt::CallMemory between;            ///< what one kernel of a call leaves for the next
  std::vector<mhcrt::DeviceBlock> kept; ///< until the context ends: graphs that others captured have the addresses
  std::map<void *, mhcrt::DeviceBlock> buffers; ///< of the caller's allocator

  const char *whole = nullptr; ///< the kernel that calls of others are parts of, which errors name; null where none is
  std::string wholeMisses;     ///< what kept faster variants from that one, in strict mode; of the present call

  mhcrt::DeviceBlock counters;  ///< of tiles, each zero between the launches that have it; for isShared
  int64_t countersInGraphs = 0; ///< so many behind the first, one for each captured call

  std::map<std::string, std::string, std::less<>> pins; ///< op to variant
  std::vector<mhcrt::Choice> choices;
  int64_t calls = 0; ///< of ops, for their choices
  bool strict = false;
  bool hasRanges = false; ///< NVTX ranges name the calls

  mhcrt::DeviceBlock idFaults;               ///< an IdFault per op of kIdOps, in memory of the host that kernels reach
  std::shared_ptr<mhcrt::Products> products; ///< null until the first matmul

  std::map<const void *, mhcrt::DeviceBlock> constants; ///< by address on the host
  std::map<const void *, cudaLibrary_t> images;         ///< of loop kernels
  std::map<std::pair<const void *, std::string>, cudaKernel_t> loops;

  mhcrt_context() = default;
  ~mhcrt_context();

  /// Binds device, stream and what the driver says of them.
  cudaError_t open();

  /// A block of at least `bytes` bytes for the stream `user`; `what` is named in errors. Null data with the error set
  /// where there is none.
  mhcrt::DeviceBlock allocate(const char *what, int64_t bytes, cudaStream_t user);
  void release(const mhcrt::DeviceBlock &block);
  /// The workspace, which grows to `bytes` bytes and then loses its content. A capture has one of its own. Null with
  /// the error set where there is no memory.
  void *reserveWorkspace(const char *what, int64_t bytes);
  /// At least `bytes` bytes until the call ends, from the caller's allocator where there is one.
  void *reserve(mhcrt::CallMemory &memory, const char *what, int64_t bytes);
  void *reserveScratch(const char *kernel, int64_t bytes) { return reserve(scratch, whole ? whole : kernel, bytes); }
  void *reserveBetween(const char *kernel, int64_t bytes) { return reserve(between, kernel, bytes); }
  /// The call's counter of tiles where the GPU is shared: calls that follow one another have the same one, and a
  /// captured call, whose graph may run beside others, has its own. Null where those are used up, and with the error
  /// set where the driver does not say.
  uint32_t *tileCounter(const char *kernel);
  /// Gives back what the present call alone has.
  void endCall();
  /// False with the error set in a capture, unless the caller has an allocator.
  bool mayAllocate(const char *what, int64_t bytes, unsigned long long capture);
  /// Puts `fresh` in the place of `block`, which a graph may still use.
  void replace(mhcrt::DeviceBlock &block, const mhcrt::DeviceBlock &fresh);
  /// The number of the capture, ours or that of others, that the stream is in; 0 where it is in none. False with the
  /// error set where the driver does not say.
  bool askCapture(const char *what, unsigned long long &capture);

  /// Calls that follow go to `next`, behind those so far.
  mhcrt_status setStream(cudaStream_t next);
  /// Waits for `behind` where that is owed and may be.
  void followStreams(const char *what);
  bool isStreamOfOtherThread() const;

  /// Where `kernel`, one of the ops that read row numbers or cuts, reports a bad one.
  mhcrt::IdFault *idFault(const char *kernel);
  /// Waits for all work, and makes an error of a bad number that a kernel met.
  mhcrt_status synchronize();
  /// `error` as the context's status, and no more the thread's last one; `what` is the kernel or function that met it.
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

#endif // MHCRT_CUDA_HOST_CONTEXT_H
