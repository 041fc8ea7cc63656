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

/// The two operands of a comparison that holds where the first is greater.
static std::optional<std::pair<Expr, Expr>> readGreater(Reading &reading, const Expr &expr) {
  for (const char *predicate : {"2 ", "3 ", "9 ", "10 "}) { // ogt, oge, ugt, uge
    std::string name = std::string("arith.cmpf predicate=") + predicate;
    std::optional<Expr> a = partOf(reading, expr, name), b = partOf(reading, expr, name, 1);
    if (a && b)
      return std::pair(*a, *b);
  }
  return std::nullopt;
}

namespace {
struct Softplus {
  Expr z;
  double threshold = 20; ///< the sum itself is equal in f32 from 17 on
};
} // namespace

/// z of max(z, 0)
static std::optional<Expr> readPositive(Reading &reading, const Expr &expr) {
  for (unsigned side : {0, 1}) {
    std::optional<Expr> z = partOf(reading, expr, "max", side), zero = partOf(reading, expr, "max", 1 - side);
    if (z && zero && algebra::numberOf(*zero) == 0.0)
      return z;
  }
  std::optional<Expr> condition = partOf(reading, expr, "arith.select"), z = partOf(reading, expr, "arith.select", 1);
  std::optional<Expr> zero = partOf(reading, expr, "arith.select", 2);
  auto greater = condition ? readGreater(reading, *condition) : std::nullopt;
  bool isMaximum = greater && z && zero && algebra::numberOf(*zero) == 0.0 &&
                   algebra::numberOf(greater->second) == 0.0 && isSame(reading, greater->first, *z);
  return isMaximum ? z : std::nullopt;
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

static std::optional<Softplus> readSoftplus(Reading &reading, const Expr &expr) {
  if (std::optional<Expr> z = readLog1pExp(reading, expr))
    return Softplus{*z};
  if (std::optional<Expr> z = readStable(reading, expr))
    return Softplus{*z};
  std::optional<Expr> condition = partOf(reading, expr, "arith.select"), yes = partOf(reading, expr, "arith.select", 1);
  std::optional<Expr> no = partOf(reading, expr, "arith.select", 2);
  if (!condition || !yes || !no)
    return std::nullopt;
  if (auto greater = readGreater(reading, *condition)) {
    std::optional<Expr> z = readLog1pExp(reading, *no);
    std::optional<double> threshold = algebra::numberOf(greater->second);
    bool isWhole =
        z && threshold && isFactor(*threshold) && isSame(reading, *z, *yes) && isSame(reading, *z, greater->first);
    return isWhole ? std::optional(Softplus{*z, *threshold}) : std::nullopt;
  }
  // Infinity is passed on as it is.
  std::optional<Expr> z = readStable(reading, *no), size = partOf(reading, *condition, "arith.cmpf predicate=1 ");
  std::optional<Expr> limit = partOf(reading, *condition, "arith.cmpf predicate=1 ", 1);
  std::optional<Expr> infinite = z ? readPositive(reading, *yes) : std::nullopt;
  bool isGuard = size && limit && infinite && isSame(reading, *infinite, *z) &&
                 algebra::numberOf(*limit) == std::numeric_limits<double>::infinity();
  return isGuard ? std::optional(Softplus{*z}) : std::nullopt;
}

std::optional<Decay> mhc::matchDecay(Reading &reading, const Opened &value, std::optional<GatedFault> &fault) {
  if (value.expr.size() != 1 || value.expr[0].coefficient != -1 || value.expr[0].factors.empty())
    return std::nullopt;
  const Expr &exponent = value.expr[0].exponent;
  if (!algebra::singleFactor(exponent) || exponent[0].coefficient != 1)
    return std::nullopt;
  ArrayRef<Size> dims = value.node->dims;
  Term rest = value.expr[0];
  rest.coefficient = 1;
  rest.exponent.clear();
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
  if (headVars.empty() || others.empty() || others.size() > 2)
    return std::nullopt;
  std::optional<Softplus> softplus = readSoftplus(reading, {rest});
  if (!softplus) {
    fault = GatedFault{Reason::gatedDeltaDecay, "-exp(A_log) times another function", "softplus(alpha + dt_bias)"};
    return std::nullopt;
  }
  Decay made{heads, softplus->threshold, exponent, {}, {}};
  Expr alpha;
  for (const Term &term : summandsOf(reading, softplus->z))
    (llvm::any_of(others, [&](Var var) { return algebra::dependsOn(term, var); }) ? alpha : made.dtBias)
        .push_back(term);
  if (alpha.empty() || !algebra::singleFactor(made.dtBias) || made.dtBias[0].coefficient != 1) {
    fault = GatedFault{Reason::gatedDeltaDecay, "a softplus of another sum", "alpha + dt_bias"};
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
      bool isToken = others.size() == 1 || (var == others[0]) == isTokenFirst;
      return algebra::wholeVar(isToken ? gated::token : gated::batch, dims[var]);
    });
  };
  for (bool isTokenFirst : {false, true}) {
    std::optional<Expr> own = renamed(alpha, isTokenFirst), whole = renamed(value.expr, isTokenFirst);
    Size first = dims[others.front()], second = dims[others.back()], batch = isTokenFirst ? second : first;
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
