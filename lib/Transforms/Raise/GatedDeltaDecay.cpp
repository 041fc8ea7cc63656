//===- GatedDeltaDecay.cpp - The decay of a gated delta net ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds.h"
#include "GatedDeltaMatch.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;
using algebra::Factor;
using algebra::Index;
using algebra::Node;
using algebra::Piece;
using algebra::Reading;
using algebra::Size;
using algebra::Term;
using algebra::Var;

static std::optional<Expr> partOf(Reading &reading, const Expr &expr, StringRef function, unsigned number = 0) {
  const Factor *factor = algebra::singleFactor(expr);
  bool isFunction = factor && expr[0].coefficient == 1 && factor->node()->kind == Node::Apply &&
                    cast<StringAttr>(factor->node()->label).getValue().starts_with(function);
  return isFunction ? reading.algebra().part(factor->element, {}, number) : std::nullopt;
}

/// The sum that a single factor is, or the expression itself.
static Expr summandsOf(Reading &reading, const Expr &expr) {
  const Factor *factor = algebra::singleFactor(expr);
  if (!factor || factor->node()->kind != Node::Sum)
    return expr;
  std::optional<Expr> sum = reading.algebra().part(factor->element);
  return sum ? Algebra::scale(*sum, expr[0].coefficient) : expr;
}

/// z of log(1 + exp(z))
static std::optional<Expr> readLog1pExp(Reading &reading, const Expr &expr) {
  std::optional<Expr> inside = partOf(reading, expr, "log");
  if (!inside)
    return std::nullopt;
  Expr sum = summandsOf(reading, *inside);
  for (unsigned side : {0, 1})
    if (sum.size() == 2 && algebra::numberOf({sum[1 - side]}) == 1.0 && sum[side].coefficient == 1 &&
        sum[side].factors.empty() && !sum[side].exponent.empty())
      return sum[side].exponent;
  return std::nullopt;
}

namespace {
/// One of two expressions, as another is above a number or below.
struct Choice {
  Expr compared, above, below;
  double limit;
  bool isAboveAtLimit;
};

struct Softplus {
  Expr z;
  double threshold = 20; ///< the sum itself is equal in f32 from 17 on
};
} // namespace

/// A comparison with a number: `a > limit`, or `a < limit`; where they are equal, it holds with `orEqual`.
struct Comparison {
  Expr a;
  double limit;
  bool isGreater, orEqual;
};

static std::optional<Comparison> readComparison(Reading &reading, const Expr &expr) {
  // ogt, oge, olt, ole, and those that hold for what is no number
  constexpr struct {
    const char *predicate;
    bool isGreater, orEqual;
  } kKnown[] = {{"2 ", true, false}, {"3 ", true, true},  {"4 ", false, false},  {"5 ", false, true},
                {"9 ", true, false}, {"10 ", true, true}, {"11 ", false, false}, {"12 ", false, true}};
  for (auto [predicate, isGreater, orEqual] : kKnown) {
    std::string name = std::string("arith.cmpf predicate=") + predicate;
    std::optional<Expr> a = partOf(reading, expr, name), b = partOf(reading, expr, name, 1);
    if (!a || !b)
      continue;
    std::optional<double> left = algebra::numberOf(*a), right = algebra::numberOf(*b);
    if (right)
      return Comparison{*a, *right, isGreater, orEqual};
    if (left)
      return Comparison{*b, *left, !isGreater, orEqual};
  }
  return std::nullopt;
}

static std::optional<Choice> readChoice(Reading &reading, const Expr &expr) {
  std::optional<Expr> condition = partOf(reading, expr, "arith.select");
  std::optional<Expr> yes = partOf(reading, expr, "arith.select", 1), no = partOf(reading, expr, "arith.select", 2);
  std::optional<Comparison> comparison = condition && yes && no ? readComparison(reading, *condition) : std::nullopt;
  if (!comparison)
    return std::nullopt;
  auto &[a, limit, isGreater, orEqual] = *comparison;
  return isGreater ? Choice{a, *yes, *no, limit, orEqual} : Choice{a, *no, *yes, limit, !orEqual};
}

