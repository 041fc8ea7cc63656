//===- OrderSums.cpp - Loops over sums that say their order ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace mhc {
#define GEN_PASS_DEF_ORDERSUMSPASS
#include "mhc/Conversion/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

/// Sums side by side. Two registers of AVX2, one of AVX-512: the latency of an addition is then hidden well enough for
/// what comes from memory.
static constexpr int64_t kLanes = 16;

namespace {
/// An addition to an element that stays the same throughout a loop.
struct Sum {
  memref::LoadOp load;
  arith::AddFOp add;
  memref::StoreOp store;
};

/// One loop of a nest, whose sums are taken in lanes.
class LaneLoop {
public:
  LaneLoop(scf::ForOp loop, ArrayRef<Sum> sums) : loop(loop), sums(sums), builder(loop), loc(loop.getLoc()) {}

  void run();

private:
  void makeTerms();
  Value roundDown(Value length);
  scf::ForOp addLanes(Value end);
  void makeLanes(Value first);
  void addTo(Sum sum, Value vector);

  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

  scf::ForOp loop;
  SmallVector<Sum> sums;
  OpBuilder builder;
  Location loc;
  SmallVector<Value> terms; ///< of each sum, one for a lane
};
} // namespace

/// Memory for the terms, at the start of the function: a loop would take more of the stack in every iteration.
void LaneLoop::makeTerms() {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&loop->getParentOfType<func::FuncOp>().getBody().front());
  for (Sum sum : sums)
    terms.push_back(memref::AllocaOp::create(builder, loc, MemRefType::get({kLanes}, sum.add.getType()),
                                             builder.getI64IntegerAttr(64)));
}

/// The iterations that fill all lanes. Signed, as the loop's comparison is.
Value LaneLoop::roundDown(Value length) {
  if (std::optional<int64_t> number = getConstantIntValue(length))
    return index(*number / kLanes * kLanes);
  Value rest = arith::RemSIOp::create(builder, loc, length, index(kLanes));
  return arith::SubIOp::create(builder, loc, length, rest);
}

/// The terms of all lanes. Each starts from -0, to which anything adds without a change.
void LaneLoop::makeLanes(Value first) {
  auto lanes = scf::ForOp::create(builder, loc, index(0), index(kLanes), index(1));
  // For vectors: left to itself LLVM would unroll it into scalar operations.
  auto unroll = LLVM::LoopUnrollAttr::get(builder.getContext(), builder.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  auto width =
      LLVM::LoopVectorizeAttr::get(builder.getContext(), {}, {}, {}, builder.getI32IntegerAttr(kLanes), {}, {}, {});
  auto one = LLVM::LoopInterleaveAttr::get(builder.getContext(), builder.getI32IntegerAttr(1));
  lanes->setAttr("llvm.loop_annotation", LLVM::LoopAnnotationAttr::get(builder.getContext(), {}, width, one, unroll, {},
                                                                       {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(lanes.getBody());
  Value lane = lanes.getInductionVar();
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), arith::AddIOp::create(builder, loc, first, lane).getResult());
  for (auto [sum, buffer] : llvm::zip(sums, terms)) {
    Value none = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(sum.add.getType(), -0.0));
    memref::StoreOp::create(builder, loc, none, buffer, lane);
  }
  for (Operation &op : loop.getBody()->without_terminator())
    builder.clone(op, mapping);
  for (auto [sum, buffer] : llvm::zip(sums, terms)) {
    auto load = cast<memref::LoadOp>(mapping.lookup(sum.load.getOperation()));
    load.getMemrefMutable().assign(buffer);
    load.getIndicesMutable().assign(lane);
    auto store = cast<memref::StoreOp>(mapping.lookup(sum.store.getOperation()));
    store.getMemrefMutable().assign(buffer);
    store.getIndicesMutable().assign(lane);
  }
}

/// The loop in steps of all lanes; its results are vectors of sums.
scf::ForOp LaneLoop::addLanes(Value end) {
  SmallVector<Value> starts;
  for (Sum sum : sums) {
    auto type = VectorType::get({kLanes}, sum.add.getType());
    auto none = DenseElementsAttr::get(type, builder.getFloatAttr(sum.add.getType(), -0.0));
    starts.push_back(arith::ConstantOp::create(builder, loc, none));
  }
  auto steps = scf::ForOp::create(builder, loc, index(0), end, index(kLanes), starts);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(steps.getBody());
  makeLanes(steps.getInductionVar());
  SmallVector<Value> results;
  for (auto [sum, buffer] : llvm::zip(steps.getRegionIterArgs(), terms)) {
    Value term = vector::LoadOp::create(builder, loc, cast<VectorType>(sum.getType()), buffer, index(0));
    results.push_back(arith::AddFOp::create(builder, loc, sum, term));
  }
  scf::YieldOp::create(builder, loc, results);
  return steps;
}

/// Adds halves of the lanes until one is left, and that to the sum.
void LaneLoop::addTo(Sum sum, Value vector) {
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    auto low = llvm::to_vector(llvm::seq<int64_t>(0, half)), high = llvm::to_vector(llvm::seq<int64_t>(half, 2 * half));
    Value a = vector::ShuffleOp::create(builder, loc, vector, vector, low);
    Value b = vector::ShuffleOp::create(builder, loc, vector, vector, high);
    vector = arith::AddFOp::create(builder, loc, a, b);
  }
  Value term = vector::ExtractOp::create(builder, loc, vector, ArrayRef<int64_t>{0});
  Value before = memref::LoadOp::create(builder, loc, sum.load.getMemref(), sum.load.getIndices());
  Value after = arith::AddFOp::create(builder, loc, before, term);
  memref::StoreOp::create(builder, loc, after, sum.store.getMemref(), sum.store.getIndices());
}

