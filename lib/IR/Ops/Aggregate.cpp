//===- Aggregate.cpp - aggregate ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVjp.h"

using namespace mlir;
using namespace mhc;

SmallVector<Value> AggregateOp::decompose(OpBuilder &builder) {
  LeafBuilder leaf(builder, getLoc());
  int64_t streams = getLayout() == Layout::nC ? 1 : 2;
  Value x = leaf.toF32(getX());
  Value mixed = leaf.mul(x, leaf.broadcast(getHPre(), leaf.sizesOf(x), {0, streams}));
  return {leaf.cast(leaf.reduce(ReduceKind::sum, mixed, streams), getElementTypeOrSelf(getX()))};
}

LogicalResult AggregateOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  KernelVjp vjp(*this, builder, context);
  vjp.addResults(AggregateBwdOp::create(builder, getLoc(), vjp.partial(getX()), vjp.summed(getHPre()),
                                        vjp.cotangent(getU()), getX(), getHPre(), vjp.start(getX()), getLayout()));
  return success();
}

LogicalResult AggregateBwdOp::canonicalize(AggregateBwdOp op, PatternRewriter &rewriter) {
  return roundInKernel(op, rewriter);
}

SmallVector<Value> AggregateBwdOp::decompose(OpBuilder &builder) {
  LeafBuilder leaf(builder, getLoc());
  int64_t streams = getLayout() == Layout::nC ? 1 : 2, channels = 3 - streams;
  Value dU = leaf.toF32(getDU()), x = leaf.toF32(getX());
  LeafBuilder::Sizes sizes = leaf.sizesOf(x);
  Value spread = leaf.broadcast(dU, sizes, {0, channels});
  SmallVector<Value> results;
  if (Value dX = getDX()) {
    Value grad = leaf.mul(leaf.broadcast(getHPre(), sizes, {0, streams}), spread);
    results.push_back(leaf.addStart(grad, getDXIn(), getElementTypeOrSelf(dX)));
  }
  if (getDHPre())
    results.push_back(leaf.reduce(ReduceKind::sum, leaf.mul(spread, x), channels));
  return results;
}
