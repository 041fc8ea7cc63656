//===- Substitute.cpp - Indices and expressions in place of others -------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Order.h"
#include "mhc/Algebra/Expr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mhc;
using namespace mhc::algebra;
using llvm::ArrayRef;

bool Algebra::isWhole(const Node &node, ArrayRef<Index> at) {
  llvm::SmallVector<std::pair<Var, Size>> seen;
  for (auto [index, extent] : llvm::zip(at, node.dims)) {
    if (!covers(sizes, index, extent))
      return false;
    for (const Piece &piece : index.pieces) {
      if (llvm::is_contained(seen, std::pair(piece.var, piece.stride)))
        return false;
      seen.push_back({piece.var, piece.stride});
    }
  }
  return true;
}

std::optional<Expr> Algebra::element(const Node *node, ArrayRef<Index> at) {
  if (node->kind == Node::Base) {
    std::optional<Expr> part = elementOfPart(node, at);
    return part ? part : single(node, at);
  }
  if (node->kind == Node::Extent || isWhole(*node, at))
    return single(node, at);
  return instantiate(node, at);
}

Algebra::Open Algebra::open(const Node &node, ArrayRef<Index> at) {
  Open open;
  open.indices.assign(at.begin(), at.end());
  for (Size extent : node.bound) {
    open.over.push_back({freshVar(), extent});
    open.indices.push_back(wholeVar(open.over.back().first, extent));
  }
  return open;
}

std::optional<Expr> Algebra::make(const Node &like, ArrayRef<Expr> parts, ArrayRef<std::pair<Var, Size>> over) {
  if (like.kind == Node::Sum)
    return parts[0];
  llvm::StringRef name = llvm::cast<mlir::StringAttr>(like.label).getValue();
  if (like.kind == Node::Reduce)
    return reduce(name, parts[0], over);
  return name == "log" ? log(parts[0]) : apply(name, parts);
}

std::optional<Expr> Algebra::instantiateOnce(const Node &node, ArrayRef<Index> at) {
  Open open = this->open(node, at);
  std::vector<Expr> parts;
  for (const Expr &part : node.parts) {
    std::optional<Expr> inner = substitute(part, [&](Var var) { return open.indices[var]; });
    if (!inner)
      return std::nullopt;
    parts.push_back(*inner);
  }
  return make(node, parts, open.over);
}

namespace {
/// Names the digits that indices read in the order in which they occur.
struct Renaming {
  llvm::SmallVector<Piece> digits; ///< by name, with a multiplier of one
  Indices at;
  std::vector<int64_t> key;

  explicit Renaming(ArrayRef<Index> indices) : at(indices) {
    for (Index &index : at) {
      key.insert(key.end(), {index.offset, static_cast<int64_t>(index.pieces.size())});
      for (Piece &piece : index.pieces) {
        Piece digit = {piece.var, piece.stride, piece.extent, 1};
        auto place = llvm::find(digits, digit);
        size_t name = place - digits.begin();
        if (place == digits.end())
          digits.push_back(digit);
        piece = {static_cast<Var>(name), 1, piece.extent, piece.multiplier};
        key.insert(key.end(), {piece.var, piece.extent.id(), piece.multiplier.id()});
      }
    }
  }

  /// Whether one variable's digits overlap: their names would hide it.
  bool overlaps() const {
    for (size_t i = 0; i < digits.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (digits[i].var == digits[j].var)
          return true;
    return false;
  }
};
} // namespace

std::optional<Expr> Algebra::instantiate(const Node *node, ArrayRef<Index> at) {
  Renaming names(at);
  if (names.overlaps())
    return instantiateOnce(*node, at);
  auto key = std::make_pair(node, names.key);
  auto known = instances.find(key);
  if (known == instances.end())
    known = instances.emplace(key, instantiateOnce(*node, names.at)).first;
  if (!known->second)
    return std::nullopt;
  return substitute(*known->second, [&](Var var) {
    Index index;
    index.pieces.push_back(names.digits[var]);
    return index;
  });
}

std::optional<Expr> Algebra::part(const Element *element, ArrayRef<Index> bound, unsigned number) {
  Indices all(element->at);
  all.append(bound.begin(), bound.end());
  return substitute(element->node->parts[number], [&](Var var) { return all[var]; });
}

std::optional<Expr> Algebra::substitute(const Expr &expr, llvm::function_ref<std::optional<Index>(Var)> at) {
  auto indexOf = [&](Var var) {
    std::optional<Index> index = at(var);
    assert(index && "a variable without an index");
    return *index;
  };
  // Whether an element is one of the same node after all: most are, and need no product of expressions.
  auto staysElement = [&](const Node *node, ArrayRef<Index> at) {
    return node->kind == Node::Base ? !joins.contains(node) : node->kind == Node::Extent || isWhole(*node, at);
  };
  Expr result;
  for (const Term &term : expr) {
    Expr product = number(term.coefficient);
    if (!term.exponent.empty()) {
      std::optional<Expr> exponent = substitute(term.exponent, at);
      std::optional<Expr> exponential = exponent ? exp(*exponent) : std::nullopt;
      if (!exponential)
        return std::nullopt;
      product = scale(*exponential, term.coefficient);
    }
    Term plain;
    for (const Factor &factor : term.factors) {
      Indices indices;
      for (const Index &index : factor.at()) {
        std::optional<Index> moved = algebra::substitute(sizes, index, indexOf);
        if (!moved)
          return std::nullopt;
        indices.push_back(*moved);
      }
      if (staysElement(factor.node(), indices)) {
        plain.factors.push_back({elementAt(factor.node(), indices), factor.halves});
        continue;
      }
      std::optional<Expr> inner = element(factor.node(), indices);
      inner = inner ? power(*inner, factor.halves) : std::nullopt;
      std::optional<Expr> next = inner ? multiply(product, *inner) : std::nullopt;
      if (!next)
        return std::nullopt;
      product = std::move(*next);
    }
    if (!plain.factors.empty()) {
      normalise(plain);
      std::optional<Expr> next = multiply(product, Expr(1, std::move(plain)));
      if (!next)
        return std::nullopt;
      product = std::move(*next);
    }
    std::move(product.begin(), product.end(), std::back_inserter(result));
  }
  return normalise(result) ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<Expr> Algebra::replace(const Expr &expr, llvm::function_ref<std::optional<Expr>(const Element *)> by) {
  Expr sum;
  for (const Term &term : expr) {
    std::optional<Expr> exponent = replace(term.exponent, by);
    std::optional<Expr> product = exponent ? exp(*exponent) : std::nullopt;
    for (const Factor &factor : term.factors) {
      std::optional<Expr> now = by(factor.element);
      now = now ? power(*now, factor.halves) : of(factor.element, factor.halves);
      product = product && now ? multiply(*product, *now) : std::nullopt;
    }
    std::optional<Expr> next = product ? add(sum, scale(*product, term.coefficient)) : std::nullopt;
    if (!next)
      return std::nullopt;
    sum = *next;
  }
  return sum;
}
