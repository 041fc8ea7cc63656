//===- Projection.cpp - Projections without gates ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

namespace {
/// The mean square of a tensor over the last of its variables, somewhere in the function.
struct MeanSquare {
  Value value;
  Value x;
  int64_t width;
};
} // namespace

/// The statistics of rows: mean squares and what is made of them.
static std::vector<MeanSquare> collectMeanSquares(FormBuilder &forms, func::FuncOp func) {
  std::vector<MeanSquare> found;
  for (Operation &op : func.getBody().front()) {
    if (!isa<ReduceOp, arith::MulFOp, arith::DivFOp>(op) ||
        cast<RankedTensorType>(op.getResult(0).getType()).getRank() < 1)
      continue;
    forms.reset();
    Form form = forms.at(op.getResult(0), forms.freshIndices(op.getResult(0)));
    if (form.terms.size() != 1 || form.terms[0].factors.size() != 2 || form.terms[0].sums.empty() ||
        !(form.terms[0].factors[0] == form.terms[0].factors[1]))
      continue;
    forms.resolve(form);
    int64_t width = forms.extent(form.terms[0].sums);
    if (std::abs(form.terms[0].coefficient * width - 1) < 1e-6)
      found.push_back({op.getResult(0), form.terms[0].factors[0].base, width});
  }
  return found;
}

/// The reciprocal root of a mean square of `x`, if the function computes it.
static std::pair<Value, Multiplier> findMultiplier(FormBuilder &forms, func::FuncOp func, Value x) {
  for (Operation &op : func.getBody().front()) {
    if (op.getNumResults() != 1 || !isa<RankedTensorType>(op.getResult(0).getType()))
      continue;
    StringRef name = op.getName().getStringRef();
    if (name != "arith.divf" && name != "math.rsqrt")
      continue;
    forms.reset();
    Form form = forms.at(op.getResult(0), forms.freshIndices(op.getResult(0)));
    forms.resolve(form);
    if (form.terms.size() != 1 || form.terms[0].factors.size() != 1)
      continue;
    auto multiplier = matchMultiplier(forms, form.terms[0].factors, form.terms[0].coefficient);
    if (multiplier && multiplier->x == x)
      return {op.getResult(0), *multiplier};
  }
  return {Value(), Multiplier{Norm::none, 0, {}, {}}};
}

/// x . phi with the root mean square of x nearby: raw product and statistic, or their product.
static void raiseProduct(FormBuilder &forms, func::FuncOp func, Operation *op, ArrayRef<MeanSquare> squares) {
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
  if (!xVars || !phiVars || xVars->size() <= tokens.size())
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
    if (!match || match->x != x->base)
      return;
    multiplier = *match;
  } else if (term.coefficient == 1) {
    Value base = x->base;
    int64_t width = forms.extent(flat);
    FormBuilder search(func);
    std::tie(stat, multiplier) = findMultiplier(search, func, base);
    statForm = Stat::inv_rms;
    if (!stat) {
      const auto *square = llvm::find_if(squares, [&](const MeanSquare &s) { return s.x == base && s.width == width; });
      if (square == squares.end())
        return;
      stat = square->value;
      statForm = Stat::mean_square;
    }
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
    stat.replaceAllUsesWith(shapes.relayout(builder, op->getLoc(), projection.getStat(), {from}, to));
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
  std::vector<MeanSquare> squares = collectMeanSquares(forms, func);
  for (Operation *op : llvm::reverse(candidates)) {
    if (isOpTriviallyDead(op))
      op->erase();
    else
      raiseProduct(forms, func, op, squares);
  }
}
