//===- Reduce.cpp - Sums and maxima over variables -----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Close.h"
#include "Order.h"
#include "mhc/Algebra/Expr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mhc;
using namespace mhc::algebra;
using llvm::ArrayRef;

template <typename T>
static bool dependsOnAny(const T &part, ArrayRef<std::pair<Var, Size>> vars) {
  return llvm::any_of(vars, [&](const auto &var) { return dependsOn(part, var.first); });
}

Expr Algebra::reduction(llvm::StringRef kind, const Expr &part, const Closer &closer) {
  Node node(Node::Reduce, closer.dims);
  node.bound = closer.bound;
  node.label = mlir::StringAttr::get(context, kind);
  node.parts.push_back(part);
  return closed(std::move(node), closer.at);
}

std::optional<Index> Algebra::chosenBy(const Factor &factor, Var var, Size extent) {
  if (!factor.node()->isApply("equal"))
    return std::nullopt;
  for (unsigned side : {0, 1}) {
    std::optional<Expr> own = part(factor.element, {}, side), other = part(factor.element, {}, 1 - side);
    const Index *ownIndex = own ? positionOf(*own) : nullptr, *index = other ? positionOf(*other) : nullptr;
    if (!ownIndex || *ownIndex != wholeVar(var, extent))
      continue;
    if (index && !dependsOn((*other)[0], var) && (*other)[0].factors[0].node()->dims[0] == extent)
      return *index;
    std::optional<double> number = other ? numberOf(*other) : std::nullopt;
    if (number && extent.isNumber() && *number >= 0 && *number < extent.number() && *number == std::floor(*number)) {
      Index fixed;
      fixed.offset = static_cast<int64_t>(*number);
      return fixed;
    }
  }
  return std::nullopt;
}

std::optional<Expr> Algebra::sumOfChosen(const Term &term, ArrayRef<std::pair<Var, Size>> over) {
  for (const Factor &factor : term.factors)
    for (auto [var, extent] : over) {
      std::optional<Index> chosen = chosenBy(factor, var, extent);
      if (!chosen)
        continue;
      auto isChosen = [chosenVar = var](Var var) { return var == chosenVar; };
      Term rest = term;
      rest.factors.erase(rest.factors.begin() + (&factor - term.factors.begin()));
      std::optional<Expr> there =
          substitute({rest}, [&](Var var) { return isChosen(var) ? *chosen : wholeVar(var, kAnyExtent); });
      auto others =
          llvm::to_vector(llvm::make_filter_range(over, [&](const auto &other) { return !isChosen(other.first); }));
      if (!there || there->size() != 1)
        return std::nullopt;
      std::optional<Expr> next = sumOfChosen((*there)[0], others);
      return next ? next : sumOf((*there)[0], others);
    }
  return std::nullopt;
}

std::optional<Expr> Algebra::choose(const Expr &expr) {
  return replace(expr, [&](const Element *element) -> std::optional<Expr> {
    const Node &node = *element->node;
    bool isSum = node.isReduce("sum") && node.parts[0].size() == 1;
    if (!isSum || !llvm::any_of(node.parts[0][0].factors, [](auto &factor) { return factor.node()->isApply("equal"); }))
      return std::nullopt;
    Open open = this->open(node, element->at);
    std::optional<Expr> body = substitute(node.parts[0], [&](Var var) { return open.indices[var]; });
    std::optional<Expr> chosen = body && body->size() == 1 ? sumOfChosen((*body)[0], open.over) : std::nullopt;
    return chosen ? choose(*chosen) : std::nullopt; // there may be a sum in it
  });
}

static bool isOfIdentity(const Term &term) {
  return llvm::any_of(term.factors, [](const Factor &factor) { return factor.node()->isApply("equal"); });
}

static bool isNumber(const Term &term) { return term.factors.empty() && term.exponent.empty(); }

/// A factor that is a sum with such a term; null for none.
static const Factor *findSumWith(const Term &term, bool (*isPart)(const Term &)) {
  auto found = llvm::find_if(term.factors, [&](const Factor &factor) {
    return factor.halves == 2 && factor.node()->kind == Node::Sum && llvm::any_of(factor.node()->parts[0], isPart);
  });
  return found == term.factors.end() ? nullptr : &*found;
}

