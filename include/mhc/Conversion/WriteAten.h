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

namespace aten {
class AtenCall;
using Values = llvm::SmallVector<mlir::Value>;
// Names, kAddTensor of "aten.add.Tensor", and functions that read a call: leaf ops that compute its results, and
// nothing where it is left.
#include "mhc/Conversion/AtenOps.h.inc"
} // namespace aten

struct WrittenCalls {
  llvm::json::Object text;                  ///< the `calls` and `nodes` that mhc-write-aten prints
  llvm::SmallVector<mlir::Operation *> ops; ///< that the calls are of
};

/// Fails with an error where an op has no form in PyTorch.
llvm::FailureOr<WrittenCalls> writeAten(mlir::func::FuncOp func);
/// The node of a captured graph that makes a value: an argument's `mhc.name`, or the name of a call's location. One of
/// several results has its number behind it.
mlir::StringAttr nodeOf(mlir::func::FuncOp func, mlir::Value value);
/// Calls `visit` for each node of a captured graph that a location names.
void forEachNode(mlir::Location loc, llvm::function_ref<void(mlir::StringAttr)> visit);
/// Whether an ATen op shows the elements of another tensor.
bool isAtenView(llvm::StringRef name);
/// The ATen op that has the operands of one of ours, and the same result; empty where there is none.
llvm::StringRef sameCall(llvm::StringRef leaf);
/// Prints an object, a line for each element of the arrays in it.
void printLines(const llvm::json::Object &object, llvm::raw_ostream &os);

} // namespace mhc

#endif // MHC_CONVERSION_WRITEATEN_H
