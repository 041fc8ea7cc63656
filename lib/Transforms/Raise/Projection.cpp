//===- Projection.cpp - Projections without gates ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Places.h"
#include "RaiseForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mhc;

/// More columns are no gates and logits.
constexpr int64_t kMaxRows = 1024;

namespace {
/// A mean square of rows of `x`, or a reciprocal root of one, that the function computes.
struct RowStatistic {
  Value value;
  Value x;
  int64_t width;
  Stat form;
  Multiplier multiplier; ///< with form inv_rms
};

/// x . phi, scaled by what depends on the token only.
struct Product {
  Operation *op;
  Indices index; ///< of the result
  Vars tokens, row;
  double coefficient;
  Factor x, phi;
  std::optional<Factor> gamma;
  Vars flat; ///< the variables of x behind the tokens
  std::vector<Factor> scales;
  int64_t n = 0; ///< streams, told by the number of rows
};

/// The second result of the projection.
struct ProductStatistic {
  Value value; ///< with a form other than applied: what the function calls it
  Stat form = Stat::applied;
  Multiplier multiplier{Norm::none, 0, {}, {}};
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
    if (!multiplier || multiplier->factor != 1 || !averagesRow(forms, *multiplier, tokens))
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
  func.walk([&](Operation *op) {
    if (!isa<ReduceOp, arith::MulFOp, arith::DivFOp, math::RsqrtOp>(op))
      return;
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || type.getRank() < 1)
      return;
    if (std::optional<RowStatistic> statistic = matchStatistic(forms, op->getResult(0)))
      found[statistic->x].push_back(*statistic);
  });
  return found;
}

/// The number of streams whose gates and residual logits fill `rows` rows.
static int64_t streamsOfRows(int64_t rows) {
  int64_t found = 0;
  for (int64_t n = kMinStreams; n <= kMaxStreams; ++n)
    if (rows == 2 * n + n * n || (n <= kMaxPermuted && rows == 2 * n + factorial(n)))
      found = n;
  return found;
}

/// Sorts the factors by the variables they depend on.
static bool classify(FormBuilder &forms, const Term &term, Product &product) {
  std::optional<Factor> x, phi;
  for (const Factor &factor : term.factors) {
    Vars vars = varsOf(forms, factor);
    bool token = containsAny(vars, product.tokens), column = containsAny(vars, product.row);
    bool sum = containsAny(vars, term.sums);
    if (token && !column && !sum) {
      product.scales.push_back(factor);
      continue;
    }
    std::optional<Factor> *slot = sum && token && !column   ? &x
                                  : sum && column && !token ? &phi
                                  : sum && !token           ? &product.gamma
                                                            : nullptr;
    if (!slot || slot->has_value() || factor.power != 1)
      return false;
    *slot = factor;
  }
  if (!x || !phi)
    return false;
  product.x = *x;
  product.phi = *phi;
  return true;
}

static std::optional<Product> matchProduct(FormBuilder &forms, Operation *op) {
  forms.reset();
  Value root = op->getResult(0);
  Product product;
  product.op = op;
  product.index = forms.freshIndices(root);
  Form form = forms.at(root, product.index);
  forms.resolve(form);
  if (form.terms.size() != 1 || form.terms[0].sums.empty() || !getElementTypeOrSelf(root).isF32())
    return std::nullopt;
  product.row = forms.flatten(product.index.back().vars);
  for (const Index &slot : ArrayRef(product.index).drop_back())
    llvm::append_range(product.tokens, forms.flatten(slot.vars));
  product.coefficient = form.terms[0].coefficient;
  if (!classify(forms, form.terms[0], product))
    return std::nullopt;
  std::optional<Vars> vars = forms.fullVars(product.x);
  const Vars &tokens = product.tokens;
  if (!vars || !forms.fullVars(product.phi) || vars->size() <= tokens.size() ||
      !std::equal(tokens.begin(), tokens.end(), vars->begin()))
    return std::nullopt;
  product.flat.assign(vars->begin() + tokens.size(), vars->end());
  const int64_t rows = forms.extent(product.row), width = forms.extent(product.flat);
  product.n = streamsOfRows(rows);
  // A weight with more columns than rows is a layer behind a norm, such as the one that makes queries, keys and values.
  if (product.n == 0 || width % product.n != 0 || rows > width)
    return std::nullopt;
  return product;
}

/// The multiplier in the product or, for a raw product, a statistic of x in the same block.
static std::optional<ProductStatistic> findStatistic(FormBuilder &forms, const Product &product,
                                                     const RowStatistics &statistics) {
  ProductStatistic found;
  if (!product.scales.empty()) {
    auto match = matchMultiplier(forms, product.scales, product.coefficient);
    if (!match || match->factor != 1 || match->x.base != product.x.base || !averagesRow(forms, *match, product.tokens))
      return std::nullopt;
    found.multiplier = *match;
    return found;
  }
  auto known = statistics.find(product.x.base);
  if (product.coefficient != 1 || known == statistics.end())
    return std::nullopt;
  for (const RowStatistic &statistic : known->second) {
    bool better = !found.value || (found.form != Stat::inv_rms && statistic.form == Stat::inv_rms);
    if (better && statistic.width == forms.extent(product.flat) &&
        Value(statistic.value).getParentBlock() == product.op->getBlock())
      found = {statistic.value, statistic.form, statistic.multiplier};
  }
  return found.value ? std::optional(found) : std::nullopt;
}

