//===- Variants.h - The kernels of one op, and which is taken ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_HOST_VARIANTS_H
#define MHCRT_CUDA_HOST_VARIANTS_H

#include "cuda/host/Context.h"
#include "cuda/host/Needs.h"
#include "src/KernelArgs.h"

namespace mhcrt {

/// One row of an op's table. The last row is "generic": it takes every call that passes the entry's checks, on every
/// architecture. "separate" in its place has launches that are rows of other tables. A call that falls to a slower row
/// has its reasons reported, and strict mode refuses it.
template <typename Args>
struct Variant {
  const char *name;
  int leastArch, mostArch; ///< compute capability times ten, both inclusive
  bool (*takes)(const Args &, Needs &);
  cudaError_t (*launch)(mhcrt_context &, const Args &); ///< enqueues only; an error of the context is cudaSuccess here
  int32_t precision = MHCRT_PRECISION_TF32;             ///< of its products, where calls ask for one
  bool isSlower = false;                                ///< than the rows before it; a last row behind others always is
};

constexpr int kAnyArch = 1 << 20;

/// A row as a call finds it.
struct Candidate {
  const char *name;
  bool fits, isSlower;
  Needs needs;
};

/// The number of the row that takes the call: the pinned one, else the first that fits. Counts the choice. -1 with the
/// error set where no row may take it.
int chooseVariant(mhcrt_context &context, const char *op, const Candidate *rows, int count);

/// The least precision that a call asks for; the lowest of an op without the attribute.
template <typename Args>
auto neededPrecision(const Args &args, int) -> decltype(args.precision) {
  return args.precision;
}
template <typename Args>
int32_t neededPrecision(const Args &, long) {
  return MHCRT_PRECISION_TF32;
}

/// Launches the row that takes the call.
template <typename Args, size_t kRows>
mhcrt_status launchVariant(mhcrt_context &context, const char *op, const Variant<Args> (&rows)[kRows],
                           const Args &args) {
  Candidate candidates[kRows];
  for (size_t i = 0; i < kRows; ++i) {
    Candidate &candidate = candidates[i];
    candidate.name = rows[i].name;
    candidate.isSlower = rows[i].isSlower || (i > 0 && i + 1 == kRows);
    candidate.fits = candidate.needs.arch(context.arch, rows[i].leastArch, rows[i].mostArch) &&
                     candidate.needs.precision(neededPrecision(args, 0), rows[i].precision) &&
                     (!rows[i].takes || rows[i].takes(args, candidate.needs));
  }
  const int row = chooseVariant(context, op, candidates, kRows);
  if (row < 0)
    return context.status;
  const Range range(context, op);
  const cudaError_t error = rows[row].launch(context, args);
  return error == cudaSuccess
             ? context.status
             : context.check(error, ("mhcrt_" + std::string(op) + ", variant " + rows[row].name).c_str());
}

} // namespace mhcrt

#endif // MHCRT_CUDA_HOST_VARIANTS_H
