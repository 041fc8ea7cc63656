//===- SinkhornRounded.cpp - Sinkhorn iterations in bf16 and f16 --------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program whose matrices are narrow rounds the result of each op. Nothing drops out between two roundings, so that
// each step shows as it was written:
//
//   round(y / round(round(sum y) + eps))
//
// An iteration that is found rounds where mhc.sinkhorn with a format rounds, and nowhere else.
//
//===------------------------------------------------------------------------===//
#include "Bounds.h"
#include "SinkhornMatcher.h"
#include "mhc/IR/OpKinds.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;

namespace {
class RoundedMatcher : public SinkhornMatcher {
public:
  using SinkhornMatcher::SinkhornMatcher;

private:
  bool undoStep() override;
  bool isSameState(const Expr &a, const Expr &b) override { return isSame(a, b); }
  std::optional<std::pair<Expr, Init>> readStart() override;

  static bool isSame(const Expr &a, const Expr &b);
  /// round(a) -> a
  std::optional<Expr> unrounded(const Expr &expr);
  std::optional<Expr> rounded(std::optional<Expr> expr) {
    return expr ? algebra.apply(algebra::roundingTo(*format), {*expr}) : std::nullopt;
  }
  std::optional<Step> readStep(const algebra::Element *element, const Expr &sums, algebra::Var over);
  /// round(exp(z) / sum(exp(z)))
  struct Softmax {
    Expr logits;
    Step step;
  };
  std::optional<Softmax> readSoftmax(const Expr &expr);
  /// z - max(z): z
  std::optional<Expr> readShifted(const Expr &expr, ArrayRef<algebra::Var> over);
  /// sigmoid(z): z
  std::optional<Expr> readSigmoid(const Expr &expr);
};

/// number + rest
struct Shifted {
  Expr rest;
  double number;
};
} // namespace

bool RoundedMatcher::isSame(const Expr &a, const Expr &b) {
  const algebra::Factor *x = algebra::singleFactor(a), *y = algebra::singleFactor(b);
  return x && y && x->element == y->element && a[0].coefficient == b[0].coefficient;
}

static const algebra::Factor *wholeFactor(const Expr &expr) {
  const algebra::Factor *factor = algebra::singleFactor(expr);
  return factor && expr[0].coefficient == 1 ? factor : nullptr;
}

std::optional<Expr> RoundedMatcher::unrounded(const Expr &expr) {
  return isRounded(expr, *format) ? algebra.part(expr[0].factors[0].element) : std::nullopt;
}

