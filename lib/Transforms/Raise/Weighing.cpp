//===- Weighing.cpp - Values that may weigh streams -----------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Weighing.h"
#include "Normalise.h"
#include "Raise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

namespace {
/// Follows a value through functions of each element, views and parts.
class Weighing {
public:
  Weighing(Value made) : own(sizeOf(made)) { values.insert(made); }
  MayWeigh run();

private:
  static int64_t sizeOf(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? knownSize(type) : 0;
  }
  bool weighs(Operation *user, Value value) const;
  void follow(Operation *user);
  /// Adds what a call outside the function makes of a result; whether there is something.
  bool followOutside(Value result);

  int64_t own;
  llvm::SmallSetVector<Value, 16> values;
};
} // namespace

/// Whether a product with something else has more elements, or is one of matrices for each token.
bool Weighing::weighs(Operation *user, Value value) const {
  if (isa<AggregateOp, PostOp, BatchMatmulOp>(user))
    return true;
  if (!isa<arith::MulFOp, arith::DivFOp>(user) || sizeOf(user->getResult(0)) <= own)
    return false;
  return llvm::any_of(user->getOperands(), [&](Value other) { return other != value && !values.contains(other); });
}

void Weighing::follow(Operation *user) {
  if (user->getNumResults() == 1 &&
      (isElementwise(user) || showsOperand(user) ||
       isa<SoftmaxOp, SigmoidOp, BroadcastOp, tensor::ExtractSliceOp, tensor::ConcatOp>(user)))
    values.insert(user->getResult(0));
}

bool Weighing::followOutside(Value result) {
  bool isRead = false;
  for (BlockArgument argument : result.getParentRegion()->getArguments())
    if (llvm::is_contained(madeOf(argument), result)) {
      values.insert(argument);
      isRead = true;
    }
  return isRead;
}

MayWeigh Weighing::run() {
  bool isReturned = false;
  for (size_t next = 0; next < values.size(); ++next)
    for (Operation *user : values[next].getUsers()) {
      if (weighs(user, values[next]))
        return MayWeigh::yes;
      if (user->hasTrait<OpTrait::IsTerminator>())
        isReturned |= !followOutside(values[next]) && sizeOf(values[next]) >= own;
      else
        follow(user);
    }
  return isReturned ? MayWeigh::unknown : MayWeigh::no;
}

bool mhc::isOfPairs(Value coefficients) {
  llvm::SmallSetVector<Value, 8> values;
  values.insert(behindViews(coefficients));
  for (size_t next = 0; next < values.size(); ++next) {
    Operation *op = values[next].getDefiningOp();
    if (isa_and_nonnull<BatchMatmulOp>(op) && cast<RankedTensorType>(values[next].getType()).getDimSize(0) != 1)
      return true;
    if (op && (isElementwise(op) || isa<SoftmaxOp, SinkhornOp>(op)))
      for (Value operand : op->getOperands())
        values.insert(behindViews(operand));
  }
  return false;
}

MayWeigh mhc::mayWeigh(Value made) { return Weighing(made).run(); }

Weighed mhc::weighedBy(func::FuncOp func, algebra::Reading &reading, SigmoidOp gate, Value streams) {
  const algebra::Factor *own = algebra::singleFactor(reading.of(gate.getResult()));
  std::optional<algebra::Algebra::Closed> x = reading.algebra().close(reading.of(streams));
  if (!own || !x)
    return Weighed::none;
  auto isGate = [&](const algebra::Factor &factor) { return factor.node() == own->node(); };
  auto isGateWithEps = [&](const algebra::Factor &factor) {
    return isGate(factor) || (factor.node()->kind == algebra::Node::Sum &&
                              llvm::any_of(factor.node()->parts[0], [&](const algebra::Term &term) {
                                return llvm::any_of(term.factors, isGate);
                              }));
  };
  auto isStreams = [&](const algebra::Factor &factor) { return factor.node() == x->node; };
  auto isWhole = [&](const auto &dim) {
    const auto &[index, size] = dim;
    return covers(reading.algebra().sizes, index, size);
  };
  Weighed most = Weighed::none;
  func.walk([&](Operation *op) {
    if (!isa<arith::MulFOp, MatmulOp, BatchMatmulOp>(op))
      return;
    for (const algebra::Term &term : reading.of(op->getResult(0))) {
      const auto *part = llvm::find_if(term.factors, isStreams);
      if (part != term.factors.end() && llvm::any_of(term.factors, isGateWithEps))
        most = std::max(most,
                        llvm::all_of(llvm::zip(part->at(), x->node->dims), isWhole) ? Weighed::whole : Weighed::part);
    }
  });
  return most;
}
