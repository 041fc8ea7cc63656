//===- Explain.h - What the compiler did, in print ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_DRIVER_EXPLAIN_H
#define MHC_LIB_DRIVER_EXPLAIN_H

#include "Options.h"

namespace mhc {

/// Prints the remarks of raising and fusing, the cost of every entry before and after, the memory plan, and what each
/// way to recompute costs.
llvm::Error explain(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options);

/// A C header for the entries of a model.
llvm::Expected<std::string> headerText(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options);

} // namespace mhc

#endif // MHC_LIB_DRIVER_EXPLAIN_H
