//===- Cotangents.cpp - The reverse walk ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cotangents.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mhc;

void Cotangents::addCotangent(Value operand, Value share) {
  if (!needsGradient(operand) || matchPattern(share, m_AnyZeroFloat()))
    return;
  LeafBuilder leaf(builder, share.getLoc());
  share = leaf.cast(share, cotangentElement(getElementTypeOrSelf(operand)));
  Value &sum = sums[operand];
  sum = sum ? leaf.add(sum, share) : share;
}

static LogicalResult reverse(Operation *op, OpBuilder &builder, Cotangents &cotangents) {
  auto hasCotangent = [&](Value value) { return bool(cotangents.cotangentOf(value)); };
  auto needsGradient = [&](Value value) { return cotangents.needsGradient(value); };
  if (llvm::none_of(op->getResults(), hasCotangent))
    return success();
  if (auto differentiable = dyn_cast<DifferentiableOpInterface>(op))
    return llvm::any_of(op->getOperands(), needsGradient) ? differentiable.buildVjp(builder, cotangents) : success();
  return op->emitError() << "'" << op->getName() << "' has no gradient rule and stands for no ops that have one";
}

LogicalResult mhc::reverse(Block &body, OpBuilder &builder, Cotangents &cotangents) {
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (failed(::reverse(op, builder, cotangents)))
      return failure();
  return success();
}
