//===- Transcendental.cpp - Our own exp and tanh ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transcendental.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mhc;

namespace {
struct Floats {
  OpBuilder &builder;
  Location loc;

  Value f32(double value) {
    return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
  }
  Value i32(int32_t value) { return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value)); }
  Value add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
  Value div(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
  Value fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }
  Value less(Value a, Value b) { return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b); }
  Value select(Value condition, Value a, Value b) { return arith::SelectOp::create(builder, loc, condition, a, b); }
  /// Coefficients from the highest power down.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = f32(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, x, f32(coefficient));
    return sum;
  }
  /// 2^exponent, for exponents of normal numbers.
  Value power(Value exponent) {
    Value biased = arith::AddIOp::create(builder, loc, exponent, i32(127));
    Value bits = arith::ShLIOp::create(builder, loc, biased, i32(23));
    return arith::BitcastOp::create(builder, loc, builder.getF32Type(), bits);
  }
  Value exp(Value x);
  Value tanh(Value x);
};
} // namespace

/// e^x = 2^n * e^r with |r| <= ln(2)/2. Adding 1.5 * 2^23 rounds to a whole number, whose bits are then the lowest ones
/// of the sum. A NaN stays one: it goes through r.
Value Floats::exp(Value x) {
  // Beyond these the result is 0 or infinity.
  x = select(less(x, f32(-105.0)), f32(-105.0), x);
  x = select(less(f32(89.0), x), f32(89.0), x);
  Value shift = f32(12582912.0), sum = fma(x, f32(1.4426950408889634), shift), n = sub(sum, shift);
  Value r = fma(n, f32(-0.693145751953125), x);
  r = fma(n, f32(-1.428606765330187045e-06), r);
  Value p = polynomial(r, {0.000198527617612853646278381, 0.00139304355252534151077271, 0.00833336077630519866943359,
                           0.0416664853692054748535156, 0.166666671633720397949219, 0.5});
  p = add(fma(mul(r, r), p, r), f32(1.0));
  Value bits = arith::BitcastOp::create(builder, loc, builder.getI32Type(), sum);
  Value exponent = arith::SubIOp::create(builder, loc, bits, i32(0x4b400000));
  // In two factors, because 2^n itself may be no normal number.
  Value half = arith::ShRSIOp::create(builder, loc, exponent, i32(1));
  Value rest = arith::SubIOp::create(builder, loc, exponent, half);
  return mul(mul(p, power(half)), power(rest));
}

/// An odd polynomial near zero; 1 - 2 / (e^2x + 1) elsewhere.
Value Floats::tanh(Value x) {
  Value square = mul(x, x), magnitude = math::AbsFOp::create(builder, loc, x);
  Value p =
      polynomial(square, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1});
  Value near = fma(mul(p, square), x, x);
  Value far = sub(f32(1.0), div(f32(2.0), add(exp(add(magnitude, magnitude)), f32(1.0))));
  far = math::CopySignOp::create(builder, loc, far, x);
  return select(less(magnitude, f32(0.625)), near, far);
}

namespace {
template <typename Op, Value (Floats::*expand)(Value)>
struct ExpandFloat : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "not of f32");
    Floats floats{rewriter, op.getLoc()};
    rewriter.replaceOp(op, (floats.*expand)(op.getOperand()));
    return success();
  }
};
} // namespace

void mhc::populateTranscendentalPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandFloat<math::ExpOp, &Floats::exp>, ExpandFloat<math::TanhOp, &Floats::tanh>>(patterns.getContext());
}
