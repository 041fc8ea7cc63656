//===- Variants.h - The kernels of one op, and which is taken ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_VARIANTS_H
#define MHCRT_CUDA_VARIANTS_H

#include "Context.h"
#include "src/KernelArgs.h"

#include <cstring>

namespace mhcrt {

/// One row of an op's table. The last row is "generic": it takes every call that passes the entry's checks, on every
/// architecture.
template <typename Args>
struct Variant {
  const char *name;
  int leastArch, mostArch; ///< compute capability times ten, both inclusive
  bool (*takes)(const Args &);
  cudaError_t (*launch)(mhcrt_context &, const Args &); ///< enqueues only; an error of the context is cudaSuccess here
};

constexpr int kAnyArch = 1 << 20;

/// Launches the pinned row, else the first whose needs are met.
template <typename Args, size_t kRows>
mhcrt_status launchVariant(mhcrt_context &context, const char *op, const Variant<Args> (&rows)[kRows],
                           const Args &args) {
  const auto pin = context.pins.find(op);
  const char *pinned = pin == context.pins.end() ? nullptr : pin->second.c_str();
  for (const Variant<Args> &row : rows) {
    if (pinned && std::strcmp(pinned, row.name) != 0)
      continue;
    const bool fits = context.arch >= row.leastArch && context.arch <= row.mostArch && (!row.takes || row.takes(args));
    if (!fits && !pinned)
      continue;
    if (!fits)
      return context.fail(MHCRT_INVALID_ARGUMENT, "mhcrt_%s: the pinned variant '%s' does not take this call", op,
                          pinned);
    if (context.strict && !pinned && &row == &rows[kRows - 1] && kRows > 1)
      return context.fail(MHCRT_INVALID_ARGUMENT,
                          "mhcrt_%s: only the variant 'generic' takes this call, and strict "
                          "mode refuses it",
                          op);
    context.chosen[op] = row.name;
    const cudaError_t error = row.launch(context, args);
    return error == cudaSuccess ? context.status
                                : context.fail(MHCRT_DEVICE_ERROR, "mhcrt_%s, variant %s: %s (%s)", op, row.name,
                                               cudaGetErrorString(error), cudaGetErrorName(error));
  }
  return context.fail(MHCRT_NOT_FOUND, "mhcrt_%s: no variant is called '%s'", op, pinned);
}

} // namespace mhcrt

#endif // MHCRT_CUDA_VARIANTS_H
