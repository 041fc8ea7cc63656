//===- MixValues.cpp - Values that streams are weighed by ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//

#include "Mix.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

Value MixSite::tableOf(const Expr &expr) {
  const algebra::Factor *part = expr[0].coefficient == 1 ? algebra::singleFactor(expr) : nullptr;
  Value table = part ? part->node()->value : Value();
  auto isRange = [](const algebra::Index &index) {
    return index.pieces.empty() || (index.pieces.size() == 1 && index.pieces[0].stride == Size(1) &&
                                    index.pieces[0].multiplier == Size(1) && index.pieces[0].extent.isNumber());
  };
  const bool isPart = table && reading.isBefore(table, op) && llvm::all_of(part->at(), isRange);
  return isPart ? table : Value();
}

/// Such as h_res, where a table has a column for h_pre in front.
Value MixSite::buildFromTable(const Expr &expr, ArrayRef<IndexVars> groups) {
  Value table = tableOf(expr);
  if (!table)
    return {};
  algebra::Indices at(algebra::singleFactor(expr)->at());
  SmallVector<OpFoldResult> offsets, sizes, strides(at.size(), builder.getIndexAttr(1));
  for (algebra::Index &index : at) {
    offsets.push_back(builder.getIndexAttr(index.offset));
    sizes.push_back(builder.getIndexAttr(index.pieces.empty() ? 1 : index.pieces[0].extent.number()));
    index.offset = 0;
  }
  Value part = tensor::ExtractSliceOp::create(builder, op->getLoc(), table, offsets, sizes, strides);
  return algebra::arrange(reading, builder, op->getLoc(), part, at, groups);
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

bool MixSite::isStreamFirst(const Mix &mix) const {
  auto isStream = [&](const Extent &var) {
    return !llvm::is_contained(mix.tokens, var) && !llvm::is_contained(mix.channels, var);
  };
  const auto stream = llvm::find_if(vars, isStream);
  return stream != vars.end() && at[stream->first].pieces.size() == 1 && at[stream->first].pieces[0].var == 0;
}

std::pair<Expr, Expr> mhc::splitBy(const algebra::Term &term, Var var) {
  algebra::Term without, with;
  without.coefficient = term.coefficient;
  for (const algebra::Factor &factor : term.factors)
    (dependsOn(factor, var) ? with : without).factors.push_back(factor);
  for (const algebra::Term &part : term.exponent)
    (dependsOn(part, var) ? with : without).exponent.push_back(part);
  return {{without}, {with}};
}

std::optional<MixSite::Product> MixSite::findProduct(const Expr &expr, const IndexVars &columns) {
  for (auto [place, sum] : llvm::enumerate(expr[0].factors)) {
    if (sum.halves != 2 || !sum.node()->isReduce("sum") || sum.node()->bound.size() != 1 || columns.size() != 1)
      continue;
    Extent over = {algebra.freshVar(), sum.node()->bound[0]};
    Expr outer = expr;
    outer[0].factors.erase(outer[0].factors.begin() + place);
    std::optional<Expr> inner = algebra.part(sum.element, {algebra::wholeVar(over.first, over.second)});
    inner = inner ? algebra.multiply(outer, *inner) : std::nullopt;
    if (!inner || inner->size() != 1)
      continue;
    auto [left, right] = splitBy((*inner)[0], columns[0].first);
    left[0].coefficient = 1;
    auto ofLeft = nearest(reading, left, op, /*anyFactor=*/true), ofRight = nearest(reading, right, op, true);
    if (ofLeft && ofRight)
      return Product{Algebra::scale(left, 1 / ofLeft->factor), Algebra::scale(right, 1 / ofRight->factor), over,
                     (*inner)[0].coefficient * ofLeft->factor * ofRight->factor};
  }
  return std::nullopt;
}

Value MixSite::buildProduct(const Expr &expr, const Mix &mix, ArrayRef<IndexVars> groups, bool isPerToken, Value x) {
  const IndexVars rows = groups.size() == 2 ? groups[0] : IndexVars(), &columns = groups.back();
  std::optional<Product> product = findProduct(expr, columns);
  if (!product)
    return {};
  auto buildFactor = [&](const Expr &factor, ArrayRef<IndexVars> dims) {
    Value value = isPerToken ? buildWeights(factor, mix, dims, x) : build(factor, dims);
    return value ? leaf.toF32(value) : value;
  };
  IndexVars over = {product->over};
  Value left = buildFactor(product->left, {rows, over});
  Value right = left ? buildFactor(product->right, {over, columns}) : Value();
  if (!right)
    return {};
  Value result = isPerToken ? leaf.batchMatmul(left, right) : leaf.matmul(left, right);
  if (product->factor != 1)
    result = leaf.scale(result, product->factor);
  return groups.size() == 2 ? result : leaf.join(result, isPerToken, 2);
}

MixSite::Scaled MixSite::buildPart(const Expr &product, ArrayRef<IndexVars> groups, ArrayRef<OpFoldResult> sizes) {
  auto found = nearest(reading, product, op, /*anyFactor=*/true);
  if (!found)
    return {};
  SmallVector<IndexVars> read;
  SmallVector<int64_t> dims;
  for (auto [dim, vars] : llvm::enumerate(groups))
    if (dependsOnAny(product[0], vars)) {
      dims.push_back(dim);
      read.push_back(vars);
    }
  Value value = arrange(*found, read);
  if (value && dims.size() < groups.size())
    value = leaf.broadcast(value, sizes, dims);
  return {value, found->factor};
}

Value MixSite::buildSum(const Expr &sum, ArrayRef<IndexVars> groups, ArrayRef<OpFoldResult> sizes) {
  Value result;
  for (const algebra::Term &term : sum) {
    Scaled product = term.factors.empty() ? Scaled() : buildPart({term}, groups, sizes);
    if (!product.value) {
      if (!term.exponent.empty())
        return {};
      product.factor = term.coefficient;
      for (const algebra::Factor &factor : term.factors) {
        Scaled part = buildPart(Algebra::of(factor.element, factor.halves), groups, sizes);
        const bool divides = !part.value && factor.halves == -2;
        if (divides)
          part = buildPart(Algebra::of(factor.element), groups, sizes);
        if (!part.value)
          return {};
        part.value = leaf.toF32(part.value);
        product.factor *= divides ? 1 / part.factor : part.factor;
        Value before = product.value || !divides ? product.value : leaf.splat(1, part.value);
        product.value = !before ? part.value : divides ? leaf.div(before, part.value) : leaf.mul(before, part.value);
      }
    }
    if (!product.value) { // a number
      Value one = tensor::FromElementsOp::create(
          builder, op->getLoc(), RankedTensorType::get({}, builder.getF32Type()),
          ValueRange{arith::ConstantOp::create(builder, op->getLoc(), builder.getF32FloatAttr(1))});
      product.value = leaf.broadcast(one, sizes, {});
    }
    product.value = leaf.toF32(product.value);
    if (product.factor != 1)
      product.value = leaf.scale(product.value, product.factor);
    result = result ? leaf.add(result, product.value) : product.value;
  }
  return result;
}

Value MixSite::buildWeights(const Expr &expr, const Mix &mix, ArrayRef<IndexVars> groups, Value x) {
  auto isToken = [&](const Extent &token) { return dependsOn(expr[0], token.first); };
  const bool isPerToken = mix.tokens.empty() || llvm::any_of(mix.tokens, isToken);
  SmallVector<IndexVars> all(groups.begin(), groups.end());
  if (isPerToken)
    all.insert(all.begin(), mix.tokens);
  Value value = build(expr, all);
  value = value || groups.empty() ? value : buildProduct(expr, mix, groups, isPerToken, x);
  value = value || isPerToken ? value : buildFromTable(expr, all);
  if (!value || isPerToken)
    return value;
  SmallVector<OpFoldResult> sizes = leaf.sizesOf(value);
  sizes.insert(sizes.begin(), leaf.size(x, 0));
  return leaf.broadcast(value, sizes, llvm::to_vector(llvm::seq<int64_t>(1, sizes.size())));
}
