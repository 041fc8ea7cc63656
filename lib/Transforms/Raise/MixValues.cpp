//===- MixValues.cpp - Values that streams are weighed by ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//

#include "Mix.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;
using algebra::Size;
using algebra::Var;

using Extent = IndexVars::value_type;

Value MixSite::valueOf(const Expr &expr) {
  std::optional<algebra::Reading::Found> found = nearest(reading, expr, op);
  return found ? found->value : Value();
}

static bool isOfOneToken(Value value) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return type && type.getRank() >= 2 && type.getDimSize(0) == 1;
}

/// Whether something that an element is made of has a dimension of one token.
static bool hasOneToken(const algebra::Node *node, llvm::SmallPtrSetImpl<const algebra::Node *> &seen) {
  if (node->value)
    return isOfOneToken(node->value);
  auto isOfToken = [&](const algebra::Factor &factor) {
    return seen.insert(factor.node()).second && hasOneToken(factor.node(), seen);
  };
  auto hasToken = [&](const Expr &expr, auto &&self) -> bool {
    return llvm::any_of(expr, [&](const algebra::Term &term) {
      return llvm::any_of(term.factors, isOfToken) || self(term.exponent, self);
    });
  };
  return llvm::any_of(node->parts, [&](const Expr &part) { return hasToken(part, hasToken); });
}

/// A dimension of one token has no variable: its rows are told by their shape, or by that of what they are made of.
bool MixSite::isPerToken(const Mix &mix, const algebra::Factor &factor) {
  if (!mix.tokens.empty())
    return dependsOnAny(factor, mix.tokens);
  llvm::SmallPtrSet<const algebra::Node *, 16> seen;
  return hasOneToken(factor.node(), seen) || (!factor.node()->value && isOfOneToken(valueOf(factor)));
}

/// The dimensions of a node, each a variable of its own.
static SmallVector<IndexVars> dimsOf(const algebra::Node &node) {
  SmallVector<IndexVars> dims;
  for (auto [dim, extent] : llvm::enumerate(node.dims))
    dims.push_back({{static_cast<Var>(dim), extent}});
  return dims;
}

/// The value that has all elements of a node; none where the program has no such value.
std::optional<algebra::Reading::Found> MixSite::findWhole(const algebra::Node &node) {
  algebra::Indices own = algebra::indicesOf(algebra.sizes, dimsOf(node));
  return nearest(reading, Algebra::of(algebra.elementAt(&node, own)), op);
}

std::optional<algebra::Reading::Found> MixSite::findCut(const Expr &expr) {
  const algebra::Factor *part = algebra::singleFactor(expr);
  auto isRun = [&](auto dim) {
    auto [index, extent] = dim;
    if (algebra::covers(algebra.sizes, index, extent) || (index.pieces.empty() && extent.isNumber()))
      return true;
    const algebra::Piece *piece = index.pieces.size() == 1 ? &index.pieces[0] : nullptr;
    return piece && piece->stride == Size(1) && piece->multiplier == Size(1) && piece->extent.isNumber() &&
           extent.isNumber();
  };
  bool isPart = part && expr[0].coefficient == 1 && llvm::all_of(llvm::zip(part->at(), part->node()->dims), isRun);
  return isPart ? findWhole(*part->node()) : std::nullopt;
}

/// A part of a tensor that the program multiplies as a whole, and takes of the product.
Value MixSite::cutOut(const Expr &expr, ArrayRef<IndexVars> groups) {
  std::optional<algebra::Reading::Found> found = findCut(expr);
  if (!found)
    return {};
  const algebra::Factor &part = *algebra::singleFactor(expr);
  Value whole = arrange(*found, dimsOf(*part.node()));
  if (!whole)
    return {};
  SmallVector<OpFoldResult> offsets, sizes = leaf.sizesOf(whole);
  algebra::Indices from(part.at().begin(), part.at().end());
  for (auto [index, extent, size] : llvm::zip(from, part.node()->dims, sizes)) {
    offsets.push_back(builder.getIndexAttr(index.offset));
    if (!algebra::covers(algebra.sizes, index, extent))
      size = builder.getIndexAttr(index.pieces.empty() ? 1 : index.pieces[0].extent.number());
    index.offset = 0;
  }
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  Value slice = tensor::ExtractSliceOp::create(builder, op->getLoc(), whole, offsets, sizes, strides);
  return algebra::arrange(reading, builder, op->getLoc(), slice, from, groups);
}

Value MixSite::buildWeights(const Expr &expr, const Mix &mix, ArrayRef<IndexVars> groups, Value x) {
  auto isToken = [&](const Extent &token) { return dependsOn(expr[0], token.first); };
  SmallVector<IndexVars> all(groups.begin(), groups.end());
  if (mix.tokens.empty() || llvm::any_of(mix.tokens, isToken)) {
    all.insert(all.begin(), mix.tokens);
    Value value = build(expr, all);
    return value ? value : cutOut(expr, all);
  }
  Value value = build(expr, all);
  value = value ? value : cutOut(expr, all);
  if (!value)
    return {};
  SmallVector<OpFoldResult> sizes = leaf.sizesOf(value);
  sizes.insert(sizes.begin(), leaf.size(x, 0));
  return leaf.broadcast(value, sizes, llvm::to_vector(llvm::seq<int64_t>(1, sizes.size())));
}
