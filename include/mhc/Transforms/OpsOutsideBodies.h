//===- OpsOutsideBodies.h - Ops outside of loop bodies -------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_OPSOUTSIDEBODIES_H
#define MHC_TRANSFORMS_OPSOUTSIDEBODIES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mhc {

/// The ops of a function in order, without those in the bodies of linalg ops.
inline llvm::SmallVector<mlir::Operation *> opsOutsideBodies(mlir::func::FuncOp func) {
  llvm::SmallVector<mlir::Operation *> ops;
  func.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    ops.push_back(op);
    return mlir::isa<mlir::linalg::LinalgOp>(op) ? mlir::WalkResult::skip() : mlir::WalkResult::advance();
  });
  return ops;
}

} // namespace mhc

#endif // MHC_TRANSFORMS_OPSOUTSIDEBODIES_H
