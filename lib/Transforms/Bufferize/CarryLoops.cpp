//===- CarryLoops.cpp - Loops that carry values in fixed buffers ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyBuffer.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mhc {
#define GEN_PASS_DEF_CARRYLOOPSPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;

static bool isBuffer(Value value) { return isa<MemRefType>(value.getType()); }

/// The buffer that `value` is a part of.
static Value rootOf(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

Value mhc::copyOf(OpBuilder &builder, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(builder, loc, buffer, dim));
  auto plain = MemRefType::get(type.getShape(), type.getElementType());
  Value copy = memref::AllocOp::create(builder, loc, plain, sizes);
  memref::CopyOp::create(builder, loc, buffer, copy);
  return copy;
}

/// Copies yielded buffers into those that the loop started with.
static void copyYielded(LoopLikeOpInterface loop, Operation *yield) {
  OpBuilder builder(yield);
  Location loc = yield->getLoc();
  Block::BlockArgListType arguments = loop.getRegionIterArgs();
  SmallVector<std::pair<Value, Value>> copies;
  for (auto [init, argument, yielded] : llvm::zip(loop.getInits(), arguments, loop.getYieldedValues())) {
    if (!isBuffer(init) || yielded == argument)
      continue;
    bool overwritten = llvm::is_contained(arguments, rootOf(yielded));
    copies.emplace_back(overwritten ? mhc::copyOf(builder, loc, yielded) : yielded, init);
  }
  for (auto [source, target] : copies)
    memref::CopyOp::create(builder, loc, source, target);
}

/// The values that are no buffers: buffers are no longer carried.
static SmallVector<Value> scalarsOf(ValueRange values) {
  return llvm::filter_to_vector(values, [](Value value) { return !isBuffer(value); });
}

static void replaceScalars(ValueRange old, ValueRange fresh) {
  for (auto [value, other] : llvm::zip_equal(scalarsOf(old), fresh))
    value.replaceAllUsesWith(other);
}

static void replaceBuffers(ValueRange old, ValueRange buffers) {
  for (auto [value, buffer] : llvm::zip_equal(old, buffers))
    if (isBuffer(value))
      value.replaceAllUsesWith(buffer);
}

static void carry(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  copyYielded(loop, yield);
  OpBuilder builder(loop);
  auto fresh = scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
                                  scalarsOf(loop.getInitArgs()), [](OpBuilder &, Location, Value, ValueRange) {});
  yield->setOperands(scalarsOf(yield.getOperands()));
  loop.getInductionVar().replaceAllUsesWith(fresh.getInductionVar());
  replaceBuffers(loop.getRegionIterArgs(), loop.getInitArgs());
  replaceBuffers(loop.getResults(), loop.getInitArgs());
  replaceScalars(loop.getRegionIterArgs(), fresh.getRegionIterArgs());
  replaceScalars(loop.getResults(), fresh.getResults());
  fresh.getBody()->getOperations().splice(fresh.getBody()->end(), loop.getBody()->getOperations());
  loop.erase();
}

/// Moves what makes `value` in front of the loop; false where it is what an iteration computes.
static bool moveInFront(Value value, scf::WhileOp loop) {
  Operation *op = value.getDefiningOp();
  if (!op) // a number that is carried is another one in each iteration
    return isBuffer(value) || loop.isDefinedOutsideOfLoop(value);
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  if (!isa<memref::AllocOp>(op) && !isMemoryEffectFree(op))
    return false;
  if (!llvm::all_of(op->getOperands(), [&](Value operand) { return moveInFront(operand, loop); }))
    return false;
  op->moveBefore(loop);
  return true;
}

/// Moves the buffers that the condition passes on in front of the loop, where the body and the code behind it see them.
static LogicalResult passOn(scf::WhileOp loop) {
  ValueRange passed = loop.getConditionOp().getArgs();
  for (auto [i, value] : llvm::enumerate(passed))
    if (isBuffer(value) && !moveInFront(value, loop))
      return loop.emitError() << "'scf.while' cannot be compiled: the size of result " << i
                              << " is not known in front of the loop";
  replaceBuffers(loop.getAfterArguments(), passed);
  replaceBuffers(loop.getResults(), passed);
  return success();
}

static LogicalResult carry(scf::WhileOp loop) {
  if (failed(passOn(loop)))
    return failure();
  scf::ConditionOp condition = loop.getConditionOp();
  scf::YieldOp yield = loop.getYieldOp();
  copyYielded(loop, yield);
  replaceBuffers(loop.getBeforeArguments(), loop.getInits());
  OpBuilder builder(loop);
  SmallVector<Value> passed = scalarsOf(condition.getArgs());
  auto fresh = scf::WhileOp::create(builder, loop.getLoc(), ValueRange(passed).getTypes(), scalarsOf(loop.getInits()),
                                    /*beforeBuilder=*/nullptr, /*afterBuilder=*/nullptr);
  condition.getArgsMutable().assign(passed);
  yield->setOperands(scalarsOf(yield.getOperands()));
  replaceScalars(loop.getBeforeArguments(), fresh.getBeforeArguments());
  replaceScalars(loop.getAfterArguments(), fresh.getAfterArguments());
  replaceScalars(loop.getResults(), fresh.getResults());
  for (auto [to, from] :
       {std::pair(fresh.getBeforeBody(), loop.getBeforeBody()), std::pair(fresh.getAfterBody(), loop.getAfterBody())})
    to->getOperations().splice(to->end(), from->getOperations());
  loop.erase();
  return success();
}

namespace {
struct CarryLoops : mhc::impl::CarryLoopsPassBase<CarryLoops> {
  void runOnOperation() override {
    SmallVector<LoopLikeOpInterface> loops;
    getOperation().walk([&](Operation *op) {
      bool carries = llvm::any_of(op->getOperands(), isBuffer) || llvm::any_of(op->getResults(), isBuffer);
      if (isa<scf::ForOp, scf::WhileOp>(op) && carries)
        loops.push_back(cast<LoopLikeOpInterface>(op));
    });
    for (LoopLikeOpInterface loop : loops) {
      if (auto counted = dyn_cast<scf::ForOp>(loop.getOperation()))
        carry(counted);
      else if (failed(carry(cast<scf::WhileOp>(loop.getOperation()))))
        return signalPassFailure();
    }
  }
};
} // namespace
