//===- CallFunction.cpp - Functions on the GPU -------------------------------- ===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "src/CallFunction.h"
#include "cuda/host/CallGuard.h"

using namespace mhcrt;

/// The context's GPU is current for the function. The context is not taken: the function may call its kernels.
void mhcrt_call_function(mhcrt_context *context, const mhcrt_binding *binding, const mhcrt_tensor *arguments,
                         const mhcrt_tensor *results) {
  {
    const CallGuard guard(*context, "mhcrt_call_function");
    if (!guard || context->status != MHCRT_OK)
      return;
  }
  int callersDevice = context->device;
  forget(cudaGetDevice(&callersDevice));
  if (context->check(cudaSetDevice(context->device), "mhcrt_call_function") == MHCRT_OK)
    callFunction(*context, *binding, {context, context->stream, arguments, results, nullptr});
  forget(cudaSetDevice(callersDevice));
}
