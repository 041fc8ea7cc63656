//===- Expr.cpp - Tensor elements as expressions ------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhc/Algebra/Expr.h"
#include "Close.h"
#include "Facts.h"
#include "Order.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mhc;
using namespace mhc::algebra;
using llvm::ArrayRef;

/// Bounds on one expression: a wider one is no mHC expression, and is not looked into.
constexpr size_t kMaxTerms = 64, kMaxFactors = 256;

const Factor *algebra::singleFactor(const Expr &expr, int halves) {
  bool isSingle = expr.size() == 1 && expr[0].factors.size() == 1 && expr[0].exponent.empty() &&
                  expr[0].factors[0].halves == halves;
  return isSingle ? &expr[0].factors[0] : nullptr;
}

static bool isNumber(const Term &term) { return term.factors.empty() && term.exponent.empty(); }

std::optional<double> algebra::numberOf(const Expr &expr) {
  if (expr.empty())
    return 0.0;
  return expr.size() == 1 && isNumber(expr[0]) ? std::optional(expr[0].coefficient) : std::nullopt;
}

const Index *algebra::positionOf(const Expr &expr) {
  const Factor *factor = singleFactor(expr);
  bool isPosition = factor && expr[0].coefficient == 1 && factor->node()->kind == Node::Position;
  return isPosition ? &factor->at()[0] : nullptr;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

ArrayRef<Index> Algebra::unique(ArrayRef<Index> at) {
  auto known = indices.find_as(at);
  if (known == indices.end())
    known = indices.insert(new (indexMemory.Allocate()) Indices(at)).first;
  return **known;
}

const Element *Algebra::elementOf(const Node *node, ArrayRef<Index> at) {
  if (node->latest && node->latest->at.data() == at.data())
    return node->latest;
  auto [known, isNew] = elements.try_emplace({node, at.data()});
  if (isNew)
    known->second = new (elementMemory.Allocate<Element>()) Element{node, at, elements.size() - 1};
  return node->latest = known->second;
}

Expr Algebra::single(const Node *node, ArrayRef<Index> at) { return of(elementAt(node, at)); }

void Algebra::replaceElements(Expr &expr, llvm::function_ref<const Element *(const Element *)> replace) {
  for (Term &term : expr) {
    replaceElements(term.exponent, replace);
    for (Factor &factor : term.factors)
      factor.element = replace(factor.element);
  }
}

Expr Algebra::number(double value) {
  if (value == 0)
    return {};
  Expr expr(1);
  expr[0].coefficient = canonicalNumber(value);
  return expr;
}

Expr Algebra::of(const Element *element, int halves) {
  Expr expr(1);
  expr[0].factors.push_back({element, halves});
  return expr;
}

Expr Algebra::extent(Size size) {
  if (size.isNumber())
    return number(size.number());
  Node node(Node::Extent, {});
  node.size = size;
  return single(unique(node), {});
}

std::optional<Expr> Algebra::position(const Index &index) {
  Expr sum = number(index.offset);
  for (const Piece &piece : index.pieces) {
    Index digit;
    digit.pieces.push_back({piece.var, piece.stride, piece.extent, 1});
    Node node(Node::Position, {piece.extent});
    std::optional<Expr> part = multiply(single(unique(std::move(node)), digit), extent(piece.multiplier));
    std::optional<Expr> next = part ? add(sum, *part) : std::nullopt;
    if (!next)
      return std::nullopt;
    sum = std::move(*next);
  }
  return sum;
}

Expr Algebra::base(mlir::Value value, ArrayRef<Size> dims, ArrayRef<Index> at) {
  Node node(Node::Base, dims);
  node.value = value;
  node.size = renewed.lookup(value);
  return single(unique(node), at);
}

Expr Algebra::constant(mlir::Attribute elements, ArrayRef<Size> dims, ArrayRef<Index> at) {
  Node node(Node::Base, dims);
  node.label = elements;
  return single(unique(node), at);
}

/// One product alone, which an initialiser list would copy.
static Expr asExpr(Term term) {
  Expr expr;
  expr.push_back(std::move(term));
  return expr;
}

Expr Algebra::closed(Node node, const Indices &at) { return single(unique(std::move(node)), at); }

//===----------------------------------------------------------------------===//
// Normal form
//===----------------------------------------------------------------------===//

/// Whether a factor is 1 or 0 by the positions that it is read at.
static bool isChoice(const Factor &factor) { return factor.node()->isApply("equal"); }

static bool isBefore(const Factor &a, const Factor &b) {
  return std::tuple(a.node()->shape, a.node()->number, a.element->number) <
         std::tuple(b.node()->shape, b.node()->number, b.element->number);
}

/// Whether sorted factors have an element twice.
static bool hasTwice(ArrayRef<Factor> factors) {
  for (size_t i = 1; i < factors.size(); ++i)
    if (factors[i - 1].element == factors[i].element)
      return true;
  return false;
}

void Algebra::normalise(Term &term) {
  term.coefficient = snapped(term.coefficient);
  if (!llvm::is_sorted(term.factors, isBefore) || hasTwice(term.factors)) {
    llvm::sort(term.factors, isBefore);
    llvm::SmallVector<Factor, 2> merged;
    for (const Factor &factor : term.factors)
      if (!merged.empty() && merged.back().element == factor.element && isChoice(factor))
        merged.back().halves = 2; // 0 and 1 are their own squares
      else if (!merged.empty() && merged.back().element == factor.element)
        merged.back().halves += factor.halves;
      else
        merged.push_back(factor);
    llvm::erase_if(merged, [](const Factor &factor) { return factor.halves == 0; });
    term.factors = std::move(merged);
  }
  simplifySigmoids(term);
  squareMagnitudes(term);
}

/// Zero where rounding is all that is left, to which a number of 13 digits belongs.
static double sumOfNumbers(double a, double b) {
  double sum = snapped(a + b);
  return std::abs(sum) <= 1e-12 * std::abs(a) ? 0 : sum;
}

bool Algebra::normalise(Expr &expr) {
  // Most sums are in order, and have each product once.
  auto isBehind = [](const Term &a, const Term &b) { return compare(a, b, By::names) >= 0; };
  if (std::adjacent_find(expr.begin(), expr.end(), isBehind) != expr.end()) {
    llvm::stable_sort(expr, [](const Term &a, const Term &b) { return compare(a, b, By::names) < 0; });
    Expr merged;
    for (Term &term : expr)
      if (!merged.empty() && compare(merged.back(), term, By::names) == 0)
        merged.back().coefficient = sumOfNumbers(merged.back().coefficient, term.coefficient);
      else
        merged.push_back(std::move(term));
    expr = std::move(merged);
  }
  llvm::erase_if(expr, [](const Term &term) { return term.coefficient == 0; });
  return expr.size() <= kMaxTerms && llvm::all_of(expr, [](const Term &term) {
           return term.factors.size() <= kMaxFactors && !std::isnan(term.coefficient);
         });
}

Expr Algebra::scale(Expr expr, double coefficient) {
  if (coefficient == 0)
    return {};
  for (Term &term : expr)
    term.coefficient = snapped(term.coefficient * coefficient);
  return expr;
}

std::optional<Term> Algebra::asTerm(const Expr &expr, bool isPositive) {
  if (expr.size() == 1)
    return expr[0];
  Term term;
  if (expr.empty()) {
    term.coefficient = 0;
    return term;
  }
  std::optional<Closed> sum = close(expr, isPositive);
  if (!sum)
    return std::nullopt;
  term.coefficient = sum->coefficient;
  term.factors.push_back({elementAt(sum->node, sum->at)});
  return term;
}

std::optional<Algebra::Closed> Algebra::close(const Expr &expr, bool isPositive) {
  if (const Factor *factor = singleFactor(expr))
    return Closed{factor->node(), Indices(factor->at()), expr[0].coefficient};
  if (expr.empty())
    return std::nullopt;
  std::vector<Expr> parts(1, expr);
  Closer closer(*this, parts);
  if (!closer.run())
    return std::nullopt;
  double first = parts[0][0].coefficient, coefficient = isPositive ? std::abs(first) : first;
  Node node(Node::Sum, closer.dims);
  node.parts.push_back(scale(std::move(parts[0]), 1 / coefficient));
  return Closed{unique(std::move(node)), closer.at, coefficient};
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// The number z in `1 - sigmoid`: sums of a number and its negative times a sigmoid.
static bool isComplement(const Expr &expr) {
  return expr.size() == 2 && isNumber(expr[1]) && expr[0].exponent.empty() && expr[0].factors.size() == 1 &&
         expr[0].factors[0].halves == 2 && expr[0].factors[0].node()->isApply("sigmoid") &&
         numberId(expr[0].coefficient) == numberId(-expr[1].coefficient);
}

std::optional<Expr> Algebra::add(const Expr &a, const Expr &b) {
  Expr sum = a;
  llvm::append_range(sum, b);
  if (!normalise(sum))
    return std::nullopt;
  if (sum.size() > 1)
    roll(sum);
  if (isComplement(sum)) {
    const Factor &sigmoid = sum[0].factors[0];
    std::optional<Expr> argument = part(sigmoid.element);
    std::optional<Expr> opposite = argument ? apply("sigmoid", {scale(*argument, -1)}) : std::nullopt;
    if (opposite)
      return scale(*opposite, sum[1].coefficient);
  }
  return sum;
}

std::optional<Expr> Algebra::multiply(const Expr &a, const Expr &b) {
  if (std::optional<double> number = numberOf(a))
    return scale(b, *number);
  if (std::optional<double> number = numberOf(b))
    return scale(a, *number);
  std::optional<Term> product = asTerm(a), other = asTerm(b);
  if (!product || !other)
    return std::nullopt;
  product->coefficient *= other->coefficient;
  llvm::SmallVector<Factor, 2> factors;
  factors.reserve(product->factors.size() + other->factors.size());
  std::merge(product->factors.begin(), product->factors.end(), other->factors.begin(), other->factors.end(),
             std::back_inserter(factors), isBefore);
  product->factors = std::move(factors);
  if (!other->exponent.empty()) {
    std::optional<Expr> exponent = add(product->exponent, other->exponent);
    if (!exponent)
      return std::nullopt;
    product->exponent = *exponent;
  }
  normalise(*product);
  Expr result = asExpr(std::move(*product));
  return normalise(result) ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<Expr> Algebra::divide(const Expr &a, const Expr &b) {
  std::optional<Expr> inverse = power(b, -2);
  return inverse ? multiply(a, *inverse) : std::nullopt;
}

/// 1 + c * exp(e): its reciprocal is a sigmoid.
static bool isLogistic(const Expr &expr) {
  return expr.size() == 2 && isNumber(expr[1]) && expr[0].factors.empty() && expr[0].coefficient > 0 &&
         expr[1].coefficient > 0;
}

/// Whether the root of a product is the product of the roots: that of a square is its magnitude.
static bool hasRoot(const Term &term) {
  bool isOne = term.factors.size() == 1 && term.factors[0].halves == 2;
  return isOne || llvm::all_of(term.factors,
                               [&](const Factor &factor) { return factor.halves % 4 != 0 && isNonNegative(factor); });
}

std::optional<Expr> Algebra::power(const Expr &expr, int halves) {
  if (halves == 2)
    return expr;
  if (halves == -2 && isLogistic(expr)) {
    std::optional<Expr> argument = add(expr[0].exponent, number(std::log(expr[0].coefficient / expr[1].coefficient)));
    std::optional<Expr> sigmoid = argument ? apply("sigmoid", {scale(*argument, -1)}) : std::nullopt;
    return sigmoid ? std::optional(scale(*sigmoid, 1 / expr[1].coefficient)) : std::nullopt;
  }
  bool isRoot = halves % 2 != 0;
  std::optional<Term> term = asTerm(expr, isRoot);
  if (!term || (term->coefficient == 0 && halves < 0) || (term->coefficient < 0 && isRoot))
    return std::nullopt;
  if (isRoot && !hasRoot(*term)) {
    // The root of a square is no factor: it has the square's sign no more.
    std::vector<Expr> parts = {{Term{1, {}, term->factors}}};
    Closer closer(*this, parts);
    if (!closer.run())
      return std::nullopt;
    Node node(Node::Sum, closer.dims);
    node.parts = parts;
    term->factors = {{elementAt(unique(node), closer.at)}};
  }
  term->coefficient = std::pow(term->coefficient, halves / 2.0);
  term->exponent = scale(term->exponent, halves / 2.0);
  for (Factor &factor : term->factors) {
    if ((isRoot && factor.halves % 2 != 0) || (halves < 0 && isChoice(factor)))
      return std::nullopt;
    factor.halves = factor.halves * halves / 2;
  }
  normalise(*term);
  return asExpr(std::move(*term));
}

std::optional<Expr> Algebra::exp(const Expr &expr) {
  Expr result = number(1);
  for (const Term &term : expr) {
    std::optional<Expr> factor;
    bool isLog = term.exponent.empty() && term.factors.size() == 1 && term.factors[0].halves == 2 &&
                 term.factors[0].node()->isApply("log");
    double halves = 2 * term.coefficient;
    if (isNumber(term) && std::abs(term.coefficient) < 100) {
      factor = number(std::exp(term.coefficient));
    } else if (isLog && halves == std::nearbyint(halves) && std::abs(halves) <= 8) {
      const Factor &log = term.factors[0];
      factor = part(log.element);
      if (const Factor *sum = factor ? singleFactor(*factor) : nullptr; sum && sum->node()->kind == Node::Sum) {
        std::optional<Expr> terms = part(sum->element); // of which the reciprocal may be a sigmoid
        factor = terms ? std::optional(scale(*terms, (*factor)[0].coefficient)) : factor;
      }
      factor = factor ? power(*factor, static_cast<int>(halves)) : std::nullopt;
    } else {
      Term exponential;
      exponential.exponent = {term};
      factor = Expr{exponential};
    }
    std::optional<Expr> product = factor ? multiply(result, *factor) : std::nullopt;
    if (!product)
      return std::nullopt;
    result = std::move(*product);
  }
  return result;
}

std::optional<Expr> Algebra::log(const Expr &expr) {
  std::optional<Term> term = asTerm(expr, /*isPositive=*/true);
  if (!term || term->coefficient <= 0)
    return apply("log", {expr});
  std::optional<Expr> sum = add(term->exponent, number(std::log(term->coefficient)));
  llvm::SmallVector<Factor, 2> others;
  for (const Factor &factor : term->factors) {
    Factor whole = factor;
    whole.halves = 2;
    if (!isNonNegative(whole)) {
      others.push_back(factor);
      continue;
    }
    std::optional<Expr> log = apply("log", {Expr{Term{1, {}, {whole}}}});
    sum = sum && log ? add(*sum, scale(*log, factor.halves / 2.0)) : std::nullopt;
  }
  if (others.empty() || !sum)
    return sum;
  std::optional<Expr> rest = apply("log", {Expr{Term{1, {}, others}}});
  return rest ? add(*sum, *rest) : std::nullopt;
}

std::optional<Expr> Algebra::apply(llvm::StringRef name, ArrayRef<Expr> arguments) {
  if (name == "abs" && isNonNegative(arguments[0]))
    return arguments[0];
  if (name == "max" || name == "min")
    if (std::optional<double> a = numberOf(arguments[0]), b = numberOf(arguments[1]); a && b)
      return number(name == "max" ? std::max(*a, *b) : std::min(*a, *b));
  std::vector<Expr> parts(arguments.begin(), arguments.end());
  if (name == "max" || name == "min" || name == "equal")
    llvm::stable_sort(parts, [](const Expr &a, const Expr &b) { return compare(a, b, By::names) < 0; });
  Closer closer(*this, parts);
  if (!closer.run())
    return std::nullopt;
  Node node(Node::Apply, closer.dims);
  node.label = mlir::StringAttr::get(context, name);
  node.parts = std::move(parts);
  return closed(std::move(node), closer.at);
}

std::optional<Expr> Algebra::equal(const Expr &a, const Expr &b) {
  std::optional<Expr> difference = add(a, scale(b, -1));
  std::optional<double> number = difference ? numberOf(*difference) : std::nullopt;
  return number ? Algebra::number(*number == 0 ? 1 : 0) : apply("equal", {a, b});
}

/// sigmoid(-z)^k * exp(k*z) -> sigmoid(z)^k
void Algebra::simplifySigmoids(Term &term) {
  if (term.exponent.empty())
    return;
  for (Factor &factor : term.factors) {
    if (!factor.node()->isApply("sigmoid") || factor.halves % 2 != 0)
      continue;
    std::optional<Expr> argument = part(factor.element);
    if (!argument || compare(scale(*argument, -factor.halves / 2), term.exponent, By::names) != 0)
      continue;
    std::optional<Expr> opposite = apply("sigmoid", {scale(*argument, -1)});
    if (!opposite)
      continue;
    factor.element = (*opposite)[0].factors[0].element;
    term.exponent.clear();
    return normalise(term);
  }
}

/// |x|^2 is x^2.
void Algebra::squareMagnitudes(Term &term) {
  auto isEven = [](const Factor &factor) { return factor.node()->isApply("abs") && factor.halves % 4 == 0; };
  auto magnitude = llvm::find_if(term.factors, isEven);
  std::optional<Expr> argument = magnitude == term.factors.end() ? std::nullopt : part(magnitude->element);
  std::optional<Expr> square = argument ? power(*argument, magnitude->halves) : std::nullopt;
  if (!square || square->size() != 1)
    return;
  Term rest = term;
  rest.factors.erase(rest.factors.begin() + (magnitude - term.factors.begin()));
  if (std::optional<Expr> product = multiply({rest}, *square); product && product->size() == 1)
    term = product->front();
}
