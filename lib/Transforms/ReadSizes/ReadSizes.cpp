//===- ReadSizes.cpp - Sizes that exporters compute and assert ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With open sizes exporters compute the shape of a reshape as integers, allow for negative ones, read the elements of
// what they broadcast by index, in case a size is 1, and assert what they need. Sizes are not negative: upstream's
// analysis of ranges knows and takes most of that away. What follows from the equality of sizes is done here.
//
//===----------------------------------------------------------------------===//

#include "ReadSizes.h"
#include "mhc/IR/MhcDialect.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mhc {
#define GEN_PASS_DEF_READSIZESPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

/// Whether a cast says of an open size which one it is.
static bool statesSize(tensor::CastOp cast) {
  auto from = dyn_cast<RankedTensorType>(cast.getSource().getType()), to = dyn_cast<RankedTensorType>(cast.getType());
  return from && to && from.getNumDynamicDims() > to.getNumDynamicDims();
}

static bool computesSizes(func::FuncOp func) {
  return func
      .walk([](Operation *op) {
        auto loops = dyn_cast<linalg::GenericOp>(op);
        auto cast = dyn_cast<tensor::CastOp>(op);
        bool asserts = isa<cf::AssertOp>(op) && !op->getParentOfType<linalg::LinalgOp>();
        bool isBound = isa<arith::MinSIOp, arith::MaxSIOp>(op) && op->getResult(0).getType().isIndex();
        bool computes = asserts || isBound || isa<tensor::ReshapeOp>(op) || (loops && readsElements(loops));
        return computes || (cast && statesSize(cast)) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The type of an argument with the sizes that the body states, such as by a cast.
static Type statedType(BlockArgument argument, const DimAnalysis &dims) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type)
    return argument.getType();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    shape.push_back(dims.constantSize(argument, dim).value_or(type.getDimSize(dim)));
  return type.clone(shape);
}

namespace {
/// concat(cast(a), b) -> cast(concat(a, b)), which upstream has for other ops.
struct ConcatOfCasts : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    auto sourceOf = [](Value part) {
      auto cast = part.getDefiningOp<tensor::CastOp>();
      return tensor::canFoldIntoConsumerOp(cast) ? cast.getSource() : part;
    };
    SmallVector<Value> parts = llvm::map_to_vector(op.getInputs(), sourceOf);
    if (llvm::equal(parts, op.getInputs()))
      return rewriter.notifyMatchFailure(op, "no part is a cast that loses a size");
    Value concat = tensor::ConcatOp::create(rewriter, op.getLoc(), op.getDim(), parts);
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, op.getType(), concat);
    return success();
  }
};
} // namespace

/// Propagates the sizes of the arguments' types to all types: upstream's patterns move casts from operands to results.
static void propagateSizes(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  RewritePatternSet patterns(context);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (isa<arith::ArithDialect, tensor::TensorDialect, linalg::LinalgDialect>(op.getDialect()))
      op.getCanonicalizationPatterns(patterns, context);
  for (Dialect *dialect : context->getLoadedDialects())
    if (isa<tensor::TensorDialect, linalg::LinalgDialect, MhcDialect>(dialect))
      dialect->getCanonicalizationPatterns(patterns);
  patterns.add<ConcatOfCasts>(context);
  (void)applyPatternsGreedily(func, std::move(patterns));
}

/// Gives arguments the sizes that the body states: what states them may go, and then nobody would ask for them. Where a
/// caller may hold on to the type, a cast in front of all uses states them.
static void refineArguments(func::FuncOp func) {
  DimAnalysis dims(func);
  SmallVector<Type> types = llvm::to_vector(func.getArgumentTypes());
  bool mayChange = func.isPublic() && llvm::hasSingleElement(func->getBlock()->getOps<func::FuncOp>());
  OpBuilder builder(func.getBody());
  for (BlockArgument argument : func.getArguments()) {
    Type stated = statedType(argument, dims), was = argument.getType();
    if (stated == was)
      continue;
    auto uses = llvm::map_to_vector(argument.getUses(), [](OpOperand &use) { return &use; });
    Value narrow = argument;
    if (mayChange) {
      argument.setType(stated);
      types[argument.getArgNumber()] = stated;
    } else {
      narrow = tensor::CastOp::create(builder, argument.getLoc(), stated, argument);
    }
    Value wide = tensor::CastOp::create(builder, argument.getLoc(), was, narrow);
    for (OpOperand *use : uses)
      use->set(wide);
  }
  func.setFunctionType(builder.getFunctionType(types, func.getResultTypes()));
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// Result of a comparison that is the same for all sizes; nothing if it is not known. Equal sizes are not derived here
/// from the ops that an assertion guards.
static std::optional<bool> knownOutcome(arith::CmpIOp op, const DimAnalysis &dims) {
  using P = arith::CmpIPredicate;
  // A product of sizes is not negative; the analysis of ranges allows for one that overflows.
  if (matchPattern(op.getRhs(), m_Zero()) && dims.isSize(op.getLhs()) &&
      llvm::is_contained({P::slt, P::sge}, op.getPredicate()))
    return op.getPredicate() == P::sge;
  return std::nullopt;
}

/// A selection by a known condition is what it chooses, which may be compared next.
static void foldConditions(func::FuncOp func) {
  DimAnalysis dims(func);
  func.walk([&](arith::CmpIOp op) {
    std::optional<bool> outcome = knownOutcome(op, dims);
    if (!outcome || !op.getType().isInteger(1))
      return;
    for (Operation *user : op->getUsers())
      if (auto choice = dyn_cast<arith::SelectOp>(user); choice && choice.getCondition() == op)
        choice.replaceAllUsesWith(*outcome ? choice.getTrueValue() : choice.getFalseValue());
    OpBuilder builder(op);
    op.replaceAllUsesWith(arith::ConstantIntOp::create(builder, op.getLoc(), *outcome, 1).getResult());
  });
}

/// The end of a slice is the smaller one of where it should be and of what there is. Whether it has changed one: bounds
/// of what is computed of that may be known then.
static bool foldBounds(func::FuncOp func) {
  DimAnalysis dims(func);
  bool hasFolded = false;
  func.walk([&](Operation *op) {
    if (!isa<arith::MinSIOp, arith::MaxSIOp>(op) || !op->getResult(0).getType().isIntOrIndex() || op->use_empty())
      return;
    Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    const bool isLess = dims.isAtMost(lhs, rhs);
    if (!isLess && !dims.isAtMost(rhs, lhs))
      return;
    op->getResult(0).replaceAllUsesWith(isLess == isa<arith::MinSIOp>(op) ? lhs : rhs);
    hasFolded = true;
  });
  return hasFolded;
}

static void eraseTrueAssertions(func::FuncOp func) {
  func.walk([](cf::AssertOp op) {
    if (matchPattern(op.getArg(), m_One()))
      op.erase();
  });
}

namespace {
struct ReadSizesPass : mhc::impl::ReadSizesPassBase<ReadSizesPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal() || !computesSizes(func))
      return markAllAnalysesPreserved();
    foldConditions(func);
    OpPassManager ranges(func::FuncOp::getOperationName());
    ranges.addPass(arith::createIntRangeOptimizationsPass());
    if (failed(runPipeline(ranges, func)))
      return signalPassFailure();
    while (foldBounds(func))
      ;
    refineArguments(func);
    readReshapes(func);
    readElements(func);
    propagateSizes(func);
    eraseTrueAssertions(func);
  }
};
} // namespace
