//===- CallFunction.cpp - Functions on the CPU -------------------------------- ===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "CallFunction.h"
#include "Context.h"

void mhcrt_call_function(mhcrt_context *context, const mhcrt_binding *binding, const mhcrt_tensor *arguments,
                         const mhcrt_tensor *results) {
  if (context->status == MHCRT_OK)
    mhcrt::callFunction(*context, *binding, {context, nullptr, arguments, results, nullptr});
}
