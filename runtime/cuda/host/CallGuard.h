//===- CallGuard.h - One call of the C interface ----------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_HOST_CALLGUARD_H
#define MHCRT_CUDA_HOST_CALLGUARD_H

#include "cuda/host/Context.h"

namespace mhcrt {

/// The present thread may make calls that a capture, its own or another thread's, would forbid and be ended by: memory
/// and code are loaded and not captured.
class RelaxedCapture {
public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode); }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode); }

private:
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
};

/// The time of one call: the context's GPU is current, and the caller's is again behind it; the scratch memory that the
/// call alone has goes back to the caller's allocator.
class CallGuard {
public:
  /// `name` is a constant.
  CallGuard(mhcrt_context &context, const char *name);
  CallGuard(const CallGuard &) = delete;
  CallGuard &operator=(const CallGuard &) = delete;
  ~CallGuard();

  /// False while another call on the context runs, which gets the error: this one must not touch the context.
  explicit operator bool() const { return isEntered; }

private:
  const RelaxedCapture relaxed;
  mhcrt_context &context;
  bool isEntered;
  int callersDevice = 0;
};

} // namespace mhcrt

#endif // MHCRT_CUDA_HOST_CALLGUARD_H
