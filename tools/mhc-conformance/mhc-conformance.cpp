//===- mhc-conformance.cpp - Compare compiled programs with golden data ---===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "mhc/Conformance/Runner.h"

using namespace mhc::conformance;

/// Where the driver goes in: compile request.ir, run request.entry.
static bool compileAndRun(const RunRequest &, std::vector<mhcrt::HostTensor> &, std::string &error) {
  error = "this build has no driver; use --emit";
  return false;
}

int main(int argc, char **argv) { return conformanceMain(argc, argv, compileAndRun); }
