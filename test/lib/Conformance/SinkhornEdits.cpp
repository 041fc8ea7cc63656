//===- SinkhornEdits.cpp - Near misses of numbers and of Sinkhorn steps ---===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Edits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace mhc::conformance {

/// Adds an epsilon, or keeps from falling below one.
static bool hasEps(Operation *op) {
  return isa<arith::AddFOp, arith::MaximumFOp>(op) && numberAt(op) < 2 && numberIn(op) > 0 && numberIn(op) < 0.1;
}

/// The arithmetic that reads a value first, behind what only spreads and reshapes it.
static Operation *consumerOf(Value value) {
  while (value.hasOneUse()) {
    Operation *user = *value.getUsers().begin();
    if (!isa<BroadcastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
      return user;
    value = user->getResult(0);
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The number beside `op` becomes another one, here only.
static bool changeNumber(Operation *op, double number) {
  if (!op)
    return false;
  OpBuilder builder(op);
  unsigned at = numberAt(op);
  op->setOperand(at, LeafBuilder(builder, op->getLoc()).splat(number, op->getOperand(at)));
  return true;
}

bool epsOnce(Editor &e) {
  Operation *op = e.pickOp(hasEps);
  return op && changeNumber(op, numberIn(op) * e.random.pick({1e2, 1e3, 1e4}));
}

bool epsMissingOnce(Editor &e) {
  Operation *op = e.pickOp(hasEps);
  return e.changeResult(op, [&](LeafBuilder &) { return besideNumber(op); });
}

bool epsNegative(Editor &e) {
  Operation *op = e.pickOp(hasEps);
  return op && changeNumber(op, -1e3 * numberIn(op));
}

/// f(x + eps) -> f(x) + eps, for a root or a quotient.
bool epsMoved(Editor &e) {
  Operation *op = e.pickOp([](Operation *op) { return hasEps(op) && consumerOf(op->getResult(0)); });
  if (!op)
    return false;
  double eps = numberIn(op) * 1e3;
  Operation *consumer = consumerOf(op->getResult(0));
  return e.changeResult(op, [&](LeafBuilder &) { return besideNumber(op); }) &&
         e.changeResult(consumer, [&](LeafBuilder &leaf) {
           Value result = consumer->getResult(0);
           return leaf.add(result, leaf.splat(eps, result));
         });
}

/// x + eps -> max(x, eps) and back.
bool clampForAdd(Editor &e) {
  Operation *op = e.pickOp(hasEps);
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    Value other = besideNumber(op), eps = leaf.splat(numberIn(op) * 1e3, other);
    return isa<arith::AddFOp>(op) ? leaf.max(other, eps) : leaf.add(other, eps);
  });
}

/// x + eps -> x * (1 + eps)
bool epsRelative(Editor &e) {
  Operation *op = e.pickOp(hasEps);
  return e.changeResult(op, [&](LeafBuilder &leaf) { return leaf.scale(besideNumber(op), 1 + 1e3 * numberIn(op)); });
}

bool numberOnce(Editor &e) {
  Operation *op = e.pick<arith::AddFOp, arith::MulFOp, arith::DivFOp, arith::SubFOp>(
      [](Operation *op) { return numberAt(op) < 2; });
  return op && changeNumber(op, numberIn(op) == 0 ? 0.5 : numberIn(op) * e.random.pick({0.5, 2.0, -1.0, 1.01}));
}

//===----------------------------------------------------------------------===//
// Sinkhorn
//===----------------------------------------------------------------------===//

/// A quotient of a matrix, or a difference in log space.
static Operation *pickStep(Editor &e) {
  return e.pick<arith::DivFOp, arith::SubFOp>([&](Operation *op) { return e.isMatrix(op->getResult(0)); });
}

bool stepMissing(Editor &e) {
  Operation *op = pickStep(e);
  return e.changeResult(op, [&](LeafBuilder &) { return op->getOperand(0); });
}

/// The result divided by the same sum once more.
bool stepTwice(Editor &e) {
  Operation *op = pickStep(e);
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    Value result = op->getResult(0), sum = op->getOperand(1);
    return isa<arith::DivFOp>(op) ? leaf.div(result, sum) : leaf.sub(result, sum);
  });
}

/// A step between two others: rows and columns take turns no more.
bool stepExtra(Editor &e) {
  Operation *op = pickStep(e);
  int64_t dim = e.random.between(1, 2);
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    Value matrix = op->getResult(0);
    if (isa<arith::DivFOp>(op))
      return leaf.div(matrix, leaf.reduceLike(ReduceKind::sum, matrix, dim));
    return leaf.sub(matrix, leaf.log(leaf.reduceLike(ReduceKind::sum, leaf.exp(matrix), dim)));
  });
}

/// The sum of this step under the matrix of the step before.
bool olderMatrix(Editor &e) {
  Operation *op = e.pick<arith::DivFOp, arith::SubFOp>([&](Operation *op) {
    Operation *before = op->getOperand(0).getDefiningOp();
    return e.isMatrix(op->getResult(0)) && before && before->getName() == op->getName();
  });
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    Value before = op->getOperand(0).getDefiningOp()->getOperand(0);
    return isa<arith::DivFOp>(op) ? leaf.div(before, op->getOperand(1)) : leaf.sub(before, op->getOperand(1));
  });
}

