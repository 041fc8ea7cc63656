//===- LinearNorm.cpp - Factors of the tokens of a group of rows ------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Bounds.h"
#include "LinearMatcher.h"
#include "mhc/IR/Constants.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;

double mhc::epsMeant(double eps) {
  char text[32];
  snprintf(text, sizeof(text), "%.2e", eps);
  double decimal = strtod(text, nullptr), power = std::exp2(std::round(std::log2(eps)));
  if (isNear(eps, decimal))
    return decimal;
  return asWritten(APFloat(static_cast<float>(isNear(eps, power) ? power : eps)));
}

bool GroupMatcher::matchNorm(const algebra::Term &ofToken) {
  std::optional<Expr> squares = group.squares(algebra);
  if (!squares || squares->size() != 1)
    return false;
  std::optional<Expr> squared = algebra.power({ofToken}, -4), plain = algebra.power({ofToken}, -2);
  return (squared && (matchRoot(*squared, *squares, Norm::inside) || matchClamp(*squared, *squares, 2))) ||
         (plain && (matchRoot(*plain, *squares, Norm::outside) || matchClamp(*plain, *squares, 1)));
}

namespace {
/// factor * max(inner, bound)
struct Clamped {
  Expr inner;
  double bound, factor;
};
} // namespace

static std::optional<Clamped> readClamped(Algebra &algebra, const Expr &expr) {
  const algebra::Factor *max = algebra::singleFactor(expr);
  if (!max || !max->node()->isApply("max"))
    return std::nullopt;
  std::optional<Expr> inner = algebra.part(max->element, {}, 0), bound = algebra.part(max->element, {}, 1);
  if (inner && algebra::numberOf(*inner))
    std::swap(inner, bound);
  std::optional<double> number = bound ? algebra::numberOf(*bound) : std::nullopt;
  return inner && number ? std::optional(Clamped{*inner, *number, expr[0].coefficient}) : std::nullopt;
}

/// `expr` is factor * max(the token's root mean square, eps)^power.
bool GroupMatcher::matchClamp(const Expr &expr, const Expr &squares, int power) {
  std::optional<Clamped> clamped = readClamped(algebra, expr);
  std::optional<Expr> base = algebra.power(Algebra::scale(squares, 1.0 / static_cast<double>(group.width())), power);
  std::optional<Expr> ratio = clamped && base ? algebra.divide(clamped->inner, *base) : std::nullopt;
  std::optional<double> factor = ratio ? algebra::numberOf(*ratio) : std::nullopt;
  if (!factor || *factor <= 0 || clamped->factor <= 0)
    return false;
  const double root = 1.0 / power, bound = std::pow(std::max(clamped->bound, 0.0) / *factor, root);
  if (!isEps(bound))
    return false;
  group.norm = bound == 0 ? Norm::inside : Norm::clamp;
  group.eps = bound == 0 ? 0 : epsMeant(bound);
  scale = 1 / std::pow(*factor * clamped->factor, root);
  return true;
}

/// `power` is the norm's square, or the norm: a number times the mean square, or its root, plus eps.
bool GroupMatcher::matchRoot(const Expr &power, const Expr &squares, Norm norm) {
  double mean = 1.0 / static_cast<double>(group.width());
  std::optional<Expr> base = Algebra::scale(squares, mean);
  if (norm == Norm::outside)
    base = algebra.power(*base, 1);
  Expr terms = power;
  const algebra::Factor *sum = algebra::singleFactor(power);
  if (sum && sum->node()->kind == algebra::Node::Sum) {
    std::optional<Expr> part = algebra.part(sum->element);
    if (!part)
      return false;
    terms = Algebra::scale(*part, power[0].coefficient);
  }
  double number = 0;
  llvm::erase_if(terms, [&](const algebra::Term &term) {
    if (!term.factors.empty() || !term.exponent.empty())
      return false;
    number += term.coefficient;
    return true;
  });
  std::optional<Expr> ratio = base && terms.size() == 1 ? algebra.divide(terms, *base) : std::nullopt;
  std::optional<double> factor = ratio ? algebra::numberOf(*ratio) : std::nullopt;
  if (!factor || *factor <= 0 || !isEps(number / *factor))
    return false;
  if (isNear(*factor, 1))
    factor = 1;
  // 1/sqrt(factor * (mean + eps)), or 1/(factor * (sqrt(mean) + eps))
  group.norm = number == 0 ? Norm::inside : norm; // without an epsilon there is one norm
  group.eps = epsMeant(number / *factor);
  scale = norm == Norm::inside ? 1 / std::sqrt(*factor) : 1 / *factor;
  return true;
}

/// Another function of the token's own squares, such as a norm that is bounded from above: as the program computes it.
bool GroupMatcher::takeOwnFactor(const algebra::Term &ofToken) {
  std::optional<Expr> squares = group.squares(algebra);
  const algebra::Factor *own = squares ? algebra::singleFactor(*squares) : nullptr;
  const bool isAlone = ofToken.factors.size() == 1 && ofToken.exponent.empty() && !group.tokens.empty();
  if (!own || !isAlone || !reads({ofToken}, own->element))
    return false;
  const algebra::Factor &factor = ofToken.factors[0];
  if (!nearest(reading, {ofToken}, user) &&
      (factor.halves != -2 || !nearest(reading, Algebra::of(factor.element), user)))
    return false;
  group.stat = Expr{ofToken};
  group.statForm = Stat::inv_rms;
  return true;
}

//===----------------------------------------------------------------------===//
// A given projection
//===----------------------------------------------------------------------===//

/// A statistic of the tokens, or one over the root of a mean square and an epsilon.
bool GroupMatcher::matchStatistic(const algebra::Term &ofToken) {
  if (ofToken.factors.size() != 1)
    return false;
  auto isTensor = [](const algebra::Factor &factor) { return factor.halves == 2 && factor.node()->value; };
  group.stat = Expr{ofToken};
  group.statForm = Stat::inv_rms;
  if (isTensor(ofToken.factors[0]))
    return true;
  std::optional<Expr> square = algebra.power({ofToken}, -4);
  const algebra::Factor *sum = square ? algebra::singleFactor(*square) : nullptr;
  if (sum && sum->node()->kind == algebra::Node::Sum && (*square)[0].coefficient == 1)
    square = algebra.part(sum->element);
  if (!square)
    return false;
  double eps = 0;
  llvm::erase_if(*square, [&](const algebra::Term &term) {
    bool isNumber = term.factors.empty() && term.exponent.empty();
    eps += isNumber ? term.coefficient : 0;
    return isNumber;
  });
  if (square->size() != 1 || (*square)[0].coefficient != 1 || (*square)[0].factors.size() != 1 ||
      !isTensor((*square)[0].factors[0]) || !isEps(eps))
    return false;
  group.stat = square;
  group.statForm = Stat::mean_square;
  group.eps = epsMeant(eps);
  return true;
}
