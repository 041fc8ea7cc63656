//===- ReadLinalg.cpp - linalg ops as expressions, straight from their maps ---===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "OpReader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::algebra;

using Result = std::optional<Expr>;

namespace {
/// The loops of a linalg op as variables.
struct LoopVars {
  SmallVector<Var> vars;
  SmallVector<std::optional<Size>> extents;

  std::optional<Index> index(Sizes &sizes, AffineExpr expr) const {
    Index index;
    if (!add(sizes, index, expr, 1))
      return std::nullopt;
    normalise(sizes, index);
    return index;
  }

private:
  bool add(Sizes &sizes, Index &sum, AffineExpr expr, int64_t factor) const {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      std::optional<Size> extent = extents[dim.getPosition()];
      return extent && addScaled(sizes, sum, wholeVar(vars[dim.getPosition()], *extent), factor);
    }
    if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
      sum.offset += number.getValue() * factor;
      return sum.offset >= 0;
    }
    auto both = dyn_cast<AffineBinaryOpExpr>(expr);
    if (both && expr.getKind() == AffineExprKind::Add)
      return add(sizes, sum, both.getLHS(), factor) && add(sizes, sum, both.getRHS(), factor);
    auto number = both ? dyn_cast<AffineConstantExpr>(both.getRHS()) : AffineConstantExpr();
    return number && expr.getKind() == AffineExprKind::Mul && number.getValue() >= 0 &&
           add(sizes, sum, both.getLHS(), factor * number.getValue());
  }
};
} // namespace

/// The summand of a reduction, and how it is added.
struct Combination {
  StringRef kind;
  Value with;
};

static std::optional<Combination> combinationOf(Value yielded, BlockArgument result) {
  Operation *op = yielded.getDefiningOp();
  StringRef kind = isa_and_nonnull<arith::AddFOp>(op)                         ? "sum"
                   : isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(op) ? "max"
                                                                              : "";
  if (kind.empty() || !result.hasOneUse())
    return std::nullopt;
  for (unsigned side : {0, 1})
    if (op->getOperand(side) == result)
      return Combination{kind, op->getOperand(1 - side)};
  return std::nullopt;
}

/// The element of a tensor at numbers, or positions of others.
std::optional<Expr> OpReader::elementAt(Value tensor, ArrayRef<Expr> at) {
  Indices indices;
  for (const Expr &expr : at) {
    const Index *position = algebra::positionOf(expr);
    std::optional<double> number = numberOf(expr);
    if (!position && (!number || *number < 0))
      return std::nullopt;
    Index &index = indices.emplace_back(position ? *position : Index());
    index.offset += position ? 0 : static_cast<int64_t>(*number);
  }
  return this->at(tensor, indices);
}

std::optional<Expr> OpReader::readLinalg(linalg::LinalgOp op, unsigned result) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() == 0)
    return std::nullopt;
  Sizes &sizes = algebra.sizes;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  OpOperand &init = *op.getDpsInitOperand(result);
  LoopVars loops;
  loops.vars.assign(op.getNumLoops(), -1);
  loops.extents.resize(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      for (auto [dim, expr] : llvm::enumerate(maps[operand.getOperandNumber()].getResults()))
        if (auto loop = dyn_cast<AffineDimExpr>(expr); loop && !loops.extents[loop.getPosition()])
          loops.extents[loop.getPosition()] = reading.size(operand.get(), dim);
  // A loop that runs over a dimension of the result is that dimension's variable.
  for (auto [dim, expr] : llvm::enumerate(maps[init.getOperandNumber()].getResults())) {
    if (isa<AffineConstantExpr>(expr) && reading.size(init.get(), dim) == Size(1))
      continue;
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || loops.vars[loop.getPosition()] >= 0)
      return std::nullopt;
    loops.vars[loop.getPosition()] = dim;
  }
  SmallVector<std::pair<Var, Size>> over;
  for (auto [number, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool isOwn = loops.vars[number] >= 0;
    if (isOwn == (kind == utils::IteratorType::reduction) || !loops.extents[number])
      return std::nullopt;
    if (isOwn)
      continue;
    loops.vars[number] = algebra.freshVar();
    over.push_back({loops.vars[number], *loops.extents[number]});
  }
  auto operandAt = [&](OpOperand &operand) -> Result {
    Indices indices;
    for (AffineExpr expr : maps[operand.getOperandNumber()].getResults()) {
      std::optional<Index> index = loops.index(sizes, expr);
      if (!index)
        return std::nullopt;
      indices.push_back(*index);
    }
    return at(operand.get(), indices);
  };
  auto positionOf = [&](linalg::IndexOp loop) -> Result {
    std::optional<Index> index = loops.index(sizes, getAffineDimExpr(loop.getDim(), op.getContext()));
    return index ? algebra.position(*index) : std::nullopt;
  };
  Block *body = op.getBlock();
  DenseMap<Value, Expr> known;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    Result element = argument.use_empty() ? Result(Expr()) : operandAt(operand);
    if (!element)
      return std::nullopt;
    known[argument] = *element;
  }
  BlockArgument accumulator = op.getMatchingBlockArgument(&init);
  Value yielded = body->getTerminator()->getOperand(result);
  std::optional<Combination> combination = over.empty() ? std::nullopt : combinationOf(yielded, accumulator);
  if (!over.empty() && !combination)
    return std::nullopt;
  for (Operation &inner : body->without_terminator()) {
    SmallVector<Expr> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(known.contains(operand) ? known[operand] : reading.of(operand));
    if (combination && inner.getResult(0) == yielded)
      break;
    Result value;
    if (auto loop = dyn_cast<linalg::IndexOp>(inner))
      value = positionOf(loop);
    else if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
      value = elementAt(extract.getTensor(), ArrayRef(operands).drop_front());
    else if (inner.getNumResults() == 1 && inner.getNumRegions() == 0)
      value = scalar(&inner, operands);
    if (!value)
      return std::nullopt;
    known[inner.getResult(0)] = *value;
  }
  auto valueOf = [&](Value value) { return known.contains(value) ? known[value] : reading.of(value); };
  Result expr = valueOf(combination ? combination->with : yielded);
  if (combination) {
    expr = algebra.reduce(combination->kind, *expr, over);
    const Expr &start = known[accumulator];
    if (!expr)
      return std::nullopt;
    expr = combination->kind == "sum" ? algebra.add(*expr, start) : maximum(*expr, start);
    expr = rounded(expr, yielded.getType());
  }
  return expr;
}
