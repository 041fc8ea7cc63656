//===- ResidualMaps.cpp - Sinkhorn iterations written out ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResidualMaps.h"
#include "Bounds.h"
#include "Mix.h"
#include "Places.h"
#include "Sinkhorn.h"
#include "SinkhornMatch.h"
#include "mhc/Algebra/Build.h"
#include "mhc/IR/Constants.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mhc;

//===----------------------------------------------------------------------===//
// Linear steps
//===----------------------------------------------------------------------===//

/// Matches sum(previous), sum(previous) + eps or max(sum(previous), eps), where `previous` is read at `outer`. With
/// `anyEps`, eps may be a number that the op does not take.
static std::optional<SinkhornStep> matchDenominator(FormBuilder &forms, Form form, Value previous, const Indices &outer,
                                                    bool anyEps) {
  forms.resolve(form);
  if (form.terms.size() == 1 && form.terms[0].factors.size() == 1 && form.terms[0].sums.empty()) {
    Operation *max = form.terms[0].factors[0].base.getDefiningOp();
    if (!isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(max) || form.terms[0].coefficient != 1 ||
        form.terms[0].factors[0].power != 1)
      return std::nullopt;
    bool constantFirst = constantValue(max->getOperand(0)).has_value();
    std::optional<double> eps = constantValue(max->getOperand(constantFirst ? 0 : 1));
    if (!eps || !(anyEps || isEps(*eps)))
      return std::nullopt;
    Form sum = forms.at(max->getOperand(constantFirst ? 1 : 0), form.terms[0].factors[0].index);
    std::optional<SinkhornStep> step = matchDenominator(forms, std::move(sum), previous, outer, anyEps);
    if (!step || step->denom != Denom::none)
      return std::nullopt;
    return SinkhornStep{step->dim, Denom::clamp, *eps};
  }
  SinkhornStep step{0, Denom::none, 0};
  if (std::optional<double> eps = forms.takeConstant(form)) {
    if (!anyEps && !isEps(*eps))
      return std::nullopt;
    step.denom = Denom::add;
    step.eps = *eps;
  }
  if (form.terms.size() != 1 || form.terms[0].factors.size() != 1)
    return std::nullopt;
  // All entries are positive while no step subtracts from its sum, so a sum of magnitudes is the sum.
  Factor &summed = form.terms[0].factors[0];
  if (auto abs = summed.base.getDefiningOp<math::AbsFOp>(); abs && abs.getOperand() == previous)
    summed.base = previous;
  std::optional<int64_t> dim = summedDim(forms, form.terms[0], outer, previous);
  if (!dim)
    return std::nullopt;
  step.dim = *dim;
  return step;
}

/// The one factor of a form that is a value or its reciprocal.
static const Factor *valueOrReciprocal(const Form &form) {
  const Factor *value = singleFactor(form, 1);
  return value ? value : singleFactor(form, 1, -1);
}

std::optional<Form> mhc::divisorOf(FormBuilder &forms, const Form &form, bool inverted) {
  if (!inverted)
    return form;
  const Factor *factor = singleFactor(form, 1, -1);
  return factor ? std::optional(forms.at(factor->base, Indices(factor->index))) : std::nullopt;
}

/// A step that divides `previous` by `factor`, or multiplies it when `inverted`. With `guards`, also by what a
/// selection makes of that, one of whose sides is for sums of zero, and with any eps.
static std::optional<SinkhornStep> matchStepBy(FormBuilder &forms, Value previous, Value factor, bool inverted,
                                               bool guards) {
  forms.reset();
  forms.stops.insert(previous);
  Indices index = forms.freshIndices(previous);
  Form form = forms.at(factor, index);
  if (std::optional<Form> divisor = divisorOf(forms, form, inverted))
    if (auto step = matchDenominator(forms, *divisor, previous, index, guards))
      return step;
  const Factor *chosen = guards ? valueOrReciprocal(form) : nullptr;
  auto select = chosen ? chosen->base.getDefiningOp<arith::SelectOp>() : arith::SelectOp();
  for (unsigned side : {1, 2}) {
    std::optional<Form> divisor =
        select ? divisorOf(forms, forms.at(select->getOperand(side), chosen->index), inverted == (chosen->power == 1))
               : std::nullopt;
    if (auto step = divisor ? matchDenominator(forms, *divisor, previous, index, guards) : std::nullopt) {
      step->guard = select;
      return step;
    }
  }
  return std::nullopt;
}

