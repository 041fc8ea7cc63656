//===- Aggregate.cpp - aggregate ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/LeafBuilder.h"

using namespace mlir;
using namespace mhc;

SmallVector<Value> AggregateOp::decompose(OpBuilder &builder) {
  LeafBuilder leaf(builder, getLoc());
  int64_t streams = getLayout() == Layout::nC ? 1 : 2;
  Value x = leaf.toF32(getX());
  Value mixed = leaf.mul(x, leaf.broadcast(getHPre(), leaf.sizesOf(x), {0, streams}));
  return {leaf.cast(leaf.reduce(ReduceKind::sum, mixed, streams), getElementTypeOrSelf(getX()))};
}
