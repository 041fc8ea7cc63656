//===- CoefficientsMatch.cpp - Values as groups of gates or logits ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds.h"
#include "Coefficients.h"
#include "mhc/IR/Counted.h"

using namespace mlir;
using namespace mhc;

/// With a given projection: what the token-only factors say of the statistic.
static bool matchStat(FormBuilder &forms, Linear &linear, ArrayRef<Factor> scales) {
  if (scales.size() > 1)
    return false;
  linear.multiplier.factor = linear.product.coefficient;
  // Some columns of all tokens of the projection are read.
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
    double eps = forms.takeConstant(inner).value_or(0);
    if (isEps(eps) && inner.terms.size() == 1 && inner.terms[0].factors.size() == 1 &&
        inner.terms[0].coefficient == 1 && inner.terms[0].sums.empty() && inner.terms[0].factors[0].power == 1) {
      linear.statForm = Stat::mean_square;
      linear.multiplier.eps = eps;
      stat = inner.terms[0].factors[0];
    }
  }
  if (!coversRow(forms, stat, linear.tokens, {}))
    return false;
  linear.stat = stat;
  return true;
}

/// Sorts the factors of the product by the variables they depend on. Sets `miss` where the group is nearly one.
static bool classify(FormBuilder &forms, Linear &linear, std::optional<Miss> *miss) {
  std::vector<Factor> scales;
  const Vars &sums = linear.product.sums;
  auto isMiss = [&](Reason reason, Value at, const std::string &found, const std::string &needed) {
    auto baseOf = [](const std::optional<Factor> &factor) { return factor ? factor->base : Value(); };
    if (!miss || !looksLikeGroup(forms, linear.extent, linear.rows, sums))
      return false;
    *miss = Miss{reason,
                 opAtFault(at, linear.root.getDefiningOp()),
                 found,
                 needed,
                 {baseOf(linear.proj ? linear.proj : linear.x), baseOf(linear.phi)}};
    return false;
  };
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
  const Factor *source = linear.proj ? &*linear.proj : linear.phi ? &*linear.phi : nullptr;
  if (!source || linear.proj.has_value() == linear.x.has_value() || linear.x.has_value() != linear.phi.has_value())
    return false;
  std::optional<Rows> rows = readRows(forms, *source, linear.row);
  if (!rows)
    return false;
  linear.offset = rows->offset;
  linear.rows = rows->count;
  if (linear.alpha && containsAny(varsOf(forms, *linear.alpha), linear.row)) {
    Value alpha = linear.alpha->base;
    return isMiss(Reason::alphaPerColumn, alpha, describe(alpha), "one number for each group");
  }
  if (linear.proj)
    return sums.empty() && !linear.gamma && matchStat(forms, linear, scales);
  std::optional<Vars> x = forms.fullVars(*linear.x);
  if (!x || x->size() <= linear.tokens.size() || Vars(x->begin(), x->begin() + linear.tokens.size()) != linear.tokens)
    return isMiss(Reason::xNotWhole, linear.x->base, "a part of " + describe(linear.x->base) + ", or another order",
                  "all values of a token, behind the tokens");
  linear.flat.assign(x->begin() + linear.tokens.size(), x->end());
  if (linear.flat.size() != sums.size() || !std::is_permutation(sums.begin(), sums.end(), linear.flat.begin()))
    return isMiss(Reason::projectionWidth, linear.x->base, "a sum over " + counted(forms.extent(sums), "value"),
                  "a sum over n*C = " + std::to_string(forms.extent(linear.flat)));
  std::optional<Multiplier> multiplier = matchMultiplier(forms, scales, linear.product.coefficient);
  bool normed = multiplier && multiplier->x.base;
  Value scale = scales.empty() ? linear.root : scales[0].base;
  int64_t width = forms.extent(linear.flat);
  if (!multiplier)
    return isMiss(Reason::normForm, scale, describe(scale), "1/sqrt(mean over n*C = " + std::to_string(width) + ")");
  if (normed && multiplier->x.base != linear.x->base)
    return isMiss(Reason::normOfOtherTensor, scale, describe(multiplier->x.base), describe(linear.x->base));
  if (normed && forms.extent(multiplier->sums) != width)
    return isMiss(Reason::normWidth, scale, "a mean over " + counted(forms.extent(multiplier->sums), "value"),
                  "a mean over n*C = " + std::to_string(width));
  if (normed && !averagesRow(forms, *multiplier, linear.tokens))
    return isMiss(Reason::normOfOtherTokens, scale, "a mean that is not of the token's row",
                  "the mean of the row that it scales");
  linear.multiplier = *multiplier;
  return true;
}

std::optional<Linear> mhc::matchLinear(FormBuilder &forms, Value root, std::optional<Miss> *miss) {
  Linear linear;
  linear.root = root;
  linear.index = forms.freshIndices(root);
  Form form = forms.at(root, linear.index);
  forms.resolve(form);
  Vars all;
  for (const Index &index : linear.index)
    llvm::append_range(all, forms.flatten(index.vars));
  if (form.terms.size() != 2) {
    if (miss)
      *miss = explainLinear(forms, root, form, all);
    return std::nullopt;
  }
  // The bias is the term of one factor that no token enters: its variables are the row.
  for (int bias : {0, 1}) {
    const Term &term = form.terms[bias];
    if (term.factors.size() != 1 || !term.sums.empty() || term.coefficient != 1 || term.factors[0].power != 1)
      continue;
    Vars row = varsOf(forms, term.factors[0]);
    if (miss && !row.empty() && row == all && cast<RankedTensorType>(root.getType()).getDimSize(0) == 1 &&
        forms.extent(row) <= kMaxStreams * kMaxStreams && !form.terms[1 - bias].factors.empty())
      *miss = Miss{Reason::singleToken,
                   root.getDefiningOp(),
                   describe(root.getType()),
                   "[?, ...]",
                   {form.terms[1 - bias].factors[0].base, {}}};
    if (row.empty() || row.size() >= all.size() || Vars(all.end() - row.size(), all.end()) != row)
      continue;
    linear.row = row;
    linear.tokens.assign(all.begin(), all.end() - row.size());
    linear.beta = term.factors[0];
    linear.product = form.terms[1 - bias];
    linear.extent = forms.extent(row);
    if (classify(forms, linear, miss))
      return linear;
    break;
  }
  if (miss && !*miss)
    *miss = explainLinear(forms, root, form, all);
  return std::nullopt;
}