static std::optional<std::pair<SinkhornStep, Value>> matchStep(FormBuilder &forms, Value value, bool guards) {
  Operation *op = value.getDefiningOp();
  bool inverted = isa_and_nonnull<arith::MulFOp>(op); // by a reciprocal
  if (!inverted && !isa_and_nonnull<arith::DivFOp>(op))
    return std::nullopt;
  for (unsigned side : {0, 1}) {
    Value previous = op->getOperand(side), factor = op->getOperand(1 - side);
    if (!isMatrixStack(previous) || (side == 1 && !inverted))
      break;
    if (auto step = matchStepBy(forms, previous, factor, inverted, guards))
      return std::make_pair(*step, previous);
  }
  return std::nullopt;
}

std::optional<std::pair<SinkhornStep, Value>> mhc::matchLinearStep(FormBuilder &forms, Value value) {
  return matchStep(forms, value, /*guards=*/false);
}

std::optional<std::pair<SinkhornStep, Value>> mhc::matchGuardedStep(FormBuilder &forms, Value value) {
  return matchStep(forms, value, /*guards=*/true);
}

//===----------------------------------------------------------------------===//
// Rewrites
//===----------------------------------------------------------------------===//

/// The iteration means exp(z), which no kernel may shift where an eps follows.
static void noteBareExp(const Sites &sites, Value logits) {
  auto exp = llvm::find_if(logits.getUsers(), llvm::IsaPred<math::ExpOp>);
  sites.note(*exp, "bare-exp", "exp overflows where logits are above 88: subtract the maximum of each row first");
}

/// Makes the iteration that a value is, of logits that are there.
static bool replaceSite(algebra::Reading &reading, Sites &sites, Operation *op, Value value, const SinkhornSite &site) {
  OpBuilder builder(op);
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  SmallVector<IndexVars> flat(3), own = ownDims(reading, value);
  for (auto [dim, vars] : llvm::enumerate(own))
    flat[std::max<int64_t>(0, static_cast<int64_t>(dim) + 3 - rank)].append(vars);
  Value logits = build(reading, builder, op, site.logits, flat, builder.getF32Type());
  if (!logits && site.format)
    logits = build(reading, builder, op, site.logits, flat, getElementTypeOrSelf(value));
  if (!logits)
    return false;
  logits = LeafBuilder(builder, op->getLoc()).toF32(logits);
  auto sinkhorn = SinkhornOp::create(builder, op->getLoc(), logits.getType(), logits, site.init, site.order, site.denom,
                                     APFloat(site.eps), site.iters,
                                     site.format ? FormatAttr::get(op->getContext(), *site.format) : FormatAttr());
  if (!finishMix(reading, sites, builder, sinkhorn, indicesOf(reading.algebra().sizes, flat), own, value,
                 stringifyInit(site.init) + ", " + Twine(site.iters) + " iterations" +
                     (site.format ? " in " + stringifyFormat(*site.format) : Twine())))
    return false;
  if (site.init == Init::exp)
    for (const algebra::Reading::Found &found : reading.find(site.logits, op))
      if (llvm::any_of(found.value.getUsers(), llvm::IsaPred<math::ExpOp>)) {
        noteBareExp(sites, found.value);
        break;
      }
  return true;
}

static bool replaceSinkhorn(algebra::Reading &reading, FormBuilder &forms, Sites &sites, Operation *op, Value value) {
  bool isStep = isa<arith::DivFOp, arith::MulFOp, scf::ForOp, math::ExpOp, arith::TruncFOp, SoftmaxOp>(op);
  std::optional<SinkhornSite> site = isStep ? matchSinkhorn(reading, value) : std::nullopt;
  bool isTooLong = site && !isIterationCount(site->iters);
  if (site && !isTooLong && replaceSite(reading, sites, op, value, *site))
    return true;
  std::optional<Miss> miss = isStep ? explainSinkhorn(forms, value) : std::nullopt;
  if (!miss && isTooLong)
    if (std::vector<algebra::Reading::Found> logits = reading.find(site->logits, op); !logits.empty())
      miss = tooManyIterations(op, logits[0].value);
  if (!miss && isa<arith::DivFOp, arith::MulFOp>(op))
    miss = explainScaling(forms, value);
  if (miss)
    sites.decline("sinkhorn", *miss);
  return false;
}

void mhc::raiseResidualMaps(func::FuncOp func, FormBuilder &forms, Sites &sites) {
  algebra::Reading reading(func, algebra::Rounding::seen);
  // The longest chain is met first, and takes its shorter beginnings with it.
  for (Operation *op : opsFromTheEnd(func)) {
    if (sites.mayTake() && !raisePermutationMix(reading, sites, op))
      for (Value result : op->getResults())
        if (!result.use_empty() && replaceSinkhorn(reading, forms, sites, op, result))
          break;
    if (isOpTriviallyDead(op))
      forms.erase(op);
  }
}
