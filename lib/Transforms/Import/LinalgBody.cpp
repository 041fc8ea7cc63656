//===- LinalgBody.cpp - The body of a linalg op on tensors ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mhc;

bool LinalgBody::isReduced(OpOperand &init) {
  return loopsOf(op.getMatchingIndexingMap(&init)).size() < op.getNumLoops();
}

bool LinalgBody::isRunning(Value scalar) {
  auto argument = dyn_cast<BlockArgument>(scalar);
  if (!argument || argument.getOwner() != op.getBlock())
    return false;
  OpOperand &operand = op->getOpOperand(argument.getArgNumber());
  return op.isDpsInit(&operand) && isReduced(operand);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Attribute mhc::splatOf(Value tensor) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    tensor = fill.getInputs()[0];
  Attribute number;
  if (!matchPattern(tensor, m_Constant(&number)))
    return {};
  if (auto elements = dyn_cast<SplatElementsAttr>(number))
    return elements.getSplatValue<Attribute>();
  return isa<ElementsAttr>(number) ? Attribute() : number;
}

/// A number cast to a type. The folder of arith.truncf only folds casts that lose nothing.
static Attribute castNumber(FloatAttr number, Type type) {
  APFloat value = number.getValue();
  bool losesInfo;
  value.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return FloatAttr::get(type, value);
}

Attribute LinalgBody::fold(Operation *scalarOp) {
  if (scalarOp->getNumOperands() == 0 || scalarOp->getNumResults() != 1 || !isPure(scalarOp))
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : scalarOp->getOperands()) {
    operands.push_back(constantOf(operand));
    if (!operands.back())
      return {};
  }
  if (isa<arith::TruncFOp, arith::ExtFOp>(scalarOp))
    return castNumber(cast<FloatAttr>(operands[0]), scalarOp->getResult(0).getType());
  SmallVector<OpFoldResult> folded;
  if (failed(scalarOp->fold(operands, folded)) || folded.size() != 1)
    return {};
  return dyn_cast<Attribute>(folded[0]);
}

Attribute LinalgBody::constantOf(Value scalar) {
  if (isRunning(scalar))
    return {};
  if (auto argument = dyn_cast<BlockArgument>(scalar))
    return argument.getOwner() == op.getBlock() ? splatOf(op->getOperand(argument.getArgNumber())) : Attribute();
  Attribute number;
  return matchPattern(scalar, m_Constant(&number)) ? number : fold(scalar.getDefiningOp());
}

std::optional<double> LinalgBody::numberOf(Value scalar) {
  Attribute number = constantOf(scalar);
  if (auto integer = dyn_cast_if_present<IntegerAttr>(number))
    return integer.getValue().getSExtValue();
  auto real = dyn_cast_if_present<FloatAttr>(number);
  return real ? std::optional(real.getValueAsDouble()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value LinalgBody::splat(TypedAttr number) {
  RankedTensorType type = views.typeOf(number.getType());
  if (type.hasStaticShape())
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, number));
  Value scalar = arith::ConstantOp::create(builder, loc, number);
  return views.splat(scalar);
}

Value LinalgBody::tensorOf(Value scalar) {
  if (isRunning(scalar))
    return {};
  if (Value known = tensors.lookup(scalar))
    return known;
  Value tensor;
  if (auto number = dyn_cast_if_present<TypedAttr>(constantOf(scalar)))
    tensor = splat(number);
  else if (auto argument = dyn_cast<BlockArgument>(scalar); argument && argument.getOwner() == op.getBlock())
    tensor = views.over(op->getOpOperand(argument.getArgNumber()));
  else if (Operation *scalarOp = scalar.getDefiningOp(); scalarOp && scalarOp->getBlock() == op.getBlock())
    tensor = apply(scalarOp);
  else
    tensor = views.splat(scalar);
  return tensors[scalar] = tensor;
}

/// x to a power that is a number: what has a simpler form is written so.
Value LinalgBody::power(Operation *scalarOp, double exponent) {
  Value x = scalarOp->getOperand(0);
  // Norms take the magnitude first, whatever their order.
  if (auto magnitude = x.getDefiningOp<math::AbsFOp>(); magnitude && exponent == 2)
    x = magnitude.getOperand();
  Value base = tensorOf(x);
  if (!base || exponent == 1)
    return base;
  if (exponent == 2)
    return leaf.mul(base, base);
  Type type = scalarOp->getResult(0).getType();
  return math::PowFOp::create(builder, loc, base, splat(FloatAttr::get(type, exponent)));
}

