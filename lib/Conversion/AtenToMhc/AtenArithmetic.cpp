//===- AtenArithmetic.cpp - ATen ops that compute element by element -------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtenRows.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::aten;

using Binary = Value (LeafBuilder::*)(Value, Value);

/// `left` op `alpha * right`, element by element.
static Values binary(AtenCall &call, StringRef left, StringRef right, Binary build) {
  Type element = call.meetingType({left, right});
  double alpha = call.number("alpha").value_or(1);
  if (call.has("rounding_mode"))
    return {};
  Value a = call.operand(left, element), b = call.operand(right, element);
  if (!a || !b)
    return {};
  if (alpha != 1)
    b = call.leaf.scale(b, alpha);
  return one(call.toResult((call.leaf.*build)(a, b)));
}

template <Binary build>
static Values arithmetic(AtenCall &call) {
  return binary(call, "self", "other", build);
}

static Values rsub(AtenCall &call) { return binary(call, "other", "self", &LeafBuilder::sub); }

/// A function of each element. Those of narrow types are computed in f32 and rounded once.
template <typename Build>
static Values unary(AtenCall &call, Build build) {
  Value self = call.tensor("self");
  if (!self || !call.resultType())
    return {};
  bool isExact = getElementTypeOrSelf(self) == call.resultElement();
  Value x = isExact ? self : call.leaf.toF32(self);
  return one(call.toResult(build(call, x)));
}

template <typename Op>
static Values mathOp(AtenCall &call) {
  return unary(call, [](AtenCall &call, Value x) -> Value { return Op::create(call.builder, call.loc, x); });
}

template <typename Op>
static Values leafOp(AtenCall &call) {
  return unary(call, [](AtenCall &call, Value x) -> Value {
    return isF64(x) ? Value() : Op::create(call.builder, call.loc, x.getType(), x).getResult();
  });
}

/// From PyTorch's own threshold on, the softplus is x in f32 anyhow.
static Values softplus(AtenCall &call) {
  return call.number("beta") == 1 && call.number("threshold") == 20 ? leafOp<SoftplusOp>(call) : Values();
}

static Values reciprocal(AtenCall &call) {
  return unary(call, [](AtenCall &call, Value x) { return call.leaf.div(call.leaf.splat(1.0, x), x); });
}

static Values relu(AtenCall &call) {
  return unary(call, [](AtenCall &call, Value x) { return call.leaf.max(x, call.leaf.splat(0.0, x)); });
}

static Values power(AtenCall &call) {
  std::optional<double> exponent = call.number("exponent");
  if (!exponent)
    return {};
  return unary(call, [&](AtenCall &call, Value x) -> Value {
    if (*exponent == 2)
      return call.leaf.mul(x, x);
    return math::PowFOp::create(call.builder, call.loc, x, call.leaf.splat(*exponent, x));
  });
}

/// A limit that is a number or a tensor, in the shape of the result; null where there is none or it is not read.
static Values clamp(AtenCall &call) {
  Type element = call.meetingType({"self", "min", "max"});
  Value value = call.operand("self", element);
  for (StringRef name : {"min", "max"}) {
    if (!value || !call.has(name))
      continue;
    Value limit = call.operand(name, element);
    if (!limit)
      return {};
    value = name == "min" ? call.leaf.max(value, limit)
                          : arith::MinimumFOp::create(call.builder, call.loc, value, limit).getResult();
  }
  return one(call.toResult(value));
}

/// self + value * tensor1 * tensor2, rounded once.
static Values addMultiplied(AtenCall &call) {
  Type meeting = call.meetingType({"self", "tensor1", "tensor2"});
  Type element = meeting.isF64() ? meeting : Type(call.builder.getF32Type());
  std::optional<double> factor = call.has("value") ? call.number("value") : 1;
  Value start = call.operand("self", element), a = call.operand("tensor1", element);
  Value b = call.operand("tensor2", element);
  if (!factor || !start || !a || !b)
    return {};
  Value product = call.leaf.mul(a, b);
  if (*factor != 1)
    product = call.leaf.scale(product, *factor);
  return one(call.toResult(call.leaf.add(start, product)));
}

static Values minimum(AtenCall &call) {
  Type element = call.meetingType({"self", "other"});
  Value a = call.operand("self", element), b = call.operand("other", element);
  return a && b ? one(call.toResult(arith::MinimumFOp::create(call.builder, call.loc, a, b))) : Values();
}

static Values choose(AtenCall &call) {
  Type element = call.meetingType({"self", "other"});
  Value condition = call.mask("condition"), a = call.operand("self", element), b = call.operand("other", element);
  if (!condition || !a || !b || cast<RankedTensorType>(condition.getType()).getShape() != call.resultType().getShape())
    return {};
  return one(call.toResult(call.leaf.select(condition, a, b)));
}

static constexpr Row kRows[] = {
    {"aten.add.Tensor", arithmetic<&LeafBuilder::add>},
    {"aten.add.Scalar", arithmetic<&LeafBuilder::add>},
    {"aten.sub.Tensor", arithmetic<&LeafBuilder::sub>},
    {"aten.sub.Scalar", arithmetic<&LeafBuilder::sub>},
    {"aten.rsub.Scalar", rsub},
    {"aten.rsub.Tensor", rsub},
    {"aten.mul.Tensor", arithmetic<&LeafBuilder::mul>},
    {"aten.mul.Scalar", arithmetic<&LeafBuilder::mul>},
    {"aten.div.Tensor", arithmetic<&LeafBuilder::div>},
    {"aten.div.Scalar", arithmetic<&LeafBuilder::div>},
    {"aten.maximum.default", arithmetic<&LeafBuilder::max>},
    {"aten.minimum.default", minimum},
    {"aten.clamp.default", clamp},
    {"aten.clamp.Tensor", clamp},
    {"aten.clamp_min.default", clamp},
    {"aten.clamp_min.Tensor", clamp},
    {"aten.clamp_max.default", clamp},
    {"aten.where.self", choose},
    {"aten.pow.Tensor_Scalar", power},
    {"aten.neg.default", mathOp<arith::NegFOp>},
    {"aten.abs.default", mathOp<math::AbsFOp>},
    {"aten.exp.default", mathOp<math::ExpOp>},
    {"aten.exp2.default", mathOp<math::Exp2Op>},
    {"aten.expm1.default", mathOp<math::ExpM1Op>},
    {"aten.log.default", mathOp<math::LogOp>},
    {"aten.log1p.default", mathOp<math::Log1pOp>},
    {"aten.sqrt.default", mathOp<math::SqrtOp>},
    {"aten.rsqrt.default", mathOp<math::RsqrtOp>},
    {"aten.tanh.default", mathOp<math::TanhOp>},
    {"aten.erf.default", mathOp<math::ErfOp>},
    {"aten.sigmoid.default", leafOp<SigmoidOp>},
    {"aten.silu.default", leafOp<SiluOp>},
    {"aten.softplus.default", softplus},
    {"aten.reciprocal.default", reciprocal},
    {"aten.relu.default", relu},
    {"aten.addcmul.default", addMultiplied},
};

ArrayRef<Row> mhc::aten::arithmeticRows() { return kRows; }
