//===- CheckSizes.cpp - Sizes and places that are known when an entry runs ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manifest states what sizes of arguments must fulfil. What buffers are used for demands more: that a part lies in
// its whole, that an element is there, that sizes which the program computes are equal. What does not follow from the
// manifest is checked where the entry runs.
//
//===----------------------------------------------------------------------===//

#include "Sizes.h"
#include "mhc/IR/KernelInfo.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/IR/SizeCheck.h"
#include "mhc/Transforms/OpsOutsideBodies.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

namespace mhc {
#define GEN_PASS_DEF_CHECKSIZESPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

namespace {
class SizeChecker : OpBuilder::Listener {
public:
  SizeChecker(func::FuncOp func, bool onGpu)
      : func(func), sizes(func), onGpu(onGpu), builder(func.getContext(), this) {}

  void run() {
    for (Operation *op : opsOutsideBodies(func)) {
      builder.setInsertionPoint(op);
      loc = op->getLoc();
      check(op);
    }
    for (Operation *op : llvm::reverse(made)) // for what needed no check
      if (isOpTriviallyDead(op))
        op->erase();
  }

private:
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { made.push_back(op); }

  void check(Operation *op) {
    TypeSwitch<Operation *>(op)
        .Case([&](linalg::LinalgOp loops) {
          checkLoops(loops);
          checkBody(loops);
        })
        .Case([&](memref::CopyOp copy) { checkCopy(copy); })
        .Case([&](memref::CastOp cast) { checkCast(cast); })
        .Case([&](memref::SubViewOp slice) { checkSlice(slice); })
        .Case([&](memref::ExpandShapeOp split) { checkSplit(split); })
        .Case([&](memref::LoadOp load) { checkElement(load.getMemRef(), load.getIndices()); })
        .Case([&](memref::StoreOp store) { checkElement(store.getMemRef(), store.getIndices()); })
        .Case([&](LaunchOp launch) { checkLaunch(launch); });
  }

  void checkLoops(linalg::LinalgOp op);
  std::pair<OpFoldResult, OpFoldResult> rangeOf(AffineExpr expr, ArrayRef<OpFoldResult> ends);
  void checkPlaces(linalg::LinalgOp op, OpOperand &operand, int64_t dim, AffineExpr expr,
                   ArrayRef<std::pair<Value, int64_t>> loops);
  void checkBody(linalg::LinalgOp op);
  void guardLoad(memref::LoadOp load, ArrayRef<int64_t> dims);
  bool isInside(linalg::LinalgOp op, Value index, Value buffer, int64_t dim);
  void checkIndex(linalg::LinalgOp op, Value index, Value buffer, int64_t dim);
  void checkAssertion(linalg::LinalgOp op, cf::AssertOp assertion);
  std::pair<Value, Value> boundsOf(linalg::LinalgOp op, Value number);
  Value lineAlong(linalg::LinalgOp op, unsigned loop);
  void checkSlice(memref::SubViewOp op);
  void checkSplit(memref::ExpandShapeOp op);
  void checkElement(Value buffer, ValueRange indices);
  void checkLaunch(LaunchOp op);
  void checkCopy(memref::CopyOp op);
  void checkCast(memref::CastOp op);

  /// Whether `high` is at least `low` for all sizes that the manifest allows.
  bool isAtMost(OpFoldResult low, OpFoldResult high);
  bool isAtLeastZero(const Polynomial &value);
  std::optional<std::pair<Polynomial, int64_t>> quotientOf(unsigned symbol);
  bool isEqual(Value a, int64_t i, Value b, int64_t j);
  void requireEqual(OpFoldResult a, OpFoldResult b, const Twine &what) { require(a, b, b, what); }
  void require(OpFoldResult value, OpFoldResult low, OpFoldResult high, const Twine &what);

  static MemRefType typeOf(Value buffer) { return cast<MemRefType>(buffer.getType()); }
  OpFoldResult number(int64_t value) { return builder.getIndexAttr(value); }
  Value index(OpFoldResult size) { return getValueOrCreateConstantIndexOp(builder, loc, size); }
  OpFoldResult sizeOf(Value buffer, int64_t dim) { return memref::getMixedSize(builder, loc, buffer, dim); }
  template <typename Op>
  OpFoldResult compute(OpFoldResult a, OpFoldResult b) {
    return builder.createOrFold<Op>(loc, index(a), index(b));
  }
  OpFoldResult less(OpFoldResult a, OpFoldResult b) { return compute<arith::SubIOp>(a, b); }
  OpFoldResult times(OpFoldResult a, OpFoldResult b) { return compute<arith::MulIOp>(a, b); }

