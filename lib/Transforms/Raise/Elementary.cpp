//===- Elementary.cpp - sigmoid and softmax written out ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Places.h"
#include "Raise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mhc;

static bool isNumber(Value value, double number) {
  std::optional<double> constant = constantValue(value);
  return constant && *constant == number;
}

/// The other operand of a commutative op that has one operand for which `test` holds.
template <typename Op, typename Test>
static Value otherOperand(Value value, Test test) {
  auto op = value.getDefiningOp<Op>();
  if (!op)
    return {};
  if (test(op.getRhs()))
    return op.getLhs();
  return test(op.getLhs()) ? Value(op.getRhs()) : Value();
}

static Value negated(Value value) {
  if (auto neg = value.getDefiningOp<arith::NegFOp>())
    return neg.getOperand();
  if (auto sub = value.getDefiningOp<arith::SubFOp>(); sub && isNumber(sub.getLhs(), 0))
    return sub.getRhs();
  return otherOperand<arith::MulFOp>(value, [](Value v) { return isNumber(v, -1); });
}

/// 1 / (1 + exp(-z)) -> z
static Value matchLogistic(Operation *op) {
  auto div = dyn_cast<arith::DivFOp>(op);
  if (!div || !isNumber(div.getLhs(), 1))
    return {};
  Value exp = otherOperand<arith::AddFOp>(div.getRhs(), [](Value v) { return isNumber(v, 1); });
  auto expOp = exp ? exp.getDefiningOp<math::ExpOp>() : math::ExpOp();
  return expOp ? negated(expOp.getOperand()) : Value();
}

/// (tanh(z / 2) + 1) / 2 -> z
static Value matchTanhLogistic(Operation *op) {
  auto halved = [](Value value) -> Value {
    if (auto div = value.getDefiningOp<arith::DivFOp>(); div && isNumber(div.getRhs(), 2))
      return div.getLhs();
    return otherOperand<arith::MulFOp>(value, [](Value v) { return isNumber(v, 0.5); });
  };
  Value sum = halved(op->getResult(0));
  Value tanh = sum ? otherOperand<arith::AddFOp>(sum, [](Value v) { return isNumber(v, 1); }) : Value();
  auto tanhOp = tanh ? tanh.getDefiningOp<math::TanhOp>() : math::TanhOp();
  return tanhOp ? halved(tanhOp.getOperand()) : Value();
}

/// exp(z) / sum exp(z), or the same with z - max(z): z and the dimension.
static std::optional<std::pair<Value, int64_t>> matchSoftmax(FormBuilder &forms, Operation *op) {
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

static void replaceBy(Sites &sites, Operation *made, Operation *root) {
  if (!mayReplace(sites, made, root->getResult(0), made->getResult(0)))
    return;
  addPlaces(made, root->getResult(0));
  root->replaceAllUsesWith(made);
}

void mhc::raiseElementary(func::FuncOp func, FormBuilder &forms, Sites &sites) {
  func.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()) || isWide(op->getResult(0)))
      return;
    OpBuilder builder(op);
    Value z = matchLogistic(op);
    if (!z)
      z = matchTanhLogistic(op);
    if (z) {
      replaceBy(sites, SigmoidOp::create(builder, op->getLoc(), z.getType(), z), op);
    } else if (auto softmax = matchSoftmax(forms, op)) {
      auto [logits, dim] = *softmax;
      replaceBy(sites, SoftmaxOp::create(builder, op->getLoc(), logits.getType(), logits, dim), op);
    }
  });
}
