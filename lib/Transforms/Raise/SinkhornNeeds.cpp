//===- SinkhornNeeds.cpp - Needs of an iteration to be a Sinkhorn op ---------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Bounds.h"
#include "Raise.h"
#include "SinkhornMatcher.h"
#include "mhc/IR/Counted.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;

bool SinkhornMatcher::unmet(Reason reason, Operation *at, const std::string &found, const std::string &needed) {
  miss = Miss{reason, at, found, needed, {origin(), Value()}};
  return false;
}

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

double SinkhornMatcher::numberIn(const Expr &sum) {
  for (const algebra::Term &term : sum)
    if (term.factors.empty() && term.exponent.empty())
      return term.coefficient;
  return 0;
}

bool SinkhornMatcher::isPositive(const Expr &expr) {
  const algebra::Factor *alone = algebra::singleFactor(expr);
  if (alone && expr[0].coefficient > 0 && alone->node()->kind == algebra::Node::Sum)
    return isPositive(alone->node()->parts[0]);
  if (alone && expr[0].coefficient > 0 && alone->node()->isApply("max"))
    return llvm::any_of(alone->node()->parts, [](auto &part) { return algebra::numberOf(part).value_or(0) > 0; });
  return numberIn(expr) > 0 &&
         llvm::all_of(expr, [](auto &term) { return term.coefficient > 0 && isNonNegative(term); });
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Value SinkhornMatcher::valueOf(const Expr &expr, Operation *at) const {
  std::vector<algebra::Reading::Found> found = reading.find(expr, at);
  return found.empty() ? Value() : found[0].value;
}

Operation *SinkhornMatcher::opOf(const Step &step) const {
  Value divisor = divisorOf(step);
  return divisor ? opAtFault(divisor, step.user) : step.user;
}

std::string SinkhornMatcher::place(size_t number) const {
  return "normalisation " + std::to_string(number + 1) + " of " + std::to_string(steps.size());
}

std::string SinkhornMatcher::nameOf(algebra::Var over) const {
  return over == column() ? "rows" : over == row() ? "columns" : "dimension " + std::to_string(over);
}

/// The first exponent in an expression, or in what it is a function of.
static Expr exponentIn(Algebra &algebra, const Expr &expr, int depth = 4) {
  for (const algebra::Term &term : expr) {
    if (!term.exponent.empty())
      return term.exponent;
    for (const algebra::Factor &factor : term.factors) {
      bool isFunction = factor.node()->kind == algebra::Node::Sum || factor.node()->kind == algebra::Node::Apply;
      std::optional<Expr> part = isFunction && depth > 0 ? algebra.part(factor.element) : std::nullopt;
      if (Expr exponent = part ? exponentIn(algebra, *part, depth - 1) : Expr(); !exponent.empty())
        return exponent;
    }
  }
  return {};
}

/// The function of logits by which other remarks on them go as well.
Value SinkhornMatcher::functionOf(const Expr &logits) {
  SmallVector<std::optional<Expr>, 6> functions;
  std::optional<Expr> exp = algebra.exp(logits);
  for (algebra::Var over : {column(), row()}) {
    std::optional<Expr> sums = exp ? reduceOver("sum", *exp, over) : std::nullopt;
    functions.push_back(sums ? algebra.divide(*exp, *sums) : std::nullopt);
  }
  functions.push_back(exp);
  for (const Shift &shift : shifts()) {
    std::optional<Expr> max = reduceOver("max", logits, shift.over);
    std::optional<Expr> shifted = max ? algebra.add(logits, Algebra::scale(*max, -1)) : std::nullopt;
    functions.push_back(shifted ? algebra.exp(*shifted) : std::nullopt);
  }
  for (const std::optional<Expr> &function : functions)
    for (const algebra::Reading::Found &found : reading.find(function.value_or(Expr()), user))
      if (found.value.getDefiningOp<math::ExpOp>() || found.value.getDefiningOp<SoftmaxOp>())
        return found.value;
  return {};
}

/// The parts of a state.
Value SinkhornMatcher::origin() {
  Expr logits = exponentIn(algebra, state);
  if (Value function = logits.empty() ? Value() : functionOf(logits))
    return function;
  Value first = valueOf(format ? state : logits, user), second = valueOf(format ? logits : state, user);
  return first ? first : second ? second : value;
}

//===----------------------------------------------------------------------===//
// Near misses
//===----------------------------------------------------------------------===//

/// Whether an expression has a term with a sum or a maximum of exponentials.
static bool hasSumOfExp(const Expr &expr) {
  return llvm::any_of(expr, [](const algebra::Term &term) {
    return llvm::any_of(term.factors, [](const algebra::Factor &factor) {
      const algebra::Node &node = *factor.node();
      return node.kind == algebra::Node::Reduce && node.parts[0].size() == 1 && !node.parts[0][0].exponent.empty();
    });
  });
}

SmallVector<algebra::Factor> SinkhornMatcher::divisorsLeft() const {
  auto isDivisor = [&](const algebra::Factor &factor) {
    const algebra::Node &node = *factor.node();
    bool isBounded = node.kind == algebra::Node::Sum || node.isApply("max");
    bool isOfExp = isBounded ? llvm::any_of(node.parts, hasSumOfExp) : hasSumOfExp(Algebra::of(factor.element));
    return factor.halves == -2 && isOfExp && summedIn(factor);
  };
  return state.size() == 1 ? llvm::filter_to_vector(state[0].factors, isDivisor) : SmallVector<algebra::Factor>();
}

/// Whether an expression is of values that a loop carries.
static bool isOfCarried(const Expr &expr) {
  return llvm::any_of(expr, [](const algebra::Term &term) {
    return isOfCarried(term.exponent) || llvm::any_of(term.factors, [](const algebra::Factor &factor) {
             auto argument = dyn_cast_or_null<BlockArgument>(factor.node()->value);
             return argument && !isa<func::FuncOp>(argument.getOwner()->getParentOp());
           });
  });
}

bool SinkhornMatcher::looksLikeSinkhorn() const {
  // The body of a loop is a part of what the loop computes.
  if (!isStuck && isOfCarried(state))
    return false;
  SmallVector<algebra::Factor> left = divisorsLeft();
  // Without a step it is diag(u) K diag(v) that looks like one; an exponential is what a logarithm of sums sums.
  bool isScaling = left.size() == 2 && state[0].factors.size() == 2 && !value.getDefiningOp<math::ExpOp>();
  if (steps.empty() && !isScaling)
    return false;
  SmallVector<algebra::Var> summed;
  for (const Step &step : steps)
    summed.push_back(step.over);
  for (const algebra::Factor &divisor : left)
    summed.push_back(*summedIn(divisor));
  return !llvm::all_equal(summed) && llvm::any_of(summed, [&](algebra::Var over) { return !isToken(over); });
}

//===----------------------------------------------------------------------===//
// Needs
//===----------------------------------------------------------------------===//

bool SinkhornMatcher::isUnguarded() {
  for (auto [i, step] : llvm::enumerate(llvm::reverse(steps)))
    if (step.isGuarded)
      return unmet(Reason::sinkhornGuard, opOf(step), "a selection in " + place(i),
                   "division by the sums, with an eps added or as their least value");
  return true;
}

bool SinkhornMatcher::isShort() {
  std::string most = std::to_string(kMostIterations);
  return isIterationCount(steps.size() / 2) || unmet(Reason::sinkhornIterations, value.getDefiningOp(),
                                                     "more than " + most + " iterations", "at most " + most);
}

/// The factor of a state that is a rounding; null for none.
static const algebra::Factor *roundedFactor(const Expr &state, Format format) {
  for (const algebra::Term &term : state)
    for (const algebra::Factor &factor : term.factors)
      if (factor.node()->isApply(algebra::roundingTo(format)))
        return &factor;
  return nullptr;
}

constexpr StringLiteral kSums = "division by sums of rows or of columns";
constexpr StringLiteral kSoftmaxEps = "no eps as in the softmax, or softmax(z) + eps in its place";
constexpr StringLiteral kStarts =
    "exp(z), exp(z - max(z)), or softmax(z) or sigmoid(z), with the eps of the sums or none";
constexpr StringLiteral kNoRounding = "elements of f32, or each result rounded as by 'mhc.sinkhorn' with a format";

/// Whether sums of a matrix are read, as by another step.
static bool isSummed(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<ReduceOp>(user) || (rearranges(user) && isSummed(user->getResult(0)));
  });
}