  func::FuncOp func;
  SizeAnalysis sizes;
  bool onGpu;
  OpBuilder builder;
  Location loc = builder.getUnknownLoc();
  SmallVector<Operation *> made;
};
} // namespace

/// What is divided, and by what number, where the symbol is a quotient of a sum of sizes.
std::optional<std::pair<Polynomial, int64_t>> SizeChecker::quotientOf(unsigned symbol) {
  const SizeSymbol &known = sizes.symbol(symbol);
  if (!isa_and_nonnull<arith::DivSIOp>(known.op) || !isAtLeastZero(known.operands[0]))
    return std::nullopt;
  std::optional<int64_t> divisor = constantOf(known.operands[1]);
  return divisor && *divisor > 0 ? std::optional(std::pair(known.operands[0], *divisor)) : std::nullopt;
}

/// Sizes of arguments are not negative, nor are quotients of them; what another op computes may be. A quotient times
/// the divisor is at most what was divided.
bool SizeChecker::isAtLeastZero(const Polynomial &value) {
  std::optional<Polynomial> least = Polynomial();
  for (const auto &[symbols, factor] : value) {
    auto quotient = symbols.size() == 1 && factor < 0 ? quotientOf(symbols.front()) : std::nullopt;
    std::optional<Polynomial> term = Polynomial{{symbols, factor}};
    if (quotient && factor % quotient->second == 0)
      term = multiply(quotient->first, constantPolynomial(factor / quotient->second));
    least = least && term ? add(*least, *term) : std::nullopt;
  }
  return least && llvm::all_of(*least, [&](const auto &term) {
           return term.second > 0 &&
                  llvm::all_of(term.first, [&](unsigned s) { return !sizes.symbol(s).op || quotientOf(s); });
         });
}

bool SizeChecker::isAtMost(OpFoldResult low, OpFoldResult high) {
  std::optional<Polynomial> from = sizes.evaluate(low), to = sizes.evaluate(high);
  std::optional<Polynomial> difference = from && to ? subtract(*to, *from) : std::nullopt;
  return difference && isAtLeastZero(*difference);
}

void SizeChecker::require(OpFoldResult value, OpFoldResult low, OpFoldResult high, const Twine &what) {
  if (isAtMost(low, value) && isAtMost(value, high))
    return;
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(func, builder.getStringAttr(kCheckSize));
  if (!callee) {
    OpBuilder atModule(func);
    Type size = builder.getIndexType();
    callee = func::FuncOp::create(atModule, func.getLoc(), kCheckSize, builder.getFunctionType({size, size, size}, {}));
    callee.setPrivate();
  }
  Value operands[] = {index(value), index(low), index(high)};
  auto call = func::CallOp::create(builder, loc, callee, operands);
  call->setAttr(kCheckedSize, builder.getStringAttr(what));
}

bool SizeChecker::isEqual(Value a, int64_t i, Value b, int64_t j) {
  std::optional<Polynomial> first = sizes.sizeOf(a, i);
  return first && first == sizes.sizeOf(b, j);
}

void SizeChecker::checkCopy(memref::CopyOp op) {
  Value from = op.getSource(), to = op.getTarget();
  for (int64_t dim = 0; dim < typeOf(from).getRank(); ++dim)
    if (!isEqual(from, dim, to, dim))
      requireEqual(sizeOf(from, dim), sizeOf(to, dim), "dimension " + Twine(dim) + " of what is copied");
}

void SizeChecker::checkCast(memref::CastOp op) {
  auto from = dyn_cast<MemRefType>(op.getSource().getType()), to = dyn_cast<MemRefType>(op.getType());
  for (int64_t dim = 0; from && to && dim < from.getRank(); ++dim)
    if (from.isDynamicDim(dim) && !to.isDynamicDim(dim))
      requireEqual(sizeOf(op.getSource(), dim), number(to.getDimSize(dim)), "dimension " + Twine(dim) + " of a cast");
}

/// All dimensions that one loop runs along are as long as it; in others all places are there.
void SizeChecker::checkLoops(linalg::LinalgOp op) {
  SmallVector<std::pair<Value, int64_t>> first(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands())
    for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto place = static_cast<int64_t>(dim);
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      auto &[buffer, other] = first[loop.getPosition()];
      if (!buffer)
        std::tie(buffer, other) = std::pair(operand.get(), place);
      else if (!isEqual(operand.get(), place, buffer, other))
        requireEqual(sizeOf(operand.get(), place), sizeOf(buffer, other),
                     "dimension " + Twine(place) + " of operand " + Twine(operand.getOperandNumber()));
    }
  for (OpOperand &operand : op->getOpOperands())
    for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (!isa<AffineDimExpr>(expr))
        checkPlaces(op, operand, dim, expr, first);
}

