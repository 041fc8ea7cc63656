//===- Join.cpp - Sums and joins that are written out --------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum over n streams may be n terms, and a tensor the concatenation of n parts. Where terms or parts differ in a
// running position only, they are one expression of one more variable. What a view cuts apart is one again where all of
// it is read.
//
//===------------------------------------------------------------------------===//
#include "Order.h"
#include "mhc/Algebra/Expr.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mhc;
using namespace mhc::algebra;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Expressions that differ in offsets only
//===----------------------------------------------------------------------===//

template <typename List, typename Function>
static bool areAll(const List &a, const List &b, Function isPair) {
  return a.size() == b.size() &&
         llvm::all_of(llvm::zip(a, b), [&](const auto &pair) { return isPair(std::get<0>(pair), std::get<1>(pair)); });
}

bool Algebra::isAlike(const Expr &a, const Expr &b) {
  return areAll(a, b, [&](const Term &x, const Term &y) {
    return numberId(x.coefficient) == numberId(y.coefficient) && isAlike(x.exponent, y.exponent) &&
           areAll(x.factors, y.factors, [&](const Factor &f, const Factor &g) {
             return f.halves == g.halves && f.node()->shape == g.node()->shape &&
                    areAll(f.at(), g.at(), [](const Index &i, const Index &j) { return i.pieces == j.pieces; });
           });
  });
}