/// Ops between `from` and `to`: what reads the first, directly or not, and is read by the second.
static llvm::SetVector<Operation *> opsBetween(Value from, Operation *to) {
  llvm::SetVector<Operation *> behind, between;
  std::function<bool(Operation *)> reads = [&](Operation *op) -> bool {
    if (between.contains(op))
      return true;
    if (!behind.insert(op))
      return false;
    for (Value operand : op->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      bool follows = maker && maker->getBlock() == to->getBlock() && reads(maker);
      if (operand == from || follows)
        between.insert(op);
    }
    return between.contains(op);
  };
  reads(to);
  return between;
}

/// `count` steps that end with `last` work on the transposed matrix: rows for columns.
static bool transposeSteps(Editor &e, Operation *last, int count) {
  Operation *first = last;
  for (int i = 1; first && i < count; ++i)
    first = first->getOperand(0).getDefiningOp<arith::DivFOp>();
  if (!first || !e.isMatrix(first->getOperand(0)))
    return false;
  Value start = first->getOperand(0);
  llvm::SetVector<Operation *> steps = opsBetween(start, last);
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfterValue(start);
  Value turned = LeafBuilder(builder, last->getLoc()).transpose(start, {0, 2, 1});
  start.replaceUsesWithIf(turned, [&](OpOperand &use) { return steps.contains(use.getOwner()); });
  return e.changeResult(last, [&](LeafBuilder &leaf) { return leaf.transpose(last->getResult(0), {0, 2, 1}); });
}

static Operation *pickQuotient(Editor &e) {
  return e.pick<arith::DivFOp>([&](Operation *op) { return e.isMatrix(op->getResult(0)) && isBetweenTensors(op); });
}

bool sameAxisTwice(Editor &e) {
  Operation *op = pickQuotient(e);
  return op && transposeSteps(e, op, 1);
}

bool orderSwappedOnce(Editor &e) {
  Operation *op = pickQuotient(e);
  return op && transposeSteps(e, op, 2);
}

/// The result of a step one turn too early, at one place.
bool earlierMatrix(Editor &e) {
  auto isStep = [&](Value value) {
    return e.isMatrix(value) && isa_and_nonnull<arith::DivFOp, SoftmaxOp, math::ExpOp>(value.getDefiningOp());
  };
  return e.changeUse(isStep, [&](LeafBuilder &, Value value) { return e.other(value, isStep); });
}

bool turnCountOnce(Editor &e) {
  // The steps of one turn once more, at one place.
  Operation *op = pickQuotient(e);
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    Value matrix = op->getResult(0);
    for (int64_t dim : {2, 1})
      matrix = leaf.div(matrix, leaf.reduceLike(ReduceKind::sum, matrix, dim));
    return matrix;
  });
}

/// Factors of other lines, or of another step, at one place.
bool otherFactors(Editor &e) {
  auto isFactors = [&](Value value) {
    Operation *op = value.getDefiningOp<arith::DivFOp>();
    return op && e.isGate(value) && numberAt(op) == 0;
  };
  return e.changeUse(isFactors, [&](LeafBuilder &, Value value) { return e.other(value, isFactors); });
}

/// The maximum that is subtracted is the largest one of all tokens.
bool maximumOfTokens(Editor &e) {
  Operation *op = e.pick<ReduceOp>([](Operation *op) { return cast<ReduceOp>(op).getKind() == ReduceKind::max; });
  return e.changeResult(op, [&](LeafBuilder &leaf) { return leaf.reduceLike(ReduceKind::max, op->getResult(0), 0); });
}

bool softmaxAxis(Editor &e) {
  Operation *op = e.pick<SoftmaxOp>([&](Operation *op) { return e.isMatrix(op->getResult(0)); });
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    return leaf.softmax(op->getOperand(0), 3 - static_cast<int64_t>(cast<SoftmaxOp>(op).getDim()));
  });
}

bool softmaxTemperature(Editor &e) {
  Operation *op = e.pick<SoftmaxOp, math::ExpOp>();
  return op && e.changeUse([&](Value value) { return value == op->getOperand(0); },
                           [&](LeafBuilder &leaf, Value value) { return leaf.scale(value, 1.5); });
}

/// The product of the softmax with a table of permutations that has two rows in each other's place.
bool permutationTable(Editor &e) {
  Operation *op = e.pick<arith::ConstantOp>([](Operation *op) {
    auto elements = dyn_cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue());
    return elements && !elements.isSplat() && elements.getType().getRank() == 2;
  });
  return e.changeResult(op, [&](LeafBuilder &leaf) {
    Value table = op->getResult(0);
    int64_t rows = cast<RankedTensorType>(table.getType()).getDimSize(0);
    Value head = leaf.slice(table, 0, 0, 1), tail = leaf.slice(table, 0, 1, rows - 1);
    return leaf.concat({tail, head}, 0);
  });
}

} // namespace mhc::conformance
