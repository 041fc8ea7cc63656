//===- CallGuard.cpp - One call of the C interface ------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "cuda/host/CallGuard.h"

using namespace mhcrt;

CallGuard::CallGuard(mhcrt_context &context, const char *name) : context(context) {
  const char *other = nullptr;
  isEntered = context.running.compare_exchange_strong(other, name);
  if (!isEntered) {
    context.intruder = name;
    return;
  }
  cudaError_t error = cudaGetDevice(&callersDevice);
  if (error == cudaSuccess && callersDevice != context.device)
    error = cudaSetDevice(context.device);
  context.check(error, name);
  context.followStreams(name);
}

CallGuard::~CallGuard() {
  if (!isEntered)
    return;
  context.endCall();
  if (callersDevice != context.device)
    forget(cudaSetDevice(callersDevice));
  if (const char *other = context.intruder.exchange(nullptr))
    context.fail(MHCRT_INVALID_ARGUMENT, "%s was called while %s ran; calls on one context must not overlap", other,
                 context.running.load());
  context.running = nullptr;
}
