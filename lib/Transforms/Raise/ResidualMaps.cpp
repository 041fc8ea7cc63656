//===- ResidualMaps.cpp - Sinkhorn and permutation mixtures written out ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace mhc;

namespace {
/// One normalisation: the dimension that is summed over, and what eps does.
struct Step {
  int64_t dim = 0;
  Denom denom = Denom::none;
  double eps = 0;
  Step(int64_t dim, Denom denom, double eps) : dim(dim), denom(denom), eps(eps) {}
  bool operator==(const Step &o) const { return dim == o.dim && denom == o.denom && eps == o.eps; }
};

/// A chain of normalisations and what it starts from.
struct Chain {
  SmallVector<Step> steps;
  Value start;
};
} // namespace

/// Steps of the linear form divide, those of the log form subtract a log-sum-exp.
using MatchStep = std::optional<std::pair<Step, Value>> (*)(FormBuilder &, Value);

/// A stack of n x n matrices, in dimensions before the last two.
static bool isMatrixStack(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() >= 3 && type.getDimSize(type.getRank() - 1) == type.getDimSize(type.getRank() - 2) &&
         type.getShape().back() >= kMinStreams && type.getShape().back() <= kMaxStreams;
}

/// The dimension of `value` that a sum of it over one dimension runs over: the one index that is not `index`.
static std::optional<int64_t> summedDim(const Term &term, const Indices &index, Value value) {
  if (term.coefficient != 1 || term.sums.size() != 1 || term.factors.size() != 1 || term.factors[0].base != value ||
      term.factors[0].power != 1)
    return std::nullopt;
  std::optional<int64_t> dim;
  for (auto [i, slots] : llvm::enumerate(llvm::zip(index, term.factors[0].index))) {
    auto &[outer, inner] = slots;
    if (inner == outer)
      continue;
    if (dim || inner.vars != term.sums || inner.offset != 0)
      return std::nullopt;
    dim = i;
  }
  return dim;
}

//===----------------------------------------------------------------------===//
// Linear steps
//===----------------------------------------------------------------------===//

/// Matches sum(previous), sum(previous) + eps or max(sum(previous), eps), read at `index`, where `previous` is read at
/// `outer`.
static std::optional<Step> matchDenominator(FormBuilder &forms, Value value, const Indices &index, Value previous,
                                            const Indices &outer) {
  Form form = forms.at(value, index);
  forms.resolve(form);
  if (form.terms.size() == 1 && form.terms[0].factors.size() == 1 && form.terms[0].sums.empty()) {
    auto max = form.terms[0].factors[0].base.getDefiningOp<arith::MaximumFOp>();
    if (!max)
      return std::nullopt;
    bool constantFirst = constantValue(max.getLhs()).has_value();
    std::optional<double> eps = constantValue(constantFirst ? max.getLhs() : max.getRhs());
    if (!eps)
      return std::nullopt;
    Value sum = constantFirst ? max.getRhs() : max.getLhs();
    std::optional<Step> step = matchDenominator(forms, sum, form.terms[0].factors[0].index, previous, outer);
    if (!step || step->denom != Denom::none)
      return std::nullopt;
    return Step{step->dim, Denom::clamp, *eps};
  }
  Step step{0, Denom::none, 0};
  if (std::optional<double> eps = forms.takeConstant(form)) {
    step.denom = Denom::add;
    step.eps = *eps;
  }
  if (form.terms.size() != 1 || form.terms[0].factors.size() != 1)
    return std::nullopt;
  // All entries are positive, so a sum of magnitudes is the sum.
  Factor &summed = form.terms[0].factors[0];
  if (auto abs = summed.base.getDefiningOp<math::AbsFOp>(); abs && abs.getOperand() == previous)
    summed.base = previous;
  std::optional<int64_t> dim = summedDim(form.terms[0], outer, previous);
  if (!dim)
    return std::nullopt;
  step.dim = *dim;
  return step;
}