using Predicate = arith::CmpFPredicate;

/// The other one of a pair that has the predicate; one without an inequality stays.
static Predicate otherOf(Predicate predicate, ArrayRef<std::pair<Predicate, Predicate>> pairs) {
  for (auto [one, two] : pairs)
    if (predicate == one || predicate == two)
      return predicate == one ? two : one;
  return predicate;
}

/// The predicate of b, a that says the same as one of a, b.
static Predicate swapped(Predicate predicate) {
  return otherOf(predicate, {{Predicate::OLT, Predicate::OGT},
                             {Predicate::OLE, Predicate::OGE},
                             {Predicate::ULT, Predicate::UGT},
                             {Predicate::ULE, Predicate::UGE}});
}

static Predicate inverted(Predicate predicate) {
  return otherOf(predicate, {{Predicate::OLT, Predicate::UGE},
                             {Predicate::OLE, Predicate::UGT},
                             {Predicate::OGT, Predicate::ULE},
                             {Predicate::OGE, Predicate::ULT}});
}

Value LinalgBody::extremum(Operation *scalarOp) {
  // The maximum of minus infinity and x, with which some start.
  if (auto maximum = dyn_cast<arith::MaximumFOp>(scalarOp)) {
    if (numberOf(maximum.getLhs()) == -INFINITY)
      return tensorOf(maximum.getRhs());
    return numberOf(maximum.getRhs()) == -INFINITY ? tensorOf(maximum.getLhs()) : Value();
  }
  auto select = dyn_cast<arith::SelectOp>(scalarOp);
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  if (!compare)
    return {};
  // As `x predicate number ? number : x`
  Value scalar = compare.getLhs(), limit = compare.getRhs();
  Predicate predicate = compare.getPredicate();
  if (numberOf(scalar)) {
    std::swap(scalar, limit);
    predicate = swapped(predicate);
  }
  bool keeps = select.getTrueValue() == scalar && select.getFalseValue() == limit;
  if (!keeps && (select.getTrueValue() != limit || select.getFalseValue() != scalar))
    return {};
  if (keeps)
    predicate = inverted(predicate);
  // Zeros of both signs compare as equal. The predicate decides whether NaN gives itself or the number.
  std::optional<double> number = numberOf(limit);
  if (!number || *number == 0 || std::isnan(*number))
    return {};
  Value x = tensorOf(scalar), bound = tensorOf(limit);
  if (!x || !bound)
    return {};
  switch (predicate) {
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::OLE:
    return arith::MaximumFOp::create(builder, loc, x, bound);
  case arith::CmpFPredicate::ULT:
  case arith::CmpFPredicate::ULE:
    return arith::MaxNumFOp::create(builder, loc, x, bound);
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::OGE:
    return arith::MinimumFOp::create(builder, loc, x, bound);
  case arith::CmpFPredicate::UGT:
  case arith::CmpFPredicate::UGE:
    return arith::MinNumFOp::create(builder, loc, x, bound);
  default:
    return {};
  }
}

Value LinalgBody::apply(Operation *scalarOp) {
  if (scalarOp->getNumResults() != 1 || !OpTrait::hasElementwiseMappableTraits(scalarOp))
    return {};
  if (isa<math::FPowIOp, math::PowFOp>(scalarOp))
    if (std::optional<double> exponent = numberOf(scalarOp->getOperand(1)))
      return power(scalarOp, *exponent);
  if (Value bounded = extremum(scalarOp))
    return bounded;
  SmallVector<Value> operands;
  for (Value operand : scalarOp->getOperands()) {
    operands.push_back(tensorOf(operand));
    if (!operands.back())
      return {};
  }
  OperationState state(loc, scalarOp->getName(), operands, views.typeOf(scalarOp->getResult(0).getType()));
  state.addAttributes(scalarOp->getAttrs());
  state.propertiesAttr = scalarOp->getPropertiesAsAttribute();
  return builder.create(state)->getResult(0);
}
