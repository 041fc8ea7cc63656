//===- GatedDeltaProjections.cpp - Where the front ends of gated delta nets begin ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GatedDelta.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::gated;

/// The value that was cut, cast and permuted.
static Value rootOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && (isa<tensor::ExtractSliceOp>(op) || showsOperand(op))) {
    value = op->getOperand(0);
    op = value.getDefiningOp();
  }
  return value;
}

/// The value behind the views and casts that are its one use: where sequences and tokens are dimensions of their own,
/// they can be told apart.
static Value shapedFrom(Value value) {
  auto isPassed = [](Operation *user) {
    return isa<tensor::ExpandShapeOp, CastOpInterface>(user) && !isa<arith::ExtFOp>(user); // which is of one part alone
  };
  while (value.hasOneUse() && isPassed(*value.user_begin()))
    value = value.user_begin()->getResult(0);
  return value;
}

/// The values that are cut, joined and permuted.
static void addRoots(Value value, llvm::DenseSet<Value> &roots) {
  Value root = rootOf(value);
  Operation *op = root.getDefiningOp();
  if (!isa_and_nonnull<tensor::ConcatOp, tensor::InsertSliceOp>(op)) {
    roots.insert(shapedFrom(root));
    return;
  }
  for (Value part : op->getOperands())
    if (isa<RankedTensorType>(part.getType()))
      addRoots(part, roots);
}

/// Whether a value is computed of numbers and positions alone.
static bool isComputedAlone(Value value) {
  constexpr size_t kMostOps = 64;
  llvm::SetVector<Operation *> ops;
  auto add = [&](Value operand) {
    Operation *op = operand.getDefiningOp();
    return op && (ops.insert(op) || true) && ops.size() <= kMostOps;
  };
  if (!add(value))
    return false;
  for (size_t i = 0; i < ops.size(); ++i)
    if (!llvm::all_of(ops[i]->getOperands(), add))
      return false;
  return true;
}

/// Whether parts are read of a value, or of what shows it.
static bool isCut(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<tensor::ExtractSliceOp>(user) || (showsOperand(user) && isCut(user->getResult(0)));
  });
}

/// Whether a product sums over the few places of a window, or chooses by ones and zeros that no argument is part of.
static bool mayBePart(Operation *product) {
  Value lhs = product->getOperand(0);
  auto type = cast<RankedTensorType>(lhs.getType());
  const int64_t depth = type.getDimSize(type.getRank() - (product->hasAttr("transpose_lhs") ? 2 : 1));
  return (depth != ShapedType::kDynamic && depth <= kMostTaps) || llvm::any_of(product->getOperands(), isComputedAlone);
}

/// A product, or one with a bias: all parts of a front end have it, so that one that is added to a part is another.
static Value withBias(Value product) {
  Operation *user = product.hasOneUse() ? *product.user_begin() : nullptr;
  bool hasBias = isa_and_nonnull<arith::AddFOp>(user) &&
                 llvm::any_of(user->getOperands(), [](Value part) { return part.getDefiningOp<BroadcastOp>(); });
  return hasBias && isCut(user->getResult(0)) ? user->getResult(0) : product;
}

llvm::DenseSet<Value> mhc::gated::projections(func::FuncOp func) {
  llvm::DenseSet<Value> made;
  func.walk([&](Operation *op) {
    if (isa<MatmulOp, BatchMatmulOp>(op) && !mayBePart(op))
      made.insert(shapedFrom(withBias(shapedFrom(op->getResult(0)))));
    if (isa<tensor::PadOp, ShiftOp>(op))
      addRoots(op->getOperand(0), made);
  });
  return made;
}
