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
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"

namespace mhc {
#define GEN_PASS_DEF_READSIZESPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

static bool computesSizes(func::FuncOp func) {
  return func
      .walk([](Operation *op) {
        auto loops = dyn_cast<linalg::GenericOp>(op);
        bool asserts = isa<cf::AssertOp>(op) && !op->getParentOfType<linalg::LinalgOp>();
        return asserts || isa<tensor::ReshapeOp>(op) || (loops && readsElements(loops)) ? WalkResult::interrupt()
                                                                                        : WalkResult::advance();
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

/// Gives arguments the sizes that the body states: what states them may go, and then nobody would ask for them. False
/// where a caller may hold on to the type.
static bool refineArguments(func::FuncOp func, const DimAnalysis &dims) {
  SmallVector<Type> types =
      llvm::map_to_vector(func.getArguments(), [&](BlockArgument argument) { return statedType(argument, dims); });
  if (llvm::equal(types, func.getArgumentTypes()))
    return true;
  if (!func.isPublic() || !llvm::hasSingleElement(func->getBlock()->getOps<func::FuncOp>()))
    return false;
  OpBuilder builder(func.getBody());
  for (auto [argument, type] : llvm::zip(func.getArguments(), types))
    if (argument.getType() != type) {
      auto cast = tensor::CastOp::create(builder, argument.getLoc(), argument.getType(), argument);
      argument.replaceAllUsesExcept(cast, cast);
      argument.setType(type);
    }
  func.setFunctionType(builder.getFunctionType(types, func.getResultTypes()));
  return true;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// What a comparison gives for all sizes, where that is known. That two sizes are equal is not taken from the ops that
/// an assertion guards.
static std::optional<bool> knownOutcome(arith::CmpIOp op, const DimAnalysis &dims) {
  using P = arith::CmpIPredicate;
  // A product of sizes is not negative; the analysis of ranges allows for one that overflows.
  if (matchPattern(op.getRhs(), m_Zero()) && dims.isSize(op.getLhs()) &&
      llvm::is_contained({P::slt, P::sge}, op.getPredicate()))
    return op.getPredicate() == P::sge;
  return std::nullopt;
}

static void foldConditions(func::FuncOp func, const DimAnalysis &dims) {
  func.walk([&](arith::CmpIOp op) {
    if (std::optional<bool> outcome = knownOutcome(op, dims); outcome && op.getType().isInteger(1)) {
      OpBuilder builder(op);
      op.replaceAllUsesWith(arith::ConstantIntOp::create(builder, op.getLoc(), *outcome, 1).getResult());
    }
  });
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
      return;
    DimAnalysis dims(func);
    if (!refineArguments(func, dims))
      return;
    foldConditions(func, dims);
    OpPassManager ranges(func::FuncOp::getOperationName());
    ranges.addPass(arith::createIntRangeOptimizationsPass());
    if (failed(runPipeline(ranges, func)))
      return signalPassFailure();
    readReshapes(func);
    readElements(func);
    eraseTrueAssertions(func);
  }
};
} // namespace
