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

#include "SizeChecker.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/KernelInfo.h"
#include "mhc/IR/OutsideFunctions.h"
#include "mhc/IR/SizeCheck.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/SymbolTable.h"

namespace mhc {
#define GEN_PASS_DEF_CHECKSIZESPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

/// Dividend and divisor of a symbol that is a quotient of a sum of sizes.
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

/// The least and the largest value of an expression of loops, the last iteration of each of which is in `ends`.
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

/// `loops` has a dimension that is as long as each loop. Loops without an iteration read nothing.
void SizeChecker::checkPlaces(linalg::LinalgOp op, OpOperand &operand, int64_t dim, AffineExpr expr,
                              ArrayRef<std::pair<Value, int64_t>> loops) {
  SmallVector<OpFoldResult> ends;
  OpFoldResult iterations = number(1);
  for (auto [buffer, other] : loops) {
    OpFoldResult size = sizeOf(buffer, other);
    ends.push_back(less(size, number(1)));
    iterations = times(iterations, size);
  }
  auto [least, largest] = rangeOf(expr, ends);
  OpFoldResult last = less(sizeOf(operand.get(), dim), number(1));
  if (isAtMost(number(0), least) && isAtMost(largest, last))
    return;
  Value none = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, index(iterations), index(number(0)));
  auto orZero = [&](OpFoldResult place) -> OpFoldResult {
    return builder.createOrFold<arith::SelectOp>(loc, none, index(number(0)), index(place));
  };
  std::string what =
      "the index in dimension " + std::to_string(dim) + " of operand " + std::to_string(operand.getOperandNumber());
  for (OpFoldResult place : {least, largest})
    require(orZero(place), number(0), orZero(last), what);
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

/// Dimensions of one name in the function's signature have one size.
void SizeChecker::checkCall(func::CallOp op) {
  func::FuncOp callee = outsideCallee(op);
  DenseMap<Attribute, std::pair<Value, int64_t>> first;
  for (auto [i, buffer] : llvm::enumerate(op.getOperands()))
    if (callee)
      for (auto [dim, name] : llvm::enumerate(callee.getArgAttrOfType<ArrayAttr>(i, kDims).getAsRange<StringAttr>())) {
        auto place = static_cast<int64_t>(dim);
        auto [other, isNew] = first.try_emplace(name, std::pair(buffer, place));
        if (!isNew && !isEqual(buffer, place, other->second.first, other->second.second))
          requireEqual(sizeOf(buffer, place), sizeOf(other->second.first, other->second.second),
                       "'" + name.getValue() + "' of '" +
                           callee.getArgAttrOfType<StringAttr>(i, "mhc.name").getValue() + "' in the call of '" +
                           callee.getName() + "'");
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
