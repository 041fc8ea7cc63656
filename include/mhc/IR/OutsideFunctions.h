//===- OutsideFunctions.h - Functions that the compiler does not see -*- C++ -*- ===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OUTSIDEFUNCTIONS_H
#define MHC_IR_OUTSIDEFUNCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mhc {

/// On a function without a body that an entry calls: the user of the compiled model gives it. mhc-describe-entries
/// writes it.
inline constexpr llvm::StringLiteral kOutsideFunction = "mhc.outside_function";

inline bool isOutside(mlir::func::FuncOp func) { return func && func->hasAttr(kOutsideFunction); }

/// The function that a call calls where that is outside, else null.
inline mlir::func::FuncOp outsideCallee(mlir::func::CallOp call) {
  auto callee = mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(call, call.getCalleeAttr());
  return isOutside(callee) ? callee : mlir::func::FuncOp();
}

/// The functions outside that a module calls, in the order of the manifest.
inline llvm::SmallVector<mlir::func::FuncOp> outsideFunctions(mlir::ModuleOp module) {
  return llvm::filter_to_vector(module.getOps<mlir::func::FuncOp>(), isOutside);
}

} // namespace mhc

#endif // MHC_IR_OUTSIDEFUNCTIONS_H
