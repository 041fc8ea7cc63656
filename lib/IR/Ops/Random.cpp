//===- Random.cpp - random and dropout ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVjp.h"

using namespace mlir;
using namespace mhc;

/// The stream is one word of the counter.
template <typename Op>
static LogicalResult verifyStream(Op op) {
  if (op.getStream() > UINT32_MAX)
    return op.emitOpError() << "'stream' is " << op.getStream() << "; needed at most " << UINT32_MAX;
  return success();
}

LogicalResult RandomOp::verify() {
  if (failed(verifyKernelDims(*this)) || failed(verifyStream(*this)))
    return failure();
  if (!getOut().getType().hasStaticShape())
    return emitOpError() << "has a result of type " << getOut().getType() << "; needed a static size";
  return success();
}

LogicalResult DropoutOp::verify() {
  if (failed(verifyKernelDims(*this)) || failed(verifyStream(*this)))
    return failure();
  double rate = getRate().convertToDouble();
  if (rate < 0 || rate >= 1)
    return emitOpError() << "'rate' is " << rate << "; needed at least 0 and less than 1";
  return success();
}

OpFoldResult DropoutOp::fold(FoldAdaptor) { return getRate().isZero() ? getX() : OpFoldResult(); }

LogicalResult DropoutOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  Value g = context.cotangentOf(getOut());
  context.addCotangent(getX(), DropoutOp::create(builder, getLoc(), g.getType(), g, getSeed(), getRate(), getStream()));
  return success();
}