static std::optional<std::pair<Step, Value>> matchLinearStep(FormBuilder &forms, Value value) {
  auto div = value.getDefiningOp<arith::DivFOp>();
  Value previous = div ? div.getLhs() : Value(), denominator = div ? div.getRhs() : Value();
  bool inverted = false;
  if (auto mul = value.getDefiningOp<arith::MulFOp>()) { // by a reciprocal
    previous = mul.getLhs();
    denominator = mul.getRhs();
    inverted = true;
  }
  if (!previous || !isMatrixStack(previous))
    return std::nullopt;
  for (bool swap : {false, true}) {
    if (swap && !inverted)
      break;
    if (swap)
      std::swap(previous, denominator);
    forms.reset();
    forms.stops.insert(previous);
    Indices index = forms.freshIndices(value);
    if (!inverted) {
      if (auto step = matchDenominator(forms, denominator, index, previous, index))
        return std::make_pair(*step, previous);
      continue;
    }
    Form reciprocal = forms.at(denominator, index);
    if (reciprocal.terms.size() != 1 || reciprocal.terms[0].factors.size() != 1 ||
        reciprocal.terms[0].coefficient != 1 || reciprocal.terms[0].factors[0].power != -1)
      continue;
    const Factor &divisor = reciprocal.terms[0].factors[0];
    if (auto step = matchDenominator(forms, divisor.base, divisor.index, previous, index))
      return std::make_pair(*step, previous);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Log steps
//===----------------------------------------------------------------------===//

/// The one base of a form `coefficient * base`.
static const Factor *singleFactor(const Form &form, double coefficient) {
  if (form.terms.size() != 1 || form.terms[0].factors.size() != 1 || form.terms[0].coefficient != coefficient ||
      !form.terms[0].sums.empty() || form.terms[0].factors[0].power != 1)
    return nullptr;
  return &form.terms[0].factors[0];
}

/// z - max(z) along `dim` -> z; anything else as it is.
static Value stripShift(FormBuilder &forms, Value value, int64_t dim) {
  auto sub = value.getDefiningOp<arith::SubFOp>();
  if (!sub)
    return value;
  forms.reset();
  forms.stops.insert(sub.getLhs());
  Indices index = forms.freshIndices(value);
  Form shift = forms.at(sub.getRhs(), index);
  const Factor *factor = singleFactor(shift, 1);
  auto max = factor ? factor->base.getDefiningOp<ReduceOp>() : ReduceOp();
  bool along = max && max.getKind() == ReduceKind::max && max.getX() == sub.getLhs() &&
               !containsAny(varsOf(forms, *factor), forms.flatten(index[dim].vars));
  return along ? sub.getLhs() : value;
}

/// log(sum(exp(z))) along one dimension, read at `index`: z and the dimension. A shift of z by its maximum is added
/// back by the caller's form or drops out.
static std::optional<std::pair<int64_t, Value>> matchLogSumExp(FormBuilder &forms, const Factor &factor,
                                                               const Indices &index) {
  auto log = factor.base.getDefiningOp<math::LogOp>();
  if (!log)
    return std::nullopt;
  Form sum = forms.at(log.getOperand(), factor.index);
  forms.resolve(sum);
  if (sum.terms.size() != 1 || sum.terms[0].factors.size() != 1)
    return std::nullopt;
  auto exp = sum.terms[0].factors[0].base.getDefiningOp<math::ExpOp>();
  std::optional<int64_t> dim = exp ? summedDim(sum.terms[0], index, exp.getResult()) : std::nullopt;
  if (!dim)
    return std::nullopt;
  return std::make_pair(*dim, exp.getOperand());
}

static std::optional<std::pair<Step, Value>> matchLogStep(FormBuilder &forms, Value value) {
  auto sub = value.getDefiningOp<arith::SubFOp>();
  if (!sub || !isMatrixStack(value))
    return std::nullopt;
  forms.reset();
  forms.stops.insert(sub.getLhs());
  Indices index = forms.freshIndices(value);
  Form form = forms.at(sub.getRhs(), index);
  forms.resolve(form);
  std::optional<std::pair<int64_t, Value>> lse;
  bool shifted = false;
  for (const Term &term : form.terms) {
    if (term.coefficient != 1 || term.factors.size() != 1)
      return std::nullopt;
    auto max = term.factors[0].base.getDefiningOp<ReduceOp>();
    if (max && max.getKind() == ReduceKind::max && max.getX() == sub.getLhs() && form.terms.size() == 2)
      shifted = true;
    else if (lse || !(lse = matchLogSumExp(forms, term.factors[0], index)))
      return std::nullopt;
  }
  if (!lse || form.terms.size() > 2 || (form.terms.size() == 2 && !shifted))
    return std::nullopt;
  auto [dim, argument] = *lse;
  // z - (max + log sum exp(z - max)), or the same with z already shifted on both sides.
  Value bare = stripShift(forms, argument, dim);
  if (shifted ? bare != sub.getLhs() : argument != sub.getLhs())
    return std::nullopt;
  Value previous = stripShift(forms, sub.getLhs(), dim);
  return std::make_pair(Step{dim, Denom::none, 0}, previous);
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

static std::optional<int64_t> tripCount(scf::ForOp loop) {
  APInt low, high, step;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&low)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&high)) || !matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return std::nullopt;
  int64_t span = high.getSExtValue() - low.getSExtValue(), by = step.getSExtValue();
  return span <= 0 ? 0 : (span + by - 1) / by;
}

