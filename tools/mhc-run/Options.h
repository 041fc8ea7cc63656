//===- Options.h - Command line of mhc-run -----------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_RUN_OPTIONS_H
#define MHC_RUN_OPTIONS_H

#include <string>
#include <vector>

namespace mhc {

struct RunOptions {
  std::string model;
  std::string entry;                ///< "" when the model's only entry is meant
  std::vector<std::string> args;    ///< "path" or "name=path"
  std::vector<std::string> bundles; ///< .safetensors files
  std::vector<std::string> expects; ///< "path" or "name=path"
  std::vector<std::string> outs;    ///< "path" or "name=path"
  double tolerance = -1;            ///< relative; negative means the default of the dtype
  int threads = 0;
  int repetitions = 0; ///< 0: no timing
  bool convert = false;
  bool list = false;
  bool help = false;
};

/// False with `error` set when the command line cannot be understood.
bool parseOptions(int argc, const char *const *argv, RunOptions &options, std::string &error);

extern const char *const kRunHelp;

} // namespace mhc

#endif // MHC_RUN_OPTIONS_H
