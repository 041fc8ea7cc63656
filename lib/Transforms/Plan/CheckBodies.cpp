//===- CheckBodies.cpp - Elements that the body of loops reads by index ---===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "SizeChecker.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include <limits>

using namespace mlir;
using namespace mhc;

/// An operand's dimension that the loop runs along; null where there is none.
static std::pair<Value, int64_t> dimensionOf(linalg::LinalgOp op, unsigned loop) {
  for (OpOperand &operand : op->getOpOperands())
    for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (expr == getAffineDimExpr(loop, op.getContext()))
        return {operand.get(), dim};
  return {};
}

/// Whether the index is that of a loop that is not longer than the dimension, or a number in it.
bool SizeChecker::isInside(linalg::LinalgOp op, Value index, Value buffer, int64_t dim) {
  if (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    return isInside(op, cast.getIn(), buffer, dim);
  OpFoldResult whole = sizeOf(buffer, dim);
  if (std::optional<int64_t> place = getConstantIntValue(index))
    return *place >= 0 && isAtMost(number(*place + 1), whole);
  auto loopIndex = index.getDefiningOp<linalg::IndexOp>();
  auto [operand, place] = loopIndex ? dimensionOf(op, loopIndex.getDim()) : std::pair<Value, int64_t>();
  return operand && isAtMost(sizeOf(operand, place), whole);
}

/// A GPU does not hand its values to the host before all is done: there, the body makes the checks itself.
void SizeChecker::checkBody(linalg::LinalgOp op) {
  for (Operation &inner : llvm::make_early_inc_range(*op.getBlock())) {
    loc = inner.getLoc();
    if (auto load = dyn_cast<memref::LoadOp>(inner)) {
      SmallVector<int64_t> unsure;
      for (auto [dim, index] : llvm::enumerate(load.getIndices()))
        if (!isInside(op, index, load.getMemRef(), dim))
          unsure.push_back(dim);
      if (onGpu && !unsure.empty())
        guardLoad(load, unsure);
      else
        for (int64_t dim : unsure)
          checkIndex(op, load.getIndices()[dim], load.getMemRef(), dim);
      continue;
    }
    auto assertion = dyn_cast<cf::AssertOp>(inner);
    if (!assertion)
      assertion = guardDivision(&inner);
    if (assertion && !onGpu)
      checkAssertion(op, assertion);
  }
}

/// A processor stops the program at a division by zero, and at one of the least number by -1. Such an op divides by
/// one, behind the assertion.
cf::AssertOp SizeChecker::guardDivision(Operation *op) {
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
  if ((!isSigned && !isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op)) ||
      !op->getResult(0).getType().isIntOrIndex())
    return {};
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  std::optional<int64_t> known = getConstantIntValue(divisor);
  if (known && *known != 0 && (*known != -1 || !isSigned))
    return {};
  OpBuilder before(op); // in a body, whose assertions do not stay
  Type type = divisor.getType();
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(before, loc, before.getIntegerAttr(type, value));
  };
  auto isNot = [&](Value value, const APInt &other) -> Value {
    return arith::CmpIOp::create(before, loc, arith::CmpIPredicate::ne, value, constant(other));
  };
  Value isGood = isNot(divisor, APInt::getZero(bits));
  if (isSigned) {
    Value isNotLeast = isNot(dividend, APInt::getSignedMinValue(bits));
    Value fits = arith::OrIOp::create(before, loc, isNotLeast, isNot(divisor, APInt::getAllOnes(bits)));
    isGood = arith::AndIOp::create(before, loc, isGood, fits);
  }
  op->setOperand(1, arith::SelectOp::create(before, loc, isGood, divisor, constant(APInt(bits, 1))));
  return cf::AssertOp::create(before, loc, isGood, "an integer division has a result");
}

/// Checks the indices in these dimensions where they are known, in the body. An element that is not there is zero.
void SizeChecker::guardLoad(memref::LoadOp load, ArrayRef<int64_t> dims) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(load);
  Value isThere;
  for (int64_t dim : dims) {
    Value place = load.getIndices()[dim];
    OpFoldResult size = sizeOf(load.getMemRef(), dim);
    require(place, number(0), less(size, number(1)), "the index in dimension " + Twine(dim));
    Value isInside = // as a number without sign, a negative one is large
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, place, index(size));
    isThere = isThere ? arith::AndIOp::create(builder, loc, isThere, isInside).getResult() : isInside;
  }
  auto branch = scf::IfOp::create(builder, loc, load.getType(), isThere, /*withElseRegion=*/true);
  load.replaceAllUsesWith(branch.getResult(0));
  builder.setInsertionPointToStart(branch.elseBlock());
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(load.getType()));
  scf::YieldOp::create(builder, loc, zero);
  builder.setInsertionPointToStart(branch.thenBlock());
  load->moveBefore(scf::YieldOp::create(builder, loc, load.getResult()));
}

namespace {
/// The ops that compute a number in the body of loops.
struct BodySlice {
  linalg::LinalgOp op;
  SmallVector<Operation *> ops;     ///< in order
  llvm::SetVector<unsigned> inputs; ///< operands that are read
  llvm::SetVector<unsigned> loops;  ///< that make a difference

  BodySlice(linalg::LinalgOp op, Value number) : op(op) {
    add(number);
    for (unsigned input : inputs)
      op.getMatchingIndexingMap(&op->getOpOperand(input)).walkExprs([&](AffineExpr expr) {
        if (auto loop = dyn_cast<AffineDimExpr>(expr))
          loops.insert(loop.getPosition());
      });
  }

