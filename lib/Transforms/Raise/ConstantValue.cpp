//===- ConstantValue.cpp - The number that all elements of a value are --------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//

#include "Raise.h"
#include "mhc/IR/Constants.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mhc;

static std::optional<double> rounded(std::optional<double> number, FloatType type) {
  if (!number)
    return std::nullopt;
  APFloat result(*number);
  bool losesInfo;
  result.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return asWritten(result);
}

/// The numbers of what was joined, each worked out once: parts of a join may be joined again, and often are.
using JoinedNumbers = llvm::SmallDenseMap<Value, std::optional<double>, 4>;

static std::optional<double> constantValue(Value value, JoinedNumbers &joined) {
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return constantValue(splat.getInput(), joined);
  if (Operation *op = value.getDefiningOp();
      isa_and_nonnull<BroadcastOp, TransposeOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp,
                      tensor::CastOp, arith::ExtFOp>(op))
    return constantValue(op->getOperand(0), joined);
  if (auto concat = value.getDefiningOp<tensor::ConcatOp>()) {
    if (auto known = joined.find(value); known != joined.end())
      return known->second;
    std::optional<double> first = constantValue(concat.getInputs()[0], joined);
    bool equal = first && llvm::all_of(concat.getInputs().drop_front(),
                                       [&](Value part) { return constantValue(part, joined) == first; });
    return joined[value] = equal ? first : std::nullopt;
  }
  if (auto div = value.getDefiningOp<arith::DivFOp>()) {
    std::optional<double> by = constantValue(div.getRhs(), joined);
    std::optional<double> number = by && *by != 0 ? constantValue(div.getLhs(), joined) : std::nullopt;
    return rounded(number ? std::optional(*number / *by) : std::nullopt, cast<FloatType>(getElementTypeOrSelf(value)));
  }
  if (auto trunc = value.getDefiningOp<arith::TruncFOp>())
    return rounded(constantValue(trunc.getIn(), joined), cast<FloatType>(getElementTypeOrSelf(value)));
  DenseElementsAttr elements;
  FloatAttr scalar;
  if (matchPattern(value, m_Constant(&scalar)))
    return asWritten(scalar.getValue());
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat() && isa<FloatType>(elements.getElementType()))
    return asWritten(elements.getSplatValue<APFloat>());
  return std::nullopt;
}

bool mhc::isPowerOfTwo(double number) {
  int exponent;
  return std::abs(std::frexp(number, &exponent)) == 0.5;
}

std::optional<double> mhc::constantValue(Value value) {
  JoinedNumbers joined;
  return ::constantValue(value, joined);
}
