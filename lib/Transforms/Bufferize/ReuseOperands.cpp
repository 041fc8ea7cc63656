//===- ReuseOperands.cpp - Elementwise ops in place ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InPlace.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mhc {
#define GEN_PASS_DEF_REUSEOPERANDSPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;

/// An operand that is read at the place that is written, by nobody else, and is made in the same iteration of a loop.
static OpOperand *reusableOperand(linalg::GenericOp op) {
  if (op.getNumResults() != 1 || op.getNumParallelLoops() != op.getNumLoops())
    return nullptr;
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap written = op.getMatchingIndexingMap(init);
  if (!init->get().getDefiningOp<tensor::EmptyOp>() || op.payloadUsesValueFromOperand(init) || !written.isIdentity())
    return nullptr;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    Value value = operand->get();
    auto producer = value.getDefiningOp<linalg::LinalgOp>();
    bool isOwned = (producer && producer->getBlock() == op->getBlock()) || mhc::isComputedInPlace(value);
    if (isOwned && value.hasOneUse() && value.getType() == init->get().getType() &&
        op.getMatchingIndexingMap(operand) == written)
      return operand;
  }
  return nullptr;
}

/// Makes the operand the destination, and reads it as such.
static void reuse(linalg::GenericOp op, OpOperand *reused, RewriterBase &rewriter) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (operand != reused) {
      inputs.push_back(operand->get());
      maps.push_back(op.getMatchingIndexingMap(operand));
    }
  maps.push_back(op.getMatchingIndexingMap(reused));
  rewriter.setInsertionPoint(op);
  auto fresh = linalg::GenericOp::create(rewriter, op.getLoc(), op.getResultTypes(), inputs, reused->get(), maps,
                                         op.getIteratorTypesArray());
  fresh.getRegion().takeBody(op.getRegion());
  Block &body = fresh.getRegion().front();
  body.getArgument(reused->getOperandNumber()).replaceAllUsesWith(body.getArguments().back());
  body.eraseArgument(reused->getOperandNumber());
  rewriter.replaceOp(op, fresh);
}

namespace {
struct ReuseOperands : mhc::impl::ReuseOperandsPassBase<ReuseOperands> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops)
      if (OpOperand *operand = reusableOperand(op))
        reuse(op, operand, rewriter);
  }
};
} // namespace
