//===- Split.h - A joint function as two ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_AUTODIFF_SPLIT_H
#define MHC_LIB_TRANSFORMS_AUTODIFF_SPLIT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mhc {

/// A function that computes results and gradients: (arguments, cotangents) -> (results, gradients). All of them are
/// named by `mhc.name`.
struct JointFunction {
  mlir::func::FuncOp func;
  unsigned numArguments, numResults;
  /// The ops of the forward pass.
  llvm::SmallPtrSet<mlir::Operation *, 32> forward;
};

/// Makes the forward function, which returns the results and what the backward pass reads of the values between, and
/// the backward function, which takes the latter and the cotangents.
void splitJoint(const JointFunction &joint, llvm::StringRef forwardName, llvm::StringRef backwardName);

/// Erases ops without effect that nobody reads.
void eraseDeadOps(mlir::Block &body);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_AUTODIFF_SPLIT_H
