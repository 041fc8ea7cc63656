//===- OpKinds.h - Kinds of ops and elements that passes tell apart --*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPKINDS_H
#define MHC_IR_OPKINDS_H

#include "mhc/IR/MhcOps.h"

namespace mhc {

/// On an argument that a call outside the function makes: the numbers of the results that the call reads.
inline constexpr llvm::StringLiteral kMadeOf = "mhc.made_of";

/// tensor.collapse_shape or tensor.expand_shape
bool isReshape(mlir::Operation *op);
/// Whether an op shows its operand in another shape or order.
bool rearranges(mlir::Operation *op);
/// Whether an op shows its operand in another shape, order or float type.
bool showsOperand(mlir::Operation *op);
/// An op that raising makes: one with a kernel, but no product of matrices, which plain code has as well.
bool isMhcOp(mlir::Operation *op);

/// The format of elements of bf16 or f16; nothing for other types.
std::optional<Format> narrowFormat(mlir::Type element);

/// The value that reshapes make `value` from.
mlir::Value behindReshapes(mlir::Value value);
/// The value that ops which only show their operand make `value` from.
mlir::Value behindViews(mlir::Value value);
/// Whether a reshape is all that uses a value.
bool isOnlyReshaped(mlir::Value value);
/// Users of a value, looking through ops that only show it.
void usersThroughViews(mlir::Value value, llvm::SmallVectorImpl<mlir::Operation *> &users);
/// The first user of a value in plain code, looking through ops that only show it; null where an mHC op uses it, too.
mlir::Operation *plainUser(mlir::Value value);
/// The first op of plain code that makes a residual map of `logits`; null for products that mix streams by the logits
/// as they are, which need no map.
mlir::Operation *plainMapOf(mlir::Value logits);

} // namespace mhc

#endif // MHC_IR_OPKINDS_H
