//===- RewritesArithmetic.cpp - Other words for arithmetic ----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RewriteRules.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace mhc::conformance {

/// The number that all elements of a tensor are.
static std::optional<double> numberOf(Value value) {
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    value = splat.getInput();
  FloatAttr scalar;
  if (matchPattern(value, m_Constant(&scalar)))
    return scalar.getValueAsDouble();
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat() && isa<FloatType>(elements.getElementType()))
    return elements.getSplatValue<FloatAttr>().getValueAsDouble();
  return std::nullopt;
}

static Value number(Place &place, double value, Value like) { return place.leaf.splat(value, like); }

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

Value commute(Place &place) {
  if (!isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp>(place.op))
    return {};
  return place.again({place.operand(1), place.operand(0)}, place.type());
}

/// (a + b) + c as a + (b + c), or the other way round.
Value reassociate(Place &place) {
  if (!isa<arith::AddFOp, arith::MulFOp>(place.op))
    return {};
  Value left = place.operand(0), right = place.operand(1);
  auto inner = [&](Value value) -> Operation * {
    Operation *op = value.getDefiningOp();
    return op && op->getName() == place.op->getName() ? op : nullptr;
  };
  if (Operation *op = inner(left))
    return place.again({op->getOperand(0), place.again({op->getOperand(1), right}, place.type())}, place.type());
  if (Operation *op = inner(right))
    return place.again({place.again({left, op->getOperand(0)}, place.type()), op->getOperand(1)}, place.type());
  return {};
}

Value subtractByAdding(Place &place) {
  if (!isa<arith::SubFOp>(place.op))
    return {};
  return place.leaf.add(place.operand(0), place.leaf.negate(place.operand(1)));
}

Value negateByArithmetic(Place &place) {
  if (!isa<arith::NegFOp>(place.op))
    return {};
  Value x = place.operand(0);
  return place.random.flip() ? place.leaf.sub(number(place, 0, x), x) : place.leaf.mul(x, number(place, -1, x));
}

Value divideByReciprocal(Place &place) {
  if (!isa<arith::DivFOp>(place.op) || numberOf(place.operand(0)))
    return {};
  Value divisor = place.operand(1);
  std::optional<double> constant = numberOf(divisor);
  if (constant && narrowFormat(getElementTypeOrSelf(divisor)))
    return {}; // the reciprocal would be another number
  Value reciprocal =
      constant ? number(place, 1 / *constant, divisor) : place.leaf.div(number(place, 1, divisor), divisor);
  return place.leaf.mul(place.operand(0), reciprocal);
}

Value scaleByConstant(Place &place) {
  if (!isa<arith::MulFOp>(place.op))
    return {};
  for (int constant : {0, 1})
    if (std::optional<double> factor = numberOf(place.operand(constant)); factor && *factor != 0)
      return place.leaf.div(place.operand(1 - constant), number(place, 1 / *factor, place.result()));
  return {};
}

Value addZero(Place &place) {
  if (!isa<FloatType>(place.type().getElementType()) || numberOf(place.result()))
    return {};
  return place.leaf.add(place.result(), number(place, 0, place.result()));
}

Value multiplyByOne(Place &place) {
  if (!isa<FloatType>(place.type().getElementType()) || numberOf(place.result()))
    return {};
  return place.leaf.mul(place.result(), number(place, 1, place.result()));
}

//===----------------------------------------------------------------------===//
// Powers and means
//===----------------------------------------------------------------------===//

static Value power(Place &place, Value base, double exponent) {
  return math::PowFOp::create(place.builder, place.op->getLoc(), base, number(place, exponent, base));
}

Value squareByPower(Place &place) {
  if (!isa<arith::MulFOp>(place.op) || place.operand(0) != place.operand(1))
    return {};
  Value x = place.operand(0);
  if (place.random.flip())
    x = math::AbsFOp::create(place.builder, place.op->getLoc(), x);
  return power(place, x, 2);
}

Value rootByPower(Place &place) {
  if (!isa<math::SqrtOp, math::RsqrtOp>(place.op))
    return {};
  return power(place, place.operand(0), isa<math::SqrtOp>(place.op) ? 0.5 : -0.5);
}

Value rsqrtByDivision(Place &place) {
  if (!isa<math::RsqrtOp>(place.op))
    return {};
  Value root = place.leaf.sqrt(place.operand(0));
  return place.leaf.div(number(place, 1, root), root);
}

