//===- NormaliseJoins.cpp - Computations on parts of values ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NormaliseParts.h"
#include "mhc/IR/LeafBuilder.h"

using namespace mlir;
using namespace mhc;

std::optional<Part> Parts::partOf(tensor::ExtractSliceOp slice, int64_t dim) {
  if (!slice || !slice.hasUnitStride() || slice.getSourceType().getRank() != slice.getType().getRank() ||
      ShapedType::isDynamic(slice.getStaticOffset(dim)) || slice.isDynamicSize(dim))
    return std::nullopt;
  for (int64_t other = 0; other < slice.getType().getRank(); ++other)
    if (other != dim && !covers(slice, other))
      return std::nullopt;
  return Part{slice.getSource(), slice.getStaticOffset(dim), slice.getStaticSize(dim)};
}

std::optional<Part> Parts::join(ValueRange values, int64_t dim) {
  std::optional<Part> joined;
  for (Value value : values) {
    std::optional<Part> part = partOf(value.getDefiningOp<tensor::ExtractSliceOp>(), dim);
    if (!part || (joined && (part->whole != joined->whole || part->offset != joined->offset + joined->size)))
      return std::nullopt;
    if (joined)
      joined->size += part->size;
    else
      joined = part;
  }
  return joined;
}

bool Parts::covers(tensor::ExtractSliceOp slice, int64_t dim) {
  for (Value value : {slice.getSource(), slice.getResult()})
    dims.get().learn(value);
  bool all = slice.isDynamicSize(dim) ? dims.get().sameSize(slice.getSource(), dim, slice.getResult(), dim)
                                      : slice.getSourceType().getDimSize(dim) == slice.getStaticSize(dim);
  return slice.getStaticOffset(dim) == 0 && all;
}

bool mhc::statesSizesOf(Value whole, RankedTensorType type, int64_t dim) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(whole.getType()).getShape());
  shape[dim] = type.getDimSize(dim);
  return type.getShape() == ArrayRef(shape);
}

Value mhc::valueOf(OpBuilder &builder, Location loc, const Part &part, int64_t dim) {
  if (cast<RankedTensorType>(part.whole.getType()).getDimSize(dim) == part.size)
    return part.whole;
  return LeafBuilder(builder, loc).slice(part.whole, dim, part.offset, part.size);
}

//===----------------------------------------------------------------------===//
// Joined
//===----------------------------------------------------------------------===//

static SmallVector<Value> operandsOf(ValueRange values, unsigned operand) {
  return llvm::map_to_vector(values, [&](Value value) { return value.getDefiningOp()->getOperand(operand); });
}

/// The dimension of its operand that a view shows as `dim`; nothing where it repeats along that.
static std::optional<int64_t> dimOfSource(Operation *view, int64_t dim) {
  if (auto transpose = dyn_cast<TransposeOp>(view))
    return transpose.getPerm()[dim];
  ArrayRef<int64_t> dims = cast<BroadcastOp>(view).getDims();
  const auto *place = llvm::find(dims, dim);
  return place == dims.end() ? std::nullopt : std::optional<int64_t>(place - dims.begin());
}

static std::vector<const void *> placesOf(ValueRange values) {
  std::vector<const void *> places;
  for (Value value : values)
    places.push_back(value.getAsOpaquePointer());
  return places;
}

RankedTensorType Joined::typeOf(ValueRange values) const {
  auto first = cast<RankedTensorType>(values[0].getType());
  SmallVector<int64_t> shape(first.getShape());
  for (Value value : values.drop_front()) {
    int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(dim);
    bool isKnown = !ShapedType::isDynamic(size) && !ShapedType::isDynamic(shape[dim]);
    shape[dim] = isKnown ? shape[dim] + size : ShapedType::kDynamic;
  }
  return first.clone(shape);
}

std::optional<Part> Joined::joinParts(ValueRange values, int64_t along) {
  std::optional<Part> part = parts.join(values, along);
  return part && statesSizesOf(part->whole, cast<RankedTensorType>(values[0].getType()), along) ? part : std::nullopt;
}

/// The operand of a product whose rows or columns are those of the result along `dim`, and its dimension of them;
/// nothing for other ops, and where both operands are.
static std::optional<std::pair<unsigned, int64_t>> sideOf(Operation *op, int64_t dim) {
  auto find = [&](auto product, int64_t first) -> std::optional<std::pair<unsigned, int64_t>> {
    if (dim < first)
      return std::nullopt;
    if (dim == first)
      return std::pair(0u, product.getTransposeLhs() ? first + 1 : first);
    return std::pair(1u, product.getTransposeRhs() ? first : first + 1);
  };
  if (auto product = dyn_cast<MatmulOp>(op))
    return find(product, 0);
  if (auto product = dyn_cast<BatchMatmulOp>(op))
    return find(product, 1);
  return std::nullopt;
}

/// Consecutive parts of the matrix of which products, alike but for that, make rows or columns; nothing for others.
std::optional<Part> Joined::joinMatrix(ValueRange values) {
  Operation *first = values[0].getDefiningOp();
  auto side = first ? sideOf(first, dim) : std::nullopt;
  auto isAlike = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op && op->getName() == first->getName() && op->getAttrs() == first->getAttrs();
  };
  if (!side || !llvm::all_of(values, isAlike) || !llvm::all_equal(operandsOf(values, 1 - side->first)))
    return std::nullopt;
  return joinParts(operandsOf(values, side->first), side->second);
}

