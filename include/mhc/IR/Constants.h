//===- Constants.h - Numbers of constants --------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_CONSTANTS_H
#define MHC_IR_CONSTANTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace mhc {

/// The elements of a constant tensor, also of one that an exporter wrote as a resource of the file, which is how
/// weights arrive. The elements of a resource are copied. Null for any other attribute, and for a resource without its
/// data.
mlir::DenseElementsAttr denseElements(mlir::Attribute constant);

/// A tensor of more elements is not folded element by element. 6! permutations have 720 matrices of 36 numbers.
inline constexpr int64_t kMostFolded = 1 << 15;

/// Numbers of values of a body that is folded for one element.
using KnownNumbers = llvm::DenseMap<mlir::Value, mlir::Attribute>;
/// The number of a value: a known one, or a constant's; null for others.
mlir::Attribute numberOf(mlir::Value value, const KnownNumbers &known);
/// The number of an op's one result; null where an operand has none or the op does not fold.
mlir::Attribute foldNumber(mlir::Operation &op, const KnownNumbers &known);

/// The decimal that a user wrote for an f32 constant: 1e-6, not the 9.99999997e-7 next to it. It rounds to the same
/// f32.
double asWritten(const llvm::APFloat &number);

} // namespace mhc

#endif // MHC_IR_CONSTANTS_H