int algebra::compareOffsets(const Expr &a, const Expr &b) {
  for (auto [x, y] : llvm::zip(a, b)) {
    if (int result = compareOffsets(x.exponent, y.exponent))
      return result;
    for (auto [f, g] : llvm::zip(x.factors, y.factors)) {
      if (f.element == g.element)
        continue;
      for (auto [i, j] : llvm::zip(f.at(), g.at()))
        if (i.offset != j.offset)
          return i.offset < j.offset ? -1 : 1;
      if (f.node() != g.node())
        for (auto [part, other] : llvm::zip(f.node()->parts, g.node()->parts))
          if (int result = compareOffsets(part, other))
            return result;
    }
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// One expression for all
//===----------------------------------------------------------------------===//

/// The index that runs through all of `indices` with `part`, where they are equally far apart, each of them once or
/// each equally often in a row.
static std::optional<Index> mergeIndices(Sizes &sizes, ArrayRef<const Index *> indices, Var part) {
  Index merged = *indices[0];
  const int64_t first = merged.offset, count = indices.size();
  int64_t times = 1;
  while (times < count && indices[times]->offset == first)
    ++times;
  const int64_t step = times < count ? indices[times]->offset - first : 0;
  for (auto [i, index] : llvm::enumerate(indices))
    if (index->offset != first + static_cast<int64_t>(i) / times * step)
      return std::nullopt;
  if (step < 0 || count % times != 0)
    return std::nullopt;
  if (step > 0)
    merged.pieces.push_back({part, times, Size(count / times), step});
  algebra::normalise(sizes, merged);
  return merged;
}

template <typename T, typename Function>
static auto pick(ArrayRef<T> all, Function function) {
  llvm::SmallVector<const std::remove_reference_t<decltype(function(*all[0]))> *> picked;
  for (const auto &one : all)
    picked.push_back(&function(*one));
  return picked;
}

/// One merge. An element that it meets in several places is merged once: a Sinkhorn iteration has its matrix twice in
/// each step.
struct Algebra::Merge {
  Var part;
  std::map<std::vector<const Element *>, std::optional<Expr>> elements;
};

std::optional<Expr> Algebra::mergeElements(ArrayRef<const Element *> elements, Merge &merge) {
  const Element &first = *elements[0];
  if (llvm::all_of(elements, [&](const Element *other) { return other->node == first.node; })) {
    Indices at;
    for (size_t dim = 0; dim < first.at.size(); ++dim) {
      std::optional<Index> index = mergeIndices(
          sizes, pick(elements, [&](const Element &element) -> const Index & { return element.at[dim]; }), merge.part);
      if (!index)
        return std::nullopt;
      at.push_back(*index);
    }
    return element(first.node, at);
  }
  if (llvm::any_of(elements, [&](const Element *other) { return other->at != first.at; }))
    return std::nullopt;
  Open open = this->open(*first.node, first.at);
  std::vector<Expr> parts;
  for (size_t number = 0; number < first.node->parts.size(); ++number) {
    std::vector<Expr> bodies;
    for (const Element *element : elements) {
      std::optional<Expr> body = substitute(element->node->parts[number], [&](Var var) { return open.indices[var]; });
      if (!body)
        return std::nullopt;
      bodies.push_back(*body);
    }
    std::optional<Expr> merged = mergeParts(bodies, merge);
    if (!merged)
      return std::nullopt;
    parts.push_back(*merged);
  }
  return make(*first.node, parts, open.over);
}

std::optional<Expr> Algebra::mergeFactors(ArrayRef<const Factor *> factors, Merge &merge) {
  constexpr size_t kMaxMerged = 2000; // wider sums are given up
  std::vector<const Element *> elements;
  for (const Factor *factor : factors)
    elements.push_back(factor->element);
  auto [known, isNew] = merge.elements.try_emplace(elements);
  if (isNew && merge.elements.size() <= kMaxMerged)
    known->second = mergeElements(elements, merge);
  return known->second ? power(*known->second, factors[0]->halves) : std::nullopt;
}

std::optional<Expr> Algebra::merge(ArrayRef<Expr> parts, Var part) {
  Merge merge{part, {}};
  return mergeParts(parts, merge);
}

std::optional<Expr> Algebra::mergeParts(ArrayRef<Expr> parts, Merge &merge) {
  const Expr &first = parts[0];
  if (llvm::any_of(parts, [&](const Expr &other) { return !isAlike(first, other); }))
    return std::nullopt;
  Expr sum;
  for (size_t t = 0; t < first.size(); ++t) {
    Expr product = number(first[t].coefficient);
    std::vector<Expr> exponents;
    for (const Expr &other : parts)
      exponents.push_back(other[t].exponent);
    if (!first[t].exponent.empty()) {
      std::optional<Expr> exponent = mergeParts(exponents, merge);
      std::optional<Expr> exponential = exponent ? exp(*exponent) : std::nullopt;
      if (!exponential)
        return std::nullopt;
      product = scale(*exponential, first[t].coefficient);
    }
    for (size_t f = 0; f < first[t].factors.size(); ++f) {
      llvm::SmallVector<const Factor *> factors;
      for (const Expr &other : parts)
        factors.push_back(&other[t].factors[f]);
      std::optional<Expr> factor = mergeFactors(factors, merge);
      std::optional<Expr> next = factor ? multiply(product, *factor) : std::nullopt;
      if (!next)
        return std::nullopt;
      product = *next;
    }
    llvm::append_range(sum, product);
  }
  return normalise(sum) ? std::optional(sum) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Writes terms of one sum that differ in a running position as a sum over it. False where there are none.
bool Algebra::rollOnce(Expr &sum) {
  auto isLike = [](const Term &a, const Term &b) {
    return a.factors.size() == b.factors.size() && a.exponent.size() == b.exponent.size();
  };
  for (size_t t = 0; t < sum.size(); ++t) {
    if (llvm::count_if(sum, [&](const Term &other) { return isLike(sum[t], other); }) == 1)
      continue;
    for (int64_t extent : fixedExtents(sum[t])) {
      if (extent > static_cast<int64_t>(sum.size()))
        continue;
      std::vector<Expr> parts;
      Expr rest;
      for (const Term &other : sum)
        if (isAlike({sum[t]}, {other}))
          parts.push_back({other});
        else
          rest.push_back(other);
      if (static_cast<int64_t>(parts.size()) != extent)
        continue;
      llvm::stable_sort(parts, [](const Expr &a, const Expr &b) { return compareOffsets(a, b) < 0; });
      Var part = freshVar();
      std::optional<Expr> merged = merge(parts, part);
      std::optional<Expr> rolled = merged ? reduce("sum", *merged, {{part, Size(extent)}}) : std::nullopt;
      if (!rolled)
        continue;
      llvm::append_range(rest, *rolled);
      sum = std::move(rest);
      return normalise(sum);
    }
  }
  return false;
}

void Algebra::roll(Expr &sum) {
  while (rollOnce(sum))
    ;
}

//===----------------------------------------------------------------------===//
// Concatenations
//===----------------------------------------------------------------------===//

/// Limit of the joined parts: more are not compared.
constexpr size_t kMaxPieces = 64;

/// The largest size that all extents are multiples of; 0 where one is open.
static int64_t commonExtent(ArrayRef<Size> extents) {
  int64_t common = 0;
  for (Size extent : extents) {
    if (!extent.isNumber())
      return 0;
    common = std::gcd(common, extent.number());
  }
  return common;
}

/// Parts in pieces of one extent; none where that takes too many.
std::vector<Expr> Algebra::split(ArrayRef<Expr> parts, ArrayRef<Size> extents, ArrayRef<Index> whole, unsigned dim,
                                 int64_t extent) {
  std::vector<Expr> pieces;
  for (auto [part, size] : llvm::zip(parts, extents))
    for (int64_t begin = 0; begin < size.number(); begin += extent) {
      Index inside = wholeVar(dim, extent);
      inside.offset = begin;
      std::optional<Expr> piece =
          substitute(part, [&](Var var) { return var == static_cast<Var>(dim) ? inside : whole[var]; });
      if (!piece || pieces.size() == kMaxPieces)
        return {};
      pieces.push_back(*piece);
    }
  return pieces;
}

/// Windows of a concatenation: its elements, a step apart, where some were read in the part that they lie in.
std::optional<Expr> Algebra::mergeWindows(ArrayRef<Expr> pieces, Var part) {
  const Factor *first = singleFactor(pieces[0]), *second = singleFactor(pieces[1]);
  const Joined *joined = first && second && first->node() == second->node() ? partsOf(first->node()) : nullptr;
  if (!joined)
    return std::nullopt;
  const unsigned dim = joined->dim;
  const int64_t step = second->at()[dim].offset - first->at()[dim].offset;
  Indices at(first->at());
  for (const Expr &piece : pieces) {
    std::optional<Expr> own = step > 0 ? element(first->node(), at) : std::nullopt;
    if (!own || compare(*own, piece, By::names) != 0)
      return std::nullopt;
    at[dim].offset += step;
  }
  at[dim] = first->at()[dim];
  at[dim].pieces.push_back({part, 1, Size(pieces.size()), step});
  algebra::normalise(sizes, at[dim]);
  return element(first->node(), at);
}

/// The parts with fewer terms where one has a product with a matrix less the identity; none where no part has.
std::vector<Expr> Algebra::spreadAny(ArrayRef<Expr> parts) {
  std::vector<Expr> all;
  bool isAny = false;
  for (const Expr &part : parts) {
    std::optional<Expr> fewer = spread(part);
    isAny |= fewer.has_value();
    all.push_back(fewer ? std::move(*fewer) : part);
  }
  return isAny ? all : std::vector<Expr>();
}

Expr Algebra::join(mlir::Value value, ArrayRef<Size> dims, ArrayRef<Index> whole, unsigned dim, ArrayRef<Expr> parts,
                   ArrayRef<Size> extents) {
  auto isFirst = [&](const Expr &part) { return compare(part, parts[0], By::names) == 0; };
  auto hasPlace = [&](const Term &term) { return dependsOn(term, static_cast<Var>(dim)); };
  if (llvm::all_of(parts, isFirst) && llvm::none_of(parts[0], hasPlace)) // such as one number, of parts of any sizes
    return parts[0];
  const int64_t extent = whole[dim].pieces.size() == 1 ? commonExtent(extents) : 0;
  Var part = freshVar();
  int64_t count = 0;
  auto mergeAll = [&](ArrayRef<Expr> parts) -> std::optional<Expr> {
    std::vector<Expr> pieces = extent > 0 ? split(parts, extents, whole, dim, extent) : std::vector<Expr>();
    count = pieces.size();
    if (count < 2)
      return std::nullopt;
    std::optional<Expr> all = merge(pieces, part);
    return all ? all : mergeWindows(pieces, part);
  };
  std::optional<Expr> merged = mergeAll(parts);
  if (std::vector<Expr> fewer = merged ? std::vector<Expr>() : spreadAny(parts); !fewer.empty())
    merged = mergeAll(fewer);
  if (merged) {
    const Piece &piece = whole[dim].pieces[0];
    Index inner = wholeVar(piece.var, extent), outer;
    outer.pieces = {{piece.var, extent, Size(count), 1}};
    auto indexOf = [&](Var var) { return var == part ? outer : var == static_cast<Var>(dim) ? inner : whole[var]; };
    if (std::optional<Expr> all = substitute(*merged, indexOf))
      return *all;
  }
  Expr joined = base(value, dims, whole);
  Joined &known = joins[joined[0].factors[0].node()];
  known.dim = dim;
  known.parts.assign(parts.begin(), parts.end());
  known.extents.assign(extents.begin(), extents.end());
  return joined;
}

/// The largest position of an index; nothing where a size of it is open.
static std::optional<int64_t> lastOf(const Index &index) {
  int64_t last = index.offset;
  for (const Piece &piece : index.pieces) {
    if (!piece.extent.isNumber() || !piece.multiplier.isNumber())
      return std::nullopt;
    last += (piece.extent.number() - 1) * piece.multiplier.number();
  }
  return last;
}

const Algebra::Joined *Algebra::partsOf(const Node *node) const {
  auto known = joins.find(node);
  return known == joins.end() ? nullptr : &known->second;
}

/// The element of the part of a concatenation in which an index lies, or of all parts that it runs through, where those
/// are one.
std::optional<Expr> Algebra::elementOfPart(const Node *node, ArrayRef<Index> at) {
  const Joined *joined = partsOf(node);
  if (!joined)
    return std::nullopt;
  const Index &index = at[joined->dim];
  std::optional<int64_t> last = lastOf(index);
  int64_t common = last ? *last + 1 - index.offset : 0, begin = 0;
  for (auto [part, extent] : llvm::zip(joined->parts, joined->extents)) {
    Indices inside(at);
    inside[joined->dim].offset -= begin;
    bool isInside = last && extent.isNumber() ? index.offset >= begin && *last < begin + extent.number()
                                              : extract(sizes, inside[joined->dim], 1, extent) == inside[joined->dim];
    if (isInside)
      return substitute(part, [&](Var var) { return inside[var]; });
    if (!extent.isNumber())
      return std::nullopt;
    if (last && begin > index.offset && begin <= *last)
      common = std::gcd(common, begin - index.offset);
    begin += extent.number();
  }
  if (!last)
    return std::nullopt;
  bool isAll = index.offset == 0 && *last + 1 == begin; // is not one, or there was no join
  return isAll ? std::nullopt : elementOfParts(node, at, common, (*last + 1 - index.offset) / common);
}

/// The element at an index that runs through `count` pieces of one extent, each of which lies in a part.
std::optional<Expr> Algebra::elementOfParts(const Node *node, ArrayRef<Index> at, int64_t extent, int64_t count) {
  unsigned dim = partsOf(node)->dim;
  Index run = at[dim];
  run.offset = 0;
  if (!covers(sizes, run, Size(extent * count)) || count > static_cast<int64_t>(kMaxPieces))
    return std::nullopt;
  std::optional<Index> inner = extract(sizes, run, 1, Size(extent)), outer = extract(sizes, run, extent, Size(count));
  std::vector<Expr> pieces;
  for (int64_t number = 0; inner && outer && number < count; ++number) {
    Indices inside(at);
    inside[dim] = *inner;
    inside[dim].offset = at[dim].offset + number * extent;
    std::optional<Expr> piece = elementOfPart(node, inside);
    if (!piece)
      return std::nullopt;
    pieces.push_back(*piece);
  }
  Var part = freshVar();
  std::optional<Expr> merged = pieces.size() > 1 ? merge(pieces, part) : std::nullopt;
  return merged ? substitute(*merged, [&](Var var) { return var == part ? *outer : wholeVar(var, kAnyExtent); })
                : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

Expr Algebra::view(mlir::Value value, ArrayRef<Size> dims, ArrayRef<Index> whole, const Expr &source,
                   ArrayRef<Index> at) {
  Expr seen = base(value, dims, whole);
  views[seen[0].factors[0].node()] = {source, Indices(at)};
  return seen;
}

/// The element of what a view shows, where its indices are digits of one.
std::optional<Expr> Algebra::elementOfView(const Node *node, ArrayRef<Index> at) {
  auto known = views.find(node);
  if (known == views.end())
    return std::nullopt;
  Indices inside;
  for (const Index &index : known->second.at) {
    std::optional<Index> moved = algebra::substitute(sizes, index, [&](Var var) { return at[var]; });
    if (!moved)
      return std::nullopt;
    inside.push_back(*moved);
  }
  return substitute(known->second.source, [&](Var var) { return inside[var]; });
}
