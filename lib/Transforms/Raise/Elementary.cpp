//===- Elementary.cpp - sigmoid and softmax written out ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Normalise.h"
#include "Places.h"
#include "RaiseForms.h"
#include "Sinkhorn.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mhc;

/// number + x -> x
static Value behindNumber(Value value, double number) {
  auto add = value.getDefiningOp<arith::AddFOp>();
  return add ? besides(add, number) : Value();
}

/// factor * x -> x
static Value withoutFactor(Value value, double factor) {
  auto mul = value.getDefiningOp<arith::MulFOp>();
  return mul ? besides(mul, factor) : Value();
}

/// tanh(z / 2) -> z
static Value matchTanhOfHalf(Value value) {
  auto tanh = value ? value.getDefiningOp<math::TanhOp>() : math::TanhOp();
  return tanh ? withoutFactor(tanh.getOperand(), 0.5) : Value();
}

namespace {
/// factor * sigmoid(z), or of -z
struct Sigmoid {
  Value z;
  bool negative = false;
  double factor = 1;
};
} // namespace

/// c / (1 + exp(-z)) and exp(z) / (1 + exp(z)); c / (1 + exp(z)) is the sigmoid of -z.
static std::optional<Sigmoid> matchLogistic(arith::DivFOp div) {
  Value exp = behindNumber(div.getRhs(), 1);
  auto expOp = exp ? exp.getDefiningOp<math::ExpOp>() : math::ExpOp();
  if (!expOp)
    return std::nullopt;
  Value exponent = expOp.getOperand();
  if (div.getLhs() == exp)
    return Sigmoid{exponent};
  std::optional<double> number = constantValue(div.getLhs());
  if (!number)
    return std::nullopt;
  Value z = negated(exponent);
  return Sigmoid{z ? z : exponent, /*negative=*/!z, *number};
}

/// A sigmoid in any words: of exp or of tanh, and 1 - sigmoid(-z).
static std::optional<Sigmoid> matchSigmoid(Operation *op) {
  if (auto div = dyn_cast<arith::DivFOp>(op))
    return matchLogistic(div);
  if (auto sub = dyn_cast<arith::SubFOp>(op); sub && isNumber(sub.getLhs(), 1)) {
    auto mirror = sub.getRhs().getDefiningOp<SigmoidOp>();
    Value z = mirror ? negated(mirror.getX()) : Value();
    return z ? std::optional(Sigmoid{z}) : std::nullopt;
  }
  if (isa<arith::AddFOp>(op)) {
    if (Value z = matchTanhOfHalf(behindNumber(op->getResult(0), 1)))
      return Sigmoid{z, false, 2};
    Value half = behindNumber(op->getResult(0), 0.5);
    Value z = half ? matchTanhOfHalf(withoutFactor(half, 0.5)) : Value();
    return z ? std::optional(Sigmoid{z}) : std::nullopt;
  }
  // (1 + tanh(z / 2)) / 2: its sum was met before.
  Value doubled = withoutFactor(op->getResult(0), 0.5);
  Value gate = doubled ? withoutFactor(doubled, 2) : Value();
  auto sigmoid = gate ? gate.getDefiningOp<SigmoidOp>() : SigmoidOp();
  return sigmoid ? std::optional(Sigmoid{sigmoid.getX()}) : std::nullopt;
}

/// What divides an element of `value`, which a division or the product with a reciprocal reads.
static std::optional<Form> divisorOf(FormBuilder &forms, Operation *op, Value value, const Indices &index) {
  if (auto div = dyn_cast<arith::DivFOp>(op))
    return div.getLhs() == value ? std::optional(forms.at(div.getRhs(), index)) : std::nullopt;
  return divisorOf(forms, forms.at(op->getOperand(op->getOperand(0) == value ? 1 : 0), index), /*inverted=*/true);
}

/// exp(log_softmax(z)), exp(z) / sum exp(z), or the same with z - max(z): z and the dimension.
static std::optional<std::pair<Value, int64_t>> matchSoftmax(FormBuilder &forms, Operation *op) {
  // Where something else reads the logarithm, it is a step of an iteration.
  if (auto exp = dyn_cast<math::ExpOp>(op))
    return singleUser(exp.getOperand()) ? matchLogSoftmax(forms, exp.getOperand()) : std::nullopt;
  if (!isa<arith::DivFOp, arith::MulFOp>(op))
    return std::nullopt;
  auto exp = op->getOperand(0).getDefiningOp<math::ExpOp>();
  if (!exp && isa<arith::MulFOp>(op))
    exp = op->getOperand(1).getDefiningOp<math::ExpOp>();
  if (!exp)
    return std::nullopt;
  forms.reset();
  forms.stops.insert(exp.getResult());
  Indices index = forms.freshIndices(exp.getResult());
  std::optional<Form> divisor = divisorOf(forms, op, exp.getResult(), index);
  if (!divisor)
    return std::nullopt;
  forms.resolve(*divisor);
  std::optional<int64_t> dim =
      divisor->terms.size() == 1 ? summedDim(forms, divisor->terms[0], index, exp.getResult()) : std::nullopt;
  if (!dim)
    return std::nullopt;
  return std::make_pair(stripShift(forms, exp.getOperand(), *dim), *dim);
}

static void replaceBy(Sites &sites, Value made, Operation *root) {
  Operation *op = made.getDefiningOp();
  if (!mayReplace(sites, op, root->getResult(0), made))
    return;
  addPlaces(op, root->getResult(0));
  root->replaceAllUsesWith(op);
}

static Value buildSigmoid(OpBuilder &builder, Location loc, const Sigmoid &sigmoid) {
  LeafBuilder leaf(builder, loc);
  Value gate = leaf.sigmoid(sigmoid.negative ? leaf.negate(sigmoid.z) : sigmoid.z);
  return sigmoid.factor == 1 ? gate : leaf.scale(gate, sigmoid.factor);
}

void mhc::raiseElementary(func::FuncOp func, FormBuilder &forms, Sites &sites) {
  func.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()) || isWide(op->getResult(0)))
      return;
    OpBuilder builder(op);
    if (std::optional<Sigmoid> sigmoid = matchSigmoid(op)) {
      replaceBy(sites, buildSigmoid(builder, op->getLoc(), *sigmoid), op);
    } else if (auto softmax = matchSoftmax(forms, op)) {
      auto [logits, dim] = *softmax;
      replaceBy(sites, LeafBuilder(builder, op->getLoc()).softmax(logits, dim), op);
    }
  });
}
