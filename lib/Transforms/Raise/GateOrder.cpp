//===- GateOrder.cpp - Which of two gates is the second ----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//

#include "GateOrder.h"
#include "Bounds.h"
#include "Raise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mhc;

static bool readsNumber(Operation *op) {
  return llvm::any_of(op->getOperands(), [](Value operand) { return constantValue(operand).has_value(); });
}

/// The products that a gate is a factor of: with streams, or with a sublayer's output.
static llvm::SetVector<Operation *> productsWith(Value gate) {
  llvm::SetVector<Operation *> products, path;
  auto follow = [&](Value value) {
    for (Operation *user : value.getUsers()) {
      bool multiplies = isa<arith::MulFOp>(user) && !readsNumber(user);
      (multiplies || isa<MatmulOp, BatchMatmulOp>(user) ? products : path).insert(user);
    }
  };
  follow(gate);
  for (size_t i = 0; i < path.size(); ++i)
    llvm::for_each(path[i]->getResults(), follow);
  return products;
}

/// Whether `to` reads what is computed of what `from` make.
static bool reaches(const llvm::SetVector<Operation *> &from, Operation *to) {
  llvm::SetVector<Operation *> behind(from);
  for (size_t i = 0; i < behind.size(); ++i)
    for (Operation *user : behind[i]->getUsers()) {
      Operation *here = to->getBlock()->findAncestorOpInBlock(*user);
      if (here == to)
        return true;
      if (here && here->isBeforeInBlock(to))
        behind.insert(here);
    }
  return false;
}

bool mhc::isSecondGate(SigmoidOp gate, SigmoidOp other) {
  auto isFollowedBy = [](SigmoidOp sigmoid, auto isOp) {
    Operation *user = singleUser(sigmoid.getResult());
    return user && isOp(user) && readsNumber(user);
  };
  if (isFollowedBy(gate, llvm::IsaPred<arith::MulFOp>) || isFollowedBy(other, llvm::IsaPred<arith::AddFOp>))
    return true;
  llvm::SetVector<Operation *> others = productsWith(other);
  return llvm::any_of(productsWith(gate), [&](Operation *product) { return reaches(others, product); });
}

/// `value`, or its only user when that adds (or multiplies by) one number: the number goes into `number`.
template <typename Op>
static Value followConstant(Value value, double &number, bool (*isTaken)(double)) {
  auto op = dyn_cast_or_null<Op>(singleUser(value));
  if (!op)
    return value;
  Value other = op.getLhs() == value ? op.getRhs() : op.getLhs();
  std::optional<double> constant = constantValue(other);
  if (!constant || !isTaken(*constant))
    return value;
  number = *constant;
  return op.getResult();
}

SmallVector<Value> mhc::gateRoots(ArrayRef<SigmoidOp> gates, double &preEps, double &postMult) {
  auto resultOf = [](SigmoidOp gate) -> Value { return gate.getResult(); };
  SmallVector<Value> roots = {followConstant<arith::AddFOp>(resultOf(gates[0]), preEps, isEps)};
  if (gates.size() > 1)
    roots.push_back(followConstant<arith::MulFOp>(resultOf(gates[1]), postMult, isFactor));
  return roots;
}
