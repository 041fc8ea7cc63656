//===- SinkhornMiss.cpp - Why normalisations in turn are no Sinkhorn ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds.h"
#include "Sinkhorn.h"
#include "mhc/IR/Counted.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mhc;

namespace {
/// The normalisations that lead to a value which is no Sinkhorn iteration.
class ChainMiss {
public:
  ChainMiss(Value value, SinkhornChain chain);

  bool looksLikeSinkhorn();
  std::optional<Miss> ofGuards();
  std::optional<Miss> ofStart();
  std::optional<Miss> ofSteps();
  std::optional<Miss> ofEnd();

private:
  Miss miss(Reason reason, Operation *at, const std::string &found, const std::string &needed) {
    return {reason, at, found, needed, {chain.start, {}}};
  }
  std::string place(size_t step) const {
    return "normalisation " + std::to_string(step + 1) + " of " + std::to_string(chain.steps.size());
  }
  std::string nameOf(int64_t dim) const {
    return dim == rank - 1 ? "rows" : dim == rank - 2 ? "columns" : "dimension " + std::to_string(dim);
  }

  Value value;
  SinkhornChain chain;
  int64_t rank;
  SoftmaxOp softmax;              ///< in front of the steps: it is a step of its own
  std::optional<double> startEps; ///< what is added to it
};
} // namespace

static std::string describe(const SinkhornStep &step) {
  if (step.denom == Denom::none)
    return "no eps";
  return (step.denom == Denom::add ? "eps = " : "sums of at least ") + describe(step.eps);
}

ChainMiss::ChainMiss(Value value, SinkhornChain found)
    : value(value), chain(std::move(found)), rank(cast<RankedTensorType>(value.getType()).getRank()) {
  Value start = chain.start;
  auto add = start.getDefiningOp<arith::AddFOp>();
  if (add && (startEps = constantValue(add.getRhs())))
    start = add.getLhs();
  softmax = start.getDefiningOp<SoftmaxOp>();
}

/// Sums of rows and of columns in turn, or of one of them and of something else.
bool ChainMiss::looksLikeSinkhorn() {
  SmallVector<int64_t> dims;
  for (const SinkhornStep &step : chain.steps)
    dims.push_back(step.dim);
  if (softmax)
    dims.push_back(softmax.getDim());
  return !chain.steps.empty() && !llvm::all_equal(dims) &&
         llvm::any_of(dims, [&](int64_t dim) { return dim >= rank - 2; });
}

std::optional<Miss> ChainMiss::ofStart() {
  Operation *start = chain.start.getDefiningOp();
  if (softmax && !startEps && chain.steps.front().denom != Denom::none)
    return miss(Reason::sinkhornEps, chain.steps.front().op, describe(chain.steps.front()) + " in " + place(0),
                "no eps as in the softmax, or exp(z) in its place");
  if (softmax || isa_and_nonnull<math::ExpOp>(start))
    return std::nullopt;
  if (auto widened = dyn_cast_or_null<arith::ExtFOp>(start))
    return miss(Reason::sinkhornRounds, start, describe(widened.getIn().getType()), describe(value.getType()));
  if (isa_and_nonnull<arith::DivFOp, arith::MulFOp>(start))
    return miss(Reason::sinkhornDivisor, start, "a factor " + describe(start->getOperand(1)),
                "division by sums of rows or of columns");
  return miss(Reason::sinkhornStart, chain.steps.front().op, describe(chain.start),
              "exp(z), exp(z - max(z)), softmax(z) or softmax(z) + eps");
}

std::optional<Miss> ChainMiss::ofGuards() {
  for (auto [i, step] : llvm::enumerate(chain.steps))
    if (step.guard)
      return miss(Reason::sinkhornGuard, step.guard, "a selection in " + place(i),
                  "division by the sums, with an eps added or as their least value");
  return std::nullopt;
}

