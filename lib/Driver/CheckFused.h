//===- CheckFused.h - Checks that a model is fused ------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_DRIVER_CHECKFUSED_H
#define MHC_LIB_DRIVER_CHECKFUSED_H

#include "Options.h"

namespace mhc {

/// Writes the remarks where a file is given, and returns what --fail-if-unfused and --expect-fused have to say: the
/// sites that are not fused, at their lines, and the numbers of sublayers; nothing where all is as expected.
llvm::Expected<std::string> checkFused(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options);

} // namespace mhc

#endif // MHC_LIB_DRIVER_CHECKFUSED_H
