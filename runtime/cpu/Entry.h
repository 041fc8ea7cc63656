//===- Entry.h - Entries of the kernels of the CPU --------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MHCRT_ENTRY_<KERNEL> of src/KernelArgs.h is the entry of a kernel, beside its run function: a model library has the
// kernels that it calls and no others.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_ENTRY_H
#define MHCRT_CPU_ENTRY_H

#include "src/Context.h"
#include "src/KernelArgs.h"

namespace mhcrt {

template <typename Args>
mhcrt_status enter(mhcrt_context *context, const char * /*name*/, mhcrt_status (*run)(mhcrt_context &, const Args &),
                   const Args &args) {
  return context ? run(*context, args) : MHCRT_INVALID_ARGUMENT;
}

/// Tensors of f32, by the checks of the kernel.
inline const float *floats(const void *data) { return static_cast<const float *>(data); }
inline float *floats(void *data) { return static_cast<float *>(data); }
inline const float *const *floats(const void *const *list) { return reinterpret_cast<const float *const *>(list); }

} // namespace mhcrt

#endif // MHCRT_CPU_ENTRY_H