bool SinkhornMatcher::isShiftedQuotient() const {
  const algebra::Factor *sum = algebra::singleFactor(state);
  const Expr &terms = sum && sum->node()->kind == algebra::Node::Sum ? sum->node()->parts[0] : state;
  return terms.size() == 2 && numberIn(terms) != 0 && llvm::any_of(terms, [](const algebra::Term &term) {
           return llvm::any_of(term.factors, [](const algebra::Factor &factor) { return factor.halves == -2; });
         });
}

/// Whether no number is added to the matrix in front of another step.
bool SinkhornMatcher::isUnshifted() {
  for (Operation *user : value.getUsers())
    if (isa<arith::AddFOp>(user) && isSummed(user->getResult(0)))
      for (Value operand : user->getOperands())
        if (std::optional<double> eps = constantValue(operand); eps && *eps != 0)
          return unmet(Reason::sinkhornEpsPlace, user, "quotients and " + describe(*eps), kSums.str());
  return true;
}

bool SinkhornMatcher::isStart(bool isRead) {
  if (isRead || format) // what rounds in other places is told as what it is without
    return isRead;
  if (isShiftedQuotient()) {
    Value start = valueOf(state, user);
    return unmet(Reason::sinkhornEpsPlace, start ? opAtFault(start, user) : user,
                 "quotients and " + describe(numberIn(state)), kSums.str());
  }
  auto unmetAt = [&](Reason reason, Value at, const std::string &found, StringRef needed) {
    return unmet(reason, at ? opAtFault(at, user) : user, found, needed.str());
  };
  for (Format narrow : {Format::bf16, Format::f16})
    if (const algebra::Factor *factor = roundedFactor(state, narrow))
      return unmetAt(Reason::sinkhornRounds, valueOf(Algebra::of(factor->element), user),
                     "rounding to " + stringifyFormat(narrow).str(), kNoRounding);
  auto unmetBy = [&](Reason reason, const algebra::Factor &factor, const std::string &what, StringRef needed) {
    Value other = valueOf(Algebra::of(factor.element), user);
    return unmetAt(reason, other, what + " " + (other ? describe(other) : "another value"), needed);
  };
  SmallVector<algebra::Factor> left = divisorsLeft();
  if (!left.empty() && steps.size() - turnBegin + left.size() == 2)
    return unmetBy(Reason::sinkhornScaling, left.back(), "a division by",
                   "1 / (K v) and 1 / (K^T u) in turn, from ones");
  if (!left.empty())
    return unmetBy(Reason::sinkhornDivisor, left.back(), "a division by", kSums);
  if (state.size() == 1 && state[0].factors.size() + !state[0].exponent.empty() > 1) {
    auto divisor = llvm::find_if(llvm::reverse(state[0].factors), [](auto &factor) { return factor.halves < 0; });
    bool divides = divisor != state[0].factors.rend();
    return unmetBy(Reason::sinkhornDivisor, divides ? *divisor : state[0].factors.back(),
                   divides ? "a division by" : "a factor", kSums);
  }
  tellStart();
  return false;
}

