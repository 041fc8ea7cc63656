//===- Linear.cpp - Gates and logits as groups of rows of a projection --------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//

#include "Linear.h"
#include "Bounds.h"
#include "mhc/IR/Constants.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;
using algebra::Indices;
using algebra::Piece;
using algebra::Size;
using algebra::Var;

using Extent = IndexVars::value_type;

/// More rows are no gates and logits.
constexpr int64_t kMaxGroupRows = 1024;
/// More terms are no group: a product, its biases, and what scales them.
constexpr size_t kMaxGroupTerms = 8;

namespace {
class GroupMatcher {
public:
  GroupMatcher(algebra::Reading &reading, Value root, Operation *user)
      : reading(reading), algebra(reading.algebra()), user(user) {
    group.root = root;
  }
  std::optional<LinearGroup> match();

private:
  bool readVars(Expr &z);
  bool multiplyOut(Expr &z);
  bool matchProduct(const algebra::Term &term);
  bool matchSum(const algebra::Term &outer, const algebra::Factor &sum);
  bool assign(const algebra::Factor &x, const algebra::Factor &phi, const algebra::Term &rest);
  bool splitOuter(const algebra::Term &outer);
  bool matchNorm(const algebra::Term &scale);
  bool matchGuardedRoot(const Expr &norm, const Expr &squares);
  bool matchRoot(const Expr &squared, const Expr &squares, Norm norm);
  bool findWeight();
  bool placeRows(Value weight, ArrayRef<algebra::Index> at);

  int64_t width() const {
    int64_t width = 1;
    for (const Extent &var : group.flat)
      width *= var.second.number();
    return width;
  }

  algebra::Reading &reading;
  Algebra &algebra;
  Operation *user;
  LinearGroup group;
  IndexVars all;
  double scale = 1; ///< what the root mean square leaves of the numbers
};
} // namespace

/// z in the variables of its node: each stands for dimensions that nothing tells apart.
bool GroupMatcher::readVars(Expr &z) {
  std::optional<Algebra::Closed> closed = algebra.close(reading.of(group.root));
  if (!closed || llvm::any_of(closed->at, [](const algebra::Index &index) { return index.pieces.empty(); }))
    return false;
  group.rootAt = closed->at;
  Indices own;
  for (auto [var, extent] : llvm::enumerate(closed->node->dims)) {
    all.push_back({static_cast<Var>(var), extent});
    own.push_back(algebra::wholeVar(var, extent));
  }
  z = closed->node->kind == algebra::Node::Sum ? closed->node->parts[0]
                                               : Algebra::of(algebra.elementAt(closed->node, own));
  z = Algebra::scale(z, closed->coefficient);
  return true;
}