/// z of max(z, 0)
static std::optional<Expr> readPositive(Reading &reading, const Expr &expr) {
  for (unsigned side : {0, 1}) {
    std::optional<Expr> z = partOf(reading, expr, "max", side), zero = partOf(reading, expr, "max", 1 - side);
    if (z && zero && algebra::numberOf(*zero) == 0.0)
      return z;
  }
  std::optional<Choice> choice = readChoice(reading, expr);
  if (choice && choice->limit == 0 && algebra::numberOf(choice->below) == 0.0 &&
      isSame(reading, choice->compared, choice->above))
    return choice->above;
  // -min(-z, 0)
  choice = readChoice(reading, Algebra::scale(expr, -1));
  bool isMinimum = choice && choice->limit == 0 && algebra::numberOf(choice->above) == 0.0 &&
                   isSame(reading, choice->compared, choice->below);
  return isMinimum ? std::optional(Algebra::scale(choice->below, -1)) : std::nullopt;
}

/// z of min(z, bound), where the bound is no less than `limit`; others are z themselves.
static Expr withoutBound(Reading &reading, const Expr &expr, double limit) {
  for (unsigned side : {0, 1}) {
    std::optional<Expr> z = partOf(reading, expr, "arith.min", side);
    std::optional<Expr> bound = partOf(reading, expr, "arith.min", 1 - side);
    if (z && bound && algebra::numberOf(*bound).value_or(0) >= limit)
      return *z;
  }
  std::optional<Choice> choice = readChoice(reading, expr);
  bool isBound = choice && choice->limit >= limit && algebra::numberOf(choice->above) == choice->limit &&
                 isSame(reading, choice->compared, choice->below);
  return isBound ? choice->below : expr;
}

/// max(z, 0) + log(1 + exp(-|z|))
static std::optional<Expr> readStable(Reading &reading, const Expr &expr) {
  Expr sum = summandsOf(reading, expr);
  for (unsigned side : {0, 1}) {
    std::optional<Expr> z = sum.size() == 2 ? readPositive(reading, {sum[side]}) : std::nullopt;
    std::optional<Expr> exponent = z ? readLog1pExp(reading, {sum[1 - side]}) : std::nullopt;
    std::optional<Expr> size = exponent ? partOf(reading, Algebra::scale(*exponent, -1), "abs") : std::nullopt;
    if (size && (isSame(reading, *size, *z) || isSame(reading, *size, Algebra::scale(*z, -1))))
      return z;
  }
  return std::nullopt;
}

/// z itself above a number, and its softplus below.
static std::optional<Softplus> readWithThreshold(Reading &reading, const Choice &choice) {
  if (!isFactor(choice.limit) || !isSame(reading, choice.compared, choice.above))
    return std::nullopt;
  std::optional<Expr> z = readLog1pExp(reading, choice.below);
  z = z ? withoutBound(reading, *z, choice.limit) : readStable(reading, choice.below);
  // No number is between the two.
  const float limit = static_cast<float>(choice.limit);
  const double threshold = choice.isAboveAtLimit ? std::nextafter(limit, 0.0f) : choice.limit;
  return z && isSame(reading, *z, choice.above) ? std::optional(Softplus{*z, threshold}) : std::nullopt;
}

static std::optional<Softplus> readSoftplus(Reading &reading, const Expr &expr) {
  if (std::optional<Expr> z = readLog1pExp(reading, expr))
    return Softplus{*z};
  if (std::optional<Expr> z = readStable(reading, expr))
    return Softplus{*z};
  if (std::optional<Choice> choice = readChoice(reading, expr))
    return readWithThreshold(reading, *choice);
  // Infinity is passed on as it is.
  std::optional<Expr> condition = partOf(reading, expr, "arith.select"), yes = partOf(reading, expr, "arith.select", 1);
  std::optional<Expr> no = partOf(reading, expr, "arith.select", 2);
  std::optional<Expr> z = no ? readStable(reading, *no) : std::nullopt;
  if (!condition || !yes || !z)
    return std::nullopt;
  std::optional<Expr> size = partOf(reading, *condition, "arith.cmpf predicate=1 ");
  std::optional<Expr> limit = partOf(reading, *condition, "arith.cmpf predicate=1 ", 1);
  std::optional<Expr> infinite = readPositive(reading, *yes);
  bool isGuard = size && limit && infinite && isSame(reading, *infinite, *z) &&
                 algebra::numberOf(*limit) == std::numeric_limits<double>::infinity();
  return isGuard ? std::optional(Softplus{*z}) : std::nullopt;
}

bool mhc::isScaledSoftplus(Reading &reading, const Opened &value) {
  return value.expr.size() == 1 && value.expr[0].exponent.empty() && value.expr[0].factors.size() == 2 &&
         llvm::any_of(value.expr[0].factors, [&](const Factor &factor) {
           return factor.halves == 2 && readSoftplus(reading, Algebra::of(factor.element));
         });
}

