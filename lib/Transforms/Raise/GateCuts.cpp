//===- GateCuts.cpp - Sigmoids that are several gates --------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gates may lie side by side in one tensor until they are read, as [tokens, 2 * n] or as [tokens, 2, n], also while
// each is scaled by its own element of a vector. A part of what is computed of a sigmoid is computed of that part.
//
//===----------------------------------------------------------------------===//

#include "GateOrder.h"
#include "Linear.h"
#include "Normalise.h"
#include "Places.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mhc;

namespace {
/// The ops from a sigmoid to a part of what is computed of it; the last one takes the part.
using Path = SmallVector<Operation *, 4>;

/// A sigmoid all of whose readers are parts, each computed by itself.
struct Cut {
  SigmoidOp gate;
  SmallVector<Path> paths;
  SmallVector<SigmoidOp> gates; ///< of the parts
  SmallVector<Value> parts;
  SmallVector<Operation *> made;
};
} // namespace

/// More ops or parts are no gates.
constexpr size_t kMostOps = 6, kMostParts = 4;

/// Whether a value is a number or a vector that is repeated for each token.
static bool isOfParameters(Value value) {
  if (constantValue(value))
    return true;
  while (Operation *op = value.getDefiningOp()) {
    if (!rearranges(op))
      return isa<BroadcastOp, arith::ConstantOp>(op);
    value = op->getOperand(0);
  }
  return false;
}

/// Adds the paths from `value`, which `path` leads to; false where one leads to something else than a part.
static bool addPaths(Value value, Path &path, SmallVector<Path> &all) {
  auto isAllowed = [&](Operation *user) {
    return rearranges(user) || (isElementwise(user) && llvm::all_of(user->getOperands(), [&](Value operand) {
                                  return operand == value || isOfParameters(operand);
                                }));
  };
  for (Operation *user : value.getUsers()) {
    path.push_back(user);
    bool isPart = isa<tensor::ExtractSliceOp>(user) && all.size() < kMostParts;
    if (isPart)
      all.push_back(path);
    else if (path.size() > kMostOps || !isAllowed(user) || !addPaths(user->getResult(0), path, all))
      return false;
    path.pop_back();
  }
  return true;
}

/// Shows a value that an op in front of a path reads, as the views of the path do.
static Value show(OpBuilder &builder, Value value, ArrayRef<Operation *> path) {
  for (Operation *op : path) {
    if (isElementwise(op))
      continue;
    IRMapping mapping;
    mapping.map(op->getOperand(0), value);
    Value view = builder.clone(*op, mapping)->getResult(0);
    view.setType(cast<RankedTensorType>(view.getType()).clone(getElementTypeOrSelf(value)));
    value = view;
  }
  return value;
}

/// f(sigmoid(z), vector)[part] -> f(sigmoid(z[part]), vector[part])
static void computePart(OpBuilder &builder, Cut &cut, ArrayRef<Operation *> path) {
  builder.setInsertionPoint(path.back());
  Value z = show(builder, cut.gate.getX(), path);
  cut.gates.push_back(SigmoidOp::create(builder, cut.gate.getLoc(), z.getType(), z));
  Value part = cut.gates.back().getResult(), whole = cut.gate.getResult();
  for (auto [number, op] : llvm::enumerate(path)) {
    SmallVector<Value> operands;
    for (Value operand : isElementwise(op) ? op->getOperands() : ValueRange()) {
      LeafBuilder leaf(builder, operand.getLoc());
      std::optional<double> repeated = constantValue(operand);
      if (operand == whole)
        operands.push_back(part);
      else
        operands.push_back(repeated ? leaf.splat(*repeated, leaf.cast(part, getElementTypeOrSelf(operand)))
                                    : show(builder, operand, path.drop_front(number + 1)));
    }
    whole = op->getResult(0);
    if (operands.empty())
      continue;
    auto type = cast<RankedTensorType>(part.getType()).clone(getElementTypeOrSelf(whole));
    OperationState state(op->getLoc(), op->getName(), operands, type, op->getAttrs());
    part = builder.create(state)->getResult(0);
  }
  cut.parts.push_back(part);
}

static std::optional<Cut> cutGate(SigmoidOp gate) {
  Cut cut{gate, {}, {}, {}, {}};
  Path path;
  if (!addPaths(gate.getResult(), path, cut.paths) || cut.paths.size() < 2)
    return std::nullopt;
  struct Collector : OpBuilder::Listener {
    SmallVector<Operation *> made;
    void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { made.push_back(op); }
  } collector;
  OpBuilder builder(gate->getContext(), &collector);
  for (const Path &path : cut.paths)
    computePart(builder, cut, path);
  cut.made = collector.made;
  return cut;
}

/// Whether the parts are gates of streams, each of rows of its own, and the whole is none.
static bool areGates(algebra::Reading &reading, Cut &cut) {
  std::optional<LinearGroup> whole = matchLinearGroup(reading, cut.gate.getX(), cut.gate);
  std::vector<LinearGroup> groups;
  for (SigmoidOp gate : cut.gates) {
    std::optional<LinearGroup> group = matchLinearGroup(reading, gate.getX(), gate);
    if (!group || group->extent < kMinStreams || group->extent > kMaxStreams ||
        llvm::any_of(groups, [&](const LinearGroup &other) { return !areApart(*group, other); }))
      return false;
    groups.push_back(*group);
  }
  return !whole || !isOfStreams(*whole);
}

bool mhc::cutGates(func::FuncOp func, algebra::Reading &reading) {
  std::vector<Cut> cuts;
  SmallVector<SigmoidOp> gates;
  func.walk([&](SigmoidOp gate) { gates.push_back(gate); });
  for (SigmoidOp gate : gates)
    if (std::optional<Cut> cut = cutGate(gate))
      cuts.push_back(std::move(*cut));
  if (cuts.empty())
    return false;
  reading.refresh();
  if (cutWeights(func, reading))
    reading.refresh();
  for (Cut &cut : cuts) {
    SmallVector<Operation *> unused = cut.made;
    if (areGates(reading, cut)) {
      unused.assign({cut.gate});
      for (auto [path, part] : llvm::zip(cut.paths, cut.parts)) {
        addPlaces(part.getDefiningOp(), path.back()->getResult(0));
        path.back()->getResult(0).replaceAllUsesWith(part);
        for (Operation *op : path)
          if (!llvm::is_contained(unused, op))
            unused.push_back(op);
      }
    }
    llvm::for_each(unused, [](Operation *op) { op->dropAllReferences(); });
    for (Operation *op : llvm::reverse(unused))
      op->erase();
  }
  return true;
}
