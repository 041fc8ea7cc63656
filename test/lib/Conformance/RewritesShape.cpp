//===- RewritesShape.cpp - Casts, copies and changes of shape -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RewriteRules.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <numeric>

using namespace mlir;

namespace mhc::conformance {

bool isElementwise(Operation *op) {
  auto isFloat = [](Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); };
  return op->hasTrait<OpTrait::Elementwise>() && !isa<arith::ConstantOp, arith::ExtFOp, arith::TruncFOp>(op) &&
         isFloat(op->getResult(0).getType()) && llvm::all_of(op->getOperandTypes(), isFloat);
}

static bool isFloat(Place &place) { return isa<FloatType>(place.type().getElementType()); }

/// The same op on what `change` makes of its operands.
template <typename Change>
static Value again(Place &place, Change change) {
  SmallVector<Value> operands;
  for (Value operand : place.op->getOperands())
    operands.push_back(change(operand));
  auto type = cast<RankedTensorType>(operands.front().getType());
  return place.again(operands, type.clone(place.type().getElementType()));
}

//===----------------------------------------------------------------------===//
// Casts and copies
//===----------------------------------------------------------------------===//

Value castThere(Place &place) {
  if (!isFloat(place))
    return {};
  return place.leaf.cast(place.leaf.cast(place.result(), place.builder.getF64Type()), place.type().getElementType());
}

Value computeWide(Place &place) {
  Dialect *dialect = place.op->getDialect();
  if (!isElementwise(place.op) || !isa<arith::ArithDialect, math::MathDialect>(dialect))
    return {};
  Type wide = place.builder.getF64Type();
  Value result = again(place, [&](Value operand) { return place.leaf.cast(operand, wide); });
  result.setType(place.type().clone(wide));
  return place.leaf.cast(result, place.type().getElementType());
}

/// For some of the uses.
Value repeat(Place &place) {
  if (place.uses.size() < 2)
    return {};
  place.uses.resize(place.random.between(1, static_cast<int64_t>(place.uses.size()) - 1));
  return place.builder.clone(*place.op)->getResult(0);
}

Value deadBranch(Place &place) {
  if (!isFloat(place))
    return {};
  math::ExpOp::create(place.builder, place.op->getLoc(), place.leaf.add(place.result(), place.result()));
  return place.result();
}

//===----------------------------------------------------------------------===//
// There and back
//===----------------------------------------------------------------------===//

/// A dimension of static size behind another one.
static std::optional<int64_t> joinable(Place &place) {
  for (int64_t dim = 1; dim < place.type().getRank(); ++dim)
    if (!place.type().isDynamicDim(dim) && !place.type().isDynamicDim(dim - 1))
      return dim - 1;
  return std::nullopt;
}

static Value splitAgain(Place &place, Value flat, int64_t dim) {
  return place.leaf.split(flat, dim, {place.type().getDimSize(dim), place.type().getDimSize(dim + 1)});
}

Value flattenThere(Place &place) {
  std::optional<int64_t> dim = joinable(place);
  return dim ? splitAgain(place, place.leaf.join(place.result(), *dim, 2), *dim) : Value();
}

Value splitThere(Place &place) {
  for (int64_t dim = 0; dim < place.type().getRank(); ++dim) {
    int64_t size = place.type().getDimSize(dim);
    for (int64_t part : {2, 3})
      if (!ShapedType::isDynamic(size) && size > part && size % part == 0)
        return place.leaf.join(place.leaf.split(place.result(), dim, {size / part, part}), dim, 2);
  }
  return {};
}

static llvm::SmallBitVector unitAt(int64_t rank, int64_t dim) {
  llvm::SmallBitVector units(rank);
  units.set(dim);
  return units;
}

Value unitThere(Place &place) {
  int64_t rank = place.type().getRank();
  if (rank == 0)
    return {};
  llvm::SmallBitVector units = unitAt(rank + 1, place.random.between(0, rank));
  return place.leaf.dropUnits(place.leaf.insertUnits(place.result(), units), units);
}

/// A rotation, and what undoes it.
static std::pair<SmallVector<int64_t>, SmallVector<int64_t>> rotation(Place &place) {
  int64_t rank = place.type().getRank(), by = place.random.between(1, rank - 1);
  SmallVector<int64_t> perm(rank), back(rank);
  for (int64_t dim = 0; dim < rank; ++dim) {
    perm[dim] = (dim + by) % rank;
    back[perm[dim]] = dim;
  }
  return {perm, back};
}

Value transposeThere(Place &place) {
  if (!isFloat(place) || place.type().getRank() < 2)
    return {};
  auto [perm, back] = rotation(place);
  return place.leaf.transpose(place.leaf.transpose(place.result(), perm), back);
}