std::optional<Decay> mhc::matchDecay(Reading &reading, const Opened &value, std::optional<GatedFault> &fault) {
  if (value.expr.size() != 1 || std::abs(value.expr[0].coefficient) != 1 || value.expr[0].factors.empty())
    return std::nullopt;
  const Expr &exponent = value.expr[0].exponent;
  if (exponent.empty())
    return std::nullopt;
  ArrayRef<Size> dims = value.node->dims;
  Term rest = value.expr[0];
  rest.coefficient = -rest.coefficient; // of a sum that begins with -1
  rest.exponent.clear();
  if (!algebra::singleFactor(exponent) || exponent[0].coefficient != 1) {
    if (readSoftplus(reading, {rest}))
      fault =
          GatedFault{Reason::gatedDeltaDecay, "a softplus times the exponential of a sum or a product", "exp(A_log)"};
    return std::nullopt;
  }
  SmallVector<std::pair<Var, int64_t>> headVars; // the outer one first
  int64_t heads = 1;
  for (const Index &index : exponent[0].factors[0].at())
    for (const Piece &piece : index.pieces) {
      if (piece.stride != Size(1) || dims[piece.var] != piece.extent || !piece.extent.isNumber())
        return std::nullopt;
      headVars.push_back({piece.var, piece.extent.number()});
      heads *= piece.extent.number();
    }
  SmallVector<Var> others;
  for (Var var = 0; var < static_cast<Var>(dims.size()); ++var)
    if (!dependsOn(exponent, var))
      others.push_back(var);
  std::optional<Softplus> softplus = readSoftplus(reading, {rest});
  const GatedFault perChannel = {Reason::gatedDeltaDecay, "a decay for each channel of a head", "one for each head"};
  if (others.size() > 2) {
    fault = softplus ? std::optional(perChannel) : fault;
    return std::nullopt;
  }
  const bool isNegative = softplus.has_value();
  if (!softplus)
    softplus = readSoftplus(reading, Algebra::scale({rest}, -1));
  if (!softplus) {
    if (value.expr[0].coefficient == -1)
      fault = GatedFault{Reason::gatedDeltaDecay, "-exp(A_log) times another function", "softplus(alpha + dt_bias)"};
    return std::nullopt;
  }
  Decay made{isNegative, heads, softplus->threshold, exponent, {}, {}};
  Expr alpha;
  auto isAlpha = [&](const Term &term) {
    if (others.empty()) // one token of one sequence
      return term.factors.size() != 1 || !isa_and_nonnull<BlockArgument>(term.factors[0].node()->value);
    return llvm::any_of(others, [&](Var var) { return algebra::dependsOn(term, var); });
  };
  for (const Term &term : summandsOf(reading, softplus->z))
    (isAlpha(term) ? alpha : made.dtBias).push_back(term);
  if (alpha.empty() || !algebra::singleFactor(made.dtBias) || made.dtBias[0].coefficient != 1) {
    auto isOfChannels = [&](const Term &term) { // and not of the tokens
      auto isRead = [&](Var var) { return algebra::dependsOn(term, var); };
      return llvm::any_of(others, isRead) && !llvm::all_of(others, isRead);
    };
    fault = llvm::any_of(alpha, isOfChannels)
                ? perChannel
                : GatedFault{Reason::gatedDeltaDecay, "a softplus of another sum", "alpha + dt_bias"};
    return std::nullopt;
  }
  auto renamed = [&](const Expr &expr, bool isTokenFirst) {
    return reading.algebra().substitute(expr, [&](Var var) {
      int64_t stride = heads;
      for (auto [head, extent] : headVars) {
        stride /= extent;
        if (head == var)
          return strided(gated::channel, stride, extent);
      }
      bool isToken = others.size() < 2 || (var == others[0]) == isTokenFirst;
      return algebra::wholeVar(isToken ? gated::token : gated::batch, dims[var]);
    });
  };
  for (bool isTokenFirst : {false, true}) {
    std::optional<Expr> own = renamed(alpha, isTokenFirst), whole = renamed(value.expr, isTokenFirst);
    Size first = others.empty() ? Size(1) : dims[others.front()],
         second = others.empty() ? Size(1) : dims[others.back()];
    Size batch = isTokenFirst ? second : first;
    if (own && whole && (others.size() == 2 || !isTokenFirst))
      made.alphas.push_back({*own, *whole, others.size() == 2 ? batch : Size(1), isTokenFirst ? first : second});
  }
  std::optional<Expr> aLog = renamed(made.aLog, false), dtBias = renamed(made.dtBias, false);
  if (!aLog || !dtBias)
    return std::nullopt;
  made.aLog = *aLog;
  made.dtBias = *dtBias;
  return made;
}