static Term without(Term term, const Element *element) {
  llvm::erase_if(term.factors, [&](const Factor &other) { return other.element == element; });
  return term;
}

std::optional<Expr> Algebra::sumOfAdded(const Term &term) {
  if (const Factor *added = findSumWith(term, isNumber)) // h x - x of streams that are one tensor repeated
    if (std::optional<Expr> terms = part(added->element)) {
      auto number = llvm::find_if(*terms, isNumber);
      Expr rest = *terms;
      rest.erase(rest.begin() + (number - terms->begin()));
      const Expr outer = {without(term, added->element)};
      std::optional<Expr> kept = multiply(outer, rest);
      return kept ? add(*kept, scale(outer, number->coefficient)) : std::nullopt;
    }
  for (const Factor &factor : term.factors) {
    const Node &node = *factor.node();
    const bool isSum = factor.halves == 2 && node.isReduce("sum") && node.parts[0].size() == 1;
    if (!isSum || !findSumWith(node.parts[0][0], isOfIdentity))
      continue;
    Open open = this->open(node, factor.at());
    std::optional<Expr> body = substitute(node.parts[0], [&](Var var) { return open.indices[var]; });
    const Factor *added = body && body->size() == 1 ? findSumWith((*body)[0], isOfIdentity) : nullptr;
    std::optional<Expr> terms = added ? part(added->element) : std::nullopt;
    if (!terms)
      return std::nullopt;
    const Term beside = without((*body)[0], added->element), outer = without(term, factor.element);
    // The terms that are no identity stay one matrix.
    auto kept = std::stable_partition(terms->begin(), terms->end(), isOfIdentity);
    llvm::SmallVector<Expr> matrices;
    for (const Term &one : llvm::make_range(terms->begin(), kept))
      matrices.push_back({one});
    if (kept != terms->end())
      matrices.emplace_back(kept, terms->end());
    Expr all;
    for (const Expr &matrix : matrices) {
      std::optional<Expr> product = multiply(matrix, {beside});
      std::optional<Expr> sum = product ? sumOfChosen((*product)[0], open.over) : std::nullopt;
      sum = sum || !product ? sum : sumOf((*product)[0], open.over);
      sum = sum ? multiply({outer}, *sum) : std::nullopt;
      if (const Factor *alone = sum ? singleFactor(*sum) : nullptr; alone && alone->node()->kind == Node::Sum)
        if (std::optional<Expr> own =
                part(alone->element)) // of streams that are a sum: its terms, which others may undo
          sum = scale(*own, (*sum)[0].coefficient);
      sum = sum ? add(all, *sum) : std::nullopt;
      if (!sum)
        return std::nullopt;
      all = std::move(*sum);
    }
    return all;
  }
  return std::nullopt;
}

std::optional<Expr> Algebra::spread(const Expr &expr) {
  std::optional<Expr> fewest; // streams that are a sum may have such a product of their own
  for (size_t number = 0; number < expr.size(); ++number)
    if (std::optional<Expr> sum = sumOfAdded(expr[number])) {
      Expr rest = expr;
      rest.erase(rest.begin() + number);
      std::optional<Expr> all = add(rest, *sum);
      if (all && all->size() < (fewest ? fewest->size() : expr.size()))
        fewest = std::move(all);
    }
  return fewest;
}

/// The variables of a sum that together are one index of what a view shows, as digits of `whole`; none where they are
/// not all of it. Each of the view's own indices may be several of them: the sum may have cut it further.
static std::map<Var, Index> digitsOf(Sizes &sizes, const Factor &view, const Index &shown,
                                     ArrayRef<std::pair<Var, Size>> over, Var whole) {
  std::map<Var, Index> digits;
  for (const Piece &piece : shown.pieces) {
    const Index &own = view.at()[piece.var];
    if (piece.stride != Size(1) || !covers(sizes, own, piece.extent))
      return {};
    for (const Piece &part : own.pieces) {
      const bool isOver = part.stride == Size(1) && llvm::is_contained(over, std::pair(part.var, part.extent));
      std::optional<Size> stride = isOver ? sizes.multiply(piece.multiplier, part.multiplier) : std::nullopt;
      if (!stride || !digits.try_emplace(part.var, Index{{{whole, *stride, part.extent, 1}}, 0}).second)
        return {};
    }
  }
  return digits.size() > 1 ? digits : std::map<Var, Index>();
}

