//===- AtenArithmetic.cpp - ATen ops that compute element by element -------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtenCall.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::aten;

/// An op of ours of the arguments `names`, in the type that they meet in, rounded once behind. The last of them is
/// times `alpha` where there is one.
static Values elementwise(AtenCall &call, StringRef leaf, ArrayRef<StringRef> names) {
  const Type element = call.meetingType(names);
  const std::optional<double> alpha = call.factor("alpha");
  if (!alpha || call.has("rounding_mode") || (element.isF64() && leaf.starts_with(MhcDialect::getDialectNamespace())))
    return {};
  auto operands = llvm::map_to_vector(names, [&](StringRef name) { return call.operand(name, element); });
  if (!llvm::all_of(operands, [](Value operand) { return operand; }))
    return {};
  if (*alpha != 1)
    operands.back() = call.leaf.scale(operands.back(), *alpha);
  OperationState state(call.loc, leaf, operands, operands[0].getType());
  return one(call.toResult(call.builder.create(state)->getResult(0)));
}

Values aten::readElementwise(AtenCall &call, StringRef leaf) {
  return call.has("other") ? elementwise(call, leaf, {"self", "other"}) : elementwise(call, leaf, {"self"});
}

Values aten::readReversedSub(AtenCall &call) {
  return elementwise(call, arith::SubFOp::getOperationName(), {"other", "self"});
}

/// From PyTorch's own threshold on, the softplus is x in f32 anyhow.
Values aten::readSoftplus(AtenCall &call) {
  const bool isPlain = call.number("beta") == 1 && call.number("threshold") == 20;
  return isPlain ? readElementwise(call, SoftplusOp::getOperationName()) : Values();
}

/// The operand of a function, in the type that it is computed in.
static Value operandOf(AtenCall &call) { return call.operand("self", call.meetingType({"self"})); }

Values aten::readReciprocal(AtenCall &call) {
  Value x = operandOf(call);
  return x ? one(call.toResult(call.leaf.div(call.leaf.splat(1.0, x), x))) : Values();
}

Values aten::readRelu(AtenCall &call) {
  Value x = operandOf(call);
  return x ? one(call.toResult(call.leaf.max(x, call.leaf.splat(0.0, x)))) : Values();
}

Values aten::readPower(AtenCall &call) {
  std::optional<double> exponent = call.number("exponent");
  Value x = exponent ? operandOf(call) : Value();
  if (!x)
    return {};
  return one(call.toResult(*exponent == 2
                               ? call.leaf.mul(x, x)
                               : math::PowFOp::create(call.builder, call.loc, x, call.leaf.splat(*exponent, x))));
}

/// A limit that is a number or a tensor, in the shape of the result; null where there is none or it is not read.
Values aten::readClamp(AtenCall &call) {
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
Values aten::readAddMultiplied(AtenCall &call) {
  Type meeting = call.meetingType({"self", "tensor1", "tensor2"});
  Type element = meeting.isF64() ? meeting : Type(call.builder.getF32Type());
  std::optional<double> factor = call.factor("value");
  Value start = call.operand("self", element), a = call.operand("tensor1", element);
  Value b = call.operand("tensor2", element);
  if (!factor || !start || !a || !b)
    return {};
  Value product = call.leaf.mul(a, b);
  if (*factor != 1)
    product = call.leaf.scale(product, *factor);
  return one(call.toResult(call.leaf.add(start, product)));
}

Values aten::readWhere(AtenCall &call) {
  Type element = call.meetingType({"self", "other"});
  Value condition = call.mask("condition"), a = call.operand("self", element), b = call.operand("other", element);
  if (!condition || !a || !b || cast<RankedTensorType>(condition.getType()).getShape() != call.resultType().getShape())
    return {};
  return one(call.toResult(call.leaf.select(condition, a, b)));
}
