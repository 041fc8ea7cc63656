//===- GateVectors.cpp - Alpha and beta of the gates of one site ----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//

#include "GatesBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;
using algebra::Indices;
using algebra::Size;

using Extent = IndexVars::value_type;

/// A tensor that no token enters, or a part of one.
Value GatesBuilder::buildPart(const algebra::Factor &factor, ArrayRef<IndexVars> dims) {
  if (Value whole = build(reading, builder, user, Algebra::of(factor.element), dims))
    return leaf.toF32(whole);
  Value base = factor.node()->value;
  auto type = base ? dyn_cast<RankedTensorType>(base.getType()) : RankedTensorType();
  if (!type || !type.hasStaticShape() || !reading.isBefore(base, user))
    return {};
  SmallVector<OpFoldResult> offsets, sizes, strides(type.getRank(), builder.getIndexAttr(1));
  Indices at(factor.at().begin(), factor.at().end());
  for (auto [dim, index] : llvm::enumerate(at)) {
    Size extent = 1;
    for (const algebra::Piece &piece : index.pieces)
      extent = algebra.sizes.multiply(extent, piece.extent).value_or(0);
    offsets.push_back(builder.getIndexAttr(index.offset));
    sizes.push_back(builder.getIndexAttr(extent.number()));
    index.offset = 0;
    if (!index.pieces.empty() && !covers(algebra.sizes, index, extent))
      return {};
  }
  Value part = tensor::ExtractSliceOp::create(builder, loc, base, offsets, sizes, strides);
  part = arrange(reading, builder, loc, part, at, dims);
  return part ? leaf.toF32(part) : Value();
}

/// The product of phi with a vector: one value for each row.
Value GatesBuilder::buildProduct(const algebra::Factor &factor, const LinearGroup &group) {
  std::optional<OpenedSum> sum = openSum(algebra, factor);
  if (!sum || sum->inner.size() != 1 || !sum->inner[0].exponent.empty())
    return {};
  SmallVector<IndexVars> dims = {group.row};
  SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(group.extent)};
  SmallVector<int64_t> summed;
  for (const Extent &var : sum->over) {
    summed.push_back(dims.size());
    dims.push_back({var});
    sizes.push_back(builder.getIndexAttr(var.second.number()));
  }
  Value product;
  for (const algebra::Factor &part : sum->inner[0].factors) {
    SmallVector<IndexVars> own;
    SmallVector<int64_t> places;
    for (auto [place, vars] : llvm::enumerate(dims))
      if (dependsOnAny(part, vars)) {
        own.push_back(vars);
        places.push_back(place);
      }
    Value value = part.halves == 2 ? buildPart(part, own) : Value();
    if (!value)
      return {};
    value = own.size() == dims.size() ? value : leaf.broadcast(value, sizes, places);
    product = product ? leaf.mul(product, value) : value;
  }
  return product ? leaf.scale(leaf.reduce(ReduceKind::sum, product, summed), sum->inner[0].coefficient) : Value();
}

/// An element that no token enters: a vector of the group's rows, or one number.
Value GatesBuilder::buildElement(const algebra::Factor &factor, const LinearGroup &group, bool hasRows) {
  if (Value whole = buildPart(factor, {hasRows ? group.row : IndexVars()}))
    return whole;
  if (factor.node()->isApply("sigmoid")) { // a part of a hyperbolic tangent that a product was read with
    std::optional<Expr> of = algebra.part(factor.element);
    Value argument = of ? buildVector(*of, group, hasRows) : Value();
    return argument ? SigmoidOp::create(builder, loc, argument.getType(), argument).getResult() : Value();
  }
  return hasRows ? buildProduct(factor, group) : Value();
}

/// A power of an element, as a vector of the group's rows or as [1].
Value GatesBuilder::buildFactor(const algebra::Factor &factor, const LinearGroup &group, bool hasRows) {
  bool isVector = hasRows && dependsOnAny(factor, group.row);
  Value value = factor.halves % 2 == 0 ? buildElement(factor, group, isVector) : Value();
  if (!value)
    return {};
  Value base = value;
  for (int halves = 2; halves < std::abs(factor.halves); halves += 2)
    value = leaf.mul(value, base);
  if (factor.halves < 0)
    value = leaf.div(leaf.splat(1, value), value);
  if (hasRows && !isVector && group.extent != 1) {
    Value number = tensor::CollapseShapeOp::create(builder, loc, value, ArrayRef<ReassociationIndices>());
    value = leaf.broadcast(number, {builder.getIndexAttr(group.extent)}, {});
  }
  return value;
}

