//===- Entry.h - Entries of the kernels of the CPU --------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MHCRT_ENTRY of src/KernelArgs.h makes the entry of a kernel, beside the function that runs it: a model library has
// the kernels that it calls and no others.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_ENTRY_H
#define MHCRT_CPU_ENTRY_H

#include "src/Context.h"
#include "src/KernelArgs.h"
#include "src/KernelCall.h"

namespace mhcrt {

template <typename Args, typename Given>
mhcrt_status enter(mhcrt_context *context, const char *name, mhcrt_status (*run)(mhcrt_context &, const Args &),
                   const Given *given) {
  Args args;
  if (!context)
    return MHCRT_INVALID_ARGUMENT;
  return readArguments(*context, name, given, &args, sizeof(args)) ? run(*context, args) : context->status;
}

/// Tensors of f32, by the checks of the kernel.
inline const float *floats(const void *data) { return static_cast<const float *>(data); }
inline float *floats(void *data) { return static_cast<float *>(data); }
inline const float *const *floats(const void *const *list) { return reinterpret_cast<const float *const *>(list); }

} // namespace mhcrt

#endif // MHCRT_CPU_ENTRY_H
