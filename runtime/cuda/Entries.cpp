//===- Entries.cpp - The kernels' entries, which find their variants ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "CallGuard.h"
#include "src/KernelArgs.h"

namespace mhcrt {

template <typename Args>
static mhcrt_status enter(mhcrt_context *context, const char *name, mhcrt_status (*run)(mhcrt_context &, const Args &),
                          const Args &args) {
  if (!context)
    return MHCRT_INVALID_ARGUMENT;
  const CallGuard guard(*context, name);
  return guard ? run(*context, args) : MHCRT_INVALID_ARGUMENT;
}

} // namespace mhcrt

MHCRT_ENTRIES
