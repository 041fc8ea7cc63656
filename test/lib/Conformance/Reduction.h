//===- Reduction.h - Smaller programs that fail the same way -- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_LIB_CONFORMANCE_REDUCTION_H
#define MHC_LIB_CONFORMANCE_REDUCTION_H

#include "mhc/Driver/Driver.h"

namespace mhc::conformance {

/// A module as small as leaving out results and ops makes it, one after the other, as long as it fails. It keeps the
/// arguments of its function `entry`.
Compiler::Module reduce(mlir::ModuleOp module, llvm::StringRef entry, llvm::function_ref<bool(mlir::ModuleOp)> fails);

} // namespace mhc::conformance

#endif // MHC_LIB_CONFORMANCE_REDUCTION_H