/// Walks back over steps and over loops that carry them; stops at the first value that is neither.
static Chain walkChain(FormBuilder &forms, Value value, MatchStep matchStep) {
  SmallVector<Step> backward;
  while (true) {
    if (auto step = matchStep(forms, value)) {
      backward.push_back(step->first);
      value = step->second;
      continue;
    }
    auto loop = value.getDefiningOp<scf::ForOp>();
    std::optional<int64_t> count = loop ? tripCount(loop) : std::nullopt;
    if (!count)
      break;
    unsigned number = cast<OpResult>(value).getResultNumber();
    Chain body = walkChain(forms, loop.getYieldedValues()[number], matchStep);
    if (body.steps.empty() || body.start != loop.getRegionIterArg(number))
      break;
    for (int64_t i = 0; i < *count; ++i)
      backward.append(body.steps.rbegin(), body.steps.rend());
    value = loop.getInitArgs()[number];
  }
  std::reverse(backward.begin(), backward.end());
  return {backward, value};
}

namespace {
struct SinkhornMatch {
  Value logits;
  Init init;
  Order order;
  Denom denom;
  double eps;
  int64_t iters;
};
} // namespace

/// Steps that alternate between two dimensions with one rule: order and number of pairs.
static std::optional<std::pair<Order, int64_t>> matchPairs(ArrayRef<Step> steps, int64_t rank) {
  if (steps.size() % 2 != 0 || steps.empty())
    return std::nullopt;
  int64_t row = rank - 1, col = rank - 2;
  if (steps[0].dim + steps[1].dim != row + col || std::max(steps[0].dim, steps[1].dim) != row)
    return std::nullopt;
  for (size_t i = 0; i < steps.size(); ++i)
    if (!(steps[i] == Step{steps[i % 2].dim, steps[0].denom, steps[0].eps}))
      return std::nullopt;
  return std::make_pair(steps[0].dim == row ? Order::row_col : Order::col_row, static_cast<int64_t>(steps.size() / 2));
}

