//===- Elementary.cpp - sigmoid and softmax written out ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mix.h"
#include "Normalise.h"
#include "Places.h"
#include "Readings.h"
#include "SinkhornMatch.h"
#include "mhc/IR/LeafBuilder.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace mhc;
using algebra::Expr;

/// Replaces `root` by the last of the ops that were made for it.
static void replaceBy(Sites &sites, ArrayRef<Operation *> made, Operation *root) {
  if (!mayReplace(sites, made.back(), root->getResult(0), made.back()->getResult(0)))
    return;
  addPlaces(made, root->getResult(0));
  root->replaceAllUsesWith(made.back());
}

namespace {
/// number * sigmoid(z), or softmax(z) over a variable
struct Function {
  Expr z;
  double number = 1;
  std::optional<algebra::Var> over;
};

/// Finds both among the values as they are before the first is replaced.
class ElementaryRaiser {
public:
  ElementaryRaiser(func::FuncOp func, Readings &readings, Sites &sites)
      : func(func), readings(readings), reading(readings.unrounded()), sites(sites) {}
  void run();

private:
  const algebra::Factor *sigmoidOf(Value value);
  bool completesSigmoid(Operation *op);
  std::optional<Function> matchSoftmax(Operation *op);
  std::optional<Function> match(Operation *op);
  Value buildArgument(OpBuilder &builder, Operation *op, const Expr &z, ArrayRef<IndexVars> dims);
  /// The function's value, from ops in front of `op`; null where its argument is none.
  Value build(Operation *op, const Function &function);

  func::FuncOp func;
  Readings &readings;
  algebra::Reading &reading;
  algebra::Reading *exact = nullptr; ///< once a softmax may be a step of a Sinkhorn iteration
  Sites &sites;
};
} // namespace

const algebra::Factor *ElementaryRaiser::sigmoidOf(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return nullptr;
  const algebra::Factor *factor = algebra::singleFactor(reading.of(value));
  return factor && factor->node()->isApply("sigmoid") ? factor : nullptr;
}

/// Whether an op completes a sigmoid: neither scales one that is there, nor is scaled by the next op.
bool ElementaryRaiser::completesSigmoid(Operation *op) {
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::TruncFOp, math::ExpOp>(op))
    return false;
  const algebra::Factor *own = sigmoidOf(op->getResult(0));
  auto isSame = [&](Value value) {
    const algebra::Factor *other = sigmoidOf(value);
    return other && other->element == own->element;
  };
  auto isThere = [&](Value value) { // also a part of one, which may be written out
    Operation *maker = value.getDefiningOp();
    bool isPart = false;
    for (; maker && (isReshape(maker) || isa<tensor::ExtractSliceOp, TransposeOp>(maker)); isPart = true)
      maker = maker->getOperand(0).getDefiningOp();
    return isSame(value) && maker && (isa<SigmoidOp>(maker) || (isPart && sigmoidOf(maker->getResult(0))));
  };
  Operation *user = own ? singleUser(op->getResult(0)) : nullptr;
  return own && llvm::none_of(op->getOperands(), isThere) &&
         !(isa_and_nonnull<arith::MulFOp, arith::DivFOp>(user) && isSame(user->getResult(0)));
}

/// w / sum w, where w is exp(z)
static std::optional<Function> readSoftmax(algebra::Reading &reading, Value root) {
  algebra::Algebra &algebra = reading.algebra();
  const Expr &value = reading.of(root);
  if (value.size() != 1)
    return std::nullopt;
  for (auto [place, sum] : llvm::enumerate(value[0].factors)) {
    if (sum.halves != -2 || !sum.node()->isReduce("sum") || sum.node()->bound.size() != 1)
      continue;
    Expr weight = value;
    weight[0].factors.erase(weight[0].factors.begin() + place);
    if (!isNonNegative(weight)) // has no logarithm
      continue;
    for (const IndexVars &dim : ownDims(reading, root)) {
      if (dim.empty() || dim[0].second != sum.node()->bound[0] || dependsOn(sum, dim[0].first))
        continue;
      std::optional<Expr> summand = algebra.part(sum.element, {algebra::wholeVar(dim[0].first, dim[0].second)});
      std::optional<Expr> ratio = summand ? algebra.divide(weight, *summand) : std::nullopt;
      std::optional<Expr> z = ratio && algebra::numberOf(*ratio) == 1.0 ? algebra.log(weight) : std::nullopt;
      if (z)
        return Function{*z, 1, dim[0].first};
    }
  }
  return std::nullopt;
}

