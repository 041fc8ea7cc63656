//===- Reading.cpp - The values of a function as expressions ------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhc/Algebra/Reading.h"
#include "OpReader.h"
#include "Order.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::algebra;

static bool isRead(Value value) {
  return isa<RankedTensorType>(value.getType()) || value.getType().isIntOrIndexOrFloat();
}

Reading::Reading(func::FuncOp func, Rounding rounding)
    : func(func), dims(func), theAlgebra(func.getContext()), rounding(rounding) {
  auto add = [&](Value value, Expr expr) {
    exprs[value] = std::move(expr);
    if (isa<RankedTensorType>(value.getType()))
      values.push_back({value, places.size()});
  };
  auto readBlock = [&](Block *block) {
    for (BlockArgument argument : block->getArguments())
      add(argument, baseOf(argument));
  };
  for (Block &block : func.getBody())
    readBlock(&block);
  func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    places[op] = places.size();
    // The body of a linalg op is read with the op.
    if (op->getParentOfType<linalg::LinalgOp>())
      return;
    if (!isa<linalg::LinalgOp>(op))
      for (Region &region : op->getRegions())
        for (Block &block : region)
          readBlock(&block);
    for (OpResult result : op->getResults()) {
      theAlgebra.forgetFreshVars();
      std::optional<Expr> expr = isRead(result) ? OpReader(*this).read(op, result.getResultNumber()) : std::nullopt;
      add(result, expr ? std::move(*expr) : baseOf(result));
    }
  });
}

Size Reading::size(Value value, int dim) {
  int64_t known = cast<RankedTensorType>(value.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(known))
    return known;
  std::optional<Polynomial> size = dims.value(value, dim);
  return theAlgebra.sizes.of(size ? *size : symbolPolynomial(nextSymbol++));
}

SmallVector<Size, 4> Reading::sizes(Value value) {
  SmallVector<Size, 4> all;
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    for (int dim = 0; dim < type.getRank(); ++dim)
      all.push_back(size(value, dim));
  return all;
}

Indices Reading::whole(Value value) {
  Indices indices;
  for (auto [dim, size] : llvm::enumerate(sizes(value)))
    indices.push_back(wholeVar(dim, size));
  return indices;
}

Expr Reading::baseOf(Value value) { return theAlgebra.base(value, sizes(value), whole(value)); }

//===----------------------------------------------------------------------===//
// Values of expressions
//===----------------------------------------------------------------------===//

std::optional<Reading::Shape> Reading::shapeOf(const Expr &expr) {
  if (expr.empty())
    return std::nullopt;
  if (expr.size() > 1)
    return sum;
  const Term &term = expr[0];
  if (term.factors.size() != 1 || term.factors[0].halves != 2 || !term.exponent.empty())
    return product;
  const Node &node = *term.factors[0].node();
  return node.kind == Node::Sum ? shapeOf(node.parts[0]) : element;
}

const Reading::Candidates &Reading::candidatesOf(Shape shape) {
  std::optional<Candidates> &found = candidates[shape];
  if (found)
    return *found;
  found.emplace();
  for (auto [value, place] : values)
    if (shapeOf(of(value)) == shape)
      if (std::optional<Algebra::Closed> closed = theAlgebra.close(of(value)))
        (*found)[closed->node].push_back({{value, closed->at, closed->coefficient}, place});
  return *found;
}

/// The indices of a value whose variables, put into `own`, give `wanted`.
static std::optional<Indices> solve(Sizes &sizes, ArrayRef<Index> own, ArrayRef<Index> wanted, unsigned rank) {
  Indices at(rank);
  for (auto [mine, theirs] : llvm::zip(own, wanted))
    for (const Piece &piece : mine.pieces) {
      std::optional<Index> digit = extract(sizes, theirs, piece.multiplier, piece.extent);
      if (!digit || !addScaled(sizes, at[piece.var], *digit, piece.stride))
        return std::nullopt;
    }
  for (Index &index : at)
    normalise(sizes, index);
  // Where the value has one element for several of those wanted, nothing leads from it to them.
  for (auto [mine, theirs] : llvm::zip(own, wanted))
    if (substitute(sizes, mine, [&](Var var) { return at[var]; }) != theirs)
      return std::nullopt;
  return at;
}

std::vector<Reading::Found> Reading::find(const Expr &expr, Operation *user) {
  const unsigned end = places.lookup(user);
  return find(expr, [&](const Candidate &candidate) {
    Value value = candidate.found.value;
    return candidate.place <= end && value.getDefiningOp() != user &&
           value.getParentBlock()->findAncestorOpInBlock(*user);
  });
}

std::vector<Reading::Found> Reading::find(const Expr &expr) {
  return find(expr, [](const Candidate &) { return true; });
}

std::vector<Reading::Found> Reading::find(const Expr &expr, llvm::function_ref<bool(const Candidate &)> isThere) {
  std::vector<Found> found;
  std::optional<Shape> shape = shapeOf(expr);
  std::optional<Algebra::Closed> wanted = shape ? theAlgebra.close(expr) : std::nullopt;
  if (!wanted)
    return found;
  const Candidates &all = candidatesOf(*shape);
  auto known = all.find(wanted->node);
  if (known == all.end())
    return found;
  for (const Candidate &candidate : llvm::reverse(known->second)) {
    if (!isThere(candidate))
      continue;
    auto [value, own, coefficient] = candidate.found;
    SmallVector<Size, 4> extents = sizes(value);
    std::optional<Indices> at = solve(theAlgebra.sizes, own, wanted->at, extents.size());
    if (at && llvm::all_of(llvm::zip(*at, extents),
                           [&](auto pair) { return covers(theAlgebra.sizes, std::get<0>(pair), std::get<1>(pair)); }))
      found.push_back({value, *at, snapped(wanted->coefficient / coefficient)});
  }
  return found;
}

bool Reading::isBefore(Value value, Operation *user) const {
  Operation *maker = value.getDefiningOp();
  return value.getParentBlock()->findAncestorOpInBlock(*user) && (!maker || places.lookup(maker) < places.lookup(user));
}

OpFoldResult Reading::materialise(OpBuilder &builder, Location loc, Size size) {
  if (size.isNumber())
    return builder.getIndexAttr(size.number());
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    for (int dim = 0; type && dim < type.getRank(); ++dim) {
      std::optional<Size> times = theAlgebra.sizes.divide(this->size(argument, dim), size);
      if (!type.isDynamicDim(dim) || !times || !times->isNumber())
        continue;
      OpFoldResult whole = tensor::getMixedSize(builder, loc, argument, dim);
      if (*times == Size(1))
        return whole;
      Value number = arith::ConstantIndexOp::create(builder, loc, times->number());
      return arith::DivUIOp::create(builder, loc, cast<Value>(whole), number).getResult();
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::optional<Expr> OpReader::at(Value operand, ArrayRef<Index> indices) {
  if (ArrayRef<Index>(reading.whole(operand)) == indices)
    return reading.of(operand);
  return algebra.substitute(reading.of(operand), [&](Var var) { return indices[var]; });
}

std::optional<Expr> OpReader::read(Operation *op, unsigned result) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return readLinalg(linalgOp, result);
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return std::nullopt;
  if (op->getDialect()->getNamespace() == "tensor")
    return readTensor(op);
  if (op->getDialect()->getNamespace() == "mhc")
    return isa<BroadcastOp, TransposeOp>(op) ? readMhc(op) : rounded(readMhc(op), op->getResult(0).getType());
  SmallVector<Expr> operands;
  for (Value operand : op->getOperands())
    operands.push_back(reading.of(operand));
  return scalar(op, operands);
}
