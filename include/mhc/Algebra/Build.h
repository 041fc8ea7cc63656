//===- Build.h - Expressions as values ----------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_ALGEBRA_BUILD_H
#define MHC_ALGEBRA_BUILD_H

#include "mhc/Algebra/Reading.h"

namespace mhc::algebra {

/// A dimension of a tensor to be made: the variables that it runs over, the last one fastest. None for an extent of 1.
using DimVars = llvm::SmallVector<std::pair<Var, Size>, 2>;

/// The indices of a tensor with dimensions `dims`.
Indices indicesOf(Sizes &sizes, llvm::ArrayRef<DimVars> dims);

/// `value`, whose dimension i has the index from[i], all of it, with the dimensions `to`. Null where an index is no
/// permutation of the variables' digits, or a size that is needed follows from no argument. Transposes only where the
/// order differs. With `repeats`, the value may lack digits of a dimension, such as the tokens of one that has the
/// sequences: it is repeated along those.
mlir::Value arrange(Reading &reading, mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                    llvm::ArrayRef<Index> from, llvm::ArrayRef<DimVars> to, bool repeats = false);

/// An expression as a tensor of this element type with the dimensions `dims`, from values that are there where `at` is.
mlir::Value build(Reading &reading, mlir::OpBuilder &builder, mlir::Operation *at, const Expr &expr,
                  llvm::ArrayRef<DimVars> dims, mlir::Type elementType);

/// The value that `user` reads an expression from, before it is widened; with `anyFactor`, also one that is a number
/// times the expression.
std::optional<Reading::Found> nearest(Reading &reading, const Expr &expr, mlir::Operation *user,
                                      bool anyFactor = false);

/// An expression as a tensor with the dimensions `dims`, from the value that `at` reads it from.
mlir::Value build(Reading &reading, mlir::OpBuilder &builder, mlir::Operation *at, const Expr &expr,
                  llvm::ArrayRef<DimVars> dims, bool repeats = false);
/// The same from `found`, or from what that shows in another shape.
mlir::Value buildFrom(Reading &reading, mlir::OpBuilder &builder, mlir::Operation *at, const Expr &expr,
                      Reading::Found found, llvm::ArrayRef<DimVars> dims, bool repeats = false);

} // namespace mhc::algebra

#endif // MHC_ALGEBRA_BUILD_H