/// A product that no token enters, as [rows] or as [1].
Value GatesBuilder::buildTerm(const algebra::Term &term, const LinearGroup &group, bool hasRows) {
  auto type = RankedTensorType::get({hasRows ? group.extent : 1}, builder.getF32Type());
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, static_cast<float>(value)));
  };
  Value product;
  auto multiply = [&](Value factor) { product = product ? leaf.mul(product, factor) : factor; };
  for (const algebra::Factor &factor : term.factors) {
    Value value = buildFactor(factor, group, hasRows);
    if (!value)
      return {};
    multiply(value);
  }
  if (!term.exponent.empty()) {
    Value exponent = buildVector(term.exponent, group, hasRows);
    if (!exponent)
      return {};
    multiply(leaf.exp(exponent));
  }
  if (!product || term.coefficient != 1)
    multiply(number(term.coefficient));
  return product;
}

/// A sum of products that no token enters, as [rows] or as [1].
Value GatesBuilder::buildVector(const Expr &expr, const LinearGroup &group, bool hasRows) {
  auto buildWhole = [&] {
    Value whole = build(reading, builder, user, expr, {hasRows ? group.row : IndexVars()});
    return whole ? leaf.toF32(whole) : Value();
  };
  auto hasSigmoid = [](const algebra::Term &term) {
    return llvm::any_of(term.factors, [](const algebra::Factor &factor) { return factor.node()->isApply("sigmoid"); });
  };
  if (llvm::any_of(expr, hasSigmoid)) // a hyperbolic tangent is read as a sum
    if (Value whole = buildWhole())
      return whole;
  Value sum;
  for (const algebra::Term &term : expr) {
    Value product = buildTerm(term, group, hasRows);
    if (!product)
      return buildWhole();
    sum = sum ? leaf.add(sum, product) : product;
  }
  return sum ? sum : buildTerm(algebra::Term{0, {}, {}}, group, hasRows);
}

/// The vectors of all groups side by side.
Value GatesBuilder::buildVectors(Expr LinearGroup::*vector, bool hasRows) {
  SmallVector<Value> parts;
  for (const LinearGroup &group : groups) {
    Value part = buildVector(group.*vector, group, hasRows);
    if (!part)
      return {};
    parts.push_back(part);
  }
  return leaf.concat(parts, 0);
}

/// The parts of all groups, or the one tensor that they lie in side by side.
Value GatesBuilder::buildAlpha() {
  const algebra::Factor *first = algebra::singleFactor(lead.alpha);
  bool isOneTensor = first && first->node()->value && first->at().size() == 1;
  for (auto [number, group] : llvm::enumerate(groups)) {
    const algebra::Factor *factor = algebra::singleFactor(group.alpha);
    isOneTensor = isOneTensor && factor && group.alpha[0].coefficient == 1 && factor->node() == first->node() &&
                  factor->at()[0].offset == first->at()[0].offset + static_cast<int64_t>(number);
  }
  if (isOneTensor && !cast<RankedTensorType>(first->node()->value.getType()).isDynamicDim(0))
    return leaf.toF32(slice(first->node()->value, 0, first->at()[0].offset, groups.size()));
  SmallVector<float> numbers;
  for (const LinearGroup &group : groups)
    if (std::optional<double> number = algebra::numberOf(group.alpha))
      numbers.push_back(static_cast<float>(*number));
  if (numbers.size() == groups.size()) {
    auto type = RankedTensorType::get({static_cast<int64_t>(groups.size())}, builder.getF32Type());
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef<float>(numbers)));
  }
  return buildVectors(&LinearGroup::alpha, /*hasRows=*/false);
}

Value GatesBuilder::buildBeta() {
  const algebra::Factor *first = algebra::singleFactor(lead.beta);
  bool isOneTensor = first && first->node()->value && first->at().size() == 1;
  int64_t next = isOneTensor ? first->at()[0].offset : 0;
  const int64_t begin = next;
  for (const LinearGroup &group : groups) {
    const algebra::Factor *factor = algebra::singleFactor(group.beta);
    isOneTensor = isOneTensor && factor && group.beta[0].coefficient == 1 && factor->node() == first->node() &&
                  factor->at()[0].offset == next;
    algebra::Index rowsOnly = isOneTensor ? factor->at()[0] : algebra::Index();
    rowsOnly.offset = 0;
    isOneTensor = isOneTensor && rowsOnly == indicesOf(algebra.sizes, {group.row})[0];
    next += group.extent;
  }
  if (isOneTensor && !cast<RankedTensorType>(first->node()->value.getType()).isDynamicDim(0))
    return leaf.toF32(slice(first->node()->value, 0, begin, next - begin));
  return buildVectors(&LinearGroup::beta, /*hasRows=*/true);
}
