//===- LogSinkhorn.cpp - Sinkhorn in log space ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sinkhorn.h"
#include "SinkhornMatch.h"
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

/// A value, or its negative where the coefficient is -1.
struct Signed {
  Value value;
  double coefficient = 1;
};
} // namespace

/// What a value in f64 is of f32: a log-sum-exp may be taken in f64 and rounded.
static Value unwidened(Value value) {
  auto ext = value.getDefiningOp<arith::ExtFOp>();
  return ext && isWide(value) ? Value(ext.getIn()) : value;
}

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
  // A sum of exponentials is its own magnitude.
  if (const Factor *sum = singleFactor(form, 1))
    if (auto magnitude = sum->base.getDefiningOp<math::AbsFOp>()) {
      form = forms.at(magnitude.getOperand(), Indices(sum->index));
      forms.resolve(form);
    }
  if (form.terms.size() != 1 || form.terms[0].factors.size() != 1 || form.terms[0].coefficient != 1 ||
      form.terms[0].sums.size() != 1 || form.terms[0].factors[0].power != 1)
    return std::nullopt;
  const Factor &summed = form.terms[0].factors[0];
  auto exp = summed.base.getDefiningOp<math::ExpOp>();
  if (!exp || !forms.fullVars(summed))
    return std::nullopt;
  LogSumExp lse{-1, unwidened(exp.getOperand()), summed.index};
  for (auto [dim, slot] : llvm::enumerate(summed.index))
    if (slot.vars == form.terms[0].sums)
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
  lse.argument = unwidened(sub.getLhs());
  return lse;
}

/// previous + shifts, where those are -lse(previous) over one dimension of any tensor
static std::optional<std::pair<SinkhornStep, Value>> matchShiftByLse(FormBuilder &forms, Value value, Value previous,
                                                                     ArrayRef<Signed> shifts) {
  forms.reset();
  forms.stops.insert(previous);
  Indices index = forms.freshIndices(value);
  Form sum;
  for (Signed shift : shifts) {
    Form form = forms.at(shift.value, index);
    forms.resolve(form);
    for (Term &term : form.terms) {
      term.coefficient *= shift.coefficient;
      sum.terms.push_back(term);
    }
  }
  std::optional<ShiftedLog> parts = splitShift(sum, -1);
  std::optional<LogSumExp> lse = parts ? matchLogSumExp(forms, *parts) : std::nullopt;
  if (!lse || lse->argument != previous ||
      varsWithout(forms, lse->index, lse->dim) != varsWithout(forms, index, lse->dim))
    return std::nullopt;
  return std::make_pair(SinkhornStep{lse->dim, Denom::none, 0}, stripShift(forms, previous, lse->dim));
}

/// z - lse(z) over one dimension of any tensor, with the two parts of lse(z) in one piece or one after the other.
static std::optional<std::pair<SinkhornStep, Value>> matchLogSoftmaxStep(FormBuilder &forms, Value value) {
  SmallVector<Signed, 2> shifts; ///< of the sums that were looked through
  Operation *op = value.getDefiningOp();
  for (; isa_and_nonnull<arith::AddFOp, arith::SubFOp>(op) && shifts.size() < 2;
       op = op->getOperand(0).getDefiningOp()) {
    auto match = [&](Value previous, Signed shift) {
      SmallVector<Signed, 2> all(shifts);
      all.push_back(shift);
      return matchShiftByLse(forms, value, previous, all);
    };
    Signed second = {op->getOperand(1), isa<arith::SubFOp>(op) ? -1.0 : 1.0};
    auto step = match(op->getOperand(0), second);
    if (!step && isa<arith::AddFOp>(op))
      step = match(op->getOperand(1), {op->getOperand(0)});
    if (step)
      return step;
    shifts.push_back(second);
  }
  return std::nullopt;
}

std::optional<std::pair<SinkhornStep, Value>> mhc::matchLogStep(FormBuilder &forms, Value value) {
  return isMatrixStack(value) ? matchLogSoftmaxStep(forms, value) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Potentials: f = -lse(z + g), g = -lse(z + f), result exp(z + f + g)
//===----------------------------------------------------------------------===//

/// Whether both are the same, where one may be the negative of an operand.
static bool isSame(Signed a, Signed b) {
  for (Signed *side : {&a, &b})
    if (auto neg = side->value ? side->value.getDefiningOp<arith::NegFOp>() : arith::NegFOp())
      *side = {neg.getOperand(), -side->coefficient};
  return a.value == b.value && a.coefficient == b.coefficient;
}

/// Leaves of a tree of sums and differences.
static void addends(Signed sum, SmallVectorImpl<Signed> &leaves) {
  sum.value = unwidened(sum.value);
  Operation *op = sum.value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp>(op)) {
    leaves.push_back(sum);
    return;
  }
  addends({op->getOperand(0), sum.coefficient}, leaves);
  addends({op->getOperand(1), isa<arith::SubFOp>(op) ? -sum.coefficient : sum.coefficient}, leaves);
}

/// What a value repeats along dimensions, seen through ops that keep the elements as they are.
static Value repeated(Value spread) {
  while (Operation *op = spread.getDefiningOp()) {
    if (!isa<BroadcastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, arith::ExtFOp>(op))
      break;
    spread = op->getOperand(0);
  }
  return spread;
}

