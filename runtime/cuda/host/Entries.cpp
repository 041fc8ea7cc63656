//===- Entries.cpp - The kernels' entries, which find their variants ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "cuda/host/CallGuard.h"
#include "src/KernelArgs.h"
#include "src/KernelCall.h"

namespace mhcrt {

template <typename Args, typename Given>
static mhcrt_status enter(mhcrt_context *context, const char *name, mhcrt_status (*run)(mhcrt_context &, const Args &),
                          const Given *given) {
  Args args;
  if (!context)
    return MHCRT_INVALID_ARGUMENT;
  const CallGuard guard(*context, name);
  if (!guard)
    return MHCRT_INVALID_ARGUMENT;
  return readArguments(*context, name, given, &args, sizeof(args)) ? run(*context, args) : context->status;
}

} // namespace mhcrt

MHCRT_ENTRIES