Value sliceAndJoin(Place &place) {
  for (int64_t dim = place.type().getRank() - 1; dim >= 0; --dim) {
    int64_t size = place.type().getDimSize(dim), first = size / 2;
    if (ShapedType::isDynamic(size) || size < 2)
      continue;
    Value head = place.leaf.slice(place.result(), dim, 0, first);
    Value tail = place.leaf.slice(place.result(), dim, first, size - first);
    return place.leaf.concat({head, tail}, dim);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Elementwise ops elsewhere
//===----------------------------------------------------------------------===//

Value computeTransposed(Place &place) {
  if (!isElementwise(place.op) || place.type().getRank() < 2)
    return {};
  auto [perm, back] = rotation(place);
  Value result = again(place, [&, &perm = perm](Value operand) { return place.leaf.transpose(operand, perm); });
  return place.leaf.transpose(result, back);
}

Value computeFlat(Place &place) {
  std::optional<int64_t> dim = joinable(place);
  if (!isElementwise(place.op) || !dim)
    return {};
  Value flat = again(place, [&](Value operand) { return place.leaf.join(operand, *dim, 2); });
  return splitAgain(place, flat, *dim);
}

Value computeWithUnit(Place &place) {
  int64_t rank = place.type().getRank();
  if (!isElementwise(place.op) || rank == 0)
    return {};
  llvm::SmallBitVector units = unitAt(rank + 1, place.random.between(0, rank));
  return place.leaf.dropUnits(again(place, [&](Value operand) { return place.leaf.insertUnits(operand, units); }),
                              units);
}

Value sliceFirst(Place &place) {
  auto slice = dyn_cast<tensor::ExtractSliceOp>(place.op);
  Operation *source = slice ? slice.getSource().getDefiningOp() : nullptr;
  if (!source || !isElementwise(source))
    return {};
  SmallVector<Value> operands;
  for (Value operand : source->getOperands()) {
    auto type = slice.getType().clone(getElementTypeOrSelf(operand));
    operands.push_back(tensor::ExtractSliceOp::create(place.builder, slice.getLoc(), type, operand,
                                                      slice.getMixedOffsets(), slice.getMixedSizes(),
                                                      slice.getMixedStrides()));
  }
  OperationState state(source->getLoc(), source->getName(), operands, slice.getType(), source->getAttrs());
  return place.builder.create(state)->getResult(0);
}

/// f(broadcast x) as broadcast f(x), also of several operands that are broadcast in one way.
Value broadcastLast(Place &place) {
  auto first = place.op->getNumOperands() ? place.operand(0).getDefiningOp<BroadcastOp>() : BroadcastOp();
  if (!isElementwise(place.op) || !first)
    return {};
  SmallVector<Value> sources;
  for (Value operand : place.op->getOperands()) {
    auto broadcast = operand.getDefiningOp<BroadcastOp>();
    if (!broadcast || broadcast.getDims() != first.getDims() ||
        broadcast.getX().getType().getShape() != first.getX().getType().getShape())
      return {};
    sources.push_back(broadcast.getX());
  }
  Value inner = place.again(sources, first.getX().getType().clone(place.type().getElementType()));
  return place.leaf.broadcast(inner, place.leaf.sizesOf(place.result()), first.getDims());
}

/// broadcast f(x) as f(broadcast x).
Value broadcastFirst(Place &place) {
  auto broadcast = dyn_cast<BroadcastOp>(place.op);
  Operation *inner = broadcast ? broadcast.getX().getDefiningOp() : nullptr;
  if (!inner || !isElementwise(inner))
    return {};
  SmallVector<Value> operands;
  for (Value operand : inner->getOperands())
    operands.push_back(place.leaf.broadcast(operand, place.leaf.sizesOf(place.result()), broadcast.getDims()));
  OperationState state(inner->getLoc(), inner->getName(), operands, place.type(), inner->getAttrs());
  return place.builder.create(state)->getResult(0);
}

Value broadcastFromUnits(Place &place) {
  auto broadcast = dyn_cast<BroadcastOp>(place.op);
  int64_t rank = place.type().getRank();
  if (!broadcast || broadcast.getX().getType().getRank() == rank)
    return {};
  llvm::SmallBitVector units(rank, true);
  for (int64_t dim : broadcast.getDims())
    units.reset(dim);
  SmallVector<int64_t> all(rank);
  std::iota(all.begin(), all.end(), 0);
  Value spread = place.leaf.insertUnits(broadcast.getX(), units);
  return place.leaf.broadcast(spread, place.leaf.sizesOf(place.result()), all);
}

} // namespace mhc::conformance
