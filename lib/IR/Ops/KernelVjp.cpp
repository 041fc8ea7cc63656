//===- KernelVjp.cpp - Helpers of kernel ops' gradient rules --- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVjp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mhc;

Value KernelVjp::cotangent(Value result) {
  Value sum = result ? context.cotangentOf(result) : Value();
  return sum ? leaf.cast(sum, getElementTypeOrSelf(result)) : Value();
}

Value KernelVjp::cotangentOrZero(Value result) {
  Value sum = cotangent(result);
  return sum ? sum : leaf.splat(0.0, result);
}

Type KernelVjp::summed(Value operand) const {
  if (!isWanted(operand))
    return {};
  auto type = cast<RankedTensorType>(operand.getType());
  return type.clone(cotangentElement(type.getElementType()));
}

Type KernelVjp::partial(Value operand) const {
  if (!isWanted(operand))
    return {};
  auto type = cast<RankedTensorType>(operand.getType());
  return type.clone(context.partialElement(type.getElementType()));
}

/// A sum that was stored in fewer bits is read as it is stored.
Value KernelVjp::start(Value operand) {
  Value sum = operand ? context.takePartial(operand) : Value();
  auto widened = sum ? sum.getDefiningOp<arith::ExtFOp>() : arith::ExtFOp();
  return widened && widened.getIn().getType() == operand.getType() ? widened.getIn() : sum;
}

void KernelVjp::add(Value operand, Value gradient) {
  if (gradient)
    context.addCotangent(operand, gradient);
}

void KernelVjp::addResults(KernelOpInterface bwd) {
  for (auto [i, tensor] : llvm::enumerate(bwd.getKernelInfo().tensors))
    if (tensor.isResult)
      add(kernelOperand(bwd, tensor.name.drop_front(2)), bwd.getTensor(i));
}

LogicalResult mhc::roundInKernel(KernelOpInterface op, PatternRewriter &rewriter) {
  for (auto [index, tensor] : llvm::enumerate(op.getKernelInfo().tensors)) {
    Value result = tensor.isResult && tensor.orF32 ? op.getTensor(index) : Value();
    if (!result || !result.hasOneUse())
      continue;
    auto round = dyn_cast<arith::TruncFOp>(*result.user_begin());
    if (!round || getElementTypeOrSelf(round) != getElementTypeOrSelf(op.getTensor(tensor.elementOf)))
      continue;
    rewriter.modifyOpInPlace(op, [&] { result.setType(round.getType()); });
    rewriter.replaceOp(round, result);
    return success();
  }
  return failure();
}
