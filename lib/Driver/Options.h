//===- Options.h - Command line of mhcc ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_DRIVER_OPTIONS_H
#define MHC_LIB_DRIVER_OPTIONS_H

#include "mhc/Driver/Driver.h"
#include "mhcrt/run.h"
#include <map>

namespace mhc {

enum class Explain { no, text, json };

/// Bytes per second and direction of a rank's links. The defaults are those of a host of eight H200: 400 Gb/s for each,
/// and of NVLink's 450 GB/s what a ring of NCCL reached between two H100.
struct Links {
  static constexpr double kStart = 20e-6; ///< seconds of a message besides those of its bytes, seen there
  double host = 270e9, network = 50e9;
  int64_t ranksPerHost = 8;
};

struct DriverOptions {
  std::string input, output, header, report, reproducer, machine = "h200";
  bool library = false;           ///< whether `output` is a model library
  std::optional<Phase> compileTo; ///< of `output` where it is none
  CompileOptions compile;
  Mesh mesh;
  Links links;
  Explain explain = Explain::no;
  bool failIfUnfused = false;
  std::optional<int64_t> expectFused; ///< sublayers
  std::string remarks;                ///< file
  bool run = false, verify = false, version = false, emitHeader = false, timing = false;
  bool measure = false;                 ///< beside the explanation
  std::optional<int64_t> memoryBudget;  ///< bytes, of the gradients
  std::map<std::string, int64_t> sizes; ///< of random arguments, by symbol
  mhcrt::RunOptions runOptions;
};

llvm::Expected<DriverOptions> parseDriverOptions(int argc, const char *const *argv);
std::string driverHelp();

} // namespace mhc

#endif // MHC_LIB_DRIVER_OPTIONS_H
