//===- GenericBuilder.cpp - Builds linalg.generic ops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenericBuilder.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mhc;

SmallVector<OpFoldResult> mhc::tensorSizes(OpBuilder &builder, Value tensor) {
  if (auto broadcast = tensor.getDefiningOp<BroadcastOp>()) {
    auto type = broadcast.getOut().getType();
    SmallVector<OpFoldResult> sizes(type.getRank());
    auto given = broadcast.getSizes().begin();
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      auto from = llvm::find(broadcast.getDims(), dim);
      bool repeated = from == broadcast.getDims().end() ||
                      broadcast.getX().getType().getDimSize(from - broadcast.getDims().begin()) == 1;
      if (!type.isDynamicDim(dim))
        sizes[dim] = builder.getIndexAttr(type.getDimSize(dim));
      else if (repeated)
        sizes[dim] = *given++;
      else
        sizes[dim] = tensorSizes(builder, broadcast.getX())[from - broadcast.getDims().begin()];
    }
    return sizes;
  }
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    return empty.getMixedSizes();
  if (auto splat = tensor.getDefiningOp<tensor::SplatOp>()) {
    SmallVector<OpFoldResult> sizes;
    auto given = splat.getDynamicSizes().begin();
    for (int64_t size : splat.getType().getShape())
      sizes.push_back(ShapedType::isDynamic(size) ? OpFoldResult(*given++) : builder.getIndexAttr(size));
    return sizes;
  }
  if (auto generic = tensor.getDefiningOp<linalg::GenericOp>()) // made by this class: its init is a tensor.empty
    if (Value init = generic.getDpsInits()[cast<OpResult>(tensor).getResultNumber()]; init.getDefiningOp())
      return tensorSizes(builder, init);
  return tensor::getMixedSizes(builder, tensor.getLoc(), tensor);
}

AffineMap GenericBuilder::identity() { return builder.getMultiDimIdentityMap(sizes.size()); }

AffineMap GenericBuilder::without(ArrayRef<int64_t> reduced) {
  llvm::SmallBitVector drop(sizes.size());
  for (int64_t dim : reduced)
    drop.set(dim);
  return identity().dropResults(drop);
}

/// Map from the dimensions of a broadcast's result to those of its operand.
static AffineMap broadcastMap(BroadcastOp op) {
  Builder builder(op.getContext());
  SmallVector<AffineExpr> exprs;
  for (auto [i, dim] : llvm::enumerate(op.getDims()))
    exprs.push_back(op.getX().getType().getDimSize(i) == 1 ? builder.getAffineConstantExpr(0)
                                                           : builder.getAffineDimExpr(dim));
  return AffineMap::get(op.getOut().getType().getRank(), 0, exprs, op.getContext());
}

void GenericBuilder::addInput(Value value, AffineMap map) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>()) {
    map = broadcastMap(broadcast).compose(map);
    value = broadcast.getX();
  }
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat))) {
    inputs.push_back({-1, cast<TypedAttr>(splat.getSplatValue<Attribute>())});
    return;
  }
  if (auto op = value.getDefiningOp<tensor::SplatOp>()) {
    value = op.getInput();
    TypedAttr constant;
    if (matchPattern(value, m_Constant(&constant))) {
      inputs.push_back({-1, constant});
      return;
    }
  }
  if (!isa<ShapedType>(value.getType())) // a scalar, the same for all elements
    map = AffineMap::get(sizes.size(), 0, builder.getContext());
  inputs.push_back({static_cast<int>(operands.size()), {}});
  operands.push_back(value);
  operandMaps.push_back(map);
}

Value GenericBuilder::empty(AffineMap map, Type elementType) {
  SmallVector<OpFoldResult> shape;
  for (AffineExpr expr : map.getResults())
    shape.push_back(sizes[cast<AffineDimExpr>(expr).getPosition()]);
  return tensor::EmptyOp::create(builder, loc, shape, elementType);
}

void GenericBuilder::addResult(Type elementType) {
  initMaps.push_back(identity());
  inits.push_back(empty(identity(), elementType));
}

void GenericBuilder::addReduction(TypedAttr start, ArrayRef<int64_t> reduced) {
  initMaps.push_back(without(reduced));
  Value scalar = arith::ConstantOp::create(builder, loc, start);
  Value init = empty(initMaps.back(), start.getType());
  inits.push_back(linalg::FillOp::create(builder, loc, scalar, init).getResult(0));
}

/// Adds an operand without data for each dimension that no map has, as when a repeated dimension is reduced: linalg
/// takes the extent of a loop from an operand.
void GenericBuilder::addExtents() {
  llvm::SmallBitVector missing(sizes.size(), true);
  for (ArrayRef<AffineMap> maps : {ArrayRef(operandMaps), ArrayRef(initMaps)})
    for (AffineMap map : maps)
      for (AffineExpr expr : map.getResults())
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          missing.reset(dim.getPosition());
  for (unsigned dim : missing.set_bits()) {
    operandMaps.push_back(AffineMap::get(sizes.size(), 0, builder.getAffineDimExpr(dim)));
    operands.push_back(empty(operandMaps.back(), builder.getI8Type()));
  }
}

SmallVector<Value> GenericBuilder::build(Body body) {
  addExtents();
  SmallVector<AffineMap> maps(operandMaps);
  llvm::append_range(maps, initMaps);
  SmallVector<utils::IteratorType> iterators;
  for (unsigned dim = 0; dim < sizes.size(); ++dim)
    iterators.push_back(llvm::all_of(initMaps, [&](AffineMap map) { return map.isFunctionOfDim(dim); })
                            ? utils::IteratorType::parallel
                            : utils::IteratorType::reduction);
  SmallVector<Type> types = llvm::map_to_vector(inits, [](Value init) { return init.getType(); });
  auto op = linalg::GenericOp::create(
      builder, loc, types, operands, inits, maps, iterators, [&](OpBuilder &inner, Location, ValueRange arguments) {
        SmallVector<Value> values;
        for (Input &input : inputs)
          values.push_back(input.operand >= 0 ? arguments[input.operand]
                                              : arith::ConstantOp::create(inner, loc, input.constant).getResult());
        SmallVector<Value> results = body(inner, values, arguments.drop_front(operands.size()));
        linalg::YieldOp::create(inner, loc, results);
      });
  return SmallVector<Value>(op.getResults());
}