  void add(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == op.getBlock())
      inputs.insert(op.getMatchingOpOperand(argument)->getOperandNumber());
    Operation *maker = value.getDefiningOp();
    if (!maker || !op->isProperAncestor(maker) || llvm::is_contained(ops, maker))
      return;
    if (auto loopIndex = dyn_cast<linalg::IndexOp>(maker))
      loops.insert(loopIndex.getDim());
    llvm::for_each(maker->getOperands(), [&](Value operand) { add(operand); });
    ops.push_back(maker);
  }
};
} // namespace

/// Loops in front find the least and the largest value of an index or a condition in all iterations.
std::pair<Value, Value> SizeChecker::boundsOf(linalg::LinalgOp op, Value number) {
  BodySlice slice(op, number);
  SmallVector<AffineExpr> places(op.getNumLoops());
  for (auto [place, loop] : llvm::enumerate(slice.loops))
    places[loop] = builder.getAffineDimExpr(place);
  for (AffineExpr &place : places)
    place = place ? place : builder.getAffineConstantExpr(0);
  SmallVector<Value> inputs, bounds;
  SmallVector<AffineMap> maps;
  auto addInput = [&](Value input, AffineMap map) {
    inputs.push_back(input);
    maps.push_back(map);
  };
  for (unsigned input : slice.inputs)
    addInput(
        op->getOperand(input),
        op.getMatchingIndexingMap(&op->getOpOperand(input)).replaceDimsAndSymbols(places, {}, slice.loops.size(), 0));
  for (unsigned loop : slice.loops)
    addInput(lineAlong(op, loop), AffineMap::get(slice.loops.size(), 0, places[loop]));

  auto type = MemRefType::get({}, builder.getI64Type());
  for (int64_t start : {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    bounds.push_back(memref::AllocOp::create(builder, loc, type));
    Value bound = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(start));
    memref::StoreOp::create(builder, loc, bound, bounds.back());
    maps.push_back(AffineMap::get(slice.loops.size(), 0, builder.getContext()));
  }
  SmallVector<utils::IteratorType> kinds(slice.loops.size(), utils::IteratorType::reduction);
  auto build = [&](OpBuilder &body, Location, ValueRange arguments) {
    IRMapping mapping;
    for (auto [place, input] : llvm::enumerate(slice.inputs))
      mapping.map(op.getMatchingBlockArgument(&op->getOpOperand(input)), arguments[place]);
    for (Operation *inner : slice.ops) {
      Operation *copy = body.clone(*inner, mapping);
      if (auto loopIndex = dyn_cast<linalg::IndexOp>(copy))
        loopIndex.setDim(cast<AffineDimExpr>(places[loopIndex.getDim()]).getPosition());
    }
    Value found = mapping.lookupOrDefault(number);
    if (found.getType().isIndex())
      found = arith::IndexCastOp::create(body, loc, body.getI64Type(), found);
    else
      found = arith::ExtUIOp::create(body, loc, body.getI64Type(), found);
    Value least = arith::MinSIOp::create(body, loc, arguments.take_back(2).front(), found);
    Value largest = arith::MaxSIOp::create(body, loc, arguments.back(), found);
    linalg::YieldOp::create(body, loc, ValueRange{least, largest});
  };
  linalg::GenericOp::create(builder, loc, inputs, bounds, maps, kinds, build);
  return {memref::LoadOp::create(builder, loc, bounds[0]), memref::LoadOp::create(builder, loc, bounds[1])};
}

/// A part of an operand that is as long as the loop, and has no other dimension.
Value SizeChecker::lineAlong(linalg::LinalgOp op, unsigned loop) {
  auto [operand, place] = dimensionOf(op, loop);
  int64_t rank = typeOf(operand).getRank();
  SmallVector<OpFoldResult> offsets(rank, number(0)), lengths(rank, number(1)), strides(rank, number(1));
  lengths[place] = sizeOf(operand, place);
  int64_t length = typeOf(operand).getDimSize(place);
  MemRefType type = memref::SubViewOp::inferRankReducedResultType({length}, typeOf(operand), offsets, lengths, strides);
  return memref::SubViewOp::create(builder, loc, type, operand, offsets, lengths, strides);
}

/// One index is outside where the least or the largest is; there is none where the largest is less than the least.
void SizeChecker::checkIndex(linalg::LinalgOp op, Value place, Value buffer, int64_t dim) {
  auto [least, largest] = boundsOf(op, place);
  OpFoldResult high = less(sizeOf(buffer, dim), number(1));
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
  };
  auto is = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  };
  Value zero = constant(0), isNegative = is(arith::CmpIPredicate::slt, least, zero);
  Value worst = arith::SelectOp::create(builder, loc, isNegative, least, largest);
  Value isNone = is(arith::CmpIPredicate::sgt, least, largest);
  Value low = arith::SelectOp::create(builder, loc, isNone, largest, zero);
  Value top = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index(high));
  top = arith::SelectOp::create(builder, loc, isNone, largest, top);
  auto asIndex = [&](Value value) -> OpFoldResult {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value).getResult();
  };
  require(asIndex(worst), asIndex(low), asIndex(top), "the index in dimension " + Twine(dim));
}

/// Fails in front of the loops, so that no iteration runs.
void SizeChecker::checkAssertion(linalg::LinalgOp op, cf::AssertOp assertion) {
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  Value all =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, boundsOf(op, assertion.getArg()).first, zero);
  cf::AssertOp::create(builder, loc, all, assertion.getMsg());
  assertion.erase();
}
