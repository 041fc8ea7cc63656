//===- WriteAten.h - Fused ops as calls for PyTorch ---------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_CONVERSION_WRITEATEN_H
#define MHC_CONVERSION_WRITEATEN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

namespace mhc {

/// The `calls` and `nodes` that mhc-write-aten prints. Fails with an error where an op has no form in PyTorch.
llvm::FailureOr<llvm::json::Object> writeAten(mlir::func::FuncOp func);
/// Prints an object, a line for each element of the arrays in it.
void printLines(const llvm::json::Object &object, llvm::raw_ostream &os);

} // namespace mhc

#endif // MHC_CONVERSION_WRITEATEN_H
