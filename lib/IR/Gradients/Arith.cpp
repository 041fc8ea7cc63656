//===- Arith.cpp - Gradients of arith ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "Rule.h"
#include "mhc/IR/Gradients.h"

using namespace mlir;
using namespace mhc;

static void addVjp(arith::AddFOp op, Vjp &vjp) {
  vjp.add(op.getLhs(), vjp.g);
  vjp.add(op.getRhs(), vjp.g);
}

static void subVjp(arith::SubFOp op, Vjp &vjp) {
  vjp.add(op.getLhs(), vjp.g);
  if (vjp.needs(op.getRhs()))
    vjp.add(op.getRhs(), vjp.leaf.negate(vjp.g));
}

static void mulVjp(arith::MulFOp op, Vjp &vjp) {
  if (vjp.needs(op.getLhs())) {
    Value rhs = vjp.leaf.widen(op.getRhs());
    vjp.add(op.getLhs(), vjp.leaf.mul(vjp.g, rhs));
  }
  if (vjp.needs(op.getRhs())) {
    Value lhs = vjp.leaf.widen(op.getLhs());
    vjp.add(op.getRhs(), vjp.leaf.mul(vjp.g, lhs));
  }
}

/// out = a/b: d_a = g/b, d_b = -(g/b) out
static void divVjp(arith::DivFOp op, Vjp &vjp) {
  Value rhs = vjp.leaf.widen(op.getRhs());
  Value quotient = vjp.leaf.div(vjp.g, rhs);
  vjp.add(op.getLhs(), quotient);
  if (vjp.needs(op.getRhs())) {
    Value out = vjp.leaf.widen(op.getResult());
    vjp.add(op.getRhs(), vjp.leaf.negate(vjp.leaf.mul(quotient, out)));
  }
}

static void negVjp(arith::NegFOp op, Vjp &vjp) { vjp.add(op.getOperand(), vjp.leaf.negate(vjp.g)); }

/// Where both sides are equal, each gets half.
template <typename Op, bool takesLarger>
static void extremumVjp(Op op, Vjp &vjp) {
  LeafBuilder &leaf = vjp.leaf;
  Value lhs = leaf.widen(op.getLhs()), rhs = leaf.widen(op.getRhs());
  Value zero = leaf.splat(0.0, vjp.g), half = leaf.scale(vjp.g, 0.5);
  Value shared = leaf.select(leaf.isEqual(lhs, rhs), half, zero);
  Value lhsWins = takesLarger ? leaf.isGreater(lhs, rhs) : leaf.isGreater(rhs, lhs);
  Value rhsWins = takesLarger ? leaf.isGreater(rhs, lhs) : leaf.isGreater(lhs, rhs);
  if (vjp.needs(op.getLhs()))
    vjp.add(op.getLhs(), leaf.select(lhsWins, vjp.g, shared));
  if (vjp.needs(op.getRhs()))
    vjp.add(op.getRhs(), leaf.select(rhsWins, vjp.g, shared));
}

static void selectVjp(arith::SelectOp op, Vjp &vjp) {
  Value zero = vjp.leaf.splat(0.0, vjp.g);
  if (vjp.needs(op.getTrueValue()))
    vjp.add(op.getTrueValue(), vjp.leaf.select(op.getCondition(), vjp.g, zero));
  if (vjp.needs(op.getFalseValue()))
    vjp.add(op.getFalseValue(), vjp.leaf.select(op.getCondition(), zero, vjp.g));
}

/// The cotangent is rounded when it leaves the backward pass, not where the value was.
template <typename Op>
static void castVjp(Op op, Vjp &vjp) {
  vjp.add(op.getIn(), vjp.g);
}

void mhc::registerArithGradients(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attachRule<arith::AddFOp, addVjp>(context);
    attachRule<arith::SubFOp, subVjp>(context);
    attachRule<arith::MulFOp, mulVjp>(context);
    attachRule<arith::DivFOp, divVjp>(context);
    attachRule<arith::NegFOp, negVjp>(context);
    attachRule<arith::MaximumFOp, extremumVjp<arith::MaximumFOp, true>>(context);
    attachRule<arith::MaxNumFOp, extremumVjp<arith::MaxNumFOp, true>>(context);
    attachRule<arith::MinimumFOp, extremumVjp<arith::MinimumFOp, false>>(context);
    attachRule<arith::MinNumFOp, extremumVjp<arith::MinNumFOp, false>>(context);
    attachRule<arith::SelectOp, selectVjp>(context);
    attachRule<arith::ExtFOp, castVjp<arith::ExtFOp>, /*rebuilt=*/true>(context);
    attachRule<arith::TruncFOp, castVjp<arith::TruncFOp>>(context);
  });
}
