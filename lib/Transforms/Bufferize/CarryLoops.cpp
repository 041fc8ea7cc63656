//===- CarryLoops.cpp - Loops that carry values in fixed buffers ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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

static Value copyOf(OpBuilder &builder, Location loc, Value buffer) {
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

namespace {
/// Copies what the turn hands on into the buffers that the loop started with.
class LoopRewriter {
public:
  explicit LoopRewriter(scf::ForOp loop) : loop(loop), yield(cast<scf::YieldOp>(loop.getBody()->getTerminator())) {}

  void run() {
    if (llvm::none_of(loop.getInitArgs(), isBuffer))
      return;
    handOn();
    rebuild();
  }

private:
  void handOn() {
    OpBuilder builder(yield);
    Location loc = yield.getLoc();
    SmallVector<std::pair<Value, Value>> copies;
    for (auto [init, argument, yielded] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getYieldedValues())) {
      if (!isBuffer(init) || yielded == argument)
        continue;
      auto carried = dyn_cast<BlockArgument>(rootOf(yielded));
      bool overwritten = carried && carried.getOwner() == loop.getBody();
      copies.emplace_back(overwritten ? copyOf(builder, loc, yielded) : yielded, init);
    }
    for (auto [source, target] : copies)
      memref::CopyOp::create(builder, loc, source, target);
  }

  void rebuild() {
    OpBuilder builder(loop);
    SmallVector<Value> inits, yields;
    for (auto [init, yielded] : llvm::zip(loop.getInitArgs(), loop.getYieldedValues()))
      if (!isBuffer(init)) {
        inits.push_back(init);
        yields.push_back(yielded);
      }
    auto fresh = scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
                                    inits, [](OpBuilder &, Location, Value, ValueRange) {});
    loop.getInductionVar().replaceAllUsesWith(fresh.getInductionVar());
    auto argument = fresh.getRegionIterArgs().begin();
    auto result = fresh.getResults().begin();
    for (auto [init, old, oldResult] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getResults())) {
      old.replaceAllUsesWith(isBuffer(init) ? init : Value(*argument++));
      oldResult.replaceAllUsesWith(isBuffer(init) ? init : Value(*result++));
    }
    yield->setOperands(yields);
    fresh.getBody()->getOperations().splice(fresh.getBody()->end(), loop.getBody()->getOperations());
    loop.erase();
  }

  scf::ForOp loop;
  scf::YieldOp yield;
};

struct CarryLoops : mhc::impl::CarryLoopsPassBase<CarryLoops> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      LoopRewriter(loop).run();
  }
};
} // namespace