void LaneLoop::run() {
  makeTerms();
  Value length = loop.getUpperBound(), end = roundDown(length);
  scf::ForOp steps = addLanes(end);
  for (auto [sum, vector] : llvm::zip(sums, steps.getResults()))
    addTo(sum, vector);
  if (getConstantIntValue(length) && getConstantIntValue(length) == getConstantIntValue(end))
    loop.erase();
  else
    loop.setLowerBound(end);
}

/// The sum that the addition makes, where it is one.
static std::optional<Sum> sumOf(arith::AddFOp add) {
  if (!add->hasOneUse() || !(add.getType().isF32() || add.getType().isF64()))
    return std::nullopt;
  auto store = dyn_cast<memref::StoreOp>(*add->user_begin());
  if (!store || store.getValueToStore() != add.getResult())
    return std::nullopt;
  for (Value side : add->getOperands()) {
    auto load = side.getDefiningOp<memref::LoadOp>();
    if (load && load->hasOneUse() && load.getMemref() == store.getMemref() &&
        llvm::equal(load.getIndices(), store.getIndices()))
      return Sum{load, add, store};
  }
  return std::nullopt;
}

/// The innermost loop that is worth lanes: shorter ones inside belong to a lane. All loops of the nest from there on
/// must leave the sum's element as it is.
static scf::ForOp findLoop(Sum sum, ArrayRef<Operation *> nest) {
  for (Operation *op : llvm::reverse(nest)) {
    auto loop = cast<scf::ForOp>(op);
    if (!llvm::all_of(sum.load.getIndices(), [&](Value index) { return loop.isDefinedOutsideOfLoop(index); }))
      return {};
    std::optional<int64_t> length = getConstantIntValue(loop.getUpperBound());
    if (!length || *length >= kLanes)
      return loop;
  }
  return {};
}

/// Indices that are a loop's variable become it, so that equal ones are one value.
static void foldIndices(Operation *nest) {
  SmallVector<affine::AffineApplyOp> applies;
  nest->walk([&](affine::AffineApplyOp apply) { applies.push_back(apply); });
  for (affine::AffineApplyOp apply : applies)
    if (auto dim = dyn_cast<AffineDimExpr>(apply.getAffineMap().getResult(0))) {
      apply.replaceAllUsesWith(apply.getMapOperands()[dim.getPosition()]);
      apply.erase();
    }
}

/// Lets the loops of a nest, the outermost first, say in which order sums are added.
static void order(ArrayRef<Operation *> nest) {
  SmallVector<Sum> sums;
  scf::ForOp lanes;
  foldIndices(nest.front());
  nest.back()->walk([&](arith::AddFOp add) {
    if (add.getFastmath() != arith::FastMathFlags::reassoc)
      return;
    add.setFastmath(arith::FastMathFlags::none);
    std::optional<Sum> sum = sumOf(add);
    scf::ForOp loop = sum ? findLoop(*sum, nest) : scf::ForOp();
    if (!loop || (lanes && lanes != loop))
      return;
    lanes = loop;
    sums.push_back(*sum);
  });
  if (lanes)
    LaneLoop(lanes, sums).run();
}

namespace {
struct OrderSums : mhc::impl::OrderSumsPassBase<OrderSums> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics() && op.getNumReductionLoops() > 0)
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::LinalgLoops> nest = linalg::linalgOpToLoops(rewriter, op);
      if (failed(nest))
        return signalPassFailure();
      rewriter.eraseOp(op);
      order(*nest);
    }
  }
};
} // namespace
