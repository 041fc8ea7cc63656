//===- Substitute.cpp - Indices and expressions in place of others -------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Order.h"
#include "mhc/Algebra/Expr.h"
#include "mhc/IR/Constants.h"
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

/// The number that all elements of a constant are which indices may lead to. Nothing where one may lead outside, as
/// where a shift reads what is in front of the first.
static std::optional<double> numberAt(const Node &node, ArrayRef<Index> at) {
  constexpr size_t kMostPlaces = 64;
  auto elements = llvm::dyn_cast_if_present<mlir::DenseElementsAttr>(node.label);
  if (!elements || !llvm::isa<mlir::FloatType>(elements.getElementType()))
    return std::nullopt;
  llvm::SmallVector<int64_t> places = {0};
  for (auto [index, extent] : llvm::zip(at, node.dims)) {
    for (int64_t &place : places)
      place = place * extent.number() + index.offset;
    for (const Piece &piece : index.pieces) {
      const size_t count = places.size();
      if (!piece.extent.isNumber() || !piece.multiplier.isNumber() || count * piece.extent.number() > kMostPlaces)
        return std::nullopt;
      for (int64_t digit = 1; digit < piece.extent.number(); ++digit)
        for (size_t i = 0; i < count; ++i)
          places.push_back(places[i] + digit * piece.multiplier.number());
    }
  }
  const int64_t size = elements.getNumElements();
  if (llvm::any_of(places, [&](int64_t place) { return place < 0 || place >= size; }))
    return std::nullopt;
  auto numbers = elements.getValues<llvm::APFloat>();
  auto isFirst = [&](int64_t place) { return numbers[place].bitwiseIsEqual(numbers[places[0]]); };
  return llvm::all_of(places, isFirst) ? std::optional(asWritten(numbers[places[0]])) : std::nullopt;
}

std::optional<Expr> Algebra::element(const Node *node, ArrayRef<Index> at) {
  if (node->kind == Node::Base) {
    if (std::optional<double> known = numberAt(*node, at))
      return number(*known);
    std::optional<Expr> known = elementOfPart(node, at);
    known = known ? known : elementOfView(node, at);
    return known ? known : single(node, at);
  }
  if (node->kind == Node::Position)
    return position(at[0]);
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
  if (name == "equal")
    return equal(parts[0], parts[1]);
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
/// Names the digits that indices read in the order in which they occur. A variable of which several are read is named
/// itself: names of its digits would hide that they belong together.
class Renaming {
public:
  Renaming(Sizes &sizes, ArrayRef<Index> indices) : at(indices), sizes(sizes) {
    for (const Index &index : indices)
      for (const Piece &piece : index.pieces)
        fits = fits && widen(piece);
    if (!fits)
      return;
    for (Index &index : at) {
      key.insert(key.end(), {index.offset, static_cast<int64_t>(index.pieces.size())});
      for (Piece &piece : index.pieces) {
        size_t name = llvm::find_if(named, [&](const Piece &known) { return known.var == piece.var; }) - named.begin();
        piece.stride = *sizes.divide(piece.stride, named[name].stride);
        piece.var = static_cast<Var>(name);
        key.insert(key.end(), {piece.var, piece.stride.id(), piece.extent.id(), piece.multiplier.id()});
      }
    }
  }

  llvm::SmallVector<Piece> named; ///< by name, with a multiplier of one
  Indices at;
  std::vector<int64_t> key;
  bool fits = true; ///< whether the digits of each variable are digits of one

private:
  /// Names the piece's variable, or the digits of it that are read so far and the piece.
  bool widen(const Piece &piece) {
    auto known = llvm::find_if(named, [&](const Piece &known) { return known.var == piece.var; });
    if (known == named.end()) {
      named.push_back({piece.var, piece.stride, piece.extent, 1});
      return true;
    }
    if (known->stride == piece.stride && known->extent == piece.extent)
      return true;
    std::optional<Size> end = sizes.multiply(piece.stride, piece.extent);
    std::optional<Size> knownEnd = sizes.multiply(known->stride, known->extent);
    if (!end || !knownEnd || (!sizes.divides(*end, *knownEnd) && !sizes.divides(*knownEnd, *end)))
      return false;
    known->stride = 1;
    known->extent = sizes.divides(*end, *knownEnd) ? *knownEnd : *end;
    return true;
  }

  Sizes &sizes;
};
} // namespace

std::optional<Expr> Algebra::instantiate(const Node *node, ArrayRef<Index> at) {
  Renaming names(sizes, at);
  if (!names.fits)
    return instantiateOnce(*node, at);
  auto key = std::make_pair(node, names.key);
  auto known = instances.find(key);
  if (known == instances.end())
    known = instances.emplace(key, instantiateOnce(*node, names.at)).first;
  if (!known->second)
    return std::nullopt;
  return substitute(*known->second, [&](Var var) {
    Index index;
    index.pieces.push_back(names.named[var]);
    return index;
  });
}

std::optional<Expr> Algebra::part(const Element *element, ArrayRef<Index> bound, unsigned number) {
  Indices all(element->at);
  all.append(bound.begin(), bound.end());
  return substitute(element->node->parts[number], [&](Var var) { return all[var]; });
}

std::optional<Expr> Algebra::substitute(const Expr &expr, llvm::function_ref<Index(Var)> at) {
  // Most elements of a long product have the same few indices.
  struct Moved {
    const Index *from;
    ArrayRef<Index> to;
    const Node *node = nullptr; ///< the last one that was asked for
    bool isWhole = false;       ///< for its dimensions
  };
  llvm::SmallVector<Moved, 8> known;
  auto move = [&](ArrayRef<Index> from) -> Moved * {
    auto *place = llvm::find_if(known, [&](const Moved &moved) { return moved.from == from.data(); });
    if (place != known.end())
      return place;
    Indices to;
    for (const Index &index : from) {
      std::optional<Index> moved = algebra::substitute(sizes, index, at);
      if (!moved)
        return nullptr;
      to.push_back(std::move(*moved));
    }
    known.push_back({from.data(), unique(to)});
    return &known.back();
  };
  // Whether an element is one of the same node after all: most are, and need no product of expressions.
  auto staysElement = [&](const Node *node, Moved &moved) {
    if (node->kind == Node::Base)
      return !node->label && !joins.contains(node) && !views.contains(node);
    if (node->kind == Node::Position)
      return false;
    if (!moved.node || moved.node->dims != node->dims)
      moved.isWhole = isWhole(*node, moved.to);
    moved.node = node;
    return node->kind == Node::Extent || moved.isWhole;
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
    Expr whole(1);
    Term &plain = whole[0];
    for (const Factor &factor : term.factors) {
      Moved *moved = move(factor.at());
      if (!moved)
        return std::nullopt;
      if (staysElement(factor.node(), *moved)) {
        plain.factors.push_back({elementOf(factor.node(), moved->to), factor.halves});
        continue;
      }
      std::optional<Expr> inner = element(factor.node(), moved->to);
      inner = inner ? power(*inner, factor.halves) : std::nullopt;
      std::optional<Expr> next = inner ? multiply(product, *inner) : std::nullopt;
      if (!next)
        return std::nullopt;
      product = std::move(*next);
    }
    if (!plain.factors.empty()) {
      normalise(plain);
      std::optional<Expr> next = multiply(product, whole);
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
