//===- Check.h - Random calls of the kernels against their meaning ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_BENCH_CHECK_H
#define MHC_TOOLS_BENCH_CHECK_H

#include "Bench.h"

namespace mhc::bench {

/// Calls every kernel `options.check` times with random shapes, types, attributes and numbers, and compares its results
/// with the decomposition of its op in float64. Prints a row per kernel, and each call that failed with its seed.
llvm::Error check(const Options &options, llvm::raw_ostream &os);

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_CHECK_H
