//===- Bench.h - Time the kernels ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_BENCH_BENCH_H
#define MHC_TOOLS_BENCH_BENCH_H

#include "Case.h"
#include "mhcrt/mhcrt.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace mhc::bench {

struct Options {
  int64_t M = 4096, n = 4;
  std::vector<int64_t> channels;
  std::vector<int32_t> dtypes;
  std::string kernel; ///< one kernel only; empty for all
  int threads = 0;    ///< 0 for one per core
  int rounds = 15;    ///< of each kernel
  bool json = false;
  bool amx = true; ///< matrix tiles where the machine has them
  std::string backend = "cpu";
  std::vector<std::string> pins; ///< "post=generic"
  bool strict = false;           ///< a kernel that has a fast variant may not take its generic one
};

/// The best of some rounds, in each of which the kernel, a copy and the multipliers had their turn: what disturbs one
/// of them on a shared machine disturbs the others too.
struct Measurement {
  Case c;
  double seconds = INFINITY, copyBytesPerSecond = 0, multiplyAddsPerSecond = 0;
  std::string variant = ""; ///< of a kernel that has several

  double bytesPerSecond() const { return c.bytes / seconds; }
  double copyPercent() const { return 100 * bytesPerSecond() / copyBytesPerSecond; }
  double byteBound() const { return c.bytes / copyBytesPerSecond; }
  double arithmeticBound() const { return c.flops / 2 / multiplyAddsPerSecond; }
  double bound() const { return std::max(byteBound(), arithmeticBound()); }
};

/// Times all cases of the options and prints a row for each, as it comes or as one JSON array.
llvm::Error run(const Options &options, llvm::raw_ostream &os);

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_BENCH_H
