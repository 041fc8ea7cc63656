//===- KeepScalars.cpp - Scalars stay where the tensors are ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/OpsOutsideBodies.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mhc {
#define GEN_PASS_DEF_KEEPSCALARSPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;

namespace {
class ScalarKeeper {
public:
  explicit ScalarKeeper(func::FuncOp func) : func(func), builder(func.getContext()) {}

  LogicalResult run();

private:
  LogicalResult keep(Operation *op);
  void keepExtracted(tensor::ExtractOp op);
  void keepComputed(Operation *op, ArrayRef<Value> kept);
  void passKept(linalg::LinalgOp op, ArrayRef<Value> kept);
  SmallVector<Value> tensorsOf(ArrayRef<Value> scalars) {
    return llvm::map_to_vector(scalars, [&](Value scalar) { return tensors.lookup(scalar); });
  }

  func::FuncOp func;
  OpBuilder builder;
  llvm::MapVector<Value, Value> tensors; ///< of rank 0, by the scalar whose place they take
  SmallVector<Operation *> dead;
};
} // namespace

LogicalResult ScalarKeeper::run() {
  for (Operation *op : mhc::opsOutsideBodies(func)) {
    builder.setInsertionPoint(op);
    if (failed(keep(op)))
      return failure();
  }
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  return success();
}

LogicalResult ScalarKeeper::keep(Operation *op) {
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  if (isa<linalg::LinalgOp>(op))
    getUsedValuesDefinedAbove(op->getRegions(), used);
  SmallVector<Value> kept = llvm::filter_to_vector(used, [&](Value value) { return tensors.contains(value); });
  if (kept.empty()) {
    if (auto extract = dyn_cast<tensor::ExtractOp>(op))
      keepExtracted(extract);
    return success();
  }
  if (auto loop = dyn_cast<linalg::LinalgOp>(op)) {
    passKept(loop, kept);
    return success();
  }
  bool isScalar = op->getNumResults() == 1 && op->getResult(0).getType().isIntOrIndexOrFloat();
  if (!isScalar || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return op->emitError() << "'" << op->getName()
                           << "' needs a value of the GPU on the host, where only sizes and constants are known";
  keepComputed(op, kept);
  return success();
}

/// A part of one element.
void ScalarKeeper::keepExtracted(tensor::ExtractOp op) {
  OpFoldResult one = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets = getAsOpFoldResult(op.getIndices()), ones(offsets.size(), one);
  auto type = RankedTensorType::get({}, op.getType());
  tensors[op] = tensor::ExtractSliceOp::create(builder, op.getLoc(), type, op.getTensor(), offsets, ones, ones);
  dead.push_back(op);
}

/// An op on tensors of rank 0 in the place of one on scalars.
void ScalarKeeper::keepComputed(Operation *op, ArrayRef<Value> kept) {
  Location loc = op->getLoc();
  auto type = RankedTensorType::get({}, op->getResult(0).getType());
  Value init = tensor::EmptyOp::create(builder, loc, type, ValueRange());
  SmallVector<AffineMap> maps(kept.size() + 1, AffineMap::get(builder.getContext()));
  auto build = [&](OpBuilder &body, Location, ValueRange arguments) {
    IRMapping mapping;
    mapping.map(kept, arguments.drop_back());
    linalg::YieldOp::create(body, loc, body.clone(*op, mapping)->getResults());
  };
  auto generic = linalg::GenericOp::create(builder, loc, type, tensorsOf(kept), init, maps, {}, build);
  tensors[op->getResult(0)] = generic.getResult(0);
  dead.push_back(op);
}

/// The same op with kept scalars as operands, where it had scalars as operands or used them in its region.
void ScalarKeeper::passKept(linalg::LinalgOp op, ArrayRef<Value> kept) {
  auto operands = llvm::map_to_vector(op.getDpsInputs(), [&](Value operand) {
    auto known = tensors.find(operand);
    return known == tensors.end() ? operand : known->second;
  });
  SmallVector<Value> captured =
      llvm::filter_to_vector(kept, [&](Value value) { return !llvm::is_contained(op.getDpsInputs(), value); });
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap everywhere = AffineMap::get(op.getNumLoops(), 0, builder.getContext());
  maps.insert(maps.begin() + operands.size(), captured.size(), everywhere);
  size_t given = operands.size();
  llvm::append_range(operands, tensorsOf(captured));
  Block *old = op.getBlock();
  auto build = [&](OpBuilder &body, Location, ValueRange arguments) {
    IRMapping mapping;
    mapping.map(old->getArguments().take_front(given), arguments.take_front(given));
    mapping.map(captured, arguments.slice(given, captured.size()));
    mapping.map(old->getArguments().drop_front(given), arguments.drop_front(operands.size()));
    for (Operation &inner : *old)
      body.clone(inner, mapping);
  };
  auto generic = linalg::GenericOp::create(builder, op.getLoc(), op->getResultTypes(), operands, op.getDpsInits(), maps,
                                           op.getIteratorTypesArray(), build);
  op->replaceAllUsesWith(generic);
  dead.push_back(op);
}

namespace {
struct KeepScalars : mhc::impl::KeepScalarsPassBase<KeepScalars> {
  void runOnOperation() override {
    if (failed(ScalarKeeper(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
