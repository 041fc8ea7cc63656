//===- GateOrder.cpp - Which of two gates is the second ----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//

#include "GateOrder.h"
#include "Bounds.h"
#include "Raise.h"
#include "mhc/IR/LeafBuilder.h"
#include "mhc/IR/OpKinds.h"
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

/// The last value in a row of only readers that is `gate` times `factor` and a number more, as far as both are taken.
static Value followNumbers(algebra::Reading &reading, Value gate, double &factor, double &number,
                           llvm::function_ref<bool(double, double)> isTaken) {
  Value last = gate;
  while (Operation *op = singleUser(last)) {
    if (op->getNumResults() != 1 || op->getResult(0).getType() != gate.getType())
      break;
    algebra::Expr scaled;
    double added = 0;
    for (const algebra::Term &term : reading.of(op->getResult(0)))
      if (term.factors.empty() && term.exponent.empty())
        added += term.coefficient;
      else
        scaled.push_back(term);
    std::optional<algebra::Expr> ratio = reading.algebra().divide(scaled, reading.of(gate));
    std::optional<double> times = ratio ? algebra::numberOf(*ratio) : std::nullopt;
    if (scaled.empty() || !times || !isTaken(*times, added))
      break;
    last = op->getResult(0);
    factor = *times;
    number = added;
  }
  return last;
}

/// A gate of the aggregate, and an epsilon.
static Value followEps(algebra::Reading &reading, SigmoidOp gate, double &eps) {
  double factor = 1;
  return followNumbers(reading, gate.getResult(), factor, eps,
                       [](double factor, double number) { return factor == 1 && isEps(number); });
}

/// A gate of the sublayer's output, scaled.
static Value followFactor(algebra::Reading &reading, SigmoidOp gate, double &factor) {
  double number = 0;
  return followNumbers(reading, gate.getResult(), factor, number,
                       [](double factor, double number) { return number == 0 && isFactor(factor); });
}

bool mhc::isSecondGate(algebra::Reading &reading, SigmoidOp gate, SigmoidOp other) {
  double factor = 1, eps = 0;
  followFactor(reading, gate, factor);
  followEps(reading, other, eps);
  if (factor != 1 || eps != 0)
    return true;
  llvm::SetVector<Operation *> others = productsWith(other);
  return llvm::any_of(productsWith(gate), [&](Operation *product) { return reaches(others, product); });
}

bool mhc::isFirstGate(algebra::Reading &reading, SigmoidOp gate, const algebra::Node *streams) {
  double eps = 0;
  followEps(reading, gate, eps);
  auto isStreams = [&](Value value) { // also a sum, as what a layer before adds to its own streams
    const algebra::Expr &expr = reading.of(value);
    if (const algebra::Factor *factor = algebra::singleFactor(expr))
      return factor->node() == streams;
    std::optional<algebra::Algebra::Closed> closed = reading.algebra().close(expr);
    return closed && closed->node == streams;
  };
  return eps != 0 || llvm::any_of(productsWith(gate),
                                  [&](Operation *product) { return llvm::any_of(product->getOperands(), isStreams); });
}

/// Whether all that reads a value, maybe repeated or shown otherwise, are products with this coefficient.
static bool isScaledIn(algebra::Reading &reading, Operation *user, double factor) {
  if (isa<BroadcastOp>(user) || showsOperand(user))
    return llvm::all_of(user->getUsers(), [&](Operation *next) { return isScaledIn(reading, next, factor); });
  const algebra::Expr *product = isa<arith::MulFOp>(user) ? &reading.of(user->getResult(0)) : nullptr;
  return product && product->size() == 1 && (*product)[0].coefficient == factor;
}

/// gate * 2; ... gate ... 2 * other -> all = gate * 2; ... (all * 0.5) ... 2 * other
static bool shareFactor(algebra::Reading &reading, SigmoidOp gate) {
  Operation *scaled = nullptr;
  SmallVector<OpOperand *> others;
  double factor = 1;
  for (OpOperand &use : gate.getResult().getUses()) {
    auto mul = dyn_cast<arith::MulFOp>(use.getOwner());
    std::optional<double> number = mul ? constantValue(mul->getOperand(1 - use.getOperandNumber())) : std::nullopt;
    if (!scaled && number && isPowerOfTwo(*number)) {
      scaled = mul;
      factor = *number;
    } else {
      others.push_back(&use);
    }
  }
  auto isScaledToo = [&](OpOperand *use) { return isScaledIn(reading, use->getOwner(), factor); };
  if (!scaled || others.empty() || !llvm::all_of(others, isScaledToo))
    return false;
  OpBuilder builder(gate->getContext());
  builder.setInsertionPointAfter(gate);
  LeafBuilder leaf(builder, scaled->getLoc());
  Value all = leaf.scale(gate.getResult(), factor), again = leaf.scale(all, 1 / factor);
  scaled->getResult(0).replaceAllUsesWith(all);
  scaled->erase();
  for (OpOperand *use : others)
    use->set(again);
  return true;
}

bool mhc::shareFactors(func::FuncOp func, algebra::Reading &reading) {
  SmallVector<SigmoidOp> gates;
  func.walk([&](SigmoidOp gate) { gates.push_back(gate); });
  bool isChanged = false;
  for (SigmoidOp gate : gates)
    isChanged |= shareFactor(reading, gate);
  return isChanged;
}

SmallVector<Value> mhc::gateRoots(algebra::Reading &reading, ArrayRef<SigmoidOp> gates, double &preEps,
                                  double &postMult) {
  SmallVector<Value> roots = {gates[0] ? followEps(reading, gates[0], preEps) : Value()};
  if (gates.size() > 1)
    roots.push_back(gates[1] ? followFactor(reading, gates[1], postMult) : Value());
  return roots;
}
