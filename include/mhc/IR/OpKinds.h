//===- OpKinds.h - Kinds of ops that passes tell apart ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPKINDS_H
#define MHC_IR_OPKINDS_H

#include "mlir/IR/Operation.h"

namespace mhc {

/// tensor.collapse_shape or tensor.expand_shape
bool isReshape(mlir::Operation *op);
/// Whether an op shows its operand in another shape, order or float type.
bool showsOperand(mlir::Operation *op);
/// An op that raising makes: one with a kernel, but no product of matrices, which plain code has as well.
bool isMhcOp(mlir::Operation *op);

/// What reshapes make `value` of.
mlir::Value behindReshapes(mlir::Value value);
/// Whether a reshape is all that uses a value.
bool isOnlyReshaped(mlir::Value value);
/// Users of a value, looking through ops that only show it.
void usersThroughViews(mlir::Value value, llvm::SmallVectorImpl<mlir::Operation *> &users);
/// The first user of a value in plain code, looking through ops that only show it; null where an mHC op uses it, too.
mlir::Operation *plainUser(mlir::Value value);

} // namespace mhc

#endif // MHC_IR_OPKINDS_H
