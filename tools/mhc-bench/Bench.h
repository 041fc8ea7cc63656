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

namespace mhc::bench {

struct Options {
  int64_t M = 4096, n = 4;
  std::vector<int64_t> channels;
  std::vector<int32_t> dtypes;
  std::string kernel; ///< one kernel only; empty for all
  int threads = 0;    ///< 0 for one per core
  int reps = 0;       ///< 0 for as many as take about 0.3 s
  bool json = false;
};

/// What the machine does at best, measured in this run.
struct Peaks {
  double copyBytesPerSecond, multiplyAddsPerSecond;
};

struct Measurement {
  Case c;
  double seconds;

  double bytesPerSecond() const { return c.bytes / seconds; }
  double byteBound(const Peaks &peaks) const { return c.bytes / peaks.copyBytesPerSecond; }
  double arithmeticBound(const Peaks &peaks) const { return c.flops / 2 / peaks.multiplyAddsPerSecond; }
  double bound(const Peaks &peaks) const { return std::max(byteBound(peaks), arithmeticBound(peaks)); }
};

/// Times all cases of the options and prints a row for each, as it comes or as one JSON array.
llvm::Error run(const Options &options, llvm::raw_ostream &os);

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_BENCH_H