bool Joined::match(ValueRange values, ArrayRef<Operation *> readers) {
  if (typeOf(values).isDynamicDim(dim) || (!joinParts(values, dim) && !areComputedAlike(values, kMostSteps)))
    return false;
  auto isKnown = [&](Operation *user) {
    return ops.contains(user) || llvm::is_contained(readers, user) || isa<tensor::DimOp>(user);
  };
  return llvm::all_of(ops, [&](Operation *op) { return llvm::all_of(op->getUsers(), isKnown); });
}

/// Also the same number.
bool Joined::areAlike(ValueRange values, int steps) {
  if (std::optional<double> number = constantValue(values[0]))
    return llvm::all_of(values, [&](Value value) { return constantValue(value) == number; });
  return joinParts(values, dim) || areViewsAlike(values) || areComputedAlike(values, steps);
}

/// Whether each value is the same transpose of parts of a value, or repeats such parts, or the same, along the same
/// dimensions.
bool Joined::areViewsAlike(ValueRange values) {
  Operation *first = values[0].getDefiningOp();
  auto isAlike = [&](Value value) {
    Operation *op = value.getDefiningOp();
    auto broadcast = dyn_cast_or_null<BroadcastOp>(op);
    return op && op->getName() == first->getName() && op->getAttrs() == first->getAttrs() &&
           (!broadcast || repeatsWholeDims(broadcast));
  };
  if (!isa_and_nonnull<TransposeOp, BroadcastOp>(first) || !llvm::all_of(values, isAlike))
    return false;
  SmallVector<Value> sources = operandsOf(values, 0);
  std::optional<int64_t> along = dimOfSource(first, dim);
  return along ? joinParts(sources, *along).has_value() : llvm::all_equal(sources);
}

/// Whether each value is what one op computes of what is alike, not of numbers alone; or a product with a part.
bool Joined::areComputedAlike(ValueRange values, int steps) {
  Operation *first = values[0].getDefiningOp();
  const bool areProducts = joinMatrix(values).has_value();
  if (steps == 0 || !first || !(isElementwise(first) || areProducts))
    return false;
  if (!seen.insert(placesOf(values)).second)
    return true; // or matching has failed
  for (Value value : values) {
    Operation *op = value.getDefiningOp();
    if (!op || !statesSizesOf(value, cast<RankedTensorType>(values[0].getType()), dim) ||
        op->getName() != first->getName() || op->getAttrs() != first->getAttrs())
      return false;
    ops.insert(op);
  }
  if (areProducts)
    return true;
  auto isNumber = [](Value operand) { return constantValue(operand).has_value(); };
  return !llvm::all_of(first->getOperands(), isNumber) &&
         llvm::all_of(llvm::seq(first->getNumOperands()),
                      [&](unsigned operand) { return areAlike(operandsOf(values, operand), steps - 1); });
}

Value Joined::build(OpBuilder &builder, Location loc, ValueRange values) {
  Value &joined = built[placesOf(values)]; // stays where it is
  if (joined)
    return joined;
  if (std::optional<Part> part = joinParts(values, dim))
    return joined = valueOf(builder, loc, *part, dim);
  if (std::optional<Part> matrix = joinMatrix(values))
    return joined = multiply(builder, loc, values, *matrix);
  return joined = areViewsAlike(values) ? show(builder, loc, values) : compute(builder, loc, values);
}

/// The product with the matrix whose parts the values are products with.
Value Joined::multiply(OpBuilder &builder, Location loc, ValueRange values, const Part &matrix) {
  Operation *first = values[0].getDefiningOp();
  auto [operand, along] = *sideOf(first, dim);
  SmallVector<Value> operands(first->getOperands());
  operands[operand] = valueOf(builder, loc, matrix, along);
  OperationState state(first->getLoc(), first->getName(), operands, typeOf(values), first->getAttrs());
  return builder.create(state)->getResult(0);
}

/// The values behind the same view of each.
Value Joined::show(OpBuilder &builder, Location loc, ValueRange values) {
  Operation *first = values[0].getDefiningOp();
  Value source = first->getOperand(0);
  if (std::optional<int64_t> along = dimOfSource(first, dim))
    source = valueOf(builder, loc, *joinParts(operandsOf(values, 0), *along), *along);
  LeafBuilder leaf(builder, loc);
  if (auto transpose = dyn_cast<TransposeOp>(first))
    return leaf.transpose(source, transpose.getPerm());
  LeafBuilder::Sizes sizes = leaf.sizesOf(values[0]);
  sizes[dim] = builder.getIndexAttr(typeOf(values).getDimSize(dim));
  return leaf.broadcast(source, sizes, cast<BroadcastOp>(first).getDims());
}

Value Joined::compute(OpBuilder &builder, Location loc, ValueRange values) {
  Operation *first = values[0].getDefiningOp();
  SmallVector<Value> operands(first->getNumOperands());
  for (auto [i, operand] : llvm::enumerate(operands))
    if (!constantValue(first->getOperand(i)))
      operand = build(builder, loc, operandsOf(values, i));
  Value sized = *llvm::find_if(operands, [](Value operand) { return bool(operand); });
  for (auto [i, operand] : llvm::enumerate(operands))
    if (Value part = first->getOperand(i); !operand) {
      LeafBuilder leaf(builder, part.getLoc());
      operand = leaf.splat(*constantValue(part), leaf.cast(sized, getElementTypeOrSelf(part)));
    }
  Type type = cast<RankedTensorType>(sized.getType()).clone(getElementTypeOrSelf(values[0]));
  OperationState state(first->getLoc(), first->getName(), operands, type, first->getAttrs());
  return builder.create(state)->getResult(0);
}
