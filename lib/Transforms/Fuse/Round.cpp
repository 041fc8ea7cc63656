//===- Round.cpp - Matrix products that round their own result ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

/// Whether `value` is, or shows or joins, products that nothing else reads. Their kernels sum in f32 and round at the
/// store, so that they may do the rounding of that reader.
static bool canRoundAtStore(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse() || !getElementTypeOrSelf(value).isF32())
    return false;
  return isa<MatmulOp, BatchMatmulOp>(op) ||
         (isa<TransposeOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ConcatOp>(op) &&
          llvm::all_of(op->getOperands(),
                       [](Value operand) { return !isa<TensorType>(operand.getType()) || canRoundAtStore(operand); }));
}

static void roundAtStore(Value value, Type element) {
  Operation *op = value.getDefiningOp();
  value.setType(cast<RankedTensorType>(value.getType()).clone(element));
  if (!isa<MatmulOp, BatchMatmulOp>(op))
    for (Value operand : op->getOperands())
      if (isa<TensorType>(operand.getType()))
        roundAtStore(operand, element);
}

void mhc::roundProducts(func::FuncOp func) {
  SmallVector<arith::TruncFOp> rounds;
  func.walk([&](arith::TruncFOp round) { rounds.push_back(round); });
  for (arith::TruncFOp round : rounds) {
    if (!canRoundAtStore(round.getIn()))
      continue;
    roundAtStore(round.getIn(), getElementTypeOrSelf(round.getType()));
    round.replaceAllUsesWith(round.getIn());
    round.erase();
  }
}
