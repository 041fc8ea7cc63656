//===- SinkhornMatch.cpp - Sinkhorn iterations of any spelling ----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Bounds.h"
#include "Raise.h"
#include "SinkhornMatcher.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mhc;
using algebra::Algebra;
using algebra::Expr;
using algebra::Reading;

/// A longer iteration is followed no longer: the op does not take it.
constexpr size_t kMaxSteps = 2 * kMostIterations;

std::optional<algebra::Var> SinkhornMatcher::summedIn(const algebra::Factor &sums) const {
  bool hasRow = dependsOn(sums, row()), hasColumn = dependsOn(sums, column());
  if (hasRow != hasColumn)
    return hasRow ? column() : row();
  auto missing = llvm::make_filter_range(vars(), [&](algebra::Var var) {
    return isToken(var) && reading.size(value, var) != algebra::Size(1) && !dependsOn(sums, var);
  });
  return hasRow && llvm::hasSingleElement(missing) ? std::optional(*missing.begin()) : std::nullopt;
}

std::optional<Expr> SinkhornMatcher::replaceValues(llvm::function_ref<Value(Value)> by) {
  return algebra.replace(state, [&](const algebra::Element *element) -> std::optional<Expr> {
    Value base = element->node->value, other = base ? by(base) : Value();
    if (!other)
      return std::nullopt;
    return algebra.substitute(reading.of(other), [&](algebra::Var var) { return element->at[var]; });
  });
}

std::optional<Expr> SinkhornMatcher::replaceResults(scf::ForOp loop, ValueRange by) {
  return replaceValues(
      [&](Value base) { return base.getDefiningOp() == loop ? by[cast<OpResult>(base).getResultNumber()] : Value(); });
}

std::optional<Expr> SinkhornMatcher::replaceArguments(scf::ForOp loop, ValueRange by) {
  return replaceValues([&](Value base) {
    auto argument = llvm::find(loop.getRegionIterArgs(), base);
    return argument == loop.getRegionIterArgs().end() ? Value() : by[argument - loop.getRegionIterArgs().begin()];
  });
}

/// A loop of which the state has results.
static scf::ForOp loopOf(const Expr &state) {
  for (const algebra::Term &term : state) {
    for (const algebra::Factor &factor : term.factors)
      if (Value base = factor.node()->value)
        if (auto loop = base.getDefiningOp<scf::ForOp>())
          return loop;
    if (scf::ForOp loop = loopOf(term.exponent))
      return loop;
  }
  return {};
}

static std::optional<int64_t> tripCount(scf::ForOp loop) {
  APInt low, high, step;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&low)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&high)) || !matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return std::nullopt;
  int64_t span = high.getSExtValue() - low.getSExtValue(), by = step.getSExtValue();
  if (by <= 0)
    return std::nullopt;
  return span <= 0 ? 0 : (span + by - 1) / by;
}

void SinkhornMatcher::undoTurn(scf::ForOp loop, const Expr &end) {
  user = loop.getBody()->getTerminator();
  state = end;
  while (undoStep())
    ;
}

