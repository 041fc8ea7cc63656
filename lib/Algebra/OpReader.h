//===- OpReader.h - Ops as expressions ----------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_ALGEBRA_OPREADER_H
#define MHC_LIB_ALGEBRA_OPREADER_H

#include "mhc/Algebra/Reading.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mhc::algebra {

/// Reads the one result of an op; nothing where that is not understood. One file for each dialect.
class OpReader {
public:
  explicit OpReader(Reading &reading) : reading(reading), algebra(reading.algebra()) {}

  std::optional<Expr> read(mlir::Operation *op, unsigned result);

  /// A function of scalars, or of the elements of tensors of one shape: arith and math.
  std::optional<Expr> scalar(mlir::Operation *op, llvm::ArrayRef<Expr> operands);

private:
  /// Positions as integers, and what is chosen by comparing them; nothing for other ops.
  std::optional<Expr> choice(mlir::Operation *op, llvm::ArrayRef<Expr> operands);
  std::optional<Expr> positionsIn(mlir::arith::ConstantOp constant);
  /// The same without the rounding of the result.
  std::optional<Expr> exact(mlir::Operation *op, llvm::ArrayRef<Expr> operands);
  /// The larger number; one that a maximum starts from is no more than any.
  std::optional<Expr> maximum(const Expr &a, const Expr &b);
  /// The number that a type leaves of another.
  std::optional<Expr> rounded(std::optional<Expr> expr, mlir::Type type);
  std::optional<Expr> readTensor(mlir::Operation *op);
  std::optional<Expr> readLinalg(mlir::linalg::LinalgOp op, unsigned result);
  std::optional<Expr> readMhc(mlir::Operation *op);

  /// The operand at an index for each of its dimensions.
  std::optional<Expr> at(mlir::Value operand, llvm::ArrayRef<Index> indices);
  /// The operand at indices of the result; a view where that cannot be written.
  std::optional<Expr> view(mlir::Value operand, mlir::Value result, llvm::ArrayRef<Index> indices);
  /// The operand of a reshape at the place that the result's element has in row-major order.
  std::optional<Expr> reshape(mlir::Value operand, mlir::Value result);
  std::optional<Expr> reshape(mlir::Value operand, mlir::Value result,
                              llvm::ArrayRef<mlir::ReassociationIndices> groups, bool collapses);
  /// The operand `by` positions further on along each dimension, and 0 where it has no element: the sum of what is
  /// where the positions are equal.
  std::optional<Expr> moved(mlir::Value operand, mlir::Value result, llvm::ArrayRef<int64_t> by);
  std::optional<Expr> isOfSameSequence(ShiftOp shift);
  std::optional<Expr> elementAt(mlir::Value tensor, llvm::ArrayRef<Expr> at);
  std::optional<Expr> readPad(mlir::tensor::PadOp pad);
  std::optional<Expr> readInsert(mlir::tensor::InsertSliceOp insert);
  std::optional<Expr> contract(const std::optional<Expr> &a, const std::optional<Expr> &b, Var over, Size extent);
  /// Index d of the result itself.
  Index own(mlir::Value result, int dim) { return wholeVar(dim, reading.size(result, dim)); }

  Reading &reading;
  Algebra &algebra;
};

} // namespace mhc::algebra

#endif // MHC_LIB_ALGEBRA_OPREADER_H
