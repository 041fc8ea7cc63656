//===- InPlace.h - Arguments whose memory a result takes over ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_BUFFERIZE_INPLACE_H
#define MHC_LIB_TRANSFORMS_BUFFERIZE_INPLACE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mhc {

/// On a result, and by mhc-describe-entries on the argument of its name: they are the same memory.
constexpr llvm::StringLiteral kInPlace = "mhc.in_place";

/// Whether a result of the function takes over the memory of this argument.
inline bool isComputedInPlace(mlir::Value value) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  auto func = argument ? llvm::dyn_cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp()) : mlir::func::FuncOp();
  return func && func.getArgAttr(argument.getArgNumber(), kInPlace);
}

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_BUFFERIZE_INPLACE_H