/// The state is of results of a loop: undoes one turn, which must lead to the same state of what the loop carries. Or
/// to one that another turn leads to as well: of the potentials that a loop carries, only some are read by the next.
bool SinkhornMatcher::undoLoop() {
  scf::ForOp loop = loopOf(state);
  std::optional<int64_t> turns = loop ? tripCount(loop) : std::nullopt;
  if (!turns || *turns <= 0)
    return false;
  std::optional<Expr> carried = replaceResults(loop, loop.getRegionIterArgs());
  std::optional<Expr> start = replaceResults(loop, loop.getInitArgs());
  std::optional<Expr> yielded = replaceResults(loop, loop.getYieldedValues());
  if (!carried || !start || !yielded)
    return false;
  turnBegin = steps.size();
  undoTurn(loop, *yielded);
  std::vector<Step> turn(steps.begin() + turnBegin, steps.end());
  isStuck = turn.empty();
  if (!isStuck && !isSameState(state, *carried)) {
    const Expr before = state;
    std::optional<Expr> again = replaceArguments(loop, loop.getYieldedValues());
    start = replaceArguments(loop, loop.getInitArgs());
    if (again)
      undoTurn(loop, *again);
    bool isTurn = std::equal(turn.begin(), turn.end(), steps.begin() + turnBegin + turn.size(), steps.end());
    isStuck = !again || !start || !isTurn || !isSameState(state, before);
    steps.resize(turnBegin + turn.size());
    state = before;
  }
  if (isStuck)
    return false;
  for (int64_t i = 1; i < *turns && steps.size() <= kMaxSteps; ++i)
    steps.insert(steps.end(), turn.begin(), turn.end());
  state = *start;
  user = loop;
  return true;
}

/// Behind two exact normalisations no sum is below 1 / n: rows that sum to 1 make columns that sum to n at most, and
/// what is left of a row that is divided by them is 1 / n at least. A bound far below that changes no sum.
void SinkhornMatcher::dropLooseBounds() {
  constexpr double kMost = 1e-3;
  size_t exact = 0;
  for (Step &step : llvm::reverse(steps)) {
    if (exact >= 2 && step.denom == Denom::clamp && step.eps <= kMost) {
      step.denom = Denom::none;
      step.eps = 0;
    }
    exact = step.denom == Denom::none ? exact + 1 : 0;
  }
}

SinkhornMatch SinkhornMatcher::match() {
  state = algebra.choose(reading.of(value)).value_or(reading.of(value));
  // Marginals of 1 / n by their logarithm, which n is to undo; a narrow type rounds it.
  constexpr double kRounded = 0x1p-7;
  double factor = 1;
  if (state.size() == 1 && std::abs(state[0].coefficient - 1) < kRounded)
    std::swap(factor, state[0].coefficient);
  while (!isStuck && steps.size() <= kMaxSteps && (undoStep() || undoLoop()))
    ;
  auto start = isStuck || steps.empty() ? std::nullopt : readStart();
  Init init = start ? start->second : Init::exp;
  dropLooseBounds();
  if (isUnguarded() && isShort() && isUnshifted() && isStart(start.has_value()) && areStepsAlike(init) && isWhole() &&
      isOfItsType() && isOfOneTensor(start->first)) {
    const Step &first = steps.back();
    Order order = first.over == column() ? Order::row_col : Order::col_row;
    int64_t iterations = steps.size() / 2;
    SinkhornSite site{start->first, init,  order,          first.denom, steps.front().eps, iterations,
                      format,       false, isShiftRounded, {},          softmaxOver,       isOfMatrix};
    if (!isNear(factor, 1))
      site.factor = factor;
    site.axes = axes;
    if (steps.size() % 2 != 0)
      site.last = steps.front().over;
    if (init == Init::softmax_eps && order == Order::col_row) { // the op has softmaxes of rows only
      site.order = Order::row_col;
      site.isTransposed = true;
    }
    return {site, softmaxOver.empty() && !isOfMatrix ? std::nullopt : miss};
  }
  return {{}, looksLikeSinkhorn() ? miss : std::nullopt};
}

SinkhornSite mhc::transposed(SinkhornSite site) {
  if (site.init == Init::softmax_eps)
    return site;
  site.isTransposed = !site.isTransposed;
  site.order = site.order == Order::row_col ? Order::col_row : Order::row_col;
  if (site.init == Init::exp_rowmax || site.init == Init::exp_colmax)
    site.init = site.init == Init::exp_rowmax ? Init::exp_colmax : Init::exp_rowmax;
  return site;
}

