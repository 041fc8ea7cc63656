//===- Expand.cpp - expand and contract ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/LeafBuilder.h"

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

SmallVector<Value> ContractOp::decompose(OpBuilder &builder) {
  LeafBuilder leaf(builder, getLoc());
  ReduceKind kind = getMode() == ContractMode::mean ? ReduceKind::mean : ReduceKind::sum;
  Value out = leaf.reduce(kind, leaf.toF32(getX()), getLayout() == Layout::nC ? 1 : 2);
  return {leaf.cast(out, getElementTypeOrSelf(getX()))};
}
