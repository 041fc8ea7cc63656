//===- SoftmaxForms.cpp - Parts of softmax, and its logarithm -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "SoftmaxForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mhc;

std::optional<int64_t> mhc::summedDim(FormBuilder &forms, const Term &term, const Indices &index, Value value) {
  if (term.coefficient != 1 || term.sums.size() != 1 || term.factors.size() != 1 || term.factors[0].base != value ||
      term.factors[0].power != 1 || term.factors[0].index.size() != index.size() || !forms.fullVars(term.factors[0]))
    return std::nullopt;
  std::optional<int64_t> dim;
  for (auto [i, slots] : llvm::enumerate(llvm::zip(index, term.factors[0].index))) {
    auto &[outer, inner] = slots;
    if (inner == outer)
      continue;
    if (dim || inner.vars != term.sums)
      return std::nullopt;
    dim = i;
  }
  return dim;
}

const Factor *mhc::singleFactor(const Form &form, double coefficient, int power) {
  if (form.terms.size() != 1 || form.terms[0].factors.size() != 1 || form.terms[0].coefficient != coefficient ||
      !form.terms[0].sums.empty() || form.terms[0].factors[0].power != power)
    return nullptr;
  return &form.terms[0].factors[0];
}

/// The variables of all dimensions but one.
static Vars varsWithout(const FormBuilder &forms, const Indices &index, int64_t dim) {
  Vars vars;
  for (auto [i, slot] : llvm::enumerate(index))
    if (static_cast<int64_t>(i) != dim)
      llvm::append_range(vars, forms.flatten(slot.vars));
  return vars;
}

ReduceOp mhc::maximumOf(Value value) {
  constexpr double kLowest = -3.38e38; // of bf16, the narrowest with the exponents of f32
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(op))
    for (unsigned side : {0, 1})
      if (std::optional<double> start = constantValue(op->getOperand(side)); start && *start < kLowest)
        return maximumOf(op->getOperand(1 - side));
  auto reduce = dyn_cast_or_null<ReduceOp>(op);
  return reduce && reduce.getKind() == ReduceKind::max ? reduce : ReduceOp();
}

/// Whether `shift` is `coefficient` times a maximum of z that is the same along `dim`.
static bool isShiftOf(FormBuilder &forms, Value z, Value shift, double coefficient, int64_t dim) {
  forms.reset();
  forms.stops.insert(z);
  Indices index = forms.freshIndices(z);
  Form form = forms.at(shift, index);
  const Factor *factor = singleFactor(form, coefficient);
  ReduceOp max = factor ? maximumOf(factor->base) : ReduceOp();
  return max && max.getX() == z && !containsAny(varsOf(forms, *factor), forms.flatten(index[dim].vars));
}

Value mhc::stripShift(FormBuilder &forms, Value value, int64_t dim) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp>(op))
    return value;
  Value a = op->getOperand(0), b = op->getOperand(1);
  if (isa<arith::SubFOp>(op))
    return isShiftOf(forms, a, b, 1, dim) ? a : value;
  return isShiftOf(forms, a, b, -1, dim) ? a : isShiftOf(forms, b, a, -1, dim) ? b : value;
}

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

/// The value in f32 behind one in f64: a log-sum-exp may be taken in f64 and rounded.
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
static std::optional<SoftmaxOf> matchShiftByLse(FormBuilder &forms, Value value, Value previous,
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
  return SoftmaxOf{stripShift(forms, previous, lse->dim), lse->dim};
}

std::optional<SoftmaxOf> mhc::matchLogSoftmax(FormBuilder &forms, Value value) {
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
