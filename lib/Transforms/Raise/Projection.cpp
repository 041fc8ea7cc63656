//===- Projection.cpp - Projections without gates ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

namespace {
/// A mean square of rows of `x`, or a reciprocal root of one, that the function computes.
struct RowStatistic {
  Value value;
  Value x;
  int64_t width;
  Stat form;
  Multiplier multiplier; ///< with form inv_rms
};
} // namespace

/// Reads a value as a statistic of the rows that its variables name.
static std::optional<RowStatistic> matchStatistic(FormBuilder &forms, Value value) {
  forms.reset();
  Indices index = forms.freshIndices(value);
  Form form = forms.at(value, index);
  forms.resolve(form);
  if (form.terms.size() != 1)
    return std::nullopt;
  const Term &term = form.terms[0];
  Vars tokens;
  for (const Index &slot : index)
    llvm::append_range(tokens, forms.flatten(slot.vars));
  if (term.factors.size() == 1 && term.sums.empty()) {
    auto multiplier = matchMultiplier(forms, term.factors, term.coefficient);
    if (!multiplier || !averagesRow(forms, *multiplier, tokens))
      return std::nullopt;
    return RowStatistic{value, multiplier->x.base, forms.extent(multiplier->sums), Stat::inv_rms, *multiplier};
  }
  if (term.factors.size() != 2 || term.sums.empty() || !(term.factors[0] == term.factors[1]) ||
      !coversRow(forms, term.factors[0], tokens, term.sums))
    return std::nullopt;
  int64_t width = forms.extent(term.sums);
  if (std::abs(term.coefficient * width - 1) > 1e-6)
    return std::nullopt;
  return RowStatistic{value, term.factors[0].base, width, Stat::mean_square, {Norm::none, 0, {}, {}}};
}

using RowStatistics = llvm::DenseMap<Value, SmallVector<RowStatistic, 2>>;

static RowStatistics collectStatistics(FormBuilder &forms, func::FuncOp func) {
  RowStatistics found;
  for (Operation &op : func.getBody().front()) {
    if (!isa<ReduceOp, arith::MulFOp, arith::DivFOp, math::RsqrtOp>(op))
      continue;
    auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
    if (!type || type.getRank() < 1)
      continue;
    if (std::optional<RowStatistic> statistic = matchStatistic(forms, op.getResult(0)))
      found[statistic->x].push_back(*statistic);
  }
  return found;
}