/// The statistic of the projection in the shape of the function's own.
static Value statisticAs(FormBuilder &forms, OpBuilder &builder, Value old, ProjectionOp projection) {
  forms.reset();
  SmallVector<Vars> to;
  Vars from;
  for (const Index &slot : forms.freshIndices(old)) {
    to.push_back(slot.vars);
    llvm::append_range(from, slot.vars);
  }
  return forms.relayout(builder, old.getLoc(), projection.getStat(), {from}, to);
}

/// x . phi with the root mean square of x nearby: raw product and statistic, or their product.
static void raiseProduct(FormBuilder &forms, Sites &sites, const Product &product, const ProductStatistic &statistic) {
  Location loc = product.op->getLoc();
  SmallVector<Value> inputs = {product.x.base, product.phi.base};
  if (product.gamma)
    inputs.push_back(product.gamma->base);
  OpBuilder builder(product.op->getContext());
  setAfterInputs(builder, product.op->getBlock(), inputs);
  auto streams = buildStreams(forms, builder, loc, product.x, product.tokens, product.flat, product.n);
  auto phi = buildPhi(forms, builder, loc, product.phi, product.row, product.flat);
  Value gamma = product.gamma ? forms.rebuild(builder, loc, *product.gamma, {product.flat}) : Value();
  if (!streams || !phi || (product.gamma && !gamma))
    return;
  int64_t N = forms.extent(product.row), M = cast<RankedTensorType>(streams->value.getType()).getDimSize(0);
  Type f32 = builder.getF32Type(), phiType = getElementTypeOrSelf(phi->first);
  if (phiType != f32 && phiType != getElementTypeOrSelf(streams->value))
    return;
  auto projection =
      ProjectionOp::create(builder, loc, RankedTensorType::get({M, N}, f32),
                           statistic.value ? Type(RankedTensorType::get({M}, f32)) : Type(), streams->value, phi->first,
                           gamma, streams->layout, phi->second, statistic.multiplier.norm,
                           APFloat(statistic.multiplier.eps), statistic.form, /*precision=*/{});
  SmallVector<Vars> own;
  for (const Index &slot : product.index)
    own.push_back(forms.flatten(slot.vars));
  Value shaped = forms.relayout(builder, loc, projection.getProj(), {product.tokens, product.row}, own);
  SmallVector<Value> was = {product.op->getResult(0)}, becomes = {shaped};
  if (Value known = statistic.value)
    if (Value own = statisticAs(forms, builder, known, projection)) {
      was.push_back(known);
      becomes.push_back(own);
    }
  if (!mayReplace(sites, projection, was, becomes))
    return;
  addPlaces(projection.getOperation(), was[0]);
  was[0].replaceAllUsesWith(becomes[0]);
  // The function's own statistic may have uses before the projection.
  if (was.size() > 1)
    was[1].replaceUsesWithIf(becomes[1], [&](OpOperand &use) {
      return projection->isBeforeInBlock(projection->getBlock()->findAncestorOpInBlock(*use.getOwner()));
    });
  takeRaised(sites, projection, Twine(N) + " rows, norm " + stringifyNorm(statistic.multiplier.norm));
}

/// A matrix product, alone or scaled, with few columns.
static bool isCandidate(Operation *op) {
  bool scaled = isa<arith::MulFOp, arith::DivFOp>(op) && op->getOperand(0).getDefiningOp<MatmulOp>();
  bool scales = isa<arith::MulFOp>(op) && op->getOperand(1).getDefiningOp<MatmulOp>();
  if (!scaled && !scales && !isa<MatmulOp>(op))
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return type && type.getRank() == 2 && !ShapedType::isDynamic(type.getDimSize(1)) && type.getDimSize(1) <= kMaxRows;
}

void mhc::raiseProjection(func::FuncOp func, FormBuilder &forms, Sites &sites) {
  SmallVector<Operation *> candidates;
  func.walk([&](Operation *op) {
    if (isCandidate(op))
      candidates.push_back(op);
  });
  if (candidates.empty())
    return;
  RowStatistics statistics = collectStatistics(forms, func);
  for (Operation *op : llvm::reverse(candidates)) {
    if (isOpTriviallyDead(op)) {
      forms.erase(op);
      continue;
    }
    std::optional<Product> product = matchProduct(forms, op);
    std::optional<ProductStatistic> statistic = product ? findStatistic(forms, *product, statistics) : std::nullopt;
    if (statistic && sites.mayTake())
      raiseProduct(forms, sites, *product, *statistic);
  }
}
