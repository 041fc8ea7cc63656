//===- SinkhornMatch.cpp - Sinkhorn iterations of any spelling ----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Bounds.h"
#include "Sinkhorn.h"
#include "SinkhornMatcher.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mhc;
using algebra::Expr;
using algebra::Reading;

/// A longer iteration is followed no longer: the op does not take it.
constexpr size_t kMaxSteps = 2 * kMostIterations;

std::optional<algebra::Var> SinkhornMatcher::summedIn(const algebra::Factor &sums) const {
  bool hasRow = dependsOn(sums, row()), hasColumn = dependsOn(sums, column());
  if (hasRow == hasColumn)
    return std::nullopt;
  return hasRow ? column() : row();
}

std::optional<Expr> SinkhornMatcher::replaceResults(scf::ForOp loop, llvm::function_ref<Value(unsigned)> by) {
  return algebra.replace(state, [&](const algebra::Element *element) -> std::optional<Expr> {
    Value base = element->node->value;
    if (!base || base.getDefiningOp() != loop)
      return std::nullopt;
    return algebra.substitute(reading.of(by(cast<OpResult>(base).getResultNumber())),
                              [&](algebra::Var var) { return element->at[var]; });
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

/// The state is of results of a loop: undoes one turn, which must lead to the same state of what the loop carries.
bool SinkhornMatcher::undoLoop() {
  scf::ForOp loop = loopOf(state);
  std::optional<int64_t> turns = loop ? tripCount(loop) : std::nullopt;
  if (!turns || *turns <= 0)
    return false;
  std::optional<Expr> carried = replaceResults(loop, [&](unsigned number) { return loop.getRegionIterArg(number); });
  std::optional<Expr> start = replaceResults(loop, [&](unsigned number) { return loop.getInitArgs()[number]; });
  std::optional<Expr> yielded = replaceResults(loop, [&](unsigned number) { return loop.getYieldedValues()[number]; });
  if (!carried || !start || !yielded)
    return false;
  size_t first = steps.size();
  state = *yielded;
  while (undoStep())
    ;
  if (steps.size() == first || !isSameState(state, *carried))
    return false;
  std::vector<Step> turn(steps.begin() + first, steps.end());
  for (int64_t i = 1; i < *turns && steps.size() <= kMaxSteps; ++i)
    steps.insert(steps.end(), turn.begin(), turn.end());
  state = *start;
  return true;
}

std::optional<SinkhornSite> SinkhornMatcher::site(Expr logits, Init init) const {
  if (steps.empty() || steps.size() % 2 != 0)
    return std::nullopt;
  const Step &first = steps.back();
  for (auto [i, step] : llvm::enumerate(llvm::reverse(steps))) {
    algebra::Var over = i % 2 == 0 ? first.over : row() + column() - first.over;
    if (!(step == Step{over, first.denom, first.eps}))
      return std::nullopt;
  }
  Order order = first.over == column() ? Order::row_col : Order::col_row;
  return SinkhornSite{std::move(logits), init, order, first.denom, first.eps, static_cast<int64_t>(steps.size() / 2),
                      /*format=*/{}};
}

std::optional<SinkhornSite> SinkhornMatcher::match() {
  state = reading.of(value);
  while (steps.size() <= kMaxSteps && (undoStep() || undoLoop()))
    ;
  return steps.empty() ? std::nullopt : readStart();
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

std::optional<SinkhornSite> mhc::matchSinkhorn(Reading &reading, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() < 2 || type.getDimSize(type.getRank() - 1) != type.getDimSize(type.getRank() - 2) ||
      type.getShape().back() < kMinStreams || type.getShape().back() > kMaxStreams)
    return std::nullopt;
  if (std::optional<Format> format = roundedTo(reading, value))
    return matchRoundedSinkhorn(reading, value, *format);
  return type.getElementType().isF32() ? matchExactSinkhorn(reading, value) : std::nullopt;
}