/// x . phi with the root mean square of x nearby: raw product and statistic, or their product.
static void raiseProduct(FormBuilder &forms, func::FuncOp func, Operation *op, const RowStatistics &statistics) {
  forms.reset();
  Value root = op->getResult(0);
  Indices index = forms.freshIndices(root);
  Form form = forms.at(root, index);
  forms.resolve(form);
  if (form.terms.size() != 1 || form.terms[0].sums.empty() || !getElementTypeOrSelf(root).isF32())
    return;
  Vars all, row = forms.flatten(index.back().vars);
  for (const Index &slot : index)
    llvm::append_range(all, forms.flatten(slot.vars));
  Vars tokens(all.begin(), all.end() - row.size());
  const Term &term = form.terms[0];
  std::optional<Factor> x, phi, gamma;
  std::vector<Factor> scales;
  for (const Factor &factor : term.factors) {
    Vars vars = varsOf(forms, factor);
    bool token = containsAny(vars, tokens), column = containsAny(vars, row), sum = containsAny(vars, term.sums);
    std::optional<Factor> *slot = sum && token && !column   ? &x
                                  : sum && column && !token ? &phi
                                  : sum && !token           ? &gamma
                                                            : nullptr;
    if (!slot && token && !column && !sum)
      scales.push_back(factor);
    else if (!slot || slot->has_value() || factor.power != 1)
      return;
    else
      *slot = factor;
  }
  if (!x || !phi || phi->index.size() != 2)
    return;
  std::optional<Vars> xVars = forms.fullVars(*x);
  std::optional<Vars> phiVars = forms.fullVars(*phi);
  tokens = forms.flatten(tokens);
  if (!xVars || !phiVars || xVars->size() <= tokens.size() || !std::equal(tokens.begin(), tokens.end(), xVars->begin()))
    return;
  Vars flat(xVars->begin() + tokens.size(), xVars->end());
  bool rowsFirst = forms.flatten(phi->index[0].vars) == row;
  int64_t N = forms.extent(row), n = 0;
  for (int64_t i = kMinStreams; i <= kMaxStreams; ++i)
    if (N == 2 * i + i * i || (i <= 6 && N == 2 * i + factorial(i)))
      n = i;
  if (n == 0 || forms.extent(flat) % n != 0)
    return;
  Stat statForm = Stat::applied;
  Multiplier multiplier{Norm::none, 0, {}, {}};
  Value stat;
  if (!scales.empty()) {
    auto match = matchMultiplier(forms, scales, term.coefficient);
    if (!match || match->x.base != x->base || !averagesRow(forms, *match, tokens))
      return;
    multiplier = *match;
  } else if (term.coefficient == 1) {
    auto known = statistics.find(x->base);
    if (known == statistics.end())
      return;
    for (const RowStatistic &statistic : known->second)
      if (statistic.width == forms.extent(flat) && (!stat || statistic.form == Stat::inv_rms)) {
        stat = statistic.value;
        statForm = statistic.form;
        multiplier = statistic.multiplier;
        if (statForm == Stat::inv_rms)
          break;
      }
    if (!stat)
      return;
  } else {
    return;
  }
  SmallVector<Value> bases = {x->base, phi->base};
  if (gamma)
    bases.push_back(gamma->base);
  OpBuilder builder(func.getContext());
  builder.setInsertionPointToStart(&func.getBody().front());
  for (Value base : bases)
    if (Operation *def = base.getDefiningOp(); def && !def->isBeforeInBlock(&*builder.getInsertionPoint()))
      builder.setInsertionPointAfter(def);
  auto streams = buildStreams(forms, builder, op->getLoc(), *x, tokens, flat, n);
  Value weight = gamma ? forms.rebuild(builder, op->getLoc(), *gamma, {flat}) : Value();
  if (!streams || (gamma && !weight))
    return;
  Type f32 = builder.getF32Type(), xType = getElementTypeOrSelf(streams->value);
  Type phiType = getElementTypeOrSelf(phi->base);
  if ((phiType != f32 && phiType != xType) || (rowsFirst ? Vars(phiVars->begin() + row.size(), phiVars->end())
                                                         : Vars(phiVars->begin(), phiVars->end() - row.size())) != flat)
    return;
  int64_t M = cast<RankedTensorType>(streams->value.getType()).getDimSize(0);
  auto projection =
      ProjectionOp::create(builder, op->getLoc(), RankedTensorType::get({M, N}, f32),
                           statForm == Stat::applied ? Type() : RankedTensorType::get({M}, f32), streams->value,
                           phi->base, weight, streams->layout, rowsFirst ? PhiLayout::out_in : PhiLayout::in_out,
                           multiplier.norm, APFloat(multiplier.eps), statForm);
  SmallVector<Vars> own;
  for (const Index &slot : index)
    own.push_back(forms.flatten(slot.vars));
  Value shaped = forms.relayout(builder, op->getLoc(), projection.getProj(), {tokens, row}, own);
  root.replaceAllUsesWith(shaped);
  if (stat) {
    FormBuilder shapes(func);
    Indices statIndex = shapes.freshIndices(stat);
    SmallVector<Vars> to;
    Vars from;
    for (const Index &slot : statIndex) {
      to.push_back(slot.vars);
      llvm::append_range(from, slot.vars);
    }
    // Code before the projection keeps its own statistic.
    if (Value shapedStat = shapes.relayout(builder, op->getLoc(), projection.getStat(), {from}, to))
      stat.replaceUsesWithIf(shapedStat, [&](OpOperand &use) {
        return projection->isBeforeInBlock(projection->getBlock()->findAncestorOpInBlock(*use.getOwner()));
      });
  }
  remarkRaised(projection, "projection", (Twine(N) + " rows, norm " + stringifyNorm(multiplier.norm)).str());
}

void mhc::raiseProjection(func::FuncOp func) {
  FormBuilder forms(func);
  SmallVector<Operation *> candidates;
  for (Operation &op : func.getBody().front()) {
    bool narrow = isa<MatmulOp>(op) ||
                  (isa<arith::MulFOp, arith::DivFOp>(op) && op.getOperand(0).getDefiningOp<MatmulOp>()) ||
                  (isa<arith::MulFOp>(op) && op.getOperand(1).getDefiningOp<MatmulOp>());
    auto type = narrow ? dyn_cast<RankedTensorType>(op.getResult(0).getType()) : RankedTensorType();
    if (type && type.getRank() == 2 && !ShapedType::isDynamic(type.getDimSize(1)) && type.getDimSize(1) <= 1024)
      candidates.push_back(&op);
  }
  if (candidates.empty())
    return;
  RowStatistics statistics = collectStatistics(forms, func);
  for (Operation *op : llvm::reverse(candidates)) {
    if (isOpTriviallyDead(op))
      op->erase();
    else
      raiseProduct(forms, func, op, statistics);
  }
}
