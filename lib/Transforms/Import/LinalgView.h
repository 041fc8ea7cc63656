//===- LinalgView.h - Operands of linalg ops over the loops' domain ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_IMPORT_LINALGVIEW_H
#define MHC_LIB_TRANSFORMS_IMPORT_LINALGVIEW_H

#include "Import.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mhc {

/// Sizes of the loops of an op.
using Domain = llvm::SmallVector<mlir::OpFoldResult>;
/// Numbers of loops.
using Loops = llvm::SmallVector<int64_t>;

/// The loops that the dimensions of a map follow, without those read at zero.
Loops loopsOf(mlir::AffineMap map);

/// Builds views between the operands of a linalg op, whose maps have dimensions and zeros only, and tensors that have
/// one dimension per loop. A null value means that there is no such view.
class LinalgViews {
public:
  LinalgViews(mlir::linalg::LinalgOp op, mlir::OpBuilder &builder);

  const Domain &domain() const { return sizes; }
  mlir::RankedTensorType typeOf(mlir::Type elementType) const { return LeafBuilder::typeOf(sizes, elementType); }

  /// A tensor that has the scalar everywhere.
  mlir::Value splat(mlir::Value scalar);
  /// An operand as a tensor over all loops.
  mlir::Value over(mlir::OpOperand &operand);
  /// A tensor over the parallel loops as the output `init`.
  mlir::Value as(mlir::Value tensor, mlir::OpOperand &init);
  /// The sum over the reduction loops of lhs times rhs, as one matrix product over the parallel loops.
  mlir::Value contraction();

private:
  /// Drops the dimensions that are read at zero.
  mlir::Value dropUnits(mlir::Value tensor, mlir::AffineMap map);
  /// An operand that follows `loops`, without its dimensions of the loops `units`, which run once.
  mlir::Value dropLoops(mlir::Value tensor, Loops &loops, llvm::ArrayRef<int64_t> units);
  mlir::Value castTo(mlir::Value tensor, mlir::RankedTensorType type);
  /// An operand with the loops of each group joined to one dimension; a group without a loop has size one.
  mlir::Value arrange(mlir::Value tensor, llvm::ArrayRef<int64_t> loops, llvm::ArrayRef<Loops> groups);
  /// The inverse of `arrange`, with the loops in their order.
  mlir::Value separate(mlir::Value tensor, llvm::ArrayRef<Loops> groups);

  mlir::linalg::LinalgOp op;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  LeafBuilder leaf;
  Domain sizes;
};

/// Whether leaf ops take a value of this element type.
bool hasLeafType(mlir::Value value);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_IMPORT_LINALGVIEW_H