/// A logarithm that something else reads is a step of an iteration, and so is what rounds on the way in a stack of
/// matrices.
std::optional<Function> ElementaryRaiser::matchSoftmax(Operation *op) {
  if (!isa<arith::DivFOp, arith::MulFOp>(op) && !(isa<math::ExpOp>(op) && singleUser(op->getOperand(0))))
    return std::nullopt;
  Value value = op->getResult(0);
  std::optional<Function> softmax = readSoftmax(reading, value);
  if (!softmax || allMatrixAxes(value).empty())
    return softmax;
  if (!exact)
    exact = &readings.exact();
  bool isStep = !readSoftmax(*exact, value) || (isa<math::ExpOp>(op) && matchSinkhorn(*exact, value).site);
  return isStep ? std::nullopt : softmax;
}

std::optional<Function> ElementaryRaiser::match(Operation *op) {
  if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()) || isWide(op->getResult(0)))
    return std::nullopt;
  if (!completesSigmoid(op))
    return matchSoftmax(op);
  std::optional<Expr> z = reading.algebra().part(sigmoidOf(op->getResult(0))->element);
  return z ? std::optional(Function{*z, reading.of(op->getResult(0))[0].coefficient, {}}) : std::nullopt;
}

/// A value that is part of another, or a view, times `number`: the same of that value itself. Null for others.
static Value partBefore(OpBuilder &builder, Value value, double number) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::MulFOp>(op))
    return besides(op, number);
  bool isPart = op && (isa<tensor::ExtractSliceOp>(op) || showsOperand(op));
  Value source = isPart ? partBefore(builder, op->getOperand(0), number) : Value();
  if (!source)
    return {};
  IRMapping mapping;
  mapping.map(op->getOperand(0), source);
  return builder.clone(*op, mapping)->getResult(0);
}

/// A function's argument: a value that is there, or part of one that was scaled, exactly, in front of its parts. The
/// scaled argument of another function stays its argument.
Value ElementaryRaiser::buildArgument(OpBuilder &builder, Operation *op, const Expr &z, ArrayRef<IndexVars> dims) {
  std::vector<algebra::Reading::Found> all = reading.find(z, op);
  Type element = getElementTypeOrSelf(op->getResult(0));
  if (llvm::any_of(all, [](const algebra::Reading::Found &found) { return std::abs(found.factor) == 1; }))
    return algebra::build(reading, builder, op, z, dims, element);
  for (const algebra::Reading::Found &found : all)
    if (isPowerOfTwo(found.factor) && getElementTypeOrSelf(found.value) == element)
      if (Value part = partBefore(builder, found.value, 1 / found.factor))
        return arrange(reading, builder, op->getLoc(), part, found.at, dims);
  return {};
}

Value ElementaryRaiser::build(Operation *op, const Function &function) {
  Value value = op->getResult(0);
  OpBuilder builder(op);
  LeafBuilder leaf(builder, op->getLoc());
  SmallVector<IndexVars> all = ownDims(reading, value), read;
  SmallVector<int64_t> dims;
  int64_t over = 0;
  for (auto [dim, vars] : llvm::enumerate(all)) {
    auto isRead = [&](const algebra::Term &term) { return dependsOn(term, vars[0].first); };
    if (!vars.empty() && llvm::none_of(function.z, isRead))
      continue;
    if (!vars.empty() && vars[0].first == function.over)
      over = read.size();
    dims.push_back(dim);
    read.push_back(vars);
  }
  Value argument = buildArgument(builder, op, function.z, read);
  if (!argument)
    return {};
  Value made = function.over ? leaf.softmax(argument, over) : leaf.sigmoid(argument);
  if (function.number != 1)
    made = leaf.scale(made, function.number);
  return dims.size() == all.size() ? made : leaf.broadcast(made, leaf.sizesOf(value), dims);
}

void ElementaryRaiser::run() {
  SmallVector<std::pair<Operation *, Function>> found;
  func.walk([&](Operation *op) {
    if (std::optional<Function> function = match(op))
      found.push_back({op, *function});
  });
  for (auto &[root, function] : found) {
    Operation *before = root->getPrevNode();
    if (!build(root, function))
      continue;
    SmallVector<Operation *> made;
    for (Operation *op = root->getPrevNode(); op != before; op = op->getPrevNode())
      made.push_back(op);
    std::reverse(made.begin(), made.end());
    replaceBy(sites, made, root);
  }
}

void mhc::raiseElementary(func::FuncOp func, Readings &readings, Sites &sites) {
  auto isFunction = [](Operation *op) {
    return isa<math::ExpOp, math::TanhOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (func.walk(isFunction).wasInterrupted())
    ElementaryRaiser(func, readings, sites).run();
}
