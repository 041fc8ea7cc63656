//===- Bench.h - Time the kernels ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_BENCH_BENCH_H
#define MHC_TOOLS_BENCH_BENCH_H

#include "Program.h"
#include "mhcrt/mhcrt.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace mhc::bench {

struct Options {
  std::vector<Sizes> shapes;
  std::vector<int32_t> dtypes;
  std::vector<std::string> kernels; ///< these programs only; empty for all
  int threads = 0;                  ///< 0 for one per core
  int rounds = 15;                  ///< of each program
  bool json = false;
  bool comparesTorch = false; ///< only the rows that PyTorch has, with its times
  bool amx = true;            ///< matrix tiles where the machine has them
  std::string backend = "cpu";
  std::vector<std::string> pins; ///< "post=generic"
  bool strict = false;           ///< a kernel that has a fast variant may not take a slower one
  int64_t tail = 0;              ///< last tokens that are compared with a call on them alone, instead of times
  int64_t check = 0;             ///< random calls of each kernel, instead of times
  uint64_t seed = 1;             ///< of the first random call
  int64_t streams = 0;           ///< of random calls; 0 for any number
  bool probe = false;            ///< say what the machine is, and compare bits with those that are stored
  bool bits = false;             ///< print the bits of results, instead of times
};

/// PyTorch on the same row: seconds, eagerly and through torch.compile.
struct TorchRow {
  std::string kernel, dtype;
  int64_t M, C;
  double eager, compiled;
};

/// The best of some rounds, in each of which the program, a copy and the multipliers had their turn: what disturbs one
/// of them on a shared machine disturbs the others too.
struct Measurement {
  Program program;
  double seconds = INFINITY, copyBytesPerSecond = 0, multiplyAddsPerSecond = 0;
  std::string variant = ""; ///< of each kernel, where they have several

  double bytesPerSecond() const { return program.bytes() / seconds; }
  double copyPercent() const { return 100 * bytesPerSecond() / copyBytesPerSecond; }
  double byteBound() const { return program.bytes() / copyBytesPerSecond; }
  double arithmeticBound() const { return program.flops() / 2 / multiplyAddsPerSecond; }
  double bound() const { return std::max(byteBound(), arithmeticBound()); }
};

/// Times all programs of the options and prints a row for each, as it comes or as one JSON array.
llvm::Error run(const Options &options, llvm::raw_ostream &os);

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_BENCH_H