/// The least and the largest value of an expression of loops, the last turn of each of which is in `ends`.
std::pair<OpFoldResult, OpFoldResult> SizeChecker::rangeOf(AffineExpr expr, ArrayRef<OpFoldResult> ends) {
  if (auto known = dyn_cast<AffineConstantExpr>(expr))
    return {number(known.getValue()), number(known.getValue())};
  if (auto loop = dyn_cast<AffineDimExpr>(expr))
    return {number(0), ends[loop.getPosition()]};
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto [low, high] = rangeOf(binary.getLHS(), ends);
  auto [otherLow, otherHigh] = rangeOf(binary.getRHS(), ends); // one number, but in a sum
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return {compute<arith::AddIOp>(low, otherLow), compute<arith::AddIOp>(high, otherHigh)};
  case AffineExprKind::Mul:
    if (*getConstantIntValue(otherLow) < 0)
      std::swap(low, high);
    return {times(low, otherLow), times(high, otherLow)};
  case AffineExprKind::FloorDiv:
    return {compute<arith::FloorDivSIOp>(low, otherLow), compute<arith::FloorDivSIOp>(high, otherLow)};
  case AffineExprKind::CeilDiv:
    return {compute<arith::CeilDivSIOp>(low, otherLow), compute<arith::CeilDivSIOp>(high, otherLow)};
  default: // a remainder
    return {number(0), compute<arith::MinSIOp>(high, less(otherLow, number(1)))};
  }
}

/// `loops` has a dimension that is as long as each loop. Loops without a turn read nothing.
void SizeChecker::checkPlaces(linalg::LinalgOp op, OpOperand &operand, int64_t dim, AffineExpr expr,
                              ArrayRef<std::pair<Value, int64_t>> loops) {
  SmallVector<OpFoldResult> ends;
  OpFoldResult turns = number(1);
  for (auto [buffer, other] : loops) {
    OpFoldResult size = sizeOf(buffer, other);
    ends.push_back(less(size, number(1)));
    turns = times(turns, size);
  }
  auto [least, largest] = rangeOf(expr, ends);
  OpFoldResult last = less(sizeOf(operand.get(), dim), number(1));
  if (isAtMost(number(0), least) && isAtMost(largest, last))
    return;
  Value none = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, index(turns), index(number(0)));
  auto orZero = [&](OpFoldResult place) -> OpFoldResult {
    return builder.createOrFold<arith::SelectOp>(loc, none, index(number(0)), index(place));
  };
  std::string what =
      "the index in dimension " + std::to_string(dim) + " of operand " + std::to_string(operand.getOperandNumber());
  for (OpFoldResult place : {least, largest})
    require(orZero(place), number(0), orZero(last), what);
}

//===----------------------------------------------------------------------===//
// Elements that the body of loops reads by index
//===----------------------------------------------------------------------===//

/// An operand's dimension that the loop runs along; null where there is none.
static std::pair<Value, int64_t> dimensionOf(linalg::LinalgOp op, unsigned loop) {
  for (OpOperand &operand : op->getOpOperands())
    for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (expr == getAffineDimExpr(loop, op.getContext()))
        return {operand.get(), dim};
  return {};
}

/// Whether the index is the turn of a loop that is not longer than the dimension, or a number in it.
bool SizeChecker::isInside(linalg::LinalgOp op, Value index, Value buffer, int64_t dim) {
  if (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    return isInside(op, cast.getIn(), buffer, dim);
  OpFoldResult whole = sizeOf(buffer, dim);
  if (std::optional<int64_t> place = getConstantIntValue(index))
    return *place >= 0 && isAtMost(number(*place + 1), whole);
  auto turn = index.getDefiningOp<linalg::IndexOp>();
  auto [operand, place] = turn ? dimensionOf(op, turn.getDim()) : std::pair<Value, int64_t>();
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
    } else if (auto assertion = dyn_cast<cf::AssertOp>(inner); assertion && !onGpu) {
      checkAssertion(op, assertion);
    }
  }
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
/// What computes a number in the body of loops.
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
    if (auto turn = dyn_cast<linalg::IndexOp>(maker))
      loops.insert(turn.getDim());
    llvm::for_each(maker->getOperands(), [&](Value operand) { add(operand); });
    ops.push_back(maker);
  }
};
} // namespace

