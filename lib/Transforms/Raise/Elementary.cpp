//===- Elementary.cpp - sigmoid and softmax written out ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mix.h"
#include "Places.h"
#include "RaiseForms.h"
#include "SinkhornMatch.h"
#include "SoftmaxForms.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mhc;

/// Replaces `root` by the last of the ops that were made for it.
static void replaceBy(Sites &sites, ArrayRef<Operation *> made, Operation *root) {
  if (!mayReplace(sites, made.back(), root->getResult(0), made.back()->getResult(0)))
    return;
  addPlaces(made, root->getResult(0));
  root->replaceAllUsesWith(made.back());
}

//===----------------------------------------------------------------------===//
// Sigmoids
//===----------------------------------------------------------------------===//

namespace {
/// number * sigmoid(z)
class SigmoidRaiser {
public:
  SigmoidRaiser(func::FuncOp func, Sites &sites) : func(func), reading(func), sites(sites) {}
  void run();

private:
  const algebra::Factor *sigmoidOf(Value value);
  bool isRoot(Operation *op);
  /// The gate, from ops in front of `op`; null where there is none.
  Value build(Operation *op);

  func::FuncOp func;
  algebra::Reading reading;
  Sites &sites;
};
} // namespace

const algebra::Factor *SigmoidRaiser::sigmoidOf(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return nullptr;
  const algebra::Factor *factor = algebra::singleFactor(reading.of(value));
  return factor && factor->node()->isApply("sigmoid") ? factor : nullptr;
}

/// Whether an op completes a sigmoid: neither scales one that is there, nor is scaled by the next op.
bool SigmoidRaiser::isRoot(Operation *op) {
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::TruncFOp>(op) || isWide(op->getResult(0)))
    return false;
  const algebra::Factor *own = sigmoidOf(op->getResult(0));
  auto isSame = [&](Value value) {
    const algebra::Factor *other = sigmoidOf(value);
    return other && other->element == own->element;
  };
  auto isThere = [&](Value value) { return value.getDefiningOp<SigmoidOp>() && isSame(value); };
  Operation *user = own ? singleUser(op->getResult(0)) : nullptr;
  return own && llvm::none_of(op->getOperands(), isThere) &&
         !(isa_and_nonnull<arith::MulFOp, arith::DivFOp>(user) && isSame(user->getResult(0)));
}

Value SigmoidRaiser::build(Operation *op) {
  Value value = op->getResult(0);
  std::optional<algebra::Expr> z = reading.algebra().part(sigmoidOf(value)->element);
  auto isArgument = [](const algebra::Reading::Found &found) { return std::abs(found.factor) == 1; };
  if (!z || llvm::none_of(reading.find(*z, op), isArgument))
    return {};
  OpBuilder builder(op);
  LeafBuilder leaf(builder, op->getLoc());
  SmallVector<IndexVars> all = ownDims(reading, value), read;
  SmallVector<int64_t> dims;
  for (auto [dim, vars] : llvm::enumerate(all)) {
    auto isRead = [&](const algebra::Term &term) { return dependsOn(term, vars[0].first); };
    if (!vars.empty() && llvm::none_of(*z, isRead))
      continue;
    dims.push_back(dim);
    read.push_back(vars);
  }
  Value argument = algebra::build(reading, builder, op, *z, read, getElementTypeOrSelf(value));
  if (!argument)
    return {};
  Value gate = leaf.sigmoid(argument);
  if (double number = reading.of(value)[0].coefficient; number != 1)
    gate = leaf.scale(gate, number);
  return dims.size() == all.size() ? gate : leaf.broadcast(gate, leaf.sizesOf(value), dims);
}

