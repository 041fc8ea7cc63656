//===- CoefficientsMatch.cpp - Values as groups of gates or logits ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Coefficients.h"

using namespace mlir;
using namespace mhc;

/// With a given projection: what the token-only factors say of the statistic.
static bool matchStat(FormBuilder &forms, Linear &linear, ArrayRef<Factor> scales) {
  if (linear.product.coefficient != 1 || scales.size() > 1)
    return false;
  // Of the projection, some columns of all tokens are read.
  Factor whole = *linear.proj;
  Index columns = forms.freshIndices(whole.base).back();
  std::swap(whole.index.back(), columns);
  if (forms.flatten(columns.vars) != linear.row || !coversRow(forms, whole, linear.tokens, whole.index.back().vars))
    return false;
  if (scales.empty())
    return true;
  Factor stat = scales[0];
  linear.statForm = Stat::inv_rms;
  // 1/sqrt(stat + eps) of a plain mean square
  Operation *op = stat.base.getDefiningOp();
  if (op && (op->getName().getStringRef() == (stat.power == 1 ? "math.rsqrt" : "math.sqrt"))) {
    Form inner = forms.at(op->getOperand(0), stat.index);
    forms.resolve(inner);
    std::optional<double> eps = forms.takeConstant(inner);
    if (inner.terms.size() == 1 && inner.terms[0].factors.size() == 1 && inner.terms[0].coefficient == 1 &&
        inner.terms[0].sums.empty() && inner.terms[0].factors[0].power == 1) {
      linear.statForm = Stat::mean_square;
      linear.multiplier.eps = eps.value_or(0);
      stat = inner.terms[0].factors[0];
    }
  }
  if (!coversRow(forms, stat, linear.tokens, {}))
    return false;
  linear.stat = stat;
  return true;
}

/// Sorts the factors of the product by the variables they depend on.
static bool classify(FormBuilder &forms, Linear &linear, std::string &reason) {
  std::vector<Factor> scales;
  const Vars &sums = linear.product.sums;
  for (const Factor &factor : linear.product.factors) {
    Vars vars = varsOf(forms, factor);
    bool token = containsAny(vars, linear.tokens), row = containsAny(vars, linear.row), sum = containsAny(vars, sums);
    std::optional<Factor> *slot = nullptr;
    if (sum)
      slot = token && !row ? &linear.x : row && !token ? &linear.phi : !row && !token ? &linear.gamma : nullptr;
    else if (token && row)
      slot = &linear.proj;
    else if (!token)
      slot = &linear.alpha;
    else {
      scales.push_back(factor);
      continue;
    }
    if (!slot || slot->has_value() || factor.power != 1 || factor.role != Factor::Value)
      return false;
    *slot = factor;
  }
  if (linear.alpha && containsAny(varsOf(forms, *linear.alpha), linear.row)) {
    reason = "the scale differs from column to column; expected one alpha per group of gates";
    return false;
  }
  const Factor *source = linear.proj ? &*linear.proj : linear.phi ? &*linear.phi : nullptr;
  if (!source || linear.proj.has_value() == linear.x.has_value() || linear.x.has_value() != linear.phi.has_value())
    return false;
  for (auto [dim, slot] : llvm::enumerate(source->index))
    if (forms.flatten(slot.vars) == linear.row) {
      linear.offset = slot.offset;
      linear.rows = cast<RankedTensorType>(source->base.getType()).getDimSize(dim);
    }
  if (linear.rows <= 0)
    return false;
  if (linear.proj)
    return sums.empty() && !linear.gamma && matchStat(forms, linear, scales);
  std::optional<Vars> x = forms.fullVars(*linear.x);
  if (!x || x->size() <= linear.tokens.size() || Vars(x->begin(), x->begin() + linear.tokens.size()) != linear.tokens) {
    reason = "x is transposed or sliced before the projection";
    return false;
  }
  linear.flat.assign(x->begin() + linear.tokens.size(), x->end());
  if (linear.flat.size() != sums.size() || !std::is_permutation(sums.begin(), sums.end(), linear.flat.begin())) {
    reason = "the projection does not run over all of a token's streams";
    return false;
  }
  std::optional<Multiplier> multiplier = matchMultiplier(forms, scales, linear.product.coefficient);
  bool normed = multiplier && multiplier->x.base;
  if (!multiplier || (normed && multiplier->x.base != linear.x->base)) {
    reason = multiplier ? "the root mean square is of another tensor than the projected one"
                        : "the factor of a token is no reciprocal root mean square over n*C values";
    return false;
  }
  if (normed && forms.extent(multiplier->sums) != forms.extent(linear.flat)) {
    reason = "the root mean square runs over " + std::to_string(forms.extent(multiplier->sums)) +
             " values; expected n*C = " + std::to_string(forms.extent(linear.flat));
    return false;
  }
  if (normed && !averagesRow(forms, *multiplier, linear.tokens)) {
    reason = "the root mean square is of other tokens than those that it scales";
    return false;
  }
  linear.multiplier = *multiplier;
  return true;
}

std::optional<Linear> mhc::matchLinear(FormBuilder &forms, Value root, std::string &reason) {
  Linear linear;
  linear.root = root;
  linear.index = forms.freshIndices(root);
  Form form = forms.at(root, linear.index);
  forms.resolve(form);
  if (form.terms.size() != 2)
    return std::nullopt;
  Vars all;
  for (const Index &index : linear.index)
    llvm::append_range(all, forms.flatten(index.vars));
  // The bias is the term of one factor that no token enters: its variables are the row.
  for (int bias : {0, 1}) {
    const Term &term = form.terms[bias];
    if (term.factors.size() != 1 || !term.sums.empty() || term.coefficient != 1 || term.factors[0].power != 1)
      continue;
    Vars row = varsOf(forms, term.factors[0]);
    if (row == all && cast<RankedTensorType>(root.getType()).getDimSize(0) == 1)
      reason = "a single token has no index to tell its values from parameters; give the tokens a dynamic size";
    if (row.empty() || row.size() >= all.size() || Vars(all.end() - row.size(), all.end()) != row)
      continue;
    linear.row = row;
    linear.tokens.assign(all.begin(), all.end() - row.size());
    linear.beta = term.factors[0];
    linear.product = form.terms[1 - bias];
    linear.extent = forms.extent(row);
    if (classify(forms, linear, reason))
      return linear;
    return std::nullopt;
  }
  return std::nullopt;
}
