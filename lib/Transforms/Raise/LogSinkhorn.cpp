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

namespace {
/// log(sum(exp(z))) over one dimension of z.
struct LogSumExp {
  int64_t dim;
  Value argument;
  Indices index; ///< at which z is read; its entry `dim` is the summed variable
};

/// log(...) + shift, or log(...) alone, with a common coefficient.
struct ShiftedLog {
  std::optional<Factor> log, shift;
};
} // namespace

static std::optional<ShiftedLog> splitShift(const Form &form, double coefficient) {
  ShiftedLog parts;
  for (const Term &term : form.terms) {
    if (term.coefficient != coefficient || term.factors.size() != 1 || !term.sums.empty() || term.factors[0].power != 1)
      return std::nullopt;
    std::optional<Factor> &slot = term.factors[0].base.getDefiningOp<math::LogOp>() ? parts.log : parts.shift;
    if (slot)
      return std::nullopt;
    slot = term.factors[0];
  }
  return parts.log ? std::optional(parts) : std::nullopt;
}

/// Reads log(sum(exp(z))) or shift + log(sum(exp(z - shift))), where both shifts are the same element.
static std::optional<LogSumExp> matchLogSumExp(FormBuilder &forms, const ShiftedLog &parts) {
  Form form = forms.at(parts.log->base.getDefiningOp<math::LogOp>().getOperand(), parts.log->index);
  forms.resolve(form);
  if (form.terms.size() != 1 || form.terms[0].factors.size() != 1 || form.terms[0].coefficient != 1 ||
      form.terms[0].sums.size() != 1 || form.terms[0].factors[0].power != 1)
    return std::nullopt;
  const Factor &summed = form.terms[0].factors[0];
  auto exp = summed.base.getDefiningOp<math::ExpOp>();
  if (!exp)
    return std::nullopt;
  LogSumExp lse{-1, exp.getOperand(), summed.index};
  for (auto [dim, slot] : llvm::enumerate(summed.index))
    if (slot.vars == form.terms[0].sums && slot.offset == 0)
      lse.dim = dim;
  if (lse.dim < 0)
    return std::nullopt;
  if (!parts.shift)
    return lse;
  auto sub = lse.argument.getDefiningOp<arith::SubFOp>();
  if (!sub)
    return std::nullopt;
  Form shift = forms.at(sub.getRhs(), lse.index);
  forms.resolve(shift);
  const Factor *subtracted = singleFactor(shift, 1);
  if (!subtracted || !(*subtracted == *parts.shift))
    return std::nullopt;
  lse.argument = sub.getLhs();
  return lse;
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
  std::optional<ShiftedLog> parts = splitShift(form, 1);
  std::optional<LogSumExp> lse = parts ? matchLogSumExp(forms, *parts) : std::nullopt;
  if (!lse || lse->argument != sub.getLhs() ||
      varsWithout(forms, lse->index, lse->dim) != varsWithout(forms, index, lse->dim))
    return std::nullopt;
  Value previous = stripShift(forms, sub.getLhs(), lse->dim);
  return std::make_pair(SinkhornStep{lse->dim, Denom::none, 0}, previous);
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
  Indices at = forms.freshIndices(value);
  Form form = forms.at(value, at);
  forms.resolve(form);
  std::optional<ShiftedLog> parts = splitShift(form, -1);
  std::optional<LogSumExp> lse = parts ? matchLogSumExp(forms, *parts) : std::nullopt;
  if (!lse || varsWithout(forms, lse->index, lse->dim) != varsWithout(forms, at, -1))
    return std::nullopt;
  SmallVector<Value> leaves;
  addends(lse->argument, leaves);
  if (leaves.size() != 2 || !llvm::is_contained(leaves, logits))
    return std::nullopt;
  Value spread = leaves[0] == logits ? leaves[1] : leaves[0];
  // Among the two matrix dimensions, the potential varies along the summed one only.
  forms.reset();
  if (known)
    forms.stops.insert(known);
  Indices index = forms.freshIndices(logits);
  Form potential = forms.at(spread, index);
  int64_t rank = index.size(), other = 2 * rank - 3 - lse->dim;
  if (potential.isConstant() && potential.terms[0].coefficient == 0)
    return std::make_pair(lse->dim, Value());
  const Factor *factor = singleFactor(potential, 1);
  if (!factor || forms.fullVars(*factor) != varsWithout(forms, index, other))
    return std::nullopt;
  return std::make_pair(lse->dim, factor->base);
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
  llvm::SmallDenseMap<unsigned, int64_t> constantAlong; ///< the dimension along which a potential is repeated
  for (Value leaf : leaves) {
    Form form = forms.at(leaf, index);
    const Factor *factor = singleFactor(form, 1);
    auto owner = factor ? factor->base.getDefiningOp<scf::ForOp>() : scf::ForOp();
    if (owner && (!loop || owner == loop)) {
      loop = owner;
      numbers.push_back(cast<OpResult>(factor->base).getResultNumber());
      for (int64_t dim = index.size() - 2; dim < static_cast<int64_t>(index.size()); ++dim)
        if (forms.fullVars(*factor) == varsWithout(forms, index, dim))
          constantAlong[numbers.back()] = dim;
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
        updateSecond->second != first || !constantAlong.contains(numbers[0]) || !constantAlong.contains(numbers[1]) ||
        constantAlong[numbers[0]] != updateFirst->first || constantAlong[numbers[1]] != updateSecond->first)
      continue;
    int64_t row = cast<RankedTensorType>(value.getType()).getRank() - 1;
    Order order = updateFirst->first == row ? Order::row_col : Order::col_row;
    return SinkhornMatch{logits, Init::log, order, Denom::none, 0, *count};
  }
  return std::nullopt;
}
