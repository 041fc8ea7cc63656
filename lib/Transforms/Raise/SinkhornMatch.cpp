//===- SinkhornMatch.cpp - Sinkhorn iterations of any spelling ----------------===//
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
//===------------------------------------------------------------------------===//
#include "SinkhornMatch.h"
#include "Bounds.h"
#include "Sinkhorn.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;
using algebra::Reading;

/// A longer iteration is followed no longer: the op does not take it.
constexpr size_t kMaxSteps = 2 * kMostIterations;

namespace {
/// One division by sums: the variable that they run over, and what eps does.
struct Step {
  algebra::Var over;
  Denom denom;
  double eps;
  bool operator==(const Step &o) const { return over == o.over && denom == o.denom && eps == o.eps; }
};

class Matcher {
public:
  Matcher(Reading &reading, Value value)
      : reading(reading), algebra(reading.algebra()), value(value),
        rank(cast<RankedTensorType>(value.getType()).getRank()) {}
  std::optional<SinkhornSite> match();

private:
  algebra::Var row() const { return rank - 2; }
  algebra::Var column() const { return rank - 1; }
  int64_t extent() const { return cast<RankedTensorType>(value.getType()).getShape().back(); }

  void undoAll();
  bool undoStep();
  bool undoDivision(const algebra::Factor &divisor);
  bool undoExact(const algebra::Factor &divisor, algebra::Var over);
  bool undoWithEps(const algebra::Factor &divisor, algebra::Var over);
  std::optional<Step> readBound(const algebra::Node &divisor, const Expr &sums, algebra::Var over);
  std::optional<Expr> boundedSums(const Step &step, const Expr &sums);
  bool undoLoop();
  /// The state with loop results replaced.
  std::optional<Expr> replaceResults(scf::ForOp loop, llvm::function_ref<Value(unsigned)> by);
  /// Whether two states differ in nothing, or in what drops out later.
  bool isSameState(const Expr &a, const Expr &b);
  std::optional<Expr> sumOver(const Expr &expr, algebra::Var over);
  bool undoSoftmaxEps();
  bool takeShift(Expr &logits, algebra::Var over);
  std::optional<Order> orderOfSteps() const;

  Reading &reading;
  Algebra &algebra;
  Value value;
  int64_t rank;
  Expr state;
  std::vector<Step> steps;          ///< from the last one back
  std::optional<algebra::Var> dead; ///< factors without this variable drop out later
};
} // namespace

std::optional<Expr> Matcher::sumOver(const Expr &expr, algebra::Var over) {
  return algebra.reduce("sum", expr, {{over, algebra::Size(extent())}});
}

