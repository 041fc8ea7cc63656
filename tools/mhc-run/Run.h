//===- Run.h - All of mhc-run ------------------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_RUN_RUN_H
#define MHC_RUN_RUN_H

namespace mhc {

/// Returns the exit status: 0 good, 1 a comparison failed, 2 an error.
int runMain(int argc, const char *const *argv);

} // namespace mhc

#endif // MHC_RUN_RUN_H