/// softmax(z) + eps
static Value matchSoftmaxEps(Value start, int64_t row, double &eps) {
  auto add = start.getDefiningOp<arith::AddFOp>();
  if (!add)
    return {};
  for (auto [sum, number] : {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
    auto softmax = sum.getDefiningOp<SoftmaxOp>();
    std::optional<double> constant = constantValue(number);
    if (softmax && constant && static_cast<int64_t>(softmax.getDim()) == row) {
      eps = *constant;
      return softmax.getX();
    }
  }
  return {};
}

static std::optional<SinkhornMatch> matchLinear(FormBuilder &forms, Value value) {
  if (!isMatrixStack(value))
    return std::nullopt;
  Chain chain = walkChain(forms, value, matchLinearStep);
  if (chain.steps.empty())
    return std::nullopt;
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank(), row = rank - 1, col = rank - 2;
  double eps = 0;
  if (Value logits = matchSoftmaxEps(chain.start, row, eps)) {
    // The softmax is the first row step.
    SmallVector<Step> steps(chain.steps);
    steps.insert(steps.begin(), Step{row, steps[0].denom, steps[0].eps});
    auto pairs = matchPairs(steps, rank);
    if (!pairs || steps[0].denom != Denom::add || steps[0].eps != eps)
      return std::nullopt;
    return SinkhornMatch{logits, Init::softmax_eps, Order::row_col, Denom::add, eps, pairs->second};
  }
  // A softmax without eps is exp and a row step that was already taken for a softmax.
  SmallVector<Step, 0> steps(chain.steps.begin(), chain.steps.end());
  Value start = chain.start;
  auto softmax = start.getDefiningOp<SoftmaxOp>();
  auto exp = start.getDefiningOp<math::ExpOp>();
  if (softmax && static_cast<int64_t>(softmax.getDim()) >= col && steps[0].denom == Denom::none) {
    steps.insert(steps.begin(), Step{static_cast<int64_t>(softmax.getDim()), Denom::none, 0});
    auto pairs = matchPairs(steps, rank);
    if (!pairs)
      return std::nullopt;
    Init init = static_cast<int64_t>(softmax.getDim()) == row ? Init::exp_rowmax : Init::exp_colmax;
    return SinkhornMatch{softmax.getX(), init, pairs->first, Denom::none, 0, pairs->second};
  }
  auto pairs = matchPairs(steps, rank);
  if (!exp || !pairs)
    return std::nullopt;
  Value logits = exp.getOperand(), byRow = stripShift(forms, logits, row), byCol = stripShift(forms, logits, col);
  Init init = byRow != logits ? Init::exp_rowmax : byCol != logits ? Init::exp_colmax : Init::exp;
  logits = byRow != logits ? byRow : byCol;
  return SinkhornMatch{logits, init, pairs->first, steps[0].denom, steps[0].eps, pairs->second};
}

static std::optional<SinkhornMatch> matchLog(FormBuilder &forms, Value value) {
  auto exp = value.getDefiningOp<math::ExpOp>();
  if (!exp || !isMatrixStack(value))
    return std::nullopt;
  Chain chain = walkChain(forms, exp.getOperand(), matchLogStep);
  auto pairs = matchPairs(chain.steps, cast<RankedTensorType>(value.getType()).getRank());
  if (!pairs)
    return std::nullopt;
  return SinkhornMatch{chain.start, Init::log, pairs->first, Denom::none, 0, pairs->second};
}

//===----------------------------------------------------------------------===//
// Potentials: f = -lse(z + g), g = -lse(z + f), result exp(z + f + g)
//===----------------------------------------------------------------------===//

/// Leaves of a tree of additions.
static void addends(Value value, SmallVectorImpl<Value> &leaves) {
  if (auto add = value.getDefiningOp<arith::AddFOp>()) {
    addends(add.getLhs(), leaves);
    addends(add.getRhs(), leaves);
    return;
  }
  leaves.push_back(value);
}

/// -lse(z + spread(potential)) over one dimension: the dimension and the potential's base.
/// `known` is a potential that the other one may read.
static std::optional<std::pair<int64_t, Value>> matchUpdate(FormBuilder &forms, Value value, Value logits,
                                                            Value known) {
  forms.reset();
  forms.stops.insert(logits);
  Indices at = forms.freshIndices(value), index = forms.freshIndices(logits);
  Form form = forms.at(value, at);
  forms.resolve(form);
  std::optional<std::pair<int64_t, Value>> lse;
  Vars kept;
  Value shift;
  for (const Term &term : form.terms) {
    if (term.coefficient != -1 || term.factors.size() != 1 || !term.sums.empty())
      return std::nullopt;
    const Factor &factor = term.factors[0];
    auto max = factor.base.getDefiningOp<ReduceOp>();
    if (max && max.getKind() == ReduceKind::max) {
      shift = max.getX();
      continue;
    }
    auto log = factor.base.getDefiningOp<math::LogOp>();
    if (!log || lse)
      return std::nullopt;
    Form sum = forms.at(log.getOperand(), factor.index);
    forms.resolve(sum);
    if (sum.terms.size() != 1 || sum.terms[0].factors.size() != 1 || sum.terms[0].sums.size() != 1)
      return std::nullopt;
    const Factor &inner = sum.terms[0].factors[0];
    auto exp = inner.base.getDefiningOp<math::ExpOp>();
    if (!exp)
      return std::nullopt;
    for (auto [dim, slot] : llvm::enumerate(inner.index))
      if (slot.vars == sum.terms[0].sums)
        lse = std::make_pair(static_cast<int64_t>(dim), exp.getOperand());
  }
  if (!lse)
    return std::nullopt;
  Value argument = lse->second;
  Value bare = stripShift(forms, argument, lse->first);
  if ((shift && bare != shift) || (!shift && bare != argument))
    return std::nullopt;
  SmallVector<Value> leaves;
  addends(bare, leaves);
  if (leaves.size() != 2 || !llvm::is_contained(leaves, logits))
    return std::nullopt;
  Value spread = leaves[0] == logits ? leaves[1] : leaves[0];
  // The potential must vary along the summed dimension only among the two matrix dimensions.
  forms.reset();
  if (known)
    forms.stops.insert(known);
  index = forms.freshIndices(logits);
  Form potential = forms.at(spread, index);
  int64_t rank = index.size(), other = 2 * rank - 3 - lse->first;
  if (potential.isConstant() && potential.terms[0].coefficient == 0)
    return std::make_pair(lse->first, Value());
  const Factor *factor = singleFactor(potential, 1);
  if (!factor || containsAny(varsOf(forms, *factor), forms.flatten(index[other].vars)))
    return std::nullopt;
  return std::make_pair(lse->first, factor->base);
}

static std::optional<SinkhornMatch> matchPotentials(FormBuilder &forms, Value value) {
  auto exp = value.getDefiningOp<math::ExpOp>();
  if (!exp || !isMatrixStack(value))
    return std::nullopt;
  SmallVector<Value> leaves;
  addends(exp.getOperand(), leaves);
  if (leaves.size() != 3)
    return std::nullopt;
  // Two leaves are spread potentials that one loop carries; the third is the logits.
  forms.reset();
  Indices index = forms.freshIndices(value);
  scf::ForOp loop;
  Value logits;
  SmallVector<unsigned> numbers;
  for (Value leaf : leaves) {
    Form form = forms.at(leaf, index);
    const Factor *factor = singleFactor(form, 1);
    auto owner = factor ? factor->base.getDefiningOp<scf::ForOp>() : scf::ForOp();
    if (owner && (!loop || owner == loop)) {
      loop = owner;
      numbers.push_back(cast<OpResult>(factor->base).getResultNumber());
    } else {
      logits = leaf;
    }
  }
  std::optional<int64_t> count = loop ? tripCount(loop) : std::nullopt;
  if (!count || numbers.size() != 2 || !logits)
    return std::nullopt;
  for (unsigned number : numbers)
    if (constantValue(loop.getInitArgs()[number]) != 0.0)
      return std::nullopt;
  // Which is updated first: the one that reads the other's old value.
  for (int turn = 0; turn < 2; ++turn, std::swap(numbers[0], numbers[1])) {
    Value first = loop.getYieldedValues()[numbers[0]], second = loop.getYieldedValues()[numbers[1]];
    auto updateFirst = matchUpdate(forms, first, logits, {}), updateSecond = matchUpdate(forms, second, logits, first);
    if (!updateFirst || !updateSecond || updateFirst->second != loop.getRegionIterArg(numbers[1]) ||
        updateSecond->second != first)
      continue;
    int64_t row = cast<RankedTensorType>(value.getType()).getRank() - 1;
    Order order = updateFirst->first == row ? Order::row_col : Order::col_row;
    return SinkhornMatch{logits, Init::log, order, Denom::none, 0, *count};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rewrites
//===----------------------------------------------------------------------===//

static bool replaceSinkhorn(FormBuilder &forms, Operation *op, Value value) {
  std::optional<SinkhornMatch> match;
  if (isa<arith::DivFOp, arith::MulFOp, scf::ForOp>(op))
    match = matchLinear(forms, value);
  else if (isa<math::ExpOp>(op) && !(match = matchLog(forms, value)))
    match = matchPotentials(forms, value);
  if (!match || !getElementTypeOrSelf(value).isF32() || match->logits.getType() != value.getType())
    return false;
  OpBuilder builder(op);
  forms.reset();
  Indices index = forms.freshIndices(value);
  SmallVector<Vars> own, flat(3);
  for (auto [dim, slot] : llvm::enumerate(index)) {
    own.push_back(slot.vars);
    llvm::append_range(flat[std::max<int64_t>(0, static_cast<int64_t>(dim) + 3 - static_cast<int64_t>(index.size()))],
                       slot.vars);
  }
  Value logits = forms.relayout(builder, op->getLoc(), match->logits, own, flat);
  if (!logits)
    return false;
  auto sinkhorn = SinkhornOp::create(builder, op->getLoc(), logits.getType(), logits, match->init, match->order,
                                     match->denom, APFloat(match->eps), match->iters);
  value.replaceAllUsesWith(forms.relayout(builder, op->getLoc(), sinkhorn.getMix(), flat, own));
  remarkRaised(sinkhorn, "sinkhorn",
               (stringifyInit(match->init) + ", " + Twine(match->iters) + " iterations").str());
  return true;
}

/// A constant [n!, n*n] whose row p is permutation p, in lexicographic order: n.
static std::optional<int64_t> matchPermutationTable(Value value) {
  DenseElementsAttr table;
  auto type = cast<RankedTensorType>(value.getType());
  if (!matchPattern(value, m_Constant(&table)) || type.getRank() != 2)
    return std::nullopt;
  int64_t n = std::lround(std::sqrt(static_cast<double>(type.getDimSize(1))));
  if (n < kMinStreams || n > 6 || n * n != type.getDimSize(1) || factorial(n) != type.getDimSize(0))
    return std::nullopt;
  SmallVector<int64_t> perm(n);
  std::iota(perm.begin(), perm.end(), 0);
  auto entries = table.getValues<APFloat>();
  for (int64_t p = 0; p < type.getDimSize(0); ++p, std::next_permutation(perm.begin(), perm.end()))
    for (int64_t i = 0; i < n * n; ++i)
      if (entries[p * n * n + i].convertToDouble() != (perm[i / n] == i % n ? 1.0 : 0.0))
        return std::nullopt;
  return n;
}

static bool replacePermutationMix(Operation *op) {
  auto matmul = dyn_cast<MatmulOp>(op);
  auto softmax = matmul ? matmul.getLhs().getDefiningOp<SoftmaxOp>() : SoftmaxOp();
  if (!softmax || matmul.getTransposeLhs() || matmul.getTransposeRhs() || softmax.getDim() != 1 ||
      !getElementTypeOrSelf(softmax.getX()).isF32())
    return false;
  std::optional<int64_t> n = matchPermutationTable(matmul.getRhs());
  if (!n)
    return false;
  OpBuilder builder(op);
  auto type = RankedTensorType::get({matmul.getOut().getType().getDimSize(0), *n, *n}, builder.getF32Type());
  auto mix = PermutationMixOp::create(builder, op->getLoc(), type, softmax.getX());
  matmul.getOut().replaceAllUsesWith(LeafBuilder(builder, op->getLoc()).join(mix.getMix(), 1, 2));
  remarkRaised(mix, "permutation_mix");
  return true;
}

static void eraseIfDead(Operation *op) {
  if (isOpTriviallyDead(op))
    op->erase();
}

void mhc::raiseResidualMaps(func::FuncOp func) {
  FormBuilder forms(func);
  SmallVector<Operation *> ops;
  for (Operation &op : func.getBody().front())
    ops.push_back(&op);
  // From the end: the longest chain is met first, and takes its shorter beginnings with it.
  for (Operation *op : llvm::reverse(ops)) {
    if (isOpTriviallyDead(op))
      op->erase();
    else if (replacePermutationMix(op) || llvm::any_of(op->getResults(), [&](Value result) {
               return !result.use_empty() && replaceSinkhorn(forms, op, result);
             }))
      eraseIfDead(op);
  }
}
