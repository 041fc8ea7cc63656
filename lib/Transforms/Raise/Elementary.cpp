//===- Elementary.cpp - sigmoid and softmax written out ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Normalise.h"
#include "Places.h"
#include "Raise.h"
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

/// 1 / (1 + exp(-z)) and exp(z) / (1 + exp(z)); 1 / (1 + exp(z)) is the sigmoid of -z.
static std::optional<Sigmoid> matchLogistic(arith::DivFOp div) {
  Value exp = behindNumber(div.getRhs(), 1);
  auto expOp = exp ? exp.getDefiningOp<math::ExpOp>() : math::ExpOp();
  if (!expOp)
    return std::nullopt;
  Value exponent = expOp.getOperand();
  if (div.getLhs() == exp)
    return Sigmoid{exponent};
  if (!isNumber(div.getLhs(), 1))
    return std::nullopt;
  Value z = negated(exponent);
  return z ? Sigmoid{z} : Sigmoid{exponent, /*negative=*/true};
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

/// exp(log_softmax(z)), exp(z) / sum exp(z), or the same with z - max(z): z and the dimension.
static std::optional<std::pair<Value, int64_t>> matchSoftmax(FormBuilder &forms, Operation *op) {
  // Where something else reads the logarithm, it is a step of an iteration.
  if (auto exp = dyn_cast<math::ExpOp>(op))
    return exp.getOperand().hasOneUse() ? matchLogSoftmax(forms, exp.getOperand()) : std::nullopt;
  auto div = dyn_cast<arith::DivFOp>(op);
  auto exp = div ? div.getLhs().getDefiningOp<math::ExpOp>() : math::ExpOp();
  if (!exp)
    return std::nullopt;
  forms.reset();
  forms.stops.insert(exp.getResult());
  Indices index = forms.freshIndices(exp.getResult());
  Form sum = forms.at(div.getRhs(), index);
  forms.resolve(sum);
  if (sum.terms.size() != 1 || sum.terms[0].sums.size() != 1 || sum.terms[0].factors.size() != 1 ||
      sum.terms[0].coefficient != 1 || sum.terms[0].factors[0].base != exp.getResult() ||
      sum.terms[0].factors[0].power != 1 || !forms.fullVars(sum.terms[0].factors[0]))
    return std::nullopt;
  Indices summed = sum.terms[0].factors[0].index;
  std::optional<int64_t> dim;
  for (size_t i = 0; i < index.size(); ++i) {
    if (summed[i] == index[i])
      continue;
    if (dim || summed[i].vars != sum.terms[0].sums)
      return std::nullopt;
    dim = i;
  }
  if (!dim)
    return std::nullopt;
  Value z = exp.getOperand();
  auto sub = z.getDefiningOp<arith::SubFOp>();
  if (!sub)
    return std::make_pair(z, *dim);
  // The shift drops out when it is the same along the dimension; only a maximum of z itself is taken.
  Form shift = forms.at(sub.getRhs(), index);
  forms.resolve(shift);
  if (shift.terms.size() != 1 || shift.terms[0].factors.size() != 1)
    return std::make_pair(z, *dim);
  auto max = shift.terms[0].factors[0].base.getDefiningOp<ReduceOp>();
  bool drops = max && max.getKind() == ReduceKind::max && max.getX() == sub.getLhs() &&
               !containsAny(varsOf(forms, shift.terms[0].factors[0]), forms.flatten(index[*dim].vars));
  return std::make_pair(drops ? sub.getLhs() : z, *dim);
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
