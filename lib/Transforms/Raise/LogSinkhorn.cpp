//===- LogSinkhorn.cpp - Sinkhorn in log space ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sinkhorn.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mhc;

/// log(sum(exp(z))) along one dimension, read at `index`: z and the dimension. A shift of z by its maximum is added
/// back by the caller's form or drops out.
static std::optional<std::pair<int64_t, Value>> matchLogSumExp(FormBuilder &forms, const Factor &factor,
                                                               const Indices &index) {
  auto log = factor.base.getDefiningOp<math::LogOp>();
  if (!log)
    return std::nullopt;
  Form sum = forms.at(log.getOperand(), factor.index);
  forms.resolve(sum);
  if (sum.terms.size() != 1 || sum.terms[0].factors.size() != 1)
    return std::nullopt;
  auto exp = sum.terms[0].factors[0].base.getDefiningOp<math::ExpOp>();
  std::optional<int64_t> dim = exp ? summedDim(sum.terms[0], index, exp.getResult()) : std::nullopt;
  if (!dim)
    return std::nullopt;
  return std::make_pair(*dim, exp.getOperand());
}

static std::optional<std::pair<SinkhornStep, Value>> matchLogStep(FormBuilder &forms, Value value) {
  auto sub = value.getDefiningOp<arith::SubFOp>();
  if (!sub || !isMatrixStack(value))
    return std::nullopt;
  forms.reset();
  forms.stops.insert(sub.getLhs());
  Indices index = forms.freshIndices(value);
  Form form = forms.at(sub.getRhs(), index);
  forms.resolve(form);
  std::optional<std::pair<int64_t, Value>> lse;
  bool shifted = false;
  for (const Term &term : form.terms) {
    if (term.coefficient != 1 || term.factors.size() != 1)
      return std::nullopt;
    auto max = term.factors[0].base.getDefiningOp<ReduceOp>();
    if (max && max.getKind() == ReduceKind::max && max.getX() == sub.getLhs() && form.terms.size() == 2)
      shifted = true;
    else if (lse || !(lse = matchLogSumExp(forms, term.factors[0], index)))
      return std::nullopt;
  }
  if (!lse || form.terms.size() > 2 || (form.terms.size() == 2 && !shifted))
    return std::nullopt;
  auto [dim, argument] = *lse;
  // z - (max + log sum exp(z - max)), or the same with z already shifted on both sides.
  Value bare = stripShift(forms, argument, dim);
  if (shifted ? bare != sub.getLhs() : argument != sub.getLhs())
    return std::nullopt;
  Value previous = stripShift(forms, sub.getLhs(), dim);
  return std::make_pair(SinkhornStep{dim, Denom::none, 0}, previous);
}

std::optional<SinkhornMatch> mhc::matchLogSinkhorn(FormBuilder &forms, Value value) {
  auto exp = value.getDefiningOp<math::ExpOp>();
  if (!exp || !isMatrixStack(value))
    return std::nullopt;
  SinkhornChain chain = walkChain(forms, exp.getOperand(), matchLogStep);
  auto pairs = matchPairs(chain.steps, cast<RankedTensorType>(value.getType()).getRank());
  if (!pairs)
    return std::nullopt;
  return SinkhornMatch{chain.start, Init::log, pairs->first, Denom::none, 0, pairs->second};
}

//===----------------------------------------------------------------------===//
// Potentials: f = -lse(z + g), g = -lse(z + f), result exp(z + f + g)
//===----------------------------------------------------------------------===//

/// Leaves of a tree of additions.
static void addends(Value value, SmallVectorImpl<Value> &leaves) {
  if (auto add = value.getDefiningOp<arith::AddFOp>()) {
    addends(add.getLhs(), leaves);
    addends(add.getRhs(), leaves);
    return;
  }
  leaves.push_back(value);
}