/// (a + b) * c -> a * c + b * c
bool GroupMatcher::multiplyOut(Expr &z) {
  for (size_t number = 0; number < z.size(); ++number)
    for (auto [place, factor] : llvm::enumerate(z[number].factors)) {
      if (factor.halves != 2 || factor.node()->kind != algebra::Node::Sum)
        continue;
      std::optional<Expr> terms = algebra.part(factor.element);
      if (!terms || z.size() + terms->size() > kMaxGroupTerms)
        return false;
      algebra::Term rest = z[number];
      rest.factors.erase(rest.factors.begin() + place);
      Expr sum = z;
      sum.erase(sum.begin() + number);
      for (const algebra::Term &term : *terms) {
        std::optional<Expr> product = algebra.multiply({rest}, {term});
        std::optional<Expr> next = product ? algebra.add(sum, *product) : std::nullopt;
        if (!next)
          return false;
        sum = *next;
      }
      z = sum;
      number = -1;
      break;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

bool GroupMatcher::matchProduct(const algebra::Term &term) {
  for (auto [place, factor] : llvm::enumerate(term.factors)) {
    if (factor.halves != 2 || !factor.node()->isReduce("sum"))
      continue;
    algebra::Term outer = term;
    outer.factors.erase(outer.factors.begin() + place);
    if (matchSum(outer, factor))
      return true;
  }
  return false;
}

bool GroupMatcher::matchSum(const algebra::Term &outer, const algebra::Factor &sum) {
  IndexVars bound;
  Indices over;
  for (Size extent : sum.node()->bound) {
    if (!extent.isNumber())
      return false;
    bound.push_back({algebra.freshVar(), extent});
    over.push_back(algebra::wholeVar(bound.back().first, extent));
  }
  std::optional<Expr> inner = algebra.part(sum.element, over);
  if (!inner || inner->size() != 1 || !(*inner)[0].exponent.empty())
    return false;
  const algebra::Term &term = (*inner)[0];
  auto isInner = [&](const algebra::Factor &factor) {
    return llvm::all_of(bound, [&](const Extent &var) { return dependsOn(factor, var.first); });
  };
  for (auto [i, x] : llvm::enumerate(term.factors))
    for (auto [j, phi] : llvm::enumerate(term.factors)) {
      if (i == j || x.halves != 2 || phi.halves != 2 || !isInner(x) || !isInner(phi))
        continue;
      algebra::Term rest = term;
      rest.factors.erase(rest.factors.begin() + std::max(i, j));
      rest.factors.erase(rest.factors.begin() + std::min(i, j));
      group.flat = bound;
      if (assign(x, phi, rest) && splitOuter(outer))
        return true;
    }
  return false;
}

/// x has the tokens, phi has the rows, and a row has a known number of values.
bool GroupMatcher::assign(const algebra::Factor &x, const algebra::Factor &phi, const algebra::Term &rest) {
  group.tokens.clear();
  group.row.clear();
  group.extent = 1;
  for (const Extent &var : all) {
    bool ofX = dependsOn(x, var.first), ofPhi = dependsOn(phi, var.first);
    if (ofX == ofPhi)
      return false;
    (ofX ? group.tokens : group.row).push_back(var);
    if (ofPhi && !var.second.isNumber())
      return false;
    if (ofPhi)
      group.extent *= var.second.number();
  }
  bool isRest = llvm::none_of(rest.factors, [&](const algebra::Factor &factor) { return dependsOnAny(factor, all); });
  if (group.row.empty() || group.extent > kMaxGroupRows || !isRest)
    return false;
  // In the order in which x is stored
  std::optional<algebra::Reading::Found> stored = findStreams(reading, Algebra::of(x.element), user);
  if (!stored)
    return false;
  auto order = varsOf(stored->at);
  auto sort = [&](IndexVars &vars) {
    llvm::stable_sort(vars, [&](const Extent &a, const Extent &b) {
      return llvm::find(order, a.first) < llvm::find(order, b.first);
    });
  };
  sort(group.tokens);
  sort(group.flat);
  group.x = x;
  group.phi = phi;
  group.gamma = rest.factors.empty() ? std::nullopt : std::optional(Expr{rest});
  scale = rest.coefficient;
  if (group.gamma)
    (*group.gamma)[0].coefficient = 1;
  return findWeight();
}

/// The value that phi is read of: the tensor itself, rather than what shows it in the same type.
bool GroupMatcher::findWeight() {
  std::optional<algebra::Reading::Found> found = nearest(reading, Algebra::of(group.phi.element), user);
  Value base = group.phi.node()->value;
  bool isBase = base && reading.isBefore(base, user) &&
                (!found || getElementTypeOrSelf(base) == getElementTypeOrSelf(found->value));
  return (isBase && placeRows(base, group.phi.at())) || (found && placeRows(found->value, found->at));
}

/// Finds the place of the rows in the weight, which is read at `at`.
bool GroupMatcher::placeRows(Value weight, ArrayRef<algebra::Index> at) {
  group.weight = weight;
  group.weightAt = Indices(at.begin(), at.end());
  group.offset = 0;
  group.rows = 1;
  auto isRow = [&](Var var) { return llvm::any_of(group.row, [&](const Extent &row) { return row.first == var; }); };
  SmallVector<Size, 4> sizes = reading.sizes(group.weight);
  for (auto [dim, index] : llvm::enumerate(group.weightAt)) {
    bool hasRow = llvm::any_of(index.pieces, [&](const Piece &piece) { return isRow(piece.var); });
    bool isWhole = index.offset == 0 && covers(algebra.sizes, index, sizes[dim]);
    if (!hasRow && !isWhole)
      return false;
    if (!hasRow)
      continue;
    if (!sizes[dim].isNumber() || (group.rows != 1 && !isWhole))
      return false;
    group.offset = group.offset * sizes[dim].number() + index.offset;
    group.rows *= sizes[dim].number();
    index.offset = 0;
    Size read = 1;
    for (const Piece &piece : index.pieces)
      read = algebra.sizes.multiply(read, piece.extent).value_or(0);
    if (!covers(algebra.sizes, index, read)) // rows apart
      return false;
  }
  // The rows in the order of the weight
  llvm::stable_sort(group.row, [&](const Extent &a, const Extent &b) {
    auto order = varsOf(group.weightAt);
    return llvm::find(order, a.first) < llvm::find(order, b.first);
  });
  return group.offset + group.extent <= group.rows;
}

/// The number that f32 leaves of one that was computed of others.
static bool isNear(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

/// The epsilon that a program wrote, from one that is near: a short decimal, a power of two, or what f32 has.
static double epsMeant(double eps) {
  char text[32];
  snprintf(text, sizeof(text), "%.2e", eps);
  double decimal = strtod(text, nullptr), power = std::exp2(std::round(std::log2(eps)));
  if (isNear(eps, decimal))
    return decimal;
  return asWritten(APFloat(static_cast<float>(isNear(eps, power) ? power : eps)));
}

/// The factors before the sum: a factor per token, and numbers.
bool GroupMatcher::splitOuter(const algebra::Term &outer) {
  algebra::Term ofToken, numbers;
  numbers.coefficient = outer.coefficient * scale;
  for (const algebra::Factor &factor : outer.factors) {
    if (dependsOnAny(factor, group.row))
      return false;
    bool isOfToken = dependsOnAny(factor, group.tokens) || (group.tokens.empty() && matchNorm({1, {}, {factor}}));
    (isOfToken ? ofToken : numbers).factors.push_back(factor);
  }
  if (group.tokens.empty() && ofToken.factors.size() != 1) // nothing tells the token from parameters
    return false;
  if (llvm::any_of(outer.exponent, [&](const algebra::Term &part) { return dependsOnAny(part, all); }))
    return false;
  numbers.exponent = outer.exponent;
  scale = 1;
  group.norm = Norm::none;
  group.eps = 0;
  if (!ofToken.factors.empty() && !matchNorm(ofToken))
    return false;
  numbers.coefficient *= scale;
  if (isNear(numbers.coefficient, 1))
    numbers.coefficient = 1;
  group.alpha = {numbers};
  return true;
}

//===----------------------------------------------------------------------===//
// The norm
//===----------------------------------------------------------------------===//

bool GroupMatcher::matchNorm(const algebra::Term &ofToken) {
  Expr x = Algebra::of(group.x.element);
  std::optional<Expr> square = algebra.multiply(x, x);
  std::optional<Expr> squares = square ? algebra.reduce("sum", *square, group.flat) : std::nullopt;
  if (!squares || squares->size() != 1)
    return false;
  std::optional<Expr> squared = algebra.power({ofToken}, -4), plain = algebra.power({ofToken}, -2);
  return (squared && matchRoot(*squared, *squares, Norm::inside)) ||
         (plain && matchRoot(*plain, *squares, Norm::outside)) || (plain && matchGuardedRoot(*plain, *squares));
}

/// A larger bound is a part of the function.
constexpr double kMostGuard = 1e-10;

/// max(root, bound), where the bound only keeps a token of zeros from a division by zero: sqrt(root^2 + bound^2) is the
/// same number, to f32, where the norm of a token is above 1e-6.
bool GroupMatcher::matchGuardedRoot(const Expr &norm, const Expr &squares) {
  const algebra::Factor *max = algebra::singleFactor(norm);
  if (!max || !max->node()->isApply("max"))
    return false;
  std::optional<Expr> root = algebra.part(max->element, {}, 0), bound = algebra.part(max->element, {}, 1);
  if (root && algebra::numberOf(*root))
    std::swap(root, bound);
  std::optional<double> guard = bound ? algebra::numberOf(*bound) : std::nullopt;
  std::optional<Expr> power = root && guard ? algebra.multiply(*root, *root) : std::nullopt;
  if (!power || *guard < 0 || *guard > kMostGuard)
    return false;
  power = algebra.add(*power, Algebra::number(*guard * *guard));
  double number = norm[0].coefficient;
  return power && matchRoot(Algebra::scale(*power, number * number), squares, Norm::inside);
}

/// `power` is the norm's square, or the norm: a number times the mean square, or its root, plus eps.
bool GroupMatcher::matchRoot(const Expr &power, const Expr &squares, Norm norm) {
  double mean = 1.0 / static_cast<double>(width());
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

//===----------------------------------------------------------------------===//
// The group
//===----------------------------------------------------------------------===//

std::optional<LinearGroup> GroupMatcher::match() {
  Expr z;
  if (!readVars(z) || !multiplyOut(z))
    return std::nullopt;
  for (size_t number = 0; number < z.size(); ++number) {
    if (!matchProduct(z[number]))
      continue;
    group.beta = z;
    group.beta.erase(group.beta.begin() + number);
    if (llvm::any_of(group.beta, [&](const algebra::Term &term) { return dependsOnAny(term, group.tokens); }))
      return std::nullopt;
    return group;
  }
  return std::nullopt;
}

std::optional<LinearGroup> mhc::matchLinearGroup(algebra::Reading &reading, Value root, Operation *user) {
  auto type = dyn_cast<RankedTensorType>(root.getType());
  if (!type || type.getRank() == 0)
    return std::nullopt;
  return GroupMatcher(reading, root, user).match();
}

/// An element with its variables named by their places in `vars`; the rows are one name.
static Indices renamed(ArrayRef<algebra::Index> at, const LinearGroup &group) {
  Indices result(at.begin(), at.end());
  for (algebra::Index &index : result)
    for (Piece &piece : index.pieces) {
      auto place = [&](const IndexVars &vars, int first) {
        auto found = llvm::find_if(vars, [&](const Extent &var) { return var.first == piece.var; });
        return found == vars.end() ? -1 : first + static_cast<int>(found - vars.begin());
      };
      constexpr int kFlat = 1000;
      piece.var = std::max(place(group.tokens, 0), place(group.flat, kFlat));
    }
  return result;
}

bool mhc::isSameProjection(const LinearGroup &a, const LinearGroup &b) {
  auto isSameFactor = [&](const algebra::Factor &left, const algebra::Factor &right) {
    return left.node() == right.node() && left.halves == right.halves &&
           renamed(left.at(), a) == renamed(right.at(), b);
  };
  auto isSameGamma = [&] {
    if (!a.gamma || !b.gamma)
      return !a.gamma && !b.gamma;
    const auto &left = (*a.gamma)[0].factors, &right = (*b.gamma)[0].factors;
    return left.size() == right.size() && llvm::all_of(llvm::zip(left, right), [&](auto pair) {
             return isSameFactor(std::get<0>(pair), std::get<1>(pair));
           });
  };
  return Value(a.root).getParentBlock() == Value(b.root).getParentBlock() && a.norm == b.norm && a.eps == b.eps &&
         isSameFactor(a.x, b.x) && isSameGamma();
}