void SinkhornMatcher::tellStart() {
  Value start = valueOf(state, user);
  if (start && isWide(start)) // no function of f64 is read as one that starts
    return (void)unmet(Reason::sinkhornType, opAtFault(start, user), describe(start.getType()), "elements of f32");
  unmet(Reason::sinkhornStart, start ? opAtFault(start, user) : user, start ? describe(start) : "another function",
        kStarts.str());
}

bool SinkhornMatcher::isOfOneTensor(const Expr &logits) {
  if (valueOf(logits, value.getDefiningOp()))
    return true;
  Value start = valueOf(state, user);
  return unmet(Reason::logitsNotAValue, start ? opAtFault(start, user) : user, "exponentials of logits in parts",
               "the exponential of one tensor of logits");
}

static std::string describeEps(Denom denom, double eps) {
  if (denom == Denom::none)
    return "no eps";
  return (denom == Denom::clamp ? "sums of at least " : "eps = ") + describe(eps);
}

bool SinkhornMatcher::isStepLike(size_t number, Init init) {
  const Step &step = steps[steps.size() - 1 - number], &first = steps.back();
  auto unmetHere = [&](Reason reason, const std::string &found, const std::string &needed) {
    return unmet(reason, opOf(step), found, needed);
  };
  if (isToken(step.over))
    return unmetHere(Reason::sinkhornAxis, "sums over " + nameOf(step.over) + " in " + place(number),
                     "sums of rows (dimension " + std::to_string(column()) + ") or of columns (dimension " +
                         std::to_string(row()) + ")");
  if (number > 0 && step.over == steps[steps.size() - number].over)
    return unmetHere(Reason::sinkhornOrder, nameOf(step.over) + " in " + place(number) + " and before it",
                     nameOf(row() + column() - step.over));
  if (!isEps(step.eps))
    return unmetHere(Reason::sinkhornEpsSign, describeEps(step.denom, step.eps) + " in " + place(number),
                     "an eps of at least 0");
  if (step.isLike(first))
    return true;
  bool isBehindSoftmax = number == 1 && first.denom == Denom::none;
  return unmetHere(Reason::sinkhornEps, describeEps(step.denom, step.eps) + " in " + place(number),
                   isBehindSoftmax ? kSoftmaxEps.str()
                                   : describeEps(first.denom, first.eps) +
                                         (init == Init::softmax_eps ? " as behind the softmax" : " as in the first"));
}