SmallVector<MatrixAxes, 2> mhc::allMatrixAxes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> dims;
  for (int64_t dim : llvm::seq(type ? type.getRank() : 0))
    if (type.getDimSize(dim) != 1)
      dims.push_back(dim);
  SmallVector<MatrixAxes, 2> all;
  for (size_t row = 0; row + 1 < dims.size(); ++row) {
    const int64_t n = type.getDimSize(dims[row]);
    if (n < kMinStreams || n > kMaxStreams || type.getDimSize(dims[row + 1]) != n)
      continue;
    const bool isLast = row + 2 == dims.size();
    all.insert(isLast ? all.begin() : all.end(), MatrixAxes(dims[row], dims[row + 1]));
  }
  return all;
}

bool mhc::isMatrixStack(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto isUnit = [&](int64_t dim) { return type.getDimSize(dim) == 1; };
  return llvm::any_of(allMatrixAxes(value), [&](MatrixAxes axes) {
    return llvm::all_of(llvm::seq(axes.second + 1, type.getRank()), isUnit) ||
           llvm::all_of(llvm::seq(int64_t(0), axes.first), isUnit);
  });
}

/// The format that the last op before `value` rounded to, also where a loop made it.
static std::optional<Format> roundedTo(Reading &reading, Value value) {
  if (auto loop = value.getDefiningOp<scf::ForOp>())
    value = loop.getYieldedValues()[cast<OpResult>(value).getResultNumber()];
  for (Format format : {Format::bf16, Format::f16})
    if (isRounded(reading.of(value), format))
      return format;
  return std::nullopt;
}

/// The same for the matrices of two dimensions.
static bool isScaledByVectors(Reading &exact, Value value, MatrixAxes axes) {
  const auto [row, column] = axes;
  size_t vectors = 0;
  auto chosen = [&](const Expr &expr) { return exact.algebra().choose(expr).value_or(expr); };
  Expr matrix = chosen(exact.of(value)); // diagonal matrices are vectors
  while (matrix.size() == 1 && vectors <= 2) {
    const algebra::Term &product = matrix[0];
    const algebra::Factor *inner = nullptr;
    for (const algebra::Factor &factor : product.factors) {
      const bool isVector = !dependsOn(factor, row) || !dependsOn(factor, column);
      vectors += isVector;
      if (!isVector && (inner || factor.halves != 2))
        return false;
      inner = isVector ? inner : &factor;
    }
    if (!inner)
      return vectors == 2 && !product.exponent.empty();
    const Expr whole = Algebra::of(inner->element);
    const bool rounds = isRounded(whole, Format::bf16) || isRounded(whole, Format::f16);
    std::optional<Expr> before = rounds ? exact.algebra().part(inner->element) : std::nullopt;
    if (!before)
      return false;
    matrix = chosen(*before);
  }
  return false;
}

bool mhc::isScaledByVectors(Reading &exact, Value value) {
  return llvm::any_of(allMatrixAxes(value), [&](MatrixAxes axes) { return ::isScaledByVectors(exact, value, axes); });
}

/// The match of one pair of dimensions that tells more: a site, or a need beside that of sums over these dimensions.
static bool tellsMore(const SinkhornMatch &match, const SinkhornMatch &other) {
  auto rank = [](const SinkhornMatch &match) {
    return match.site ? 3 : !match.miss ? 0 : match.miss->reason == Reason::sinkhornAxis ? 1 : 2;
  };
  return rank(match) > rank(other);
}

SinkhornMatch mhc::matchSinkhorn(Reading &reading, Value value, bool vectors) {
  const SmallVector<MatrixAxes, 2> all = allMatrixAxes(value);
  std::optional<Format> format = all.empty() ? std::nullopt : roundedTo(reading, value);
  SinkhornMatch best;
  for (MatrixAxes axes : all) {
    SinkhornMatch match = format ? matchRoundedSinkhorn(reading, value, axes, *format)
                                 : matchExactSinkhorn(reading, value, axes, vectors);
    if (tellsMore(match, best))
      best = match;
    if (best.site)
      break;
  }
  return best;
}
