//===- Sizes.cpp - Sizes as polynomials of symbols ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sizes.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mhc;

template <typename Function>
static std::optional<Polynomial> combine(const std::optional<Polynomial> &a, const std::optional<Polynomial> &b,
                                         Function function) {
  if (!a || !b)
    return std::nullopt;
  return function(*a, *b);
}

SizeAnalysis::SizeAnalysis(func::FuncOp func) : func(func) {}

std::optional<Polynomial> SizeAnalysis::elements(MemRefType type, ValueRange dynamicSizes) {
  std::optional<Polynomial> count = constantPolynomial(1);
  auto dynamic = dynamicSizes.begin();
  for (int64_t size : type.getShape())
    count = combine(count, ShapedType::isDynamic(size) ? evaluate(*dynamic++) : constantPolynomial(size), multiply);
  return count;
}

std::optional<Polynomial> SizeAnalysis::evaluate(Value index) {
  auto found = known.find(index);
  if (found != known.end())
    return found->second;
  std::optional<Polynomial> value = compute(index);
  known[index] = value;
  return value;
}

std::optional<Polynomial> SizeAnalysis::compute(Value index) {
  if (std::optional<int64_t> value = getConstantIntValue(index))
    return constantPolynomial(*value);
  Operation *op = index.getDefiningOp();
  if (!op)
    return std::nullopt;
  std::optional<Polynomial> exact = polynomialOf(op);
  return exact ? exact : numberOf(op);
}

std::optional<Polynomial> SizeAnalysis::polynomialOf(Operation *op) {
  return TypeSwitch<Operation *, std::optional<Polynomial>>(op)
      .Case([&](arith::AddIOp op) { return combine(evaluate(op.getLhs()), evaluate(op.getRhs()), add); })
      .Case([&](arith::SubIOp op) { return combine(evaluate(op.getLhs()), evaluate(op.getRhs()), subtract); })
      .Case([&](arith::MulIOp op) { return combine(evaluate(op.getLhs()), evaluate(op.getRhs()), multiply); })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(
          [&](auto op) { return combine(evaluate(op.getLhs()), evaluate(op.getRhs()), divide); })
      .Case([&](arith::IndexCastOp op) { return evaluate(op.getIn()); })
      .Case([&](memref::DimOp op) -> std::optional<Polynomial> {
        std::optional<int64_t> dim = op.getConstantIndex();
        return dim ? sizeOf(op.getSource(), *dim) : std::nullopt;
      })
      .Case([&](affine::AffineApplyOp op) {
        unsigned dims = op.getMap().getNumDims();
        return evaluate(op.getMap().getResult(0), op.getMapOperands().take_front(dims),
                        op.getMapOperands().drop_front(dims));
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Whether sizes of this type, or conditions on them, may be taken for index values.
static bool holdsSizes(Type type) {
  return type.isIndex() || type.isSignlessInteger(1) || type.isSignlessInteger(32) || type.isSignlessInteger(64);
}

/// A symbol for what the op computes, where the entry could compute it at its beginning.
std::optional<Polynomial> SizeAnalysis::numberOf(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || op->getNumOperands() == 0 || !isPure(op) ||
      !llvm::all_of(op->getOperandTypes(), holdsSizes) || !holdsSizes(op->getResult(0).getType()))
    return std::nullopt;
  SizeSymbol symbol{"?", {}, 0, op, {}};
  for (Value operand : op->getOperands()) {
    std::optional<Polynomial> size = evaluate(operand);
    if (!size)
      return std::nullopt;
    symbol.operands.push_back(*size);
  }
  return symbolPolynomial(addSymbol(std::move(symbol)));
}

unsigned SizeAnalysis::addSymbol(SizeSymbol symbol) {
  symbols.push_back(std::move(symbol));
  return symbols.size() - 1;
}

std::optional<Polynomial> SizeAnalysis::evaluate(OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size))
    return evaluate(value);
  return constantPolynomial(cast<IntegerAttr>(cast<Attribute>(size)).getInt());
}

std::optional<Polynomial> SizeAnalysis::evaluate(AffineExpr expr, ValueRange dims, ValueRange symbols) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return evaluate(dims[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return evaluate(symbols[symbol.getPosition()]);
  if (auto value = dyn_cast<AffineConstantExpr>(expr))
    return constantPolynomial(value.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<Polynomial> lhs = evaluate(binary.getLHS(), dims, symbols);
  std::optional<Polynomial> rhs = evaluate(binary.getRHS(), dims, symbols);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return combine(lhs, rhs, add);
  case AffineExprKind::Mul:
    return combine(lhs, rhs, multiply);
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    return combine(lhs, rhs, divide);
  default:
    return std::nullopt;
  }
}

std::optional<Polynomial> SizeAnalysis::product(ArrayRef<OpFoldResult> sizes) {
  std::optional<Polynomial> result = constantPolynomial(1);
  for (OpFoldResult size : sizes)
    result = combine(result, evaluate(size), multiply);
  return result;
}

std::optional<Polynomial> SizeAnalysis::sizeOf(Value buffer, int64_t dim) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.isDynamicDim(dim))
    return constantPolynomial(type.getDimSize(dim));
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return argumentSize(argument, dim);
  return TypeSwitch<Operation *, std::optional<Polynomial>>(buffer.getDefiningOp())
      .Case<memref::AllocOp, memref::ReinterpretCastOp>([&](auto op) { return evaluate(op.getMixedSizes()[dim]); })
      .Case([&](memref::ExpandShapeOp op) { return evaluate(op.getMixedOutputShape()[dim]); })
      .Case([&](memref::CastOp op) { return sizeOf(op.getSource(), dim); })
      .Case([&](memref::CollapseShapeOp op) {
        std::optional<Polynomial> result = constantPolynomial(1);
        ReassociationIndices group = op.getReassociationIndices()[dim];
        for (int64_t inner : group)
          result = combine(result, sizeOf(op.getSrc(), inner), multiply);
        return result;
      })
      .Case([&](memref::SubViewOp op) -> std::optional<Polynomial> {
        llvm::SmallBitVector dropped = op.getDroppedDims();
        for (auto [i, size] : llvm::enumerate(op.getMixedSizes()))
          if (!dropped[i] && dim-- == 0)
            return evaluate(size);
        return std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<Polynomial> SizeAnalysis::argumentSize(BlockArgument argument, int64_t dim) {
  auto dims = func.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kDims);
  if (!dims)
    return std::nullopt;
  bool isKnown = true;
  auto symbolNamed = [&](StringRef name) {
    auto [entry, isNew] = arguments.try_emplace(name);
    if (isNew)
      entry->second = addArgument(name);
    isKnown &= entry->second.has_value();
    return entry->second.value_or(0);
  };
  std::optional<Polynomial> size = parsePolynomial(cast<StringAttr>(dims[dim]).getValue(), symbolNamed);
  return isKnown ? size : std::nullopt;
}

/// A symbol for the first dimension of an argument that is called so.
std::optional<unsigned> SizeAnalysis::addArgument(StringRef name) {
  for (BlockArgument argument : func.getArguments())
    if (auto dims = func.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kDims))
      for (auto [dim, text] : llvm::enumerate(dims.getAsRange<StringAttr>()))
        if (text.getValue() == name)
          return addSymbol({name.str(), argument, static_cast<int64_t>(dim), nullptr, {}});
  return std::nullopt;
}