/// Loops in front find the least and the largest value of an index or a condition in all turns.
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
      if (auto turn = dyn_cast<linalg::IndexOp>(copy))
        turn.setDim(cast<AffineDimExpr>(places[turn.getDim()]).getPosition());
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

/// Fails in front of the loops, so that no turn runs.
void SizeChecker::checkAssertion(linalg::LinalgOp op, cf::AssertOp assertion) {
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  Value all =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, boundsOf(op, assertion.getArg()).first, zero);
  cf::AssertOp::create(builder, loc, all, assertion.getMsg());
  assertion.erase();
}

//===----------------------------------------------------------------------===//
// Parts and shapes
//===----------------------------------------------------------------------===//

/// The part is not longer than the whole, begins in it and ends in it.
void SizeChecker::checkSlice(memref::SubViewOp op) {
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    std::string place = " of a slice in dimension " + std::to_string(dim);
    OpFoldResult whole = sizeOf(op.getSource(), dim), one = number(1);
    if (!isConstantIntValue(stride, 1))
      require(stride, one, number(INT32_MAX), "the step" + place);
    require(size, number(0), whole, "the size" + place);
    // An empty part may begin at the end.
    OpFoldResult last =
        isConstantIntValue(stride, 1) ? less(whole, size) : less(less(whole, one), times(less(size, one), stride));
    require(offset, number(0), last, "the offset" + place);
  }
}

/// As many elements before and after.
void SizeChecker::checkSplit(memref::ExpandShapeOp op) {
  SmallVector<OpFoldResult> parts = op.getMixedOutputShape();
  for (auto [i, group] : llvm::enumerate(op.getReassociationIndices())) {
    OpFoldResult product = number(1);
    for (int64_t dim : group) {
      if (!isAtMost(number(0), parts[dim]))
        require(parts[dim], number(0), sizeOf(op.getSrc(), i), "the size of dimension " + Twine(dim));
      product = times(product, parts[dim]);
    }
    OpFoldResult whole = sizeOf(op.getSrc(), i);
    std::optional<Polynomial> before = sizes.evaluate(whole);
    if (!before || before != sizes.evaluate(product))
      requireEqual(product, whole, "the product of sizes that dimension " + Twine(i) + " is split into");
  }
}

void SizeChecker::checkElement(Value buffer, ValueRange indices) {
  for (auto [dim, index] : llvm::enumerate(indices))
    require(index, number(0), less(sizeOf(buffer, dim), number(1)), "the index in dimension " + Twine(dim));
}

/// Dimensions of one name in the op's record have one size.
void SizeChecker::checkLaunch(LaunchOp op) {
  const KernelInfo &info = *lookupKernelInfo(op.getKernel());
  SmallVector<std::pair<Value, int64_t>> first(info.dims.size());
  ValueRange inputs = op.getInputs(), outputs = op.getOutputs();
  for (auto [tensor, count] : llvm::zip(info.tensors, op.getCounts())) {
    ValueRange &rest = tensor.isResult ? outputs : inputs;
    for (Value buffer : rest.take_front(count))
      for (auto [dim, name] : llvm::enumerate(kernelTensorDims(op.getConfig(), tensor))) {
        auto &[other, place] = first[name];
        if (!other)
          std::tie(other, place) = std::pair(buffer, static_cast<int64_t>(dim));
        else if (!isEqual(buffer, dim, other, place))
          requireEqual(sizeOf(buffer, dim), sizeOf(other, place), "'" + info.dims[name] + "' of '" + tensor.name + "'");
      }
    rest = rest.drop_front(count);
  }
}

namespace {
struct CheckSizes : mhc::impl::CheckSizesPassBase<CheckSizes> {
  using CheckSizesPassBase::CheckSizesPassBase;

  void runOnOperation() override {
    for (func::FuncOp func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (func.isPublic() && !func.isDeclaration())
        SizeChecker(func, onGpu).run();
  }
};
} // namespace
