//===- LinalgBody.h - The body of a linalg op on tensors ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_IMPORT_LINALGBODY_H
#define MHC_LIB_TRANSFORMS_IMPORT_LINALGBODY_H

#include "LinalgView.h"

namespace mhc {

/// Applies the body of a linalg op to tensors over the domain of its loops.
class LinalgBody {
public:
  LinalgBody(mlir::linalg::LinalgOp op, mlir::OpBuilder &builder, LinalgViews &views)
      : op(op), builder(builder), loc(op.getLoc()), leaf(builder, loc), views(views) {}

  /// A scalar of the body as a tensor over the domain. Null when it cannot be one.
  mlir::Value tensorOf(mlir::Value scalar);
  /// Whether an output holds less than one element for each iteration of the loops.
  bool isReduced(mlir::OpOperand &init);

private:
  mlir::Value apply(mlir::Operation *scalarOp);
  mlir::Value power(mlir::Operation *scalarOp, double exponent);
  /// A selection of the larger or smaller side as a maximum or minimum; a maximum that has only one side as that side.
  mlir::Value extremum(mlir::Operation *scalarOp);
  mlir::Value splat(mlir::TypedAttr number);
  /// The number that a scalar of the body always is: what exporters convert inside, such as an epsilon from f64.
  mlir::Attribute constantOf(mlir::Value scalar);
  mlir::Attribute fold(mlir::Operation *scalarOp);
  std::optional<double> numberOf(mlir::Value scalar);
  /// Whether a scalar is what a reduction has made so far, which no tensor over the domain holds.
  bool isRunning(mlir::Value scalar);

  mlir::linalg::LinalgOp op;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  LeafBuilder leaf;
  LinalgViews &views;
  llvm::DenseMap<mlir::Value, mlir::Value> tensors;
};

/// The number that a tensor has in all elements.
mlir::Attribute splatOf(mlir::Value tensor);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_IMPORT_LINALGBODY_H
