//===- Places.cpp - The lines that a found op stands for ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Places.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mhc;

using Values = llvm::SmallDenseSet<Value>;

/// Whether an op only hands elements on: matchers put such ops in front of what they make.
static bool handsOn(Operation *op) {
  return showsOperand(op) || isa<tensor::ExtractSliceOp, tensor::CastOp, tensor::ConcatOp, BroadcastOp>(op);
}

/// The operands of ops, and what they are views of.
static Values inputsOf(ArrayRef<Operation *> made) {
  Values inputs;
  SmallVector<Value> work;
  for (Operation *op : made)
    llvm::append_range(work, op->getOperands());
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = inputs.insert(value).second ? value.getDefiningOp() : nullptr;
    if (op && handsOn(op))
      llvm::append_range(work, op->getOperands());
  }
  return inputs;
}

/// Ops that several chains may share: numbers, and arithmetic on sizes.
static bool isShared(Value value) {
  Operation *op = value.getDefiningOp();
  return op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::SplatOp>(op) || !isa<RankedTensorType>(value.getType());
}

/// The ops that compute `root` from `inputs`. What was found before has its own places and ends the search.
static SetVector<Operation *> opsBetween(const Values &inputs, Value root) {
  SetVector<Operation *> ops;
  SmallVector<Value> work = {root};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || isMhcOp(op) || isShared(value) || inputs.contains(value))
      continue;
    if (ops.insert(op))
      llvm::append_range(work, op->getOperands());
  }
  return ops;
}

/// Sorts by the first place in a file; nowhere sorts first.
using SourceOrder = std::tuple<StringRef, unsigned, unsigned>;
static SourceOrder sourceOrder(Location loc) {
  auto own = dyn_cast<FileLineColLoc>(loc); // of most ops
  auto place = own ? own : loc->findInstanceOf<FileLineColLoc>();
  return place ? SourceOrder(place.getFilename().getValue(), place.getLine(), place.getColumn()) : SourceOrder();
}

static void addPlacesOf(ArrayRef<Operation *> ops, ArrayRef<Operation *> made) {
  SmallVector<std::pair<SourceOrder, Location>> places;
  auto add = [&](Operation *op) { places.push_back({sourceOrder(op->getLoc()), op->getLoc()}); };
  for (Operation *op : ops)
    if (op->getNumRegions() == 0)
      add(op);
    else
      op->walk(add);
  llvm::stable_sort(places, llvm::less_first());
  for (Operation *op : made) {
    SmallVector<Location> all = {op->getLoc()};
    llvm::append_range(all, llvm::make_second_range(places));
    op->setLoc(FusedLoc::get(op->getContext(), all));
  }
}

void mhc::addPlaces(ArrayRef<Operation *> made, Value root) {
  addPlacesOf(opsBetween(inputsOf(made), root).getArrayRef(), made);
}

void PlaceKeeper::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) {
  if (!previous.isSet())
    made.push_back(op);
}

void PlaceKeeper::notifyOperationReplaced(Operation *op, ValueRange) {
  auto isNoView = [](Operation *op) { return !handsOn(op) && !op->hasTrait<OpTrait::ConstantLike>(); };
  auto computing = llvm::to_vector(llvm::make_filter_range(made, isNoView));
  if (!computing.empty())
    addPlacesOf(llvm::filter_to_vector(opsBetween(inputsOf(made), op->getResult(0)), isNoView), computing);
  made.clear();
}
