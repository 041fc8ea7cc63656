//===- Math.cpp - Gradients of math ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Math/IR/Math.h"
#include "Rule.h"
#include "mhc/IR/Gradients.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;
using namespace mhc;

/// d_x = g slope, with the slope a function of x and out.
template <typename Op, Value (*slope)(LeafBuilder &, Value x, Value out)>
static void unaryVjp(Op op, Vjp &vjp) {
  Value x = vjp.leaf.widen(op.getOperand()), out = vjp.leaf.widen(op.getResult());
  Value factor = slope(vjp.leaf, x, out);
  vjp.add(op.getOperand(), vjp.leaf.mul(vjp.g, factor));
}

static Value expSlope(LeafBuilder &, Value, Value out) { return out; }
static Value exp2Slope(LeafBuilder &leaf, Value, Value out) { return leaf.scale(out, std::log(2.0)); }
static Value expm1Slope(LeafBuilder &leaf, Value, Value out) { return leaf.add(out, leaf.splat(1.0, out)); }
static Value logSlope(LeafBuilder &leaf, Value x, Value) { return leaf.div(leaf.splat(1.0, x), x); }
static Value tanhSlope(LeafBuilder &leaf, Value, Value out) {
  Value one = leaf.splat(1.0, out);
  return leaf.sub(one, leaf.mul(out, out));
}
static Value log1pSlope(LeafBuilder &leaf, Value x, Value) {
  Value one = leaf.splat(1.0, x);
  return leaf.div(one, leaf.add(one, x));
}
/// 1/(2 out); by convention 0 where the root is 0, so that a norm of zeros has a gradient.
static Value sqrtSlope(LeafBuilder &leaf, Value, Value out) {
  Value half = leaf.splat(0.5, out), zero = leaf.splat(0.0, out);
  Value isZero = leaf.isEqual(out, zero), slope = leaf.div(half, out);
  return leaf.select(isZero, zero, slope);
}
static Value rsqrtSlope(LeafBuilder &leaf, Value, Value out) {
  return leaf.scale(leaf.mul(out, leaf.mul(out, out)), -0.5);
}
/// 0 at 0
static Value absSlope(LeafBuilder &leaf, Value x, Value) {
  Value one = leaf.splat(1.0, x), minusOne = leaf.splat(-1.0, x), zero = leaf.splat(0.0, x);
  Value negative = leaf.select(leaf.isGreater(zero, x), minusOne, zero);
  return leaf.select(leaf.isGreater(x, zero), one, negative);
}
static Value erfSlope(LeafBuilder &leaf, Value x, Value) {
  constexpr double kTwoOverRootPi = 1.1283791670955126;
  return leaf.scale(leaf.exp(leaf.negate(leaf.mul(x, x))), kTwoOverRootPi);
}

/// d_a = g b a^(b-1), 0 where b is 0; d_b = g out log(a), 0 where a is 0.
static void powVjp(math::PowFOp op, Vjp &vjp) {
  LeafBuilder &leaf = vjp.leaf;
  Value base = leaf.widen(op.getLhs()), exponent = leaf.widen(op.getRhs());
  Value one = leaf.splat(1.0, base), zero = leaf.splat(0.0, base);
  if (vjp.needs(op.getLhs())) {
    Value power = math::PowFOp::create(vjp.builder, op.getLoc(), base, leaf.sub(exponent, one));
    Value noPower = leaf.isEqual(exponent, zero), product = leaf.mul(exponent, power);
    Value slope = leaf.select(noPower, zero, product);
    vjp.add(op.getLhs(), leaf.mul(vjp.g, slope));
  }
  if (vjp.needs(op.getRhs())) {
    Value out = leaf.widen(op.getResult());
    Value isZero = leaf.isEqual(base, zero), product = leaf.mul(out, leaf.log(base));
    Value slope = leaf.select(isZero, zero, product);
    vjp.add(op.getRhs(), leaf.mul(vjp.g, slope));
  }
}

/// d_a = g k a^(k-1), 0 where k is 0
static void integerPowVjp(math::FPowIOp op, Vjp &vjp) {
  LeafBuilder &leaf = vjp.leaf;
  Value base = leaf.widen(op.getLhs());
  Value exponent = arith::SIToFPOp::create(vjp.builder, op.getLoc(), base.getType(), op.getRhs());
  Value one = leaf.splat(1.0, base), zero = leaf.splat(0.0, base);
  Value power = math::PowFOp::create(vjp.builder, op.getLoc(), base, leaf.sub(exponent, one));
  Value noPower = leaf.isEqual(exponent, zero), product = leaf.mul(exponent, power);
  Value slope = leaf.select(noPower, zero, product);
  vjp.add(op.getLhs(), leaf.mul(vjp.g, slope));
}

void mhc::registerMathGradients(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attachRule<math::ExpOp, unaryVjp<math::ExpOp, expSlope>>(context);
    attachRule<math::Exp2Op, unaryVjp<math::Exp2Op, exp2Slope>>(context);
    attachRule<math::ExpM1Op, unaryVjp<math::ExpM1Op, expm1Slope>>(context);
    attachRule<math::LogOp, unaryVjp<math::LogOp, logSlope>>(context);
    attachRule<math::Log1pOp, unaryVjp<math::Log1pOp, log1pSlope>>(context);
    attachRule<math::TanhOp, unaryVjp<math::TanhOp, tanhSlope>>(context);
    attachRule<math::SqrtOp, unaryVjp<math::SqrtOp, sqrtSlope>>(context);
    attachRule<math::RsqrtOp, unaryVjp<math::RsqrtOp, rsqrtSlope>>(context);
    attachRule<math::AbsFOp, unaryVjp<math::AbsFOp, absSlope>>(context);
    attachRule<math::ErfOp, unaryVjp<math::ErfOp, erfSlope>>(context);
    attachRule<math::PowFOp, powVjp>(context);
    attachRule<math::FPowIOp, integerPowVjp>(context);
  });
}
