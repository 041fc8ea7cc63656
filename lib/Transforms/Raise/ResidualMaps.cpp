//===- ResidualMaps.cpp - Sinkhorn and permutation mixtures written out ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds.h"
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
#include <numeric>

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
  SmallVector<algebra::DimVars> flat(3), own;
  for (auto [dim, size] : llvm::enumerate(reading.sizes(value))) {
    algebra::DimVars &vars = own.emplace_back();
    if (size != algebra::Size(1))
      vars.push_back({static_cast<algebra::Var>(dim), size});
    flat[std::max<int64_t>(0, static_cast<int64_t>(dim) + 3 - rank)].append(vars);
  }
  Value logits = build(reading, builder, op, site.logits, flat, builder.getF32Type());
  if (!logits)
    return false;
  auto sinkhorn = SinkhornOp::create(builder, op->getLoc(), logits.getType(), logits, site.init, site.order, site.denom,
                                     APFloat(site.eps), site.iters);
  Value mix = arrange(reading, builder, op->getLoc(), sinkhorn.getMix(), indicesOf(reading.algebra().sizes, flat), own);
  if (mix && mix.getType() != value.getType()) // sizes that the value's type leaves open
    mix = tensor::CastOp::create(builder, op->getLoc(), value.getType(), mix);
  if (!mix || !mayReplace(sites, sinkhorn, value, mix))
    return false;
  addPlaces(sinkhorn.getOperation(), value);
  value.replaceAllUsesWith(mix);
  takeRaised(sites, sinkhorn, stringifyInit(site.init) + ", " + Twine(site.iters) + " iterations");
  if (site.init == Init::exp)
    for (const algebra::Reading::Found &found : reading.find(site.logits, op))
      if (llvm::any_of(found.value.getUsers(), llvm::IsaPred<math::ExpOp>)) {
        noteBareExp(sites, found.value);
        break;
      }
  return true;
}

static bool replaceSinkhorn(algebra::Reading &reading, FormBuilder &forms, Sites &sites, Operation *op, Value value) {
  bool isStep = isa<arith::DivFOp, arith::MulFOp, scf::ForOp, math::ExpOp, arith::TruncFOp>(op);
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

/// The n of a tensor with n! rows of n*n elements, however their columns are arranged.
static std::optional<int64_t> streamsOfTable(Value value, int64_t rows) {
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t n = kMinStreams; n <= kMaxPermuted; ++n)
    if (rows == static_cast<int64_t>(factorial(n)) && type.hasStaticShape() && type.getNumElements() == rows * n * n)
      return n;
  return std::nullopt;
}

/// Whether row p of the table is permutation p of n, in lexicographic order.
static bool isPermutationTable(Value value, int64_t n) {
  Attribute constant;
  DenseElementsAttr table = matchPattern(value, m_Constant(&constant)) ? denseElements(constant) : DenseElementsAttr();
  if (!table)
    return false;
  SmallVector<int64_t> perm(n);
  std::iota(perm.begin(), perm.end(), 0);
  auto entries = table.getValues<APFloat>();
  for (int64_t first = 0; first < table.getNumElements();
       first += n * n, std::next_permutation(perm.begin(), perm.end()))
    for (int64_t i = 0; i < n * n; ++i)
      if (entries[first + i].convertToDouble() != (perm[i / n] == i % n ? 1.0 : 0.0))
        return false;
  return true;
}

/// sum_p softmax(z)[m,p] * table[p, row and column]: z and n
static std::optional<std::pair<Value, int64_t>> matchPermutationMix(FormBuilder &forms, Sites &sites, Operation *op) {
  Value value = op->getResult(0);
  forms.reset();
  Indices index = forms.freshIndices(value);
  Form form = forms.at(value, index);
  forms.resolve(form);
  if (form.terms.size() != 1 || form.terms[0].coefficient != 1 || form.terms[0].sums.size() != 1 ||
      form.terms[0].factors.size() != 2)
    return std::nullopt;
  auto [weights, table] = std::pair(form.terms[0].factors[0], form.terms[0].factors[1]);
  if (!weights.base.getDefiningOp<SoftmaxOp>())
    std::swap(weights, table);
  auto softmax = weights.base.getDefiningOp<SoftmaxOp>();
  if (!softmax || softmax.getDim() != 1 || weights.index.size() != 2 || weights.power != 1 || table.power != 1)
    return std::nullopt;
  // The variables of the weights are the token and what is summed; those of the table are that, row and column.
  Vars own = {form.terms[0].sums};
  for (const Index &slot : ArrayRef(index).drop_front())
    llvm::append_range(own, forms.flatten(slot.vars));
  std::optional<int64_t> n = streamsOfTable(table.base, forms.extent(form.terms[0].sums));
  bool isTable = n && forms.fullVars(table) == own && isPermutationTable(table.base, *n);
  if (n > kMinStreams && !isTable) // with two streams a table is too small to tell anything
    sites.decline("permutation_mix", {Reason::permutationOrder,
                                      opAtFault(table.base, op),
                                      describe(table.base),
                                      "a constant with row p for permutation p",
                                      {softmax.getOut(), Value()}});
  Vars row = forms.flatten(index.front().vars);
  llvm::append_range(row, form.terms[0].sums);
  if (!isTable || forms.fullVars(weights) != row)
    return std::nullopt;
  return std::make_pair(softmax.getX(), *n);
}

static bool replacePermutationMix(FormBuilder &forms, Sites &sites, Operation *op) {
  if (!isa<MatmulOp, BatchMatmulOp, ReduceOp>(op))
    return false;
  Value value = op->getResult(0);
  auto match = getElementTypeOrSelf(value).isF32() ? matchPermutationMix(forms, sites, op) : std::nullopt;
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  if (!match || !getElementTypeOrSelf(match->first).isF32() || rank < 2 || rank > 3)
    return false;
  auto [logits, n] = *match;
  if (rank == 3 && cast<RankedTensorType>(value.getType()).getDimSize(1) != n) // rows of n*n with a dimension of 1
    return false;
  OpBuilder builder(op);
  auto type = cast<RankedTensorType>(logits.getType());
  auto mix = PermutationMixOp::create(builder, op->getLoc(), type.clone({type.getDimSize(0), n, n}), logits);
  Value shaped = rank == 3 ? mix.getMix() : LeafBuilder(builder, op->getLoc()).join(mix.getMix(), 1, 2);
  if (!mayReplace(sites, mix, value, shaped))
    return false;
  addPlaces(mix.getOperation(), value);
  value.replaceAllUsesWith(shaped);
  takeRaised(sites, mix);
  return true;
}

void mhc::raiseResidualMaps(func::FuncOp func, FormBuilder &forms, Sites &sites) {
  algebra::Reading reading(func, algebra::Rounding::seen);
  // The longest chain is met first, and takes its shorter beginnings with it.
  for (Operation *op : opsFromTheEnd(func)) {
    if (sites.mayTake() && !replacePermutationMix(forms, sites, op))
      for (Value result : op->getResults())
        if (!result.use_empty() && replaceSinkhorn(reading, forms, sites, op, result))
          break;
    if (isOpTriviallyDead(op))
      forms.erase(op);
  }
}