/// A potential -lse(z + spread(previous)) over one dimension: the dimension and the previous potential; null for none,
/// or zeros.
static std::optional<std::pair<int64_t, Signed>> matchUpdate(FormBuilder &forms, Signed potential, Value logits) {
  forms.reset();
  forms.stops.insert(logits);
  Indices at = forms.freshIndices(potential.value);
  Form form = forms.at(potential.value, at);
  forms.resolve(form);
  std::optional<ShiftedLog> parts = splitShift(form, -potential.coefficient);
  std::optional<LogSumExp> lse = parts ? matchLogSumExp(forms, *parts) : std::nullopt;
  if (!lse || varsWithout(forms, lse->index, lse->dim) != varsWithout(forms, at, -1))
    return std::nullopt;
  if (lse->argument == logits)
    return std::make_pair(lse->dim, Signed());
  SmallVector<Signed> leaves;
  addends({lse->argument}, leaves);
  auto isLogits = [&](Signed leaf) { return leaf.value == logits && leaf.coefficient == 1; };
  if (leaves.size() != 2 || llvm::none_of(leaves, isLogits))
    return std::nullopt;
  Signed spread = isLogits(leaves[0]) ? leaves[1] : leaves[0];
  if (constantValue(spread.value) == 0.0)
    return std::make_pair(lse->dim, Signed());
  // Among the two matrix dimensions, the potential varies along the summed one only.
  forms.reset();
  forms.stops.insert(repeated(spread.value));
  Indices index = forms.freshIndices(logits);
  Form previous = forms.at(spread.value, index);
  int64_t rank = index.size(), other = 2 * rank - 3 - lse->dim;
  const Factor *factor = singleFactor(previous, 1);
  if (!factor || forms.fullVars(*factor) != varsWithout(forms, index, other))
    return std::nullopt;
  return std::make_pair(lse->dim, Signed{factor->base, spread.coefficient});
}

namespace {
/// A matrix of a potential's elements, each of them repeated along one dimension.
struct Spread {
  Signed potential;
  int64_t along;
};

/// The three addends of z + f + g.
struct Potentials {
  Value logits;
  SmallVector<Spread, 2> spreads;
};
} // namespace

static std::optional<Potentials> matchSum(FormBuilder &forms, Value sum) {
  SmallVector<Signed> leaves;
  addends({sum}, leaves);
  Potentials parts;
  for (Signed leaf : leaves) {
    forms.reset();
    forms.stops.insert(repeated(leaf.value));
    Indices index = forms.freshIndices(leaf.value);
    Form form = forms.at(leaf.value, index);
    const Factor *factor = singleFactor(form, 1);
    int64_t rank = index.size(), along = -1;
    for (int64_t dim = rank - 2; factor && dim < rank; ++dim)
      if (forms.fullVars(*factor) == varsWithout(forms, index, dim))
        along = dim;
    if (along >= 0)
      parts.spreads.push_back({{factor->base, leaf.coefficient}, along});
    else if (leaf.coefficient == 1)
      parts.logits = leaf.value;
  }
  if (leaves.size() != 3 || parts.spreads.size() != 2 || !parts.logits)
    return std::nullopt;
  return parts;
}

/// The number of turns of a loop that starts from zeros and updates `first` before `second`.
static std::optional<int64_t> countTurns(FormBuilder &forms, Value logits, Spread first, Spread second) {
  auto loop = first.potential.value.getDefiningOp<scf::ForOp>();
  if (!loop || second.potential.value.getDefiningOp<scf::ForOp>() != loop || first.potential.coefficient != 1 ||
      second.potential.coefficient != 1)
    return std::nullopt;
  unsigned one = cast<OpResult>(first.potential.value).getResultNumber(),
           two = cast<OpResult>(second.potential.value).getResultNumber();
  for (unsigned number : {one, two})
    if (constantValue(loop.getInitArgs()[number]) != 0.0)
      return std::nullopt;
  Value yielded = loop.getYieldedValues()[one];
  auto updateFirst = matchUpdate(forms, {yielded}, logits),
       updateSecond = matchUpdate(forms, {loop.getYieldedValues()[two]}, logits);
  if (!updateFirst || !updateSecond || !isSame(updateFirst->second, {loop.getRegionIterArg(two)}) ||
      !isSame(updateSecond->second, {yielded}) || updateFirst->first != first.along ||
      updateSecond->first != second.along)
    return std::nullopt;
  return tripCount(loop);
}

/// The same where the turns are written one after the other, as a loop of one turn is.
static std::optional<int64_t> countWrittenOut(FormBuilder &forms, Value logits, Spread first, Spread second) {
  int64_t updates = 0;
  for (Signed potential = second.potential; potential.value; ++updates) {
    const Spread &expected = updates % 2 ? first : second;
    auto update = matchUpdate(forms, potential, logits);
    if (!update || update->first != expected.along || (updates == 1 && !isSame(potential, first.potential)))
      return std::nullopt;
    potential = update->second;
  }
  return updates % 2 ? std::nullopt : std::optional(updates / 2);
}

/// z + f + g with the potentials of an iteration
static bool isIterated(FormBuilder &forms, Value sum) {
  std::optional<Potentials> parts = isMatrixStack(sum) ? matchSum(forms, sum) : std::nullopt;
  if (!parts)
    return false;
  auto [first, second] = std::pair(parts->spreads[0], parts->spreads[1]);
  auto isFrom = [&](const Spread &one, const Spread &two) {
    return countTurns(forms, parts->logits, one, two) || countWrittenOut(forms, parts->logits, one, two);
  };
  return isFrom(first, second) || isFrom(second, first);
}

std::optional<std::pair<Value, int64_t>> mhc::matchLogSoftmax(FormBuilder &forms, Value value) {
  auto step = matchLogSoftmaxStep(forms, value);
  if (!step || step->second.getDefiningOp<scf::ForOp>() || matchLogStep(forms, step->second) ||
      isIterated(forms, value))
    return std::nullopt;
  return std::make_pair(step->second, step->first.dim);
}
