//===- Clamps.cpp - Values bounded by numbers ---------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Clamps.h"
#include "Linear.h"
#include "Places.h"
#include "mhc/IR/LeafBuilder.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mhc;

namespace {
/// An op that bounds its other operand by a number.
struct Bound {
  Operation *op;
  Value bounded;
  double number;
};
} // namespace

static std::optional<Bound> boundOf(Operation *op) {
  if (!isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp, arith::MinimumFOp, arith::MinNumFOp>(op))
    return std::nullopt;
  for (unsigned side : {1, 0})
    if (std::optional<double> number = constantValue(op->getOperand(side)))
      return Bound{op, op->getOperand(1 - side), *number};
  return std::nullopt;
}

bool mhc::isClamp(Operation *op) { return boundOf(op).has_value(); }

double mhc::upperBound(Value value) {
  SmallVector<Bound> bounds; // the last one first
  while (std::optional<Bound> bound = boundOf(behindReshapes(value).getDefiningOp())) {
    bounds.push_back(*bound);
    value = bound->bounded;
  }
  double upper = INFINITY;
  for (const Bound &bound : llvm::reverse(bounds)) {
    bool isLower = isa<arith::MaximumFOp, arith::MaxNumFOp>(bound.op);
    upper = isLower ? std::max(upper, bound.number) : std::min(upper, bound.number);
  }
  return upper;
}

static bool liftClamp(algebra::Reading &reading, SigmoidOp gate) {
  SmallVector<Bound> bounds;
  Value z = gate.getX();
  while (std::optional<Bound> bound = boundOf(z.getDefiningOp())) {
    bounds.push_back(*bound);
    z = bound->bounded;
  }
  std::optional<LinearGroup> rows = bounds.empty() ? std::nullopt : matchLinearGroup(reading, z, gate);
  if (!rows || !isOfStreams(*rows))
    return false;
  OpBuilder builder(gate);
  LeafBuilder leaf(builder, gate.getLoc());
  Value lifted = leaf.sigmoid(z);
  SmallVector<Operation *> made = {lifted.getDefiningOp()};
  for (const Bound &bound : llvm::reverse(bounds)) {
    Value number = leaf.splat(1 / (1 + std::exp(-bound.number)), lifted);
    Operation *clamp = builder.clone(*bound.op); // a NaN is bounded or not, as by the op
    clamp->setOperands({lifted, number});
    lifted = clamp->getResult(0);
    made.push_back(clamp);
  }
  addPlaces(made, gate.getResult());
  gate.getResult().replaceAllUsesWith(lifted);
  return true;
}

bool mhc::liftClamps(func::FuncOp func, algebra::Reading &reading) {
  SmallVector<SigmoidOp> gates;
  func.walk([&](SigmoidOp gate) { gates.push_back(gate); });
  bool lifted = false;
  for (SigmoidOp gate : gates)
    lifted |= liftClamp(reading, gate);
  return lifted;
}