void SigmoidRaiser::run() {
  SmallVector<Operation *> roots;
  func.walk([&](Operation *op) {
    if (op->getNumResults() == 1 && isRoot(op))
      roots.push_back(op);
  });
  for (Operation *root : roots) {
    Operation *before = root->getPrevNode();
    if (!build(root))
      continue;
    SmallVector<Operation *> made;
    for (Operation *op = root->getPrevNode(); op != before; op = op->getPrevNode())
      made.push_back(op);
    std::reverse(made.begin(), made.end());
    replaceBy(sites, made, root);
  }
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// The divisor whose reciprocal `form` is.
static std::optional<Form> inverted(FormBuilder &forms, const Form &form) {
  const Factor *factor = singleFactor(form, 1, -1);
  return factor ? std::optional(forms.at(factor->base, Indices(factor->index))) : std::nullopt;
}

/// The divisor of an element of `value`, which a division or the product with a reciprocal reads.
static std::optional<Form> divisorOf(FormBuilder &forms, Operation *op, Value value, const Indices &index) {
  if (auto div = dyn_cast<arith::DivFOp>(op))
    return div.getLhs() == value ? std::optional(forms.at(div.getRhs(), index)) : std::nullopt;
  return inverted(forms, forms.at(op->getOperand(op->getOperand(0) == value ? 1 : 0), index));
}

/// exp(z) / sum exp(z), or the same with z - max(z)
static std::optional<SoftmaxOf> matchSoftmax(FormBuilder &forms, Operation *op) {
  if (!isa<arith::DivFOp, arith::MulFOp>(op))
    return std::nullopt;
  auto exp = op->getOperand(0).getDefiningOp<math::ExpOp>();
  if (!exp && isa<arith::MulFOp>(op))
    exp = op->getOperand(1).getDefiningOp<math::ExpOp>();
  if (!exp)
    return std::nullopt;
  forms.reset();
  forms.stops.insert(exp.getResult());
  Indices index = forms.freshIndices(exp.getResult());
  std::optional<Form> divisor = divisorOf(forms, op, exp.getResult(), index);
  if (!divisor)
    return std::nullopt;
  forms.resolve(*divisor);
  std::optional<int64_t> dim =
      divisor->terms.size() == 1 ? summedDim(forms, divisor->terms[0], index, exp.getResult()) : std::nullopt;
  if (!dim)
    return std::nullopt;
  return SoftmaxOf{stripShift(forms, exp.getOperand(), *dim), *dim};
}

namespace {
/// Finds exp(log_softmax(z)) where that is no end of a Sinkhorn iteration by logarithms.
class LogSoftmaxMatcher {
public:
  LogSoftmaxMatcher(func::FuncOp func, FormBuilder &forms) : func(func), forms(forms) {}
  std::optional<SoftmaxOf> match(Operation *op) {
    // Where something else reads the logarithm, it is a step of an iteration.
    auto exp = dyn_cast<math::ExpOp>(op);
    std::optional<SoftmaxOf> softmax =
        exp && singleUser(exp.getOperand()) ? matchLogSoftmax(forms, exp.getOperand()) : std::nullopt;
    return softmax && isMatrixStack(exp) && isSinkhorn(exp) ? std::nullopt : softmax;
  }

private:
  bool isSinkhorn(Value value) {
    if (!reading)
      reading.emplace(func, algebra::Rounding::seen);
    return matchSinkhorn(*reading, value).site.has_value();
  }

  func::FuncOp func;
  FormBuilder &forms;
  std::optional<algebra::Reading> reading; ///< of what is there when it is first needed
};
} // namespace

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

void mhc::raiseElementary(func::FuncOp func, FormBuilder &forms, Sites &sites) {
  auto isFunction = [](Operation *op) {
    return isa<math::ExpOp, math::TanhOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (!func.walk(isFunction).wasInterrupted())
    return;
  SigmoidRaiser(func, sites).run();
  LogSoftmaxMatcher logarithms(func, forms);
  func.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()) || isWide(op->getResult(0)))
      return;
    OpBuilder builder(op);
    std::optional<SoftmaxOf> softmax = logarithms.match(op);
    if (!softmax)
      softmax = matchSoftmax(forms, op);
    if (softmax)
      replaceBy(sites, LeafBuilder(builder, op->getLoc()).softmax(softmax->logits, softmax->dim).getDefiningOp(), op);
  });
}