bool Matcher::isSameState(const Expr &a, const Expr &b) {
  std::optional<Expr> ratio = algebra.divide(a, b);
  if (!ratio || ratio->size() != 1)
    return false;
  return dead ? !dependsOn((*ratio)[0], *dead) : algebra::numberOf(*ratio) == 1.0;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

bool Matcher::undoStep() {
  if (state.size() != 1)
    return false;
  // The divisor that was made last is the first to try.
  std::vector<algebra::Factor> factors = state[0].factors;
  for (const algebra::Factor &factor : llvm::reverse(factors))
    if (factor.halves == -2 && undoDivision(factor))
      return true;
  return false;
}

bool Matcher::undoDivision(const algebra::Factor &divisor) {
  bool hasRow = dependsOn(divisor, row()), hasColumn = dependsOn(divisor, column());
  if (hasRow == hasColumn)
    return false;
  algebra::Var over = hasRow ? column() : row();
  return divisor.node()->isReduce("sum") ? undoExact(divisor, over) : undoWithEps(divisor, over);
}

/// state = before / sum(before): the sum tells what was before.
bool Matcher::undoExact(const algebra::Factor &divisor, algebra::Var over) {
  const algebra::Node &node = *divisor.node();
  if (node.bound.size() != 1 || node.bound[0] != algebra::Size(extent()))
    return false;
  std::optional<Expr> before = algebra.part(divisor.element, {algebra::wholeVar(over, extent())});
  if (const algebra::Factor *magnitude = before ? algebra::singleFactor(*before) : nullptr;
      magnitude && magnitude->node()->isApply("abs"))
    before = algebra.part(magnitude->element);
  std::optional<Expr> after = before ? algebra.divide(*before, Algebra::of(divisor.element)) : std::nullopt;
  if (!after || before->size() != 1 || !isSameState(state, *after))
    return false;
  state = *before;
  dead = over;
  steps.push_back({over, Denom::none, 0});
  return true;
}

/// The number among the terms of a sum.
static double numberIn(const Expr &sum) {
  for (const algebra::Term &term : sum)
    if (term.factors.empty() && term.exponent.empty())
      return term.coefficient;
  return 0;
}

/// state = before / (sum(before) + eps), or / max(sum(before), eps)
bool Matcher::undoWithEps(const algebra::Factor &divisor, algebra::Var over) {
  if (dead)
    return false;
  std::optional<Expr> before = algebra.multiply(state, Algebra::of(divisor.element));
  std::optional<Expr> magnitude = before ? algebra.apply("abs", {*before}) : std::nullopt;
  // No step subtracts, so that all numbers are positive as those of exp(z) are: a sum of magnitudes is the sum.
  for (const std::optional<Expr> &summed : {before, magnitude})
    if (std::optional<Expr> sums = summed ? sumOver(*summed, over) : std::nullopt)
      if (std::optional<Step> step = readBound(*divisor.node(), *sums, over))
        if (std::optional<Expr> bounded = boundedSums(*step, *sums))
          if (std::optional<Expr> after = algebra.divide(*before, *bounded); after && isSameState(state, *after)) {
            state = *before;
            steps.push_back(*step);
            return true;
          }
  return false;
}

/// Reads what a divisor does to sums.
std::optional<Step> Matcher::readBound(const algebra::Node &divisor, const Expr &sums, algebra::Var over) {
  Step step{over, Denom::add, 0};
  if (divisor.isApply("max")) {
    std::optional<double> first = algebra::numberOf(divisor.parts[0]), second = algebra::numberOf(divisor.parts[1]);
    if (!first && !second)
      return std::nullopt;
    step.denom = Denom::clamp;
    step.eps = first ? *first : *second;
  } else if (divisor.kind == algebra::Node::Sum) {
    // A number in the sums themselves has become one with eps.
    step.eps = algebra::canonicalNumber(numberIn(divisor.parts[0]) - numberIn(sums));
  } else {
    return std::nullopt;
  }
  return isEps(step.eps) ? std::optional(step) : std::nullopt;
}

/// The sums with what the step does to them.
std::optional<Expr> Matcher::boundedSums(const Step &step, const Expr &sums) {
  Expr eps = Algebra::number(step.eps);
  return step.denom == Denom::add ? algebra.add(sums, eps) : algebra.apply("max", {sums, eps});
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

std::optional<Expr> Matcher::replaceResults(scf::ForOp loop, llvm::function_ref<Value(unsigned)> by) {
  return algebra.replace(state, [&](const algebra::Element *element) -> std::optional<Expr> {
    Value base = element->node->value;
    if (!base || base.getDefiningOp() != loop)
      return std::nullopt;
    return algebra.substitute(reading.of(by(cast<OpResult>(base).getResultNumber())),
                              [&](algebra::Var var) { return element->at[var]; });
  });
}

/// A loop of which the state has results.
static scf::ForOp loopOf(const Expr &state) {
  for (const algebra::Term &term : state) {
    for (const algebra::Factor &factor : term.factors)
      if (Value base = factor.node()->value)
        if (auto loop = base.getDefiningOp<scf::ForOp>())
          return loop;
    if (scf::ForOp loop = loopOf(term.exponent))
      return loop;
  }
  return {};
}

/// The state is of results of a loop: undoes one turn, which must lead to the same state of what the loop carries.
bool Matcher::undoLoop() {
  scf::ForOp loop = loopOf(state);
  std::optional<int64_t> turns = loop ? tripCount(loop) : std::nullopt;
  if (!turns || *turns <= 0)
    return false;
  std::optional<Expr> carried = replaceResults(loop, [&](unsigned number) { return loop.getRegionIterArg(number); });
  std::optional<Expr> start = replaceResults(loop, [&](unsigned number) { return loop.getInitArgs()[number]; });
  std::optional<Expr> yielded = replaceResults(loop, [&](unsigned number) { return loop.getYieldedValues()[number]; });
  if (!carried || !start || !yielded)
    return false;
  size_t first = steps.size();
  state = *yielded;
  while (undoStep())
    ;
  if (steps.size() == first || !isSameState(state, *carried))
    return false;
  std::vector<Step> turn(steps.begin() + first, steps.end());
  for (int64_t i = 1; i < *turns && steps.size() <= kMaxSteps; ++i)
    steps.insert(steps.end(), turn.begin(), turn.end());
  state = *start;
  return true;
}

void Matcher::undoAll() {
  while (steps.size() <= kMaxSteps && (undoStep() || undoLoop()))
    ;
}

//===----------------------------------------------------------------------===//
// Start
//===----------------------------------------------------------------------===//

/// softmax(z) + eps: the softmax is the first division of rows.
bool Matcher::undoSoftmaxEps() {
  const algebra::Factor *sum = algebra::singleFactor(state);
  if (!sum || sum->node()->kind != algebra::Node::Sum || state[0].coefficient != 1)
    return false;
  std::optional<Expr> terms = algebra.part(sum->element);
  if (!terms || terms->size() != 2 || terms->front().coefficient != 1 || !(*terms)[1].factors.empty() ||
      !(*terms)[1].exponent.empty())
    return false;
  Step step{column(), Denom::add, (*terms)[1].coefficient};
  if (steps.back() == Step{row(), Denom::add, step.eps}) {
    state = {terms->front()};
    size_t before = steps.size();
    if (undoStep() && steps.back().over == column() && steps.back().denom == Denom::none) {
      steps.resize(before);
      steps.push_back(step);
      return true;
    }
  }
  return false;
}

/// z - max(z) -> z, where the maximum runs over one variable.
bool Matcher::takeShift(Expr &logits, algebra::Var over) {
  for (const algebra::Term &term : logits) {
    bool isMaximum = term.coefficient == -1 && term.exponent.empty() && term.factors.size() == 1 &&
                     term.factors[0].halves == 2 && term.factors[0].node()->isReduce("max");
    if (!isMaximum)
      continue;
    Expr maximum = Algebra::of(term.factors[0].element);
    std::optional<Expr> z = algebra.add(logits, maximum);
    std::optional<Expr> expected = z ? algebra.reduce("max", *z, {{over, algebra::Size(extent())}}) : std::nullopt;
    const algebra::Factor *factor = expected ? algebra::singleFactor(*expected) : nullptr;
    if (factor && (*expected)[0].coefficient == 1 && factor->element == term.factors[0].element) {
      logits = *z;
      return true;
    }
  }
  return false;
}

/// Rows and columns in turn, by one rule.
std::optional<Order> Matcher::orderOfSteps() const {
  if (steps.empty() || steps.size() % 2 != 0)
    return std::nullopt;
  const Step &first = steps.back();
  for (auto [i, step] : llvm::enumerate(llvm::reverse(steps))) {
    algebra::Var over = i % 2 == 0 ? first.over : row() + column() - first.over;
    if (!(step == Step{over, first.denom, first.eps}))
      return std::nullopt;
  }
  return first.over == column() ? Order::row_col : Order::col_row;
}

std::optional<SinkhornSite> Matcher::match() {
  state = reading.of(value);
  undoAll();
  if (steps.empty() || state.size() != 1)
    return std::nullopt;
  bool isSoftmaxEps = !dead && undoSoftmaxEps();
  std::optional<Order> order = orderOfSteps();
  if (!order)
    return std::nullopt;
  const Step first = steps.back();
  const algebra::Term &start = state[0];
  // What the first sums have in common drops out of an exact iteration.
  Expr logits;
  for (const algebra::Term &part : start.exponent)
    if (!dead || dependsOn(part, *dead))
      logits.push_back(part);
  bool isExp = dependsOn(algebra::Term{1, logits, {}}, row()) && dependsOn(algebra::Term{1, logits, {}}, column());
  for (const algebra::Factor &factor : start.factors)
    isExp = isExp && dead && !dependsOn(factor, *dead);
  if (!isExp || (!dead && start.coefficient != 1) || start.coefficient <= 0)
    return std::nullopt;
  SinkhornSite site{logits, Init::exp, *order, first.denom, first.eps, static_cast<int64_t>(steps.size() / 2)};
  if (isSoftmaxEps)
    site.init = Init::softmax_eps;
  else if (first.denom == Denom::none && value.getDefiningOp<math::ExpOp>())
    site.init = Init::log;
  else if (takeShift(site.logits, column()))
    site.init = Init::exp_rowmax;
  else if (takeShift(site.logits, row()))
    site.init = Init::exp_colmax;
  else if (first.denom == Denom::none) // a softmax, which needs no shift: the form that does not overflow
    site.init = first.over == column() ? Init::exp_rowmax : Init::exp_colmax;
  return site;
}

std::optional<SinkhornSite> mhc::matchSinkhorn(Reading &reading, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() < 3 || !type.getElementType().isF32() ||
      type.getDimSize(type.getRank() - 1) != type.getDimSize(type.getRank() - 2) ||
      type.getShape().back() < kMinStreams || type.getShape().back() > kMaxStreams)
    return std::nullopt;
  return Matcher(reading, value).match();
}
