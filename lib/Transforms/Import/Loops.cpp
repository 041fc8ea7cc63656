//===- Loops.cpp - Counted while loops as for loops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exporters write a loop of a known number of iterations as scf.while, often with its counter in a tensor of rank 0 on
// which linalg ops compute. The counter becomes a number; then upstream's rewrite to scf.for knows the form.
//
//===----------------------------------------------------------------------===//

#include "Import.h"
#include "mhc/IR/TmTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mhc;

static bool isRankZero(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

/// An integer in a tensor of rank 0.
static bool isCounter(Type type) { return isRankZero(type) && getElementTypeOrSelf(type).isSignlessInteger(); }

namespace {
/// linalg on integer tensors of rank 0 -> its body
struct InlineScalarOp : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !llvm::all_of(op->getResultTypes(), isCounter) ||
        !llvm::all_of(op->getOperandTypes(),
                      [](Type type) { return isRankZero(type) || type.isIntOrIndexOrFloat(); }) ||
        !llvm::all_of(op.getBlock()->without_terminator(), [](Operation &inner) { return isPure(&inner); }))
      return rewriter.notifyMatchFailure(op, "computes more than integers");
    IRMapping map;
    for (OpOperand &operand : op->getOpOperands()) {
      Value scalar = operand.get();
      if (isa<RankedTensorType>(scalar.getType()))
        scalar = tensor::ExtractOp::create(rewriter, op.getLoc(), scalar, ValueRange());
      map.map(op.getMatchingBlockArgument(&operand), scalar);
    }
    for (Operation &inner : op.getBlock()->without_terminator())
      rewriter.clone(inner, map);
    SmallVector<Value> results;
    for (auto [type, yielded] : llvm::zip(op->getResultTypes(), op.getBlock()->getTerminator()->getOperands()))
      results.push_back(
          tensor::FromElementsOp::create(rewriter, op.getLoc(), type, map.lookupOrDefault(yielded)).getResult());
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// counter <= 19, or counter < 20 without a sign -> counter < 20
struct CompareSigned : OpRewritePattern<arith::CmpIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::CmpIOp op, PatternRewriter &rewriter) const override {
    using P = arith::CmpIPredicate;
    APInt bound;
    auto counter = dyn_cast<BlockArgument>(op.getLhs());
    auto loop = counter ? dyn_cast<scf::WhileOp>(counter.getOwner()->getParentOp()) : scf::WhileOp();
    P predicate = op.getPredicate();
    bool inclusive = predicate == P::sle || predicate == P::ule;
    if (!loop || !matchPattern(op.getRhs(), m_ConstantInt(&bound)) || !(inclusive || predicate == P::ult) ||
        bound.isMaxSignedValue())
      return failure();
    if (predicate != P::sle && !(startsFromZero(loop, counter) && !bound.isNegative()))
      return rewriter.notifyMatchFailure(op, "the sign could matter");
    Value limit = arith::ConstantOp::create(rewriter, op.getLoc(),
                                            rewriter.getIntegerAttr(counter.getType(), bound + (inclusive ? 1 : 0)));
    rewriter.replaceOpWithNewOp<arith::CmpIOp>(op, P::slt, counter, limit);
    return success();
  }

  static bool startsFromZero(scf::WhileOp loop, BlockArgument counter) {
    return matchPattern(loop.getInits()[counter.getArgNumber()], m_Zero());
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Counters as numbers
//===----------------------------------------------------------------------===//

static Value numberOf(OpBuilder &builder, Value value) {
  return isCounter(value.getType()) ? builder.createOrFold<tensor::ExtractOp>(value.getLoc(), value, ValueRange())
                                    : value;
}

static void useNumbers(OpBuilder &builder, Operation *op) {
  builder.setInsertionPoint(op);
  for (OpOperand &operand : op->getOpOperands())
    operand.set(numberOf(builder, operand.get()));
}

/// A value that was a counter in a tensor becomes a number; what reads it reads a tensor made of that.
static void makeNumber(OpBuilder &builder, Value value) {
  if (!isCounter(value.getType()))
    return;
  auto type = cast<RankedTensorType>(value.getType());
  value.setType(type.getElementType());
  auto tensor = tensor::FromElementsOp::create(builder, value.getLoc(), type, value);
  value.replaceAllUsesExcept(tensor, tensor);
}

static void carryNumbers(OpBuilder &builder, scf::WhileOp loop) {
  useNumbers(builder, loop);
  useNumbers(builder, loop.getConditionOp());
  useNumbers(builder, loop.getYieldOp());
  for (Block *block : {loop.getBeforeBody(), loop.getAfterBody()}) {
    builder.setInsertionPointToStart(block);
    for (BlockArgument argument : block->getArguments())
      makeNumber(builder, argument);
  }
  builder.setInsertionPointAfter(loop);
  for (OpResult result : loop.getResults())
    if (!result.use_empty())
      makeNumber(builder, result);
    else if (isCounter(result.getType()))
      result.setType(getElementTypeOrSelf(result.getType()));
}

/// Upstream's rewrite gives the code behind the loop the counter of the last iteration, one step less than what ended
/// the loop. Returns the additions that make up for it.
static SmallVector<arith::AddIOp> addLastStep(OpBuilder &builder, scf::WhileOp loop) {
  SmallVector<arith::AddIOp> added;
  auto compare = loop.getConditionOp().getCondition().getDefiningOp<arith::CmpIOp>();
  builder.setInsertionPointAfter(loop);
  for (auto [passed, result] : llvm::zip(loop.getConditionOp().getArgs(), loop.getResults())) {
    auto counter = dyn_cast<BlockArgument>(passed);
    if (!compare || !counter || !llvm::is_contained(compare->getOperands(), passed) || result.use_empty())
      continue;
    auto next = loop.getYieldOp()->getOperand(counter.getArgNumber()).getDefiningOp<arith::AddIOp>();
    if (!next)
      continue;
    Value step = loop.isDefinedOutsideOfLoop(next.getLhs()) ? next.getLhs() : next.getRhs();
    if (!loop.isDefinedOutsideOfLoop(step))
      continue;
    added.push_back(arith::AddIOp::create(builder, loop.getLoc(), result, step));
    result.replaceAllUsesExcept(added.back(), added.back());
  }
  return added;
}

/// Scans of torch-mlir -> constants or loops
static void importScans(func::FuncOp func) {
  SmallVector<Operation *> scans;
  func.walk([&](tm_tensor::ScanOp scan) { scans.push_back(scan); });
  if (scans.empty())
    return;
  RewritePatternSet patterns(func.getContext());
  tm_tensor::ScanOp::getCanonicalizationPatterns(patterns, func.getContext());
  (void)applyOpPatternsGreedily(scans, std::move(patterns));
}

void mhc::importLoops(func::FuncOp func) {
  importScans(func);
  SmallVector<scf::WhileOp> loops;
  func.walk([&](scf::WhileOp loop) { loops.push_back(loop); });
  if (loops.empty())
    return;
  RewritePatternSet patterns(func.getContext());
  patterns.add<InlineScalarOp, CompareSigned>(func.getContext());
  FrozenRewritePatternSet frozen(std::move(patterns));
  IRRewriter rewriter(func.getContext());
  for (scf::WhileOp loop : loops) {
    carryNumbers(rewriter, loop);
    for (Region &region : loop->getRegions())
      (void)applyPatternsGreedily(region, frozen);
    SmallVector<arith::AddIOp> added = addLastStep(rewriter, loop);
    rewriter.setInsertionPoint(loop);
    if (succeeded(scf::upliftWhileToForLoop(rewriter, loop)))
      continue;
    for (arith::AddIOp op : added) {
      op.replaceAllUsesWith(op.getLhs());
      op.erase();
    }
  }
}
