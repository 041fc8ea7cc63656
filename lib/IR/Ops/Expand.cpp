//===- Expand.cpp - expand and contract ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVjp.h"

using namespace mlir;
using namespace mhc;

SmallVector<Value> ExpandOp::decompose(OpBuilder &builder) {
  LeafBuilder leaf(builder, getLoc());
  LeafBuilder::Sizes sizes = leaf.sizesOf(getX());
  bool streamsFirst = getLayout() == Layout::nC;
  int64_t n = cast<RankedTensorType>(getStreams().getType()).getDimSize(streamsFirst ? 1 : 2);
  sizes.insert(sizes.begin() + (streamsFirst ? 1 : 2), leaf.constant(n));
  return {leaf.broadcast(getX(), sizes, streamsFirst ? ArrayRef<int64_t>{0, 2} : ArrayRef<int64_t>{0, 1})};
}

LogicalResult ExpandOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  KernelVjp vjp(*this, builder, context);
  vjp.add(getX(), ContractOp::create(builder, getLoc(), getX().getType(), vjp.cotangent(getStreams()), getLayout(),
                                     ContractMode::sum));
  return success();
}

bool ExpandOp::isCheapToRebuild() { return true; }

SmallVector<Value> ContractOp::decompose(OpBuilder &builder) {
  LeafBuilder leaf(builder, getLoc());
  ReduceKind kind = getMode() == ContractMode::mean ? ReduceKind::mean : ReduceKind::sum;
  Value out = leaf.reduce(kind, leaf.toF32(getX()), getLayout() == Layout::nC ? 1 : 2);
  return {leaf.cast(out, getElementTypeOrSelf(getX()))};
}

LogicalResult ContractOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  LeafBuilder leaf(builder, getLoc());
  RankedTensorType type = getX().getType();
  Value g = context.cotangentOf(getOut());
  if (getMode() == ContractMode::mean)
    g = leaf.scale(g, 1.0 / type.getDimSize(getLayout() == Layout::nC ? 1 : 2));
  g = leaf.cast(g, type.getElementType());
  context.addCotangent(getX(), ExpandOp::create(builder, getLoc(), type, g, getLayout()));
  return success();
}
