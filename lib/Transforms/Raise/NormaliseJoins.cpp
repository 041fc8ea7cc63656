//===- NormaliseJoins.cpp - What is computed of parts of values ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NormaliseParts.h"
#include "Raise.h"
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
    dims.learn(value);
  bool all = slice.isDynamicSize(dim) ? dims.sameSize(slice.getSource(), dim, slice.getResult(), dim)
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

/// Of a computation.
constexpr int kMostSteps = 32;

static SmallVector<Value> operandsOf(ValueRange values, unsigned operand) {
  return llvm::map_to_vector(values, [&](Value value) { return value.getDefiningOp()->getOperand(operand); });
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
  return joinParts(values, dim) || areRepeatedAlike(values) || areComputedAlike(values, steps);
}

/// Whether each value repeats something along the same dimensions: the same, or along `dim` parts of a value.
bool Joined::areRepeatedAlike(ValueRange values) {
  auto first = values[0].getDefiningOp<BroadcastOp>();
  auto isAlike = [&](Value value) {
    auto broadcast = value.getDefiningOp<BroadcastOp>();
    return broadcast && broadcast.getDims() == first.getDims() && repeatsWholeDims(broadcast);
  };
  if (!first || !llvm::all_of(values, isAlike))
    return false;
  SmallVector<Value> sources = operandsOf(values, 0);
  const auto *place = llvm::find(first.getDims(), dim);
  return place == first.getDims().end() ? llvm::all_equal(sources)
                                        : joinParts(sources, place - first.getDims().begin()).has_value();
}

/// Whether each value is what one op computes of what is alike, not of numbers alone.
bool Joined::areComputedAlike(ValueRange values, int steps) {
  Operation *first = values[0].getDefiningOp();
  if (steps == 0 || !first || !isElementwise(first))
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
  return joined = areRepeatedAlike(values) ? repeat(builder, loc, values) : compute(builder, loc, values);
}

Value Joined::repeat(OpBuilder &builder, Location loc, ValueRange values) {
  auto first = values[0].getDefiningOp<BroadcastOp>();
  LeafBuilder leaf(builder, loc);
  LeafBuilder::Sizes sizes = leaf.sizesOf(first);
  sizes[dim] = builder.getIndexAttr(typeOf(values).getDimSize(dim));
  Value source = first.getX();
  if (const auto *place = llvm::find(first.getDims(), dim); place != first.getDims().end()) {
    int64_t along = place - first.getDims().begin();
    source = valueOf(builder, loc, *joinParts(operandsOf(values, 0), along), along);
  }
  return leaf.broadcast(source, sizes, first.getDims());
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
