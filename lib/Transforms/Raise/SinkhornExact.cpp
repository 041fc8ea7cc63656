//===- SinkhornExact.cpp - Sinkhorn iterations in f32 -------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An iteration divides the rows of a matrix by their sums, then the columns, and so on. Its result is a product
//
//   exp(z) * 1/d1 * 1/d2 * ...
//
// and one step is undone by finding the divisor that is the sum of what the product was before it. Where no eps is
// added to the sums, what all elements of a row have in common drops out when the rows are divided by their sums: an
// iteration that divides the matrix, one that scales exp(z) by vectors u and v, and one that subtracts logarithms are
// then one product, of which only the last two divisors are left. The divisor tells what the product before it was, but
// for what dropped out later.
//
// With an eps, vectors u = 1 / (K v + eps) and v = 1 / (K^T u + eps) are not what dividing the matrix makes. The result
// is K u v of the last two; each divisor has the vector that the one before it made, and all of them the same K.
//
//===------------------------------------------------------------------------===//
#include "Bounds.h"
#include "SinkhornMatcher.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;

namespace {
/// The iteration in f32: a product of all divisors.
class ExactMatcher : public SinkhornMatcher {
public:
  using SinkhornMatcher::SinkhornMatcher;

private:
  bool undoStep() override;
  bool isSameState(const Expr &a, const Expr &b) override;
  std::optional<std::pair<Expr, Init>> readStart() override;

  std::optional<std::pair<Expr, Init>> readFunction();
  bool undoDivision();
  bool undoDivision(const algebra::Factor &divisor);
  bool undoGuard();
  bool undoExact(const algebra::Factor &divisor, algebra::Var over);
  bool undoSumWithNumber(const algebra::Factor &divisor, const Expr &part, algebra::Var over);
  bool undoWithEps(const algebra::Factor &divisor, algebra::Var over);
  bool undoPotentials(const algebra::Factor &divisor, algebra::Var over);
  std::optional<Expr> summedBy(const algebra::Factor &divisor, algebra::Var over);
  std::optional<Step> readBound(const algebra::Element *divisor, const Expr &sums, algebra::Var over);
  std::optional<Expr> boundedSums(const Step &step, const Expr &sums);
  bool isEqual(const Expr &a, const Expr &b);
  bool undoSoftmaxEps();
  bool isBelowRounding(double eps);
  void takeSumsOfSoftmaxEps();
  bool takeShift(Expr &logits, ArrayRef<algebra::Var> over);
  std::optional<Expr> readSigmoid(const Expr &expr);
  std::optional<Expr> readSigmoidEps();
  std::optional<Expr> readSoftmaxOfMatrix();
  void takeSoftmax();
  void takeNumber(Expr &logits);

  /// Whether a factor of the matrix is divided by itself in a later step: where magnitudes are summed, but for its
  /// sign.
  bool dropsOut(const algebra::Factor &factor) const {
    return dead && !dependsOn(factor, *dead) && (!sumsMagnitudes || isNonNegative(factor));
  }

  std::optional<algebra::Var> dead; ///< factors without this variable drop out later
  std::optional<Expr> kernel;       ///< K, where the steps are of potentials
  bool sumsMagnitudes = false;      ///< in one of the steps
};
} // namespace

bool ExactMatcher::isEqual(const Expr &a, const Expr &b) {
  std::optional<Expr> ratio = algebra.divide(a, b);
  return ratio && algebra::numberOf(*ratio) == 1.0;
}

