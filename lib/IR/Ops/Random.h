//===- Random.h - Checks of ops with a dropout ---------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_IR_OPS_RANDOM_H
#define MHC_LIB_IR_OPS_RANDOM_H

#include "mhc/IR/LeafBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace mhc {

/// An attribute of a dropout that the op may have.
llvm::LogicalResult verifyGoesWithSeed(mlir::Operation *op, bool hasSeed, llvm::StringRef name, mlir::Attribute value);
/// The dropout that an op may have: its seed and its attributes go together.
llvm::LogicalResult verifyOptionalDropout(mlir::Operation *op, bool hasSeed, mlir::FloatAttr rate,
                                          mlir::IntegerAttr stream);
/// Whether the dropout is there and does nothing.
inline bool keepsAll(mlir::FloatAttr rate) { return rate && rate.getValue().isZero(); }

/// `values` in the layout of streams, through a dropout that numbers them in memory order.
mlir::Value buildDropout(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value values, mlir::Value seed,
                         mlir::FloatAttr rate, mlir::IntegerAttr stream);
/// The same through the dropout that `op` may have.
template <typename Op>
mlir::Value dropped(mlir::OpBuilder &builder, Op op, mlir::Value values) {
  return op.getSeed() ? buildDropout(builder, op.getLoc(), values, op.getSeed(), op.getRateAttr(), op.getStreamAttr())
                      : values;
}

/// Removes the dropout that does nothing.
template <typename Op>
llvm::LogicalResult removeDropout(Op op, mlir::PatternRewriter &rewriter) {
  if (!keepsAll(op.getRateAttr()))
    return mlir::failure();
  rewriter.modifyOpInPlace(op, [&] {
    op.getSeedMutable().clear();
    for (llvm::StringRef name : {"rate", "stream", "stream_step"})
      op->removeAttr(name);
  });
  return mlir::success();
}

} // namespace mhc

#endif // MHC_LIB_IR_OPS_RANDOM_H
