//===- mhcc.cpp - The compiler ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Driver/Main.h"
#include "mhc/Support/Output.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"

int main(int argc, char **argv) {
  llvm::setBugReportMsg("mhcc crashed; please report it with the file that --reproducer=FILE writes\n");
  llvm::InitLLVM init(argc, argv);
  mhcrt::makeFileLimitAnError(); // behind LLVM, which calls that a crash
  return mhc::mhccMain(argc, argv);
}
