//===- Random.cpp - random and dropout ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Random.h"
#include "KernelVjp.h"

using namespace mlir;
using namespace mhc;

LogicalResult mhc::verifyGoesWithSeed(Operation *op, bool hasSeed, StringRef name, Attribute value) {
  if (hasSeed == static_cast<bool>(value))
    return success();
  std::string quoted = ("'" + name + "'").str();
  return op->emitOpError() << "has " << (hasSeed ? "'seed' without " + quoted : quoted + " without 'seed'")
                           << "; needed both or none";
}

LogicalResult mhc::verifyOptionalDropout(Operation *op, bool hasSeed, FloatAttr rate, IntegerAttr stream) {
  return failure(failed(verifyGoesWithSeed(op, hasSeed, "rate", rate)) ||
                 failed(verifyGoesWithSeed(op, hasSeed, "stream", stream)));
}

Value mhc::buildDropout(OpBuilder &builder, Location loc, Value values, Value seed, FloatAttr rate,
                        IntegerAttr stream) {
  LeafBuilder leaf(builder, loc);
  Value matrix = leaf.join(values, 1, 2);
  Value kept = DropoutOp::create(builder, loc, matrix.getType(), matrix, seed, rate, stream);
  return leaf.splitLike(kept, values);
}

LogicalResult RandomOp::verify() {
  if (failed(verifyKernelDims(*this)))
    return failure();
  if (!getOut().getType().hasStaticShape())
    return emitOpError() << "has a result of type " << getOut().getType() << "; needed a static size";
  return success();
}

OpFoldResult DropoutOp::fold(FoldAdaptor) { return getRate().isZero() ? getX() : OpFoldResult(); }

LogicalResult DropoutOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  Value g = context.cotangentOf(getOut());
  context.addCotangent(getX(), DropoutOp::create(builder, getLoc(), g.getType(), g, getSeed(), getRate(), getStream()));
  return success();
}