Value meanBySum(Place &place) {
  auto mean = dyn_cast<ReduceOp>(place.op);
  if (!mean || mean.getKind() != ReduceKind::mean)
    return {};
  double count = 1;
  for (int64_t dim : mean.getDims())
    count *= mean.getX().getType().getDimSize(dim);
  Value x = mean.getX();
  // Narrow types would round the number, and not only what it scales.
  switch (mean.getType().getElementType().getIntOrFloatBitWidth() < 32 ? 1 : place.random.between(0, 2)) {
  case 0: // of scaled addends
    x = place.leaf.mul(x, number(place, 1 / count, x));
    return place.leaf.reduce(ReduceKind::sum, x, mean.getDims());
  case 1:
    x = place.leaf.reduce(ReduceKind::sum, x, mean.getDims());
    return place.leaf.div(x, number(place, count, x));
  default:
    x = place.leaf.reduce(ReduceKind::sum, x, mean.getDims());
    return place.leaf.mul(x, number(place, 1 / count, x));
  }
}

Value rmsNormSpelledOut(Place &place) {
  auto norm = dyn_cast<RmsNormOp>(place.op);
  if (!norm)
    return {};
  LeafBuilder &leaf = place.leaf;
  Value x = norm.getX();
  int64_t last = place.type().getRank() - 1;
  Value square = leaf.reduceLike(ReduceKind::mean, leaf.mul(x, x), last);
  Value shifted = leaf.add(square, number(place, norm.getEps().convertToDouble(), square));
  Value scaled = leaf.mul(x, math::RsqrtOp::create(place.builder, norm.getLoc(), shifted));
  return norm.getWeight() ? leaf.mul(scaled, leaf.broadcast(norm.getWeight(), leaf.sizesOf(x), last)) : scaled;
}

//===----------------------------------------------------------------------===//
// Sigmoid and softmax
//===----------------------------------------------------------------------===//

static Value onePlus(Place &place, Value x) { return place.leaf.add(number(place, 1, x), x); }
static Value tanhOfHalf(Place &place, Value z) {
  return math::TanhOp::create(place.builder, place.op->getLoc(), place.leaf.mul(z, number(place, 0.5, z)));
}

Value sigmoidByExp(Place &place) {
  if (!isa<SigmoidOp>(place.op))
    return {};
  Value z = place.operand(0), denominator = onePlus(place, place.leaf.exp(place.leaf.negate(z)));
  return place.leaf.div(number(place, 1, z), denominator);
}

Value sigmoidByExpOfZ(Place &place) {
  if (!isa<SigmoidOp>(place.op))
    return {};
  Value exp = place.leaf.exp(place.operand(0));
  return place.leaf.div(exp, onePlus(place, exp));
}

Value sigmoidFromOne(Place &place) {
  if (!isa<SigmoidOp>(place.op))
    return {};
  Value one = number(place, 1, place.result());
  Value mirror = place.leaf.div(one, onePlus(place, place.leaf.exp(place.operand(0))));
  return place.leaf.sub(one, mirror);
}

Value sigmoidByTanh(Place &place) {
  if (!isa<SigmoidOp>(place.op))
    return {};
  Value sum = onePlus(place, tanhOfHalf(place, place.operand(0)));
  return place.leaf.mul(sum, number(place, 0.5, sum));
}

Value doubledGateByTanh(Place &place) {
  auto mul = dyn_cast<arith::MulFOp>(place.op);
  if (!mul)
    return {};
  for (int gate : {0, 1})
    if (auto sigmoid = place.operand(gate).getDefiningOp<SigmoidOp>();
        sigmoid && numberOf(place.operand(1 - gate)) == 2)
      return onePlus(place, tanhOfHalf(place, sigmoid.getX()));
  return {};
}

static Value softmax(Place &place, Value exp, int64_t dim) {
  return place.leaf.div(exp, place.leaf.reduceLike(ReduceKind::sum, exp, dim));
}

/// The logits without their maximum.
static Value shifted(Place &place, SoftmaxOp op) {
  return place.leaf.sub(op.getX(), place.leaf.reduceLike(ReduceKind::max, op.getX(), op.getDim()));
}

Value softmaxWithMax(Place &place) {
  auto op = dyn_cast<SoftmaxOp>(place.op);
  return op ? softmax(place, place.leaf.exp(shifted(place, op)), op.getDim()) : Value();
}

Value softmaxWithoutMax(Place &place) {
  auto op = dyn_cast<SoftmaxOp>(place.op);
  return op ? softmax(place, place.leaf.exp(op.getX()), op.getDim()) : Value();
}

Value softmaxByLog(Place &place) {
  auto op = dyn_cast<SoftmaxOp>(place.op);
  if (!op)
    return {};
  LeafBuilder &leaf = place.leaf;
  Value logits = shifted(place, op);
  Value sum = leaf.reduceLike(ReduceKind::sum, leaf.exp(logits), op.getDim());
  return leaf.exp(leaf.sub(logits, leaf.log(sum)));
}

} // namespace mhc::conformance
