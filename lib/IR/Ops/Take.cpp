//===- Take.cpp - take ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVjp.h"

using namespace mlir;
using namespace mhc;

LogicalResult TakeOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  LeafBuilder leaf(builder, getLoc());
  KernelVjp vjp(*this, builder, context);
  Value g = vjp.cotangent(getOut()), start = vjp.start(getTable());
  start = start ? leaf.toF32(start) : leaf.splat(0.0, leaf.toF32(getTable()));
  vjp.add(getTable(), TakeBwdOp::create(builder, getLoc(), start.getType(), g, getIds(), start));
  return success();
}