/// -lse(z + spread(potential)) over one dimension: the dimension and the potential's base.
/// `known` is a potential that the other one may read.
static std::optional<std::pair<int64_t, Value>> matchUpdate(FormBuilder &forms, Value value, Value logits,
                                                            Value known) {
  forms.reset();
  forms.stops.insert(logits);
  Indices at = forms.freshIndices(value), index = forms.freshIndices(logits);
  Form form = forms.at(value, at);
  forms.resolve(form);
  std::optional<std::pair<int64_t, Value>> lse;
  Vars kept;
  Value shift;
  for (const Term &term : form.terms) {
    if (term.coefficient != -1 || term.factors.size() != 1 || !term.sums.empty())
      return std::nullopt;
    const Factor &factor = term.factors[0];
    auto max = factor.base.getDefiningOp<ReduceOp>();
    if (max && max.getKind() == ReduceKind::max) {
      shift = max.getX();
      continue;
    }
    auto log = factor.base.getDefiningOp<math::LogOp>();
    if (!log || lse)
      return std::nullopt;
    Form sum = forms.at(log.getOperand(), factor.index);
    forms.resolve(sum);
    if (sum.terms.size() != 1 || sum.terms[0].factors.size() != 1 || sum.terms[0].sums.size() != 1)
      return std::nullopt;
    const Factor &inner = sum.terms[0].factors[0];
    auto exp = inner.base.getDefiningOp<math::ExpOp>();
    if (!exp)
      return std::nullopt;
    for (auto [dim, slot] : llvm::enumerate(inner.index))
      if (slot.vars == sum.terms[0].sums)
        lse = std::make_pair(static_cast<int64_t>(dim), exp.getOperand());
  }
  if (!lse)
    return std::nullopt;
  Value argument = lse->second;
  Value bare = stripShift(forms, argument, lse->first);
  if ((shift && bare != shift) || (!shift && bare != argument))
    return std::nullopt;
  SmallVector<Value> leaves;
  addends(bare, leaves);
  if (leaves.size() != 2 || !llvm::is_contained(leaves, logits))
    return std::nullopt;
  Value spread = leaves[0] == logits ? leaves[1] : leaves[0];
  // The potential must vary along the summed dimension only among the two matrix dimensions.
  forms.reset();
  if (known)
    forms.stops.insert(known);
  index = forms.freshIndices(logits);
  Form potential = forms.at(spread, index);
  int64_t rank = index.size(), other = 2 * rank - 3 - lse->first;
  if (potential.isConstant() && potential.terms[0].coefficient == 0)
    return std::make_pair(lse->first, Value());
  const Factor *factor = singleFactor(potential, 1);
  if (!factor || containsAny(varsOf(forms, *factor), forms.flatten(index[other].vars)))
    return std::nullopt;
  return std::make_pair(lse->first, factor->base);
}

std::optional<SinkhornMatch> mhc::matchPotentials(FormBuilder &forms, Value value) {
  auto exp = value.getDefiningOp<math::ExpOp>();
  if (!exp || !isMatrixStack(value))
    return std::nullopt;
  SmallVector<Value> leaves;
  addends(exp.getOperand(), leaves);
  if (leaves.size() != 3)
    return std::nullopt;
  // Two leaves are spread potentials that one loop carries; the third is the logits.
  forms.reset();
  Indices index = forms.freshIndices(value);
  scf::ForOp loop;
  Value logits;
  SmallVector<unsigned> numbers;
  for (Value leaf : leaves) {
    Form form = forms.at(leaf, index);
    const Factor *factor = singleFactor(form, 1);
    auto owner = factor ? factor->base.getDefiningOp<scf::ForOp>() : scf::ForOp();
    if (owner && (!loop || owner == loop)) {
      loop = owner;
      numbers.push_back(cast<OpResult>(factor->base).getResultNumber());
    } else {
      logits = leaf;
    }
  }
  std::optional<int64_t> count = loop ? tripCount(loop) : std::nullopt;
  if (!count || numbers.size() != 2 || !logits)
    return std::nullopt;
  for (unsigned number : numbers)
    if (constantValue(loop.getInitArgs()[number]) != 0.0)
      return std::nullopt;
  // Which is updated first: the one that reads the other's old value.
  for (int turn = 0; turn < 2; ++turn, std::swap(numbers[0], numbers[1])) {
    Value first = loop.getYieldedValues()[numbers[0]], second = loop.getYieldedValues()[numbers[1]];
    auto updateFirst = matchUpdate(forms, first, logits, {}), updateSecond = matchUpdate(forms, second, logits, first);
    if (!updateFirst || !updateSecond || updateFirst->second != loop.getRegionIterArg(numbers[1]) ||
        updateSecond->second != first)
      continue;
    int64_t row = cast<RankedTensorType>(value.getType()).getRank() - 1;
    Order order = updateFirst->first == row ? Order::row_col : Order::col_row;
    return SinkhornMatch{logits, Init::log, order, Denom::none, 0, *count};
  }
  return std::nullopt;
}
