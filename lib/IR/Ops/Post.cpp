//===- Post.cpp - post ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/LeafBuilder.h"

using namespace mlir;
using namespace mhc;

SmallVector<Value> PostOp::decompose(OpBuilder &builder) {
  LeafBuilder leaf(builder, getLoc());
  bool streamsFirst = getLayout() == Layout::nC, outputFirst = getOrient() == Orient::oi;
  Value x = leaf.toF32(getX()), f = leaf.toF32(getF());
  if (getBias()) {
    Value bias = leaf.toF32(getBias());
    f = leaf.add(f, leaf.broadcast(bias, leaf.sizesOf(f), 1));
  }
  LeafBuilder::Sizes sizes = leaf.sizesOf(x);
  int64_t streams = streamsFirst ? 1 : 2, channels = 3 - streams;
  Value gate = leaf.broadcast(getHPost(), sizes, {0, streams});
  Value branch = leaf.mul(gate, leaf.broadcast(f, sizes, {0, channels}));
  Value mix = streamsFirst ? leaf.batchMatmul(getHRes(), x, /*transposeLhs=*/!outputFirst)
                           : leaf.batchMatmul(x, getHRes(), /*transposeLhs=*/false, /*transposeRhs=*/outputFirst);
  return {leaf.cast(leaf.add(mix, branch), getElementTypeOrSelf(getX()))};
}