std::optional<Expr> Algebra::sumOfView(const Term &term, ArrayRef<std::pair<Var, Size>> over) {
  for (const Factor &factor : term.factors) {
    auto view = views.find(factor.node());
    if (view == views.end())
      continue;
    for (const Index &shown : view->second.at) {
      Var whole = freshVar();
      std::map<Var, Index> digits = digitsOf(sizes, factor, shown, over, whole);
      std::optional<Size> extent =
          digits.empty() ? std::nullopt : sizes.multiply(shown.pieces[0].multiplier, shown.pieces[0].extent);
      if (!extent || !covers(sizes, shown, *extent))
        continue;
      llvm::SmallVector<std::pair<Var, Size>> all = {{whole, *extent}};
      llvm::copy_if(over, std::back_inserter(all), [&](const auto &var) { return !digits.count(var.first); });
      std::optional<Expr> seen =
          substitute({term}, [&](Var var) { return digits.count(var) ? digits[var] : wholeVar(var, kAnyExtent); });
      return seen ? reduce("sum", *seen, all) : std::nullopt;
    }
  }
  return std::nullopt;
}

/// Whether a sum over joined parts is one that somebody wrote as such, as of a residual, an output and its bias:
/// tensors of their own are streams, and so are those that a norm squares.
static bool isSumOfParts(const Term &term, const Algebra::Joined &joined) {
  auto isTensor = [](const Expr &part) {
    const Factor *alone = singleFactor(part);
    return alone && alone->node()->kind == Node::Base;
  };
  const bool isAlone = term.factors.size() == 1 && term.factors[0].halves == 2 && term.exponent.empty();
  return isAlone && !llvm::all_of(joined.parts, isTensor);
}

/// A sum over what two factors join alike of unlike parts is the sum of the sums over each part:
///   sum over k of [a, b][k] * [c, d][k]  ->  sum of a * c + sum of b * d
/// So is one over parts that are no tensors. Equal parts stay joined, as streams that are tensors of their own.
static std::optional<Expr> sumOfJoined(Algebra &algebra, const Term &term, ArrayRef<std::pair<Var, Size>> over) {
  for (auto [var, extent] : over) {
    llvm::SmallVector<const Algebra::Joined *, 2> joins;
    for (const Factor &factor : term.factors)
      if (const Algebra::Joined *joined = algebra.partsOf(factor.node());
          joined && factor.at()[joined->dim] == wholeVar(var, extent))
        joins.push_back(joined);
    auto isAlike = [&](const Algebra::Joined *joined) { return joined->extents == joins.front()->extents; };
    const bool isUnlike = joins.size() > 1 && llvm::all_of(joins, isAlike) && !llvm::all_equal(joins.front()->extents);
    if (joins.empty() || !(isUnlike || isSumOfParts(term, *joins.front())) ||
        !llvm::all_of(joins.front()->extents, std::mem_fn(&Size::isNumber)))
      continue;
    llvm::SmallVector<std::pair<Var, Size>> others(over);
    llvm::erase(others, std::pair(var, extent));
    std::optional<Expr> sum = Expr();
    int64_t begin = 0;
    for (Size size : llvm::SmallVector<Size>(joins.front()->extents)) {
      std::pair<Var, Size> piece(algebra.freshVar(), size);
      Index place = size == Size(1) ? Index() : wholeVar(piece.first, size);
      place.offset = begin;
      std::optional<Expr> part = algebra.substitute(
          {term}, [&, own = var](Var other) { return other == own ? place : wholeVar(other, kAnyExtent); });
      llvm::SmallVector<std::pair<Var, Size>> all = others;
      if (size != Size(1))
        all.push_back(piece);
      part = part && !all.empty() ? algebra.reduce("sum", *part, all) : part;
      sum = sum && part ? algebra.add(*sum, *part) : std::nullopt;
      begin += size.number();
    }
    return sum;
  }
  return std::nullopt;
}

