//===- Signature.h - Arguments and results of a function that grows ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_AUTODIFF_SIGNATURE_H
#define MHC_LIB_TRANSFORMS_AUTODIFF_SIGNATURE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mhc {

/// Adds arguments and results to a function of one block. The function's type and attributes hold all of them and are
/// made anew with every change: they are set once, at the end, so that a function of many weights costs linear time.
class Signature {
public:
  /// Starts with what the function has.
  explicit Signature(mlir::func::FuncOp func);

  mlir::BlockArgument addArgument(mlir::Type type, mlir::DictionaryAttr attrs, mlir::Location loc);
  void addResult(mlir::Value value, mlir::DictionaryAttr attrs);
  /// The attributes of arguments and results, by number.
  llvm::SmallVector<mlir::DictionaryAttr> arguments, results;

  /// Writes all of it into the function.
  void finish();

private:
  mlir::Operation *terminator() { return func.getBody().front().getTerminator(); }

  mlir::func::FuncOp func;
};

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_AUTODIFF_SIGNATURE_H