std::optional<Miss> ChainMiss::ofSteps() {
  const SinkhornStep &first = chain.steps.front();
  std::optional<int64_t> before;
  if (softmax)
    before = softmax.getDim();
  if (softmax && startEps && (first.denom != Denom::add || first.eps != *startEps))
    return miss(Reason::sinkhornEps, first.op, describe(first) + " in " + place(0),
                "eps = " + describe(*startEps) + " as behind the softmax");
  for (auto [i, step] : llvm::enumerate(chain.steps)) {
    if (step.dim < rank - 2)
      return miss(Reason::sinkhornAxis, step.op, "sums over " + nameOf(step.dim) + " in " + place(i),
                  "sums of rows (dimension " + std::to_string(rank - 1) + ") or of columns (dimension " +
                      std::to_string(rank - 2) + ")");
    if (before && step.dim == *before)
      return miss(Reason::sinkhornOrder, step.op, nameOf(step.dim) + " in " + place(i) + " and before it",
                  nameOf(2 * rank - 3 - step.dim));
    if (!isEps(step.eps))
      return miss(Reason::sinkhornEpsSign, step.op, describe(step) + " in " + place(i), "an eps of at least 0");
    if (step.denom != first.denom || step.eps != first.eps)
      return miss(Reason::sinkhornEps, step.op, describe(step) + " in " + place(i),
                  describe(first) + " as in the first");
    before = step.dim;
  }
  return std::nullopt;
}

std::optional<Miss> ChainMiss::ofEnd() {
  size_t steps = chain.steps.size() + (softmax ? 1 : 0);
  if (steps % 2 != 0)
    return miss(Reason::sinkhornOdd, chain.steps.back().op, counted(steps, "normalisation"),
                "as many of rows as of columns");
  if (!isIterationCount(steps / 2))
    return tooManyIterations(chain.steps.back().op, chain.start);
  if (narrowFormat(getElementTypeOrSelf(value)))
    return miss(Reason::sinkhornRounds, chain.steps.back().op, describe(value.getType()),
                "elements of f32, or each result rounded as by 'mhc.sinkhorn' with a format");
  if (!getElementTypeOrSelf(value).isF32())
    return miss(Reason::sinkhornType, chain.steps.back().op, describe(value.getType()), "elements of f32");
  return std::nullopt;
}

Miss mhc::tooManyIterations(Operation *at, Value start) {
  std::string most = std::to_string(kMostIterations);
  return {Reason::sinkhornIterations, at, "more than " + most + " iterations", "at most " + most, {start, {}}};
}

/// The operand that an op between two normalisations changes: one that was normalised or, if none was, the first that
/// is no number and not repeated.
static Value changedOperand(FormBuilder &forms, Operation *op) {
  Value first;
  for (Value operand : op->getOperands()) {
    if (operand.getType() != op->getResult(0).getType() || constantValue(operand))
      continue;
    SinkhornChain chain = walkChain(forms, operand, matchLinearStep);
    if (!chain.steps.empty())
      return chain.start;
    if (!first && !operand.getDefiningOp<BroadcastOp>())
      first = operand;
  }
  return first;
}

/// The function behind `start`, also where other arithmetic stands between two normalisations: all of them are one
/// iteration, and are told as one.
static Value originOf(FormBuilder &forms, Value start) {
  constexpr int kMaxParts = 64;
  for (int part = 0; part < kMaxParts; ++part) {
    Operation *op = start.getDefiningOp();
    Value before = isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp>(op)
                       ? changedOperand(forms, op)
                       : Value();
    if (!before)
      return start;
    start = before;
  }
  return start;
}

std::optional<Miss> mhc::explainSinkhorn(FormBuilder &forms, Value value) {
  if (!isMatrixStack(value))
    return std::nullopt;
  auto exp = value.getDefiningOp<math::ExpOp>();
  SinkhornChain chain =
      exp ? walkChain(forms, exp.getOperand(), matchLogStep) : walkChain(forms, value, matchGuardedStep);
  // The body of a loop is a part of what the loop computes.
  auto carried = dyn_cast<BlockArgument>(chain.start);
  if (carried && !isa<func::FuncOp>(carried.getOwner()->getParentOp()))
    return std::nullopt;
  Value start = chain.start;
  ChainMiss miss(value, std::move(chain));
  if (!miss.looksLikeSinkhorn())
    return std::nullopt;
  std::optional<Miss> found = miss.ofGuards();
  if (!found && !exp)
    found = miss.ofStart();
  if (!found)
    found = miss.ofSteps();
  if (!found)
    found = miss.ofEnd();
  if (found && !exp)
    found->site = {originOf(forms, start), Value()};
  return found;
}