static std::optional<Shifted> readShift(const Expr &sum) {
  if (sum.size() != 2)
    return std::nullopt;
  for (unsigned side : {0, 1})
    if (std::optional<double> number = algebra::numberOf({sum[side]}))
      return Shifted{{sum[1 - side]}, *number};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

std::optional<SinkhornMatcher::Step> RoundedMatcher::readStep(const algebra::Element *element, const Expr &sums,
                                                              algebra::Var over) {
  const Expr divisor = Algebra::of(element);
  if (isSame(divisor, sums))
    return Step{over, Denom::none, 0, element, user};
  std::optional<Expr> bounded = unrounded(divisor);
  std::optional<Shifted> shifted = bounded ? readShift(*bounded) : std::nullopt;
  if (shifted && isSame(shifted->rest, sums))
    return Step{over, Denom::add, shifted->number, element, user};
  // The larger one of two narrow numbers is narrow.
  const algebra::Factor *max = wholeFactor(bounded ? *bounded : divisor);
  if (!max || !max->node()->isApply("max"))
    return std::nullopt;
  std::optional<Expr> sides[] = {algebra.part(max->element, {}, 0), algebra.part(max->element, {}, 1)};
  for (unsigned side : {0, 1})
    if (std::optional<double> eps = sides[side] ? algebra::numberOf(*sides[side]) : std::nullopt;
        eps && sides[1 - side] && isSame(*sides[1 - side], sums))
      return Step{over, Denom::clamp, *eps, element, user};
  return std::nullopt;
}

bool RoundedMatcher::undoStep() {
  std::optional<Expr> quotient = unrounded(state);
  if (!quotient || quotient->size() != 1 || quotient->front().coefficient != 1 || !quotient->front().exponent.empty() ||
      quotient->front().factors.size() != 2)
    return false;
  const algebra::Term &term = quotient->front();
  const algebra::Factor &divisor = term.factors[term.factors[0].halves == -2 ? 0 : 1];
  const algebra::Factor &divided = term.factors[term.factors[0].halves == -2 ? 1 : 0];
  std::optional<algebra::Var> over = summedIn(divisor);
  if (divisor.halves != -2 || divided.halves != 2 || !over)
    return false;
  Expr before = Algebra::of(divided.element);
  std::optional<Expr> sums = rounded(reduceOver("sum", before, *over));
  std::optional<Step> step = sums ? readStep(divisor.element, *sums, *over) : std::nullopt;
  if (!step)
    return false;
  state = before;
  steps.push_back(*step);
  return true;
}

//===----------------------------------------------------------------------===//
// Start
//===----------------------------------------------------------------------===//

std::optional<RoundedMatcher::Softmax> RoundedMatcher::readSoftmax(const Expr &expr) {
  std::optional<Expr> quotient = unrounded(expr);
  if (!quotient || quotient->size() != 1 || quotient->front().coefficient != 1 ||
      quotient->front().factors.size() != 1 || quotient->front().factors[0].halves != -2)
    return std::nullopt;
  const algebra::Factor &divisor = quotient->front().factors[0];
  std::optional<algebra::Var> over = summedIn(divisor);
  std::optional<Expr> exp = over ? algebra.exp(quotient->front().exponent) : std::nullopt;
  std::optional<Expr> sums = exp ? reduceOver("sum", *exp, *over) : std::nullopt;
  if (!sums || !isSame(*sums, Algebra::of(divisor.element)))
    return std::nullopt;
  return Softmax{quotient->front().exponent, {*over, Denom::none, 0, divisor.element, user}};
}

std::optional<Expr> RoundedMatcher::readSigmoid(const Expr &expr) {
  const algebra::Factor *sigmoid = wholeFactor(expr);
  bool isSigmoid = sigmoid && sigmoid->node()->isApply("sigmoid");
  return isSigmoid ? algebra.part(sigmoid->element) : std::nullopt;
}

std::optional<Expr> RoundedMatcher::readShifted(const Expr &expr, ArrayRef<algebra::Var> over) {
  std::optional<Expr> difference = unrounded(expr);
  if (!difference || difference->size() != 2)
    return std::nullopt;
  for (unsigned side : {0, 1}) {
    Expr z = {(*difference)[side]}, max = Algebra::scale({(*difference)[1 - side]}, -1);
    std::optional<Expr> expected = isNarrow(z, *format) ? reduceOver("max", z, over) : std::nullopt;
    if (expected && isSame(max, *expected))
      return z;
  }
  return std::nullopt;
}

std::optional<std::pair<Expr, Init>> RoundedMatcher::readStart() {
  auto found = [&](const Expr &logits, Init init) {
    return isNarrow(logits, *format) ? std::optional(std::make_pair(logits, init)) : std::nullopt;
  };
  if (std::optional<Softmax> softmax = readSoftmax(state)) {
    steps.push_back(softmax->step);
    return found(softmax->logits, softmax->step.over == column() ? Init::exp_rowmax : Init::exp_colmax);
  }
  std::optional<Expr> start = unrounded(state);
  if (!start)
    return std::nullopt;
  if (std::optional<Expr> logits = readSigmoid(*start))
    return found(*logits, Init::sigmoid);
  if (std::optional<Shifted> shifted = readShift(*start)) {
    std::optional<Expr> sigmoid = shifted->number == steps.back().eps ? unrounded(shifted->rest) : std::nullopt;
    if (std::optional<Expr> logits = sigmoid ? readSigmoid(*sigmoid) : std::nullopt)
      return found(*logits, Init::sigmoid_eps);
    std::optional<Softmax> softmax = readSoftmax(shifted->rest);
    if (!softmax || isToken(softmax->step.over))
      return std::nullopt;
    steps.push_back(softmax->step);
    steps.back().denom = Denom::add;
    steps.back().eps = shifted->number;
    return found(softmax->logits, Init::softmax_eps);
  }
  if (start->size() != 1 || start->front().coefficient != 1 || !start->front().factors.empty())
    return std::nullopt;
  const Expr &exponent = start->front().exponent;
  for (const Shift &shift : shifts())
    if (std::optional<Expr> logits = readShifted(exponent, shift.over))
      return found(*logits, shift.init);
  return found(exponent, Init::exp);
}

SinkhornMatch mhc::matchRoundedSinkhorn(algebra::Reading &reading, Value value, MatrixAxes axes, Format format) {
  return RoundedMatcher(reading, value, axes, format).match();
}
