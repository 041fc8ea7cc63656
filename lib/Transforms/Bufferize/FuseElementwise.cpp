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

/// Whether the loops of `op` visit each element of its operands and results once, in one order.
static bool isPlain(linalg::GenericOp op) {
  return op.getNumReductionLoops() == 0 && llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isIdentity() || map.getNumResults() == 0;
         });
}

/// Whether `op` can store the results of `producer` that others read, too: all of them read later. An op that reads
/// them in two places would read what it stores.
static bool canStoreFor(linalg::GenericOp producer, linalg::GenericOp op) {
  if (producer->hasOneUse())
    return true;
  auto readsLater = [&](Operation *user) {
    Operation *there = op->getBlock()->findAncestorOpInBlock(*user);
    return there && !there->isBeforeInBlock(op);
  };
  auto isMade = [&](Value operand) { return operand.getDefiningOp() == producer; };
  return isPlain(producer) && isPlain(op) && llvm::count_if(op->getOperands(), isMade) == 1 &&
         llvm::all_of(producer->getUsers(), readsLater);
}

/// Whether `producer` adds to what its result holds.
static bool hasReadStart(linalg::GenericOp producer) {
  return llvm::any_of(producer.getRegionOutputArgs(), [](BlockArgument start) { return !start.use_empty(); });
}

/// A producer that adds to what its result holds must not run several times per element, as for an `op` that repeats
/// the element.
static bool runsOnce(linalg::GenericOp producer, linalg::GenericOp op, OpOperand *operand) {
  return !hasReadStart(producer) || op.getMatchingIndexingMap(operand).isPermutation();
}

/// Ops in one loop. Memory no longer bounds a loop of so many, and what compiles it takes time that grows with the
/// square of its length.
static constexpr size_t kMostOps = 64;

static bool staysShort(linalg::GenericOp producer, linalg::GenericOp op) {
  auto length = [](linalg::GenericOp op) { return llvm::range_size(op.getBody()->without_terminator()); };
  return length(producer) + length(op) <= kMostOps;
}

/// Whether `producer` makes a tensor of far smaller ones, as a causal mask of places: reading that takes longer than
/// making its elements again.
static bool isCheap(linalg::GenericOp producer) {
  constexpr int64_t kTimesSmaller = 64;
  if (producer.getNumResults() != 1 || producer.getNumReductionLoops() != 0 || hasReadStart(producer) ||
      llvm::range_size(producer.getBody()->without_terminator()) > 1)
    return false;
  auto type = cast<RankedTensorType>(producer.getResultTypes()[0]);
  return type.hasStaticShape() && llvm::all_of(producer.getDpsInputs(), [&](Value input) {
           auto from = dyn_cast<RankedTensorType>(input.getType());
           return !from || (from.hasStaticShape() && from.getNumElements() * kTimesSmaller <= type.getNumElements());
         });
}

/// An operand of `op` whose producer can be joined with it.
static OpOperand *fusableOperand(linalg::GenericOp op) {
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    if (producer && producer->getBlock() == op->getBlock() && staysShort(producer, op) &&
        (canStoreFor(producer, op) || isCheap(producer)) && runsOnce(producer, op, operand) &&
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
        rewriter.setInsertionPoint(op);
        auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
        if (!canStoreFor(producer, op)) { // a copy for this reader alone
          producer = cast<linalg::GenericOp>(rewriter.clone(*producer));
          operand->set(producer.getResult(0));
        }
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