bool ExactMatcher::isSameState(const Expr &a, const Expr &b) {
  std::optional<Expr> ratio = algebra.divide(a, b);
  if (!ratio || ratio->size() != 1)
    return false;
  if (!dead)
    return algebra::numberOf(*ratio) == 1.0;
  // A sign drops out with its sum, and stays where magnitudes are summed.
  const algebra::Term &rest = (*ratio)[0];
  bool isPositive = rest.coefficient > 0 && isNonNegative(rest);
  return !dependsOn(rest, *dead) && (isPositive || !sumsMagnitudes);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

bool ExactMatcher::undoStep() { return state.size() == 1 && (undoDivision() || undoGuard()); }

bool ExactMatcher::undoDivision() {
  // The divisor that was made last is the first to try.
  const auto factors = state[0].factors;
  for (const algebra::Factor &factor : llvm::reverse(factors))
    if (factor.halves == -2 && undoDivision(factor))
      return true;
  return false;
}

/// A selection chooses between sums, or their reciprocals, and something else. What it is not, is told at the end.
bool ExactMatcher::undoGuard() {
  const Expr guarded = state;
  for (const algebra::Factor &factor : guarded[0].factors) {
    const algebra::Node &node = *factor.node();
    if (node.kind != algebra::Node::Apply || node.parts.size() != 3)
      continue;
    for (unsigned side : {1, 2}) {
      std::optional<Expr> chosen = algebra.part(factor.element, {}, side);
      chosen = chosen && !algebra::numberOf(*chosen) ? algebra.power(*chosen, factor.halves) : std::nullopt;
      std::optional<Expr> rest = chosen ? algebra.divide(guarded, Algebra::of(factor.element, factor.halves)) : chosen;
      std::optional<Expr> unguarded = rest ? algebra.multiply(*rest, *chosen) : std::nullopt;
      if (!unguarded || unguarded->size() != 1)
        continue;
      state = *unguarded;
      if (undoDivision()) {
        steps.back().divisor = factor.element;
        steps.back().isGuarded = true;
        return true;
      }
    }
  }
  state = guarded;
  return false;
}

bool ExactMatcher::undoDivision(const algebra::Factor &divisor) {
  std::optional<algebra::Var> over = summedIn(divisor);
  if (!over)
    return false;
  if (kernel)
    return undoPotentials(divisor, *over);
  if (divisor.node()->isReduce("sum"))
    return undoExact(divisor, *over);
  return undoWithEps(divisor, *over) || undoPotentials(divisor, *over);
}

/// state = before / sum(before): the sum tells what was before.
bool ExactMatcher::undoExact(const algebra::Factor &divisor, algebra::Var over) {
  const algebra::Node &node = *divisor.node();
  if (node.bound.size() != 1 || node.bound[0] != reading.size(value, over))
    return false;
  std::optional<Expr> before = algebra.part(divisor.element, {algebra::wholeVar(over, reading.size(value, over))});
  if (const algebra::Factor *magnitude = before ? algebra::singleFactor(*before) : nullptr;
      magnitude && magnitude->node()->isApply("abs")) {
    before = algebra.part(magnitude->element);
    sumsMagnitudes = true;
  }
  std::optional<Expr> after = before ? algebra.divide(*before, Algebra::of(divisor.element)) : std::nullopt;
  if (!after || before->size() != 1 || !isSameState(state, *after))
    return false;
  state = *before;
  dead = over;
  steps.push_back({over, Denom::none, 0, divisor.element, user});
  return true;
}

/// The summand of a sum with an eps. Numbers, and factors that the sums have in common, stand beside it.
std::optional<Expr> ExactMatcher::summedBy(const algebra::Factor &divisor, algebra::Var over) {
  const algebra::Node &node = *divisor.node();
  bool isBounded = node.kind == algebra::Node::Sum || node.isApply("max");
  for (unsigned side : llvm::seq<unsigned>(isBounded ? node.parts.size() : 0))
    for (const algebra::Term &term : algebra.part(divisor.element, {}, side).value_or(Expr()))
      for (const algebra::Factor &factor : term.factors)
        if (factor.node()->isReduce("sum") && factor.node()->bound.size() == 1) {
          std::optional<Expr> common = algebra.divide({term}, Algebra::of(factor.element));
          std::optional<Expr> part = algebra.part(factor.element, {algebra::wholeVar(over, reading.size(value, over))});
          return common && part ? algebra.multiply(*common, *part) : std::nullopt;
        }
  return std::nullopt;
}

/// state = (part + number) / sum(part + number), as behind softmax(z) + eps
bool ExactMatcher::undoSumWithNumber(const algebra::Factor &divisor, const Expr &part, algebra::Var over) {
  const algebra::Size extent = reading.size(value, over);
  if (divisor.node()->kind != algebra::Node::Sum || !extent.isNumber())
    return false;
  double number = numberIn(divisor.node()->parts[0]) / static_cast<double>(extent.number());
  std::optional<Expr> before = algebra.add(part, Algebra::number(number));
  std::optional<Expr> after = before ? algebra.divide(*before, Algebra::of(divisor.element)) : std::nullopt;
  if (!after || !isSameState(state, *after))
    return false;
  state = *before;
  dead = over;
  steps.push_back({over, Denom::none, 0, divisor.element, user});
  return true;
}

/// state = before / (sum(before) + eps), or / max(sum(before), eps)
bool ExactMatcher::undoWithEps(const algebra::Factor &divisor, algebra::Var over) {
  // Behind sums without an eps only the divisor tells what was before. No op divides so: it is told which eps differs.
  std::optional<Expr> before = dead ? summedBy(divisor, over) : algebra.multiply(state, Algebra::of(divisor.element));
  if (!before)
    return false;
  if (dead && undoSumWithNumber(divisor, *before, over))
    return true;
  auto undo = [&](const std::optional<Expr> &summed) {
    std::optional<Expr> sums = summed ? reduceOver("sum", *summed, over) : std::nullopt;
    std::optional<Step> step = sums ? readBound(divisor.element, *sums, over) : std::nullopt;
    std::optional<Expr> bounded = step ? boundedSums(*step, *sums) : std::nullopt;
    std::optional<Expr> after = bounded ? algebra.divide(*before, *bounded) : std::nullopt;
    if (!after || !isSameState(state, *after))
      return false;
    state = *before;
    dead.reset();
    steps.push_back(*step);
    return true;
  };
  // No step subtracts, so that all numbers are positive as those of exp(z) are: a sum of magnitudes is the sum.
  return undo(before) || undo(algebra.apply("abs", {*before}));
}

/// state = K u, where 1 / u = sum(K v) + eps. Before it, the state is K v. The last step of an iteration has nothing
/// that tells it from one that divides the matrix.
bool ExactMatcher::undoPotentials(const algebra::Factor &divisor, algebra::Var over) {
  bool isBehindLast = steps.size() == 1 && steps[0].denom == Denom::add;
  if (dead || isToken(over) || !(kernel || isBehindLast))
    return false;
  std::optional<Expr> scaled = algebra.multiply(state, Algebra::of(divisor.element));
  std::optional<Expr> before = scaled ? summedBy(divisor, over) : std::nullopt;
  std::optional<Expr> sums = before ? reduceOver("sum", *before, over) : std::nullopt;
  std::optional<Step> step = sums ? readBound(divisor.element, *sums, over) : std::nullopt;
  std::optional<Expr> bounded = step && step->denom == Denom::add ? boundedSums(*step, *sums) : std::nullopt;
  std::optional<Expr> others = bounded ? algebra.divide(*before, *scaled) : std::nullopt;
  if (!others || others->size() != 1 || dependsOn((*others)[0], row() + column() - over) ||
      !isEqual(*bounded, Algebra::of(divisor.element)) || (kernel && !isEqual(*scaled, *kernel)))
    return false;
  kernel = scaled;
  state = *before;
  step->denom = steps[0].denom = Denom::potentials;
  steps.push_back(*step);
  return true;
}

/// Reads what a divisor does to sums.
std::optional<SinkhornMatcher::Step> ExactMatcher::readBound(const algebra::Element *divisor, const Expr &sums,
                                                             algebra::Var over) {
  const algebra::Node &node = *divisor->node;
  Step step{over, Denom::add, 0, divisor, user};
  if (node.isApply("max")) {
    std::optional<double> first = algebra::numberOf(node.parts[0]), second = algebra::numberOf(node.parts[1]);
    if (!first && !second)
      return std::nullopt;
    step.denom = Denom::clamp;
    step.eps = first ? *first : *second;
  } else if (node.kind == algebra::Node::Sum) {
    // A number in the sums themselves has become one with eps.
    step.eps = algebra::canonicalNumber(numberIn(node.parts[0]) - numberIn(sums));
  } else {
    return std::nullopt;
  }
  return step;
}

/// The sums with what the step does to them.
std::optional<Expr> ExactMatcher::boundedSums(const Step &step, const Expr &sums) {
  const Expr eps = Algebra::number(step.eps);
  return step.denom == Denom::add ? algebra.add(sums, eps) : algebra.apply("max", {sums, eps});
}

//===----------------------------------------------------------------------===//
// Start
//===----------------------------------------------------------------------===//

/// softmax(z) + eps: the softmax is the first division.
bool ExactMatcher::undoSoftmaxEps() {
  const algebra::Factor *sum = algebra::singleFactor(state);
  bool isNode = sum && sum->node()->kind == algebra::Node::Sum && state[0].coefficient == 1;
  std::optional<Expr> terms = isNode ? algebra.part(sum->element) : state;
  if (!terms || terms->size() != 2 || terms->front().coefficient != 1 || !(*terms)[1].factors.empty() ||
      !(*terms)[1].exponent.empty())
    return false;
  const Expr withEps = state;
  const size_t before = steps.size();
  state = {terms->front()};
  if (!undoStep() || isToken(steps.back().over) || steps.back().denom != Denom::none) {
    state = withEps;
    steps.resize(before);
    return false;
  }
  const Step softmax = steps.back();
  steps.resize(before);
  steps.push_back({softmax.over, Denom::add, (*terms)[1].coefficient, softmax.divisor, user});
  return true;
}

/// Whether a factor of 1 + eps in rows or columns is less than what the op rounds, whose steps make n sums and a
/// quotient each. Dividing by sums spreads no ratio further: the result differs by as little.
bool ExactMatcher::isBelowRounding(double eps) {
  constexpr double kHalfUnit = 0x1p-24;
  const algebra::Size extent = reading.size(value, row());
  return extent.isNumber() &&
         eps <= static_cast<double>(steps.size()) * (static_cast<double>(extent.number()) + 1) * kHalfUnit;
}

/// Rows of softmax(z) + eps sum to 1 + n eps. Their division by sums with eps, which the op does not make, is one by
/// the number s = 1 + (n + 1) eps: nothing is left but the next eps, which is s eps, unless a loop makes all steps.
/// Columns sum to n eps at least, so that their divisors differ by eps of themselves at most.
void ExactMatcher::takeSumsOfSoftmaxEps() {
  const algebra::Size extent = reading.size(value, steps.back().over);
  if (steps.size() < 3 || !steps[steps.size() - 3].isLike(steps.back()) || !isBelowRounding(steps.back().eps))
    return;
  Step &second = steps[steps.size() - 2], &softmax = steps.back();
  const double s = 1 + (static_cast<double>(extent.number()) + 1) * softmax.eps;
  if (second == softmax)
    steps.erase(steps.end() - 2);
  else if (second.denom == Denom::add && isSameEps(second.eps, s * softmax.eps))
    second.eps = softmax.eps;
}

/// z - max(z) -> z, also where a narrow program has rounded the difference: z itself is rounded as little, where an op
/// makes it.
bool ExactMatcher::takeShift(Expr &logits, ArrayRef<algebra::Var> over) {
  const bool isNarrow = isRounded(logits, Format::bf16) || isRounded(logits, Format::f16);
  const Expr shifted = isNarrow ? algebra.part(logits[0].factors[0].element).value_or(logits) : logits;
  for (const algebra::Term &term : shifted) {
    bool isMaximum = term.coefficient == -1 && term.exponent.empty() && term.factors.size() == 1 &&
                     term.factors[0].halves == 2 && term.factors[0].node()->isReduce("max");
    if (!isMaximum)
      continue;
    Expr maximum = Algebra::of(term.factors[0].element);
    std::optional<Expr> z = algebra.add(shifted, maximum);
    std::optional<Expr> expected = z ? reduceOver("max", *z, over) : std::nullopt;
    const algebra::Factor *factor = expected ? algebra::singleFactor(*expected) : nullptr;
    if (factor && (*expected)[0].coefficient == 1 && factor->element == term.factors[0].element) {
      logits = *z;
      isShiftRounded = isNarrow;
      return true;
    }
  }
  return false;
}

/// sigmoid(z) -> z. What drops out of an exact iteration may stand beside it.
std::optional<Expr> ExactMatcher::readSigmoid(const Expr &expr) {
  const algebra::Term *term = expr.size() == 1 ? &expr[0] : nullptr;
  if (!term || term->coefficient <= 0 || (!dead && term->coefficient != 1))
    return std::nullopt;
  std::optional<Expr> logits;
  for (const algebra::Factor &factor : term->factors) {
    if (dropsOut(factor))
      continue;
    bool isSigmoid = factor.node()->isApply("sigmoid") && factor.halves == 2 && dependsOn(factor, row()) &&
                     dependsOn(factor, column());
    if (logits || !isSigmoid)
      return std::nullopt;
    logits = algebra.part(factor.element);
  }
  bool hasExponent = llvm::any_of(term->exponent, [&](auto &part) { return !dead || dependsOn(part, *dead); });
  return hasExponent ? std::nullopt : logits;
}

/// sigmoid(z) + eps -> z
std::optional<Expr> ExactMatcher::readSigmoidEps() {
  const algebra::Factor *sum = algebra::singleFactor(state);
  bool isNode = sum && sum->node()->kind == algebra::Node::Sum && state[0].coefficient == 1;
  std::optional<Expr> terms = isNode ? algebra.part(sum->element) : state;
  if (dead || !terms || terms->size() != 2 || algebra::numberOf({(*terms)[1]}) != steps.back().eps)
    return std::nullopt;
  return readSigmoid({terms->front()});
}

/// exp(z) / (sum of the whole matrix) -> z
std::optional<Expr> ExactMatcher::readSoftmaxOfMatrix() {
  const algebra::Term *term = !dead && state.size() == 1 ? &state[0] : nullptr;
  if (!term || term->coefficient != 1 || term->factors.size() != 1 || term->factors[0].halves != -2)
    return std::nullopt;
  std::optional<Expr> exp = algebra.exp(term->exponent);
  std::optional<Expr> sum = exp ? reduceOver("sum", *exp, {row(), column()}) : std::nullopt;
  return sum && isEqual(*sum, Algebra::of(term->factors[0].element)) ? std::optional(term->exponent) : std::nullopt;
}

/// The first step is a softmax. It is a step like the others where what they do to sums does not change its own: those
/// are 1 at least, the exponential of the maximum, so that no bound changes them, and an eps little. Potentials divide
/// by sums of any size. Otherwise it is the matrix before the first turn.
void ExactMatcher::takeSoftmax() {
  if (steps.size() < 2 || steps[steps.size() - 2].denom == Denom::none)
    return;
  // A normalisation of the same sums behind it, which are 1, leaves a number that has become one with the next eps.
  Step &second = steps[steps.size() - 2];
  const Step *third = steps.size() > 2 ? &steps[steps.size() - 3] : nullptr;
  const bool isTwice = third && second.denom == Denom::add && third->denom == Denom::add &&
                       !isSameEps(second.eps, third->eps) && isSameEps(second.eps, third->eps * (1 + third->eps));
  if (isTwice)
    second.eps = third->eps;
  const bool isStep = second.denom == Denom::clamp ? second.eps <= 1
                      : second.denom == Denom::add ? isBelowRounding(second.eps)
                                                   : second.eps < 0x1p-24;
  Step &softmax = steps.back();
  if (isStep || isTwice) {
    softmax.eps = second.eps;
    softmax.denom = second.denom;
  }
  if (isStep || second.denom == Denom::potentials || (!isTwice && !third))
    return;
  tellSoftmax(/*isOfMatrix=*/false);
  softmaxOver = {softmax.over};
  if (!isTwice)
    steps.pop_back();
}

/// exp(z + c) / (sum(exp(z + c)) + eps) is read as exp(z) / (sum(exp(z)) + eps exp(-c)): the other steps tell c. A
/// hyperbolic tangent, which is read as 2 sigmoid(2 z) - 1, has one as well.
void ExactMatcher::takeNumber(Expr &logits) {
  Step &first = steps.back();
  const double ratio = steps.size() > 1 && first.eps > 0 ? steps[steps.size() - 2].eps / first.eps : 0;
  if (ratio <= 0 || isNear(ratio, 1) || first.denom != steps[steps.size() - 2].denom)
    return;
  std::optional<Expr> all = algebra.add(logits, Algebra::number(static_cast<float>(std::log(ratio))));
  if (!all || reading.find(*all, user).empty())
    return;
  logits = *all;
  first.eps = steps[steps.size() - 2].eps;
}

/// The start as a function of logits that the op has.
std::optional<std::pair<Expr, Init>> ExactMatcher::readFunction() {
  if (kernel && !isEqual(state, *kernel))
    return std::nullopt;
  if (std::optional<Expr> logits = readSigmoid(state))
    return std::make_pair(*logits, Init::sigmoid);
  if (std::optional<Expr> logits = readSigmoidEps())
    return std::make_pair(*logits, Init::sigmoid_eps);
  if (std::optional<Expr> logits = readSoftmaxOfMatrix()) {
    tellSoftmax(/*isOfMatrix=*/true);
    softmaxOver = {row(), column()};
    return std::make_pair(*logits, Init::exp);
  }
  bool isSoftmaxEps = undoSoftmaxEps();
  if (state.size() != 1)
    return std::nullopt;
  const Step first = steps.back();
  const algebra::Term &start = state[0];
  // Factors that the first sums have in common drop out of an exact iteration.
  Expr logits;
  for (const algebra::Term &part : start.exponent)
    if (!dead || dependsOn(part, *dead))
      logits.push_back(part);
  bool isExp = dependsOn(algebra::Term{1, logits, {}}, row()) && dependsOn(algebra::Term{1, logits, {}}, column());
  for (const algebra::Factor &factor : start.factors)
    isExp = isExp && dropsOut(factor);
  if (!isExp || (!dead && start.coefficient != 1) || start.coefficient <= 0)
    return std::nullopt;
  Init init = Init::exp;
  const Init ofSoftmax = first.over == column() ? Init::exp_rowmax : Init::exp_colmax;
  const auto candidates = shifts();
  if (isSoftmaxEps) {
    init = Init::softmax_eps;
    takeSumsOfSoftmaxEps();
  } else if (first.denom == Denom::none && behindReshapes(value).getDefiningOp<math::ExpOp>())
    init = Init::log;
  else if (auto shift = llvm::find_if(candidates, [&](auto &shift) { return takeShift(logits, shift.over); });
           shift != candidates.end())
    init = shift->init;
  else if (first.denom == Denom::none) // a softmax, which needs no shift: the form that does not overflow
    init = ofSoftmax;
  if (first.denom == Denom::none && init == ofSoftmax) {
    takeSoftmax();
    init = softmaxOver.empty() ? init : Init::exp;
  }
  if (init == Init::exp)
    takeNumber(logits);
  return std::make_pair(logits, init);
}

std::optional<std::pair<Expr, Init>> ExactMatcher::readStart() {
  const Expr start = state;
  const std::vector<Step> turns = steps;
  if (auto function = readFunction())
    return function;
  state = start;
  steps = turns;
  // Another positive matrix is the exponential of its logarithm, also where factors of it have dropped out. What one
  // turn leaves of it, with a number added, is no start of the next.
  if (kernel || steps.size() < 2 || (steps.size() == 2 && isShiftedQuotient()) || !isPositive(state))
    return std::nullopt;
  tellStart();
  isOfMatrix = true;
  return std::make_pair(state, Init::exp);
}

SinkhornMatch mhc::matchExactSinkhorn(algebra::Reading &reading, Value value, MatrixAxes axes, bool vectors) {
  return ExactMatcher(reading, value, axes, std::nullopt, vectors).match();
}
