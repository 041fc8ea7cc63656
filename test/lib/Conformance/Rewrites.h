//===- Rewrites.h - Other words for the same IR --------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ways that people and exporters write an op, whatever chain it stands in. Each keeps what the function computes, and
// what raising finds in it. To add a spelling, add a row to the table in Rewrites.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef MHC_CONFORMANCE_REWRITES_H
#define MHC_CONFORMANCE_REWRITES_H

#include "Conformance/Random.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mhc::conformance {

/// An op with one tensor as its result, and builders behind it.
struct Place {
  Place(mlir::Operation *op, Random &random);

  mlir::Value operand(unsigned number) const { return op->getOperand(number); }
  mlir::Value result() const { return op->getResult(0); }
  mlir::RankedTensorType type() const { return mlir::cast<mlir::RankedTensorType>(result().getType()); }
  /// The same op on other operands.
  mlir::Value again(mlir::ValueRange operands, mlir::Type type);

  mlir::Operation *op;
  llvm::SmallVector<mlir::OpOperand *> uses; ///< of the result, before anything was built
  mlir::OpBuilder builder;
  LeafBuilder leaf;
  Random &random;
};

struct Rewrite {
  const char *name;
  /// Builds what stands for the result of the op. Null where the rewrite is not for this op.
  mlir::Value (*apply)(Place &place);
};

llvm::ArrayRef<Rewrite> rewrites();

/// Rewrites one op, some or all of those that the rewrite is for; false when there is none.
bool applyRewrite(const Rewrite &rewrite, mlir::func::FuncOp func, Random &random);

/// A rewrite of the arguments of a function that keeps what it computes.
struct SignatureRewrite {
  const char *name;
  bool (*apply)(mlir::func::FuncOp func);
};

llvm::ArrayRef<SignatureRewrite> signatureRewrites();

} // namespace mhc::conformance

#endif // MHC_CONFORMANCE_REWRITES_H
