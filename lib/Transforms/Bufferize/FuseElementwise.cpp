//===- FuseElementwise.cpp - Elementwise producers into their reader ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace mhc {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;

/// An operand of `op` whose producer can be joined with it, and is read by nothing else.
static OpOperand *fusableOperand(linalg::GenericOp op) {
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    if (producer && producer->hasOneUse() && producer->getBlock() == op->getBlock() &&
        linalg::areElementwiseOpsFusable(operand))
      return operand;
  }
  return nullptr;
}

namespace {
struct FuseElementwise : mhc::impl::FuseElementwisePassBase<FuseElementwise> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops) // producers come first, and have taken in theirs
      while (OpOperand *operand = fusableOperand(op)) {
        Operation *producer = operand->get().getDefiningOp();
        rewriter.setInsertionPoint(op);
        FailureOr<linalg::ElementwiseOpFusionResult> fused = linalg::fuseElementwiseOps(rewriter, operand);
        if (failed(fused))
          break;
        for (auto [from, to] : fused->replacements)
          rewriter.replaceAllUsesWith(from, to);
        rewriter.eraseOp(op);
        if (producer->use_empty())
          rewriter.eraseOp(producer);
        op = cast<linalg::GenericOp>(fused->fusedOp);
      }
  }
};
} // namespace
