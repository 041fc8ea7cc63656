//===- SinkhornChain.cpp - Alternating normalisations, whatever a step is ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds.h"
#include "Sinkhorn.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

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

Vars mhc::varsWithout(const FormBuilder &forms, const Indices &index, int64_t dim) {
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
static bool isShiftOf(FormBuilder &forms, Value z, Value shift, double coefficient, int64_t dim, bool exact) {
  forms.reset();
  forms.stops.insert(z);
  Indices index = forms.freshIndices(z);
  Form form = forms.at(shift, index);
  const Factor *factor = singleFactor(form, coefficient);
  ReduceOp max = factor ? maximumOf(factor->base) : ReduceOp();
  bool along = max && max.getX() == z && !containsAny(varsOf(forms, *factor), forms.flatten(index[dim].vars));
  if (along && exact)
    along = max.getDims() == ArrayRef<int64_t>(dim) && varsOf(forms, *factor) == varsWithout(forms, index, dim);
  return along;
}

Value mhc::stripShift(FormBuilder &forms, Value value, int64_t dim, bool exact) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp>(op))
    return value;
  Value a = op->getOperand(0), b = op->getOperand(1);
  if (isa<arith::SubFOp>(op))
    return isShiftOf(forms, a, b, 1, dim, exact) ? a : value;
  return isShiftOf(forms, a, b, -1, dim, exact) ? a : isShiftOf(forms, b, a, -1, dim, exact) ? b : value;
}

std::optional<int64_t> mhc::tripCount(scf::ForOp loop) {
  APInt low, high, step;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&low)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&high)) || !matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return std::nullopt;
  int64_t span = high.getSExtValue() - low.getSExtValue(), by = step.getSExtValue();
  if (by <= 0)
    return std::nullopt;
  return span <= 0 ? 0 : (span + by - 1) / by;
}
