//===- Post.cpp - post ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVjp.h"
#include "Random.h"
#include "StreamMix.h"
#include "mhc/IR/EqualStreams.h"

using namespace mlir;
using namespace mhc;

LogicalResult PostOp::verify() {
  return failure(failed(verifyKernelDims(*this)) ||
                 failed(verifyOptionalDropout(*this, getSeed() != nullptr, getRateAttr(), getStreamAttr())));
}

LogicalResult PostOp::canonicalize(PostOp op, PatternRewriter &rewriter) { return removeDropout(op, rewriter); }

SmallVector<Value> PostOp::decompose(OpBuilder &builder) {
  if (Operation *whole = withWholeStreams(builder, *this))
    return SmallVector<Value>(whole->getResults());
  LeafBuilder leaf(builder, getLoc());
  Value x = leaf.toF32(getX()), f = leaf.toF32(getF());
  if (getBias()) {
    Value bias = leaf.toF32(getBias());
    f = leaf.add(f, leaf.broadcast(bias, leaf.sizesOf(f), 1));
  }
  LeafBuilder::Sizes sizes = leaf.sizesOf(x);
  int64_t streams = getLayout() == Layout::nC ? 1 : 2, channels = 3 - streams;
  Value gate = leaf.broadcast(getHPost(), sizes, {0, streams});
  Value branch = dropped(builder, *this, leaf.mul(gate, leaf.broadcast(f, sizes, {0, channels})));
  Value mix = mixStreams(leaf, getHRes(), x, getLayout(), getOrient());
  return {leaf.cast(leaf.add(mix, branch), getElementTypeOrSelf(getX()))};
}

LogicalResult PostOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  KernelVjp vjp(*this, builder, context);
  PostBwdOp::Fields fields(*this);
  fields.d_out = vjp.cotangent(getOut());
  fields.d_f = vjp.stored(getF());
  fields.d_h_post = vjp.summed(getHPost());
  fields.d_h_res = vjp.summed(getHRes());
  fields.d_x = vjp.partial(getX());
  fields.d_x_in = vjp.start(getX());
  fields.d_bias = vjp.summed(getBias());
  fields.d_bias_in = vjp.start(getBias());
  vjp.addResults(fields.create(builder, getLoc()));
  return success();
}

LogicalResult PostBwdOp::verify() {
  return failure(failed(verifyKernelDims(*this)) ||
                 failed(verifyOptionalDropout(*this, getSeed() != nullptr, getRateAttr(), getStreamAttr())));
}

LogicalResult PostBwdOp::canonicalize(PostBwdOp op, PatternRewriter &rewriter) {
  return success(succeeded(removeDropout(op, rewriter)) || succeeded(roundInKernel(op, rewriter)));
}

SmallVector<Value> PostBwdOp::decompose(OpBuilder &builder) {
  if (Operation *whole = withWholeStreams(builder, *this))
    return SmallVector<Value>(whole->getResults());
  LeafBuilder leaf(builder, getLoc());
  bool streamsFirst = getLayout() == Layout::nC, outputFirst = getOrient() == Orient::oi;
  int64_t streams = streamsFirst ? 1 : 2, channels = 3 - streams;
  Value dOut = leaf.toF32(getDOut()), x = leaf.toF32(getX());
  LeafBuilder::Sizes sizes = leaf.sizesOf(dOut);
  // Unused values of the chain are dead code.
  Value dBranch = dropped(builder, *this, dOut);
  Value gated = leaf.mul(leaf.broadcast(getHPost(), sizes, {0, streams}), dBranch);
  Value dF = leaf.reduce(ReduceKind::sum, gated, streams);
  SmallVector<Value> results;
  if (getDF())
    results.push_back(leaf.cast(dF, getElementTypeOrSelf(getX())));
  if (getDHPost()) {
    Value f = leaf.toF32(getF());
    if (getBias()) {
      Value bias = leaf.toF32(getBias());
      f = leaf.add(f, leaf.broadcast(bias, leaf.sizesOf(f), 1));
    }
    Value product = leaf.mul(dBranch, leaf.broadcast(f, sizes, {0, channels}));
    results.push_back(leaf.reduce(ReduceKind::sum, product, channels));
  }
  if (getDHRes()) {
    Value first = outputFirst ? dOut : x, second = outputFirst ? x : dOut;
    results.push_back(leaf.batchMatmul(first, second, /*transposeLhs=*/!streamsFirst, /*transposeRhs=*/streamsFirst));
  }
  if (Value dX = getDX()) {
    Value grad = mixStreams(leaf, getHRes(), dOut, getLayout(), getOrient(), /*back=*/true);
    results.push_back(leaf.addStart(grad, getDXIn(), getElementTypeOrSelf(dX)));
  }
  if (getDBias())
    results.push_back(leaf.addStart(leaf.reduce(ReduceKind::sum, dF, 0), getDBiasIn(), builder.getF32Type()));
  return results;
}