std::optional<Expr> Algebra::sumOf(Term term, ArrayRef<std::pair<Var, Size>> over) {
  Term outer, inner;
  outer.coefficient = term.coefficient;
  for (const Factor &factor : term.factors)
    (dependsOnAny(factor, over) ? inner : outer).factors.push_back(factor);
  for (const Term &part : term.exponent)
    (dependsOnAny(part, over) ? inner : outer).exponent.push_back(part);
  Expr result = {outer}, summed = {inner};
  const Factor *alone = singleFactor(summed);
  // A sum of sums is one sum.
  if (alone && alone->node()->isReduce("sum")) {
    llvm::SmallVector<std::pair<Var, Size>> all(over.begin(), over.end());
    Open open = this->open(*alone->node(), alone->at());
    all.append(open.over);
    std::optional<Expr> body = substitute(alone->node()->parts[0], [&](Var var) { return open.indices[var]; });
    std::optional<Expr> whole = body && body->size() == 1 ? sumOf((*body)[0], all) : std::nullopt;
    return whole ? multiply(result, *whole) : std::nullopt;
  }
  // A row of the identity adds up to one.
  if (alone && alone->node()->isApply("equal"))
    if (std::optional<Expr> one = sumOfChosen(inner, over))
      return multiply(result, *one);
  // A sum over terms is the sum of their sums.
  if (alone && alone->node()->kind == Node::Sum) {
    std::optional<Expr> terms = part(alone->element);
    std::optional<Expr> sum = terms && terms->size() > 1 ? reduce("sum", *terms, over) : std::nullopt;
    if (sum)
      return multiply(result, *sum);
  }
  if (std::optional<Expr> sum = sumOfJoined(*this, inner, over))
    return multiply(result, *sum);
  if (std::optional<Expr> sum = sumOfView(inner, over))
    return multiply(result, *sum);
  Size unused = 1;
  if (inner.factors.empty() && inner.exponent.empty()) {
    for (auto [var, extent] : over) {
      std::optional<Size> count = sizes.multiply(unused, extent);
      if (!count)
        return std::nullopt;
      unused = *count;
    }
    return multiply(result, this->extent(unused));
  }
  std::vector<Expr> parts(1, std::move(summed));
  Closer closer(*this, parts, over);
  if (!closer.run())
    return std::nullopt;
  std::optional<Expr> times = multiply(result, extent(closer.unused));
  return times ? multiply(*times, reduction("sum", parts[0], closer)) : std::nullopt;
}

std::optional<Expr> Algebra::maximumOf(const Expr &expr, ArrayRef<std::pair<Var, Size>> over) {
  if (!llvm::any_of(expr, [&](const Term &term) { return dependsOnAny(term, over); }))
    return expr;
  // A maximum of maxima is one maximum.
  if (const Factor *alone = singleFactor(expr); alone && alone->node()->isReduce("max") && expr[0].coefficient > 0) {
    llvm::SmallVector<std::pair<Var, Size>> all(over.begin(), over.end());
    Open open = this->open(*alone->node(), alone->at());
    all.append(open.over);
    std::optional<Expr> body = substitute(alone->node()->parts[0], [&](Var var) { return open.indices[var]; });
    return body ? maximumOf(scale(*body, expr[0].coefficient), all) : std::nullopt;
  }
  std::vector<Expr> parts(1, expr);
  Closer closer(*this, parts, over);
  if (!closer.run())
    return std::nullopt;
  return reduction("max", parts[0], closer);
}

std::optional<Expr> Algebra::reduce(llvm::StringRef kind, const Expr &expr, ArrayRef<std::pair<Var, Size>> over) {
  if (kind == "max")
    return maximumOf(expr, over);
  Expr sum;
  for (const Term &term : expr) {
    std::optional<Expr> part = sumOf(term, over);
    std::optional<Expr> next = part ? add(sum, *part) : std::nullopt;
    if (!next)
      return std::nullopt;
    sum = std::move(*next);
  }
  return sum;
}