void SinkhornMatcher::tellSoftmax(bool isOfMatrix) {
  if (isOfMatrix) {
    unmet(Reason::sinkhornStart, user, "a softmax of whole matrices", kStarts.str());
    return;
  }
  const Step &second = steps[steps.size() - 2];
  unmet(Reason::sinkhornEps, opOf(second), describeEps(second.denom, second.eps) + " in " + place(1),
        kSoftmaxEps.str());
}

bool SinkhornMatcher::areStepsAlike(Init init) {
  return llvm::all_of(llvm::seq<size_t>(0, steps.size()), [&](size_t number) { return isStepLike(number, init); });
}

/// The divisor of a row, of a column or of a matrix behind the last step; null for none.
Value SinkhornMatcher::divisorBehind() {
  for (Operation *reader : value.getUsers()) {
    bool divides = isa<arith::DivFOp>(reader) && reader->getOperand(0) == value;
    if (!divides && !isa<arith::MulFOp>(reader))
      continue;
    const Expr &by = reading.of(reader->getOperand(reader->getOperand(0) == value ? 1 : 0));
    auto isOf = [&](algebra::Var var) { return llvm::any_of(by, [&](auto &term) { return dependsOn(term, var); }); };
    bool isShared = llvm::any_of(vars(), isOf) && !(isOf(row()) && isOf(column()));
    bool isReciprocal = by.size() == 1 && llvm::any_of(by[0].factors, [](auto &factor) { return factor.halves < 0; });
    if (Value divisor = isShared && (divides || isReciprocal) ? valueOf(by, reader) : Value())
      return divisor;
  }
  return {};
}

bool SinkhornMatcher::isWhole() {
  if (steps.size() % 2 == 0)
    return true;
  if (Value divisor = divisorBehind())
    return unmet(Reason::sinkhornDivisor, opAtFault(divisor, user), "a division by " + describe(divisor), kSums.str());
  const bool isBehindOp = !format && steps.front().denom != Denom::potentials;
  if (steps.size() > 2 && isBehindOp && !isSummed(value))
    return true; // half a turn stays behind the op, as ops
  return unmet(Reason::sinkhornOdd, opOf(steps.front()), counted(steps.size(), "normalisation"),
               "as many of rows as of columns");
}

/// Whether a value is an exponential or a softmax, as where logarithms end, or a number times one.
static bool isExponential(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::MulFOp>(op))
    for (bool second : {false, true})
      if (constantValue(op->getOperand(second)))
        return isExponential(op->getOperand(!second));
  return isa_and_nonnull<math::ExpOp, SoftmaxOp>(op);
}

bool SinkhornMatcher::isOfItsType() {
  if (format)
    return true;
  if (roundsVectors && steps.size() > 2) // as with logarithms
    return true;
  bool isNarrow = narrowFormat(getElementTypeOrSelf(value)).has_value();
  // Logarithms of narrow types are rounded in too many places for a format of the op, and are more exact without.
  bool isExact = llvm::all_of(steps, [](const Step &step) { return step.denom == Denom::none; });
  if (isNarrow && isExact && isExponential(value))
    return true;
  if (isNarrow || reading.ignoresRoundings())
    return unmet(Reason::sinkhornRounds, value.getDefiningOp(),
                 isNarrow ? describe(value.getType()) : "results that are rounded in between", kNoRounding.str());
  return getElementTypeOrSelf(value).isF32() ||
         unmet(Reason::sinkhornType, value.getDefiningOp(), describe(value.getType()), "elements of f32");
}
