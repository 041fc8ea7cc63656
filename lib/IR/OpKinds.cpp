//===- OpKinds.cpp - Kinds of ops that passes tell apart ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/OpKinds.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;
using namespace mhc;

bool mhc::isReshape(Operation *op) { return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op); }

bool mhc::rearranges(Operation *op) { return isReshape(op) || isa<TransposeOp>(op); }

bool mhc::showsOperand(Operation *op) { return rearranges(op) || isa<arith::ExtFOp, arith::TruncFOp>(op); }

bool mhc::isMhcOp(Operation *op) { return isa<KernelOpInterface>(op) && !isa<MatmulOp, BatchMatmulOp>(op); }

std::optional<Format> mhc::narrowFormat(Type element) {
  if (element.isBF16())
    return Format::bf16;
  return element.isF16() ? std::optional(Format::f16) : std::nullopt;
}

/// The value behind a chain of ops of one kind, each of which has one operand.
static Value behind(bool (*isPassed)(Operation *), Value value) {
  for (Operation *op = value.getDefiningOp(); op && isPassed(op); op = value.getDefiningOp())
    value = op->getOperand(0);
  return value;
}

Value mhc::behindReshapes(Value value) { return behind(isReshape, value); }

Value mhc::behindViews(Value value) { return behind(showsOperand, value); }

bool mhc::isOnlyReshaped(Value value) { return value.hasOneUse() && isReshape(*value.user_begin()); }

void mhc::usersThroughViews(Value value, SmallVectorImpl<Operation *> &users) {
  for (Operation *user : value.getUsers()) {
    if (showsOperand(user))
      usersThroughViews(user->getResult(0), users);
    else if (!llvm::is_contained(users, user))
      users.push_back(user);
  }
}

/// True for ops that raising reads: neither an mHC op nor a call, a size or a terminator.
static bool isPlain(Operation *op) {
  return !isMhcOp(op) && !isa<CallOpInterface>(op) && op->getNumResults() > 0 &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

Operation *mhc::plainUser(Value value) {
  SmallVector<Operation *> users;
  usersThroughViews(value, users);
  auto *plain = llvm::find_if(users, isPlain);
  return plain == users.end() || llvm::any_of(users, isMhcOp) ? nullptr : *plain;
}

Operation *mhc::plainMapOf(Value logits) {
  Operation *user = plainUser(logits);
  return user && isOnlyReshaped(logits) && isa<MatmulOp, BatchMatmulOp>(user) ? nullptr : user;
}
