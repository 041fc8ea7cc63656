//===- ArithmeticRules.cpp - Rules for arith and math ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include "mhc/IR/Constants.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mhc::reference;
using llvm::Expected;

template <typename Function>
static Rule unary(Function function) {
  return [function](Operation *, ArrayRef<HostTensor> operands) -> Expected<HostTensor> {
    std::vector<double> out = operands[0].values().vec();
    for (double &value : out)
      value = function(value);
    return HostTensor(Shape(operands[0].shape()), std::move(out));
  };
}

template <typename Function>
static Rule binary(Function function) {
  return [function](Operation *op, ArrayRef<HostTensor> operands) -> Expected<HostTensor> {
    if (operands[0].shape() != operands[1].shape())
      return errorAt(op, "has operands of shape " + toString(operands[0].shape()) + " and " +
                             toString(operands[1].shape()) + "; needed equal shapes");
    std::vector<double> out = operands[0].values().vec();
    const double *other = operands[1].data();
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = function(out[i], other[i]);
    return HostTensor(Shape(operands[0].shape()), std::move(out));
  };
}

template <typename Function>
static Rule integers(Function function) {
  return binary([function](double a, double b) {
    return static_cast<double>(function(static_cast<int64_t>(a), static_cast<int64_t>(b)));
  });
}

/// a * b + c
static Expected<HostTensor> fused(Operation *op, ArrayRef<HostTensor> operands) {
  Expected<HostTensor> product = binary([](double a, double b) { return a * b; })(op, operands.take_front(2));
  return product ? binary([](double a, double b) { return a + b; })(op, {*product, operands[2]}) : std::move(product);
}

static double toDouble(const APFloat &value) {
  APFloat wide = value;
  bool losesInfo;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return wide.convertToDouble();
}

/// Booleans are 0 and 1; other integers are signed.
static double toDouble(const APInt &value) {
  return value.getBitWidth() == 1 ? static_cast<double>(value.getZExtValue())
                                  : static_cast<double>(value.getSExtValue());
}

/// An integer in the bits of the result's type.
static APInt resultBits(Operation *op, double value) {
  Type type = getElementTypeOrSelf(op->getResult(0));
  const unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return APInt(64, static_cast<int64_t>(value), /*isSigned=*/true).sextOrTrunc(width);
}

template <typename Function>
static Rule unaryBits(Function function) {
  return [function](Operation *op, ArrayRef<HostTensor> operands) {
    return unary([&](double a) { return toDouble(function(resultBits(op, a))); })(op, operands);
  };
}

template <typename Function>
static Rule binaryBits(Function function) {
  return [function](Operation *op, ArrayRef<HostTensor> operands) {
    return binary([&](double a, double b) { return toDouble(function(resultBits(op, a), resultBits(op, b))); })(
        op, operands);
  };
}

template <typename Number>
static HostTensor elementsOf(DenseElementsAttr dense) {
  Shape shape(dense.getType().getShape());
  if (dense.isSplat())
    return {shape, std::vector<double>(dense.getNumElements(), toDouble(dense.getSplatValue<Number>()))};
  std::vector<double> out;
  out.reserve(dense.getNumElements());
  for (Number value : dense.getValues<Number>())
    out.push_back(toDouble(value));
  return {shape, std::move(out)};
}

static Expected<HostTensor> constant(Operation *op, ArrayRef<HostTensor>) {
  Attribute value = cast<arith::ConstantOp>(op).getValue();
  if (auto number = dyn_cast<FloatAttr>(value))
    return HostTensor(toDouble(number.getValue()));
  if (auto number = dyn_cast<IntegerAttr>(value))
    return HostTensor(toDouble(number.getValue()));
  DenseElementsAttr dense = mhc::denseElements(value);
  if (!dense)
    return errorAt(op, "holds neither a number nor elements; needed a dense attribute, or a resource with its data");
  return isa<FloatType>(dense.getElementType()) ? elementsOf<APFloat>(dense) : elementsOf<APInt>(dense);
}

static Expected<HostTensor> compareFloats(Operation *op, ArrayRef<HostTensor> operands) {
  arith::CmpFPredicate predicate = cast<arith::CmpFOp>(op).getPredicate();
  auto holds = [=](double a, double b) { return arith::applyCmpPredicate(predicate, APFloat(a), APFloat(b)); };
  return binary(holds)(op, operands);
}

static Expected<HostTensor> compareIntegers(Operation *op, ArrayRef<HostTensor> operands) {
  arith::CmpIPredicate predicate = cast<arith::CmpIOp>(op).getPredicate();
  auto number = [](double value) { return APInt(64, static_cast<int64_t>(value), /*isSigned=*/true); };
  auto holds = [=](double a, double b) { return arith::applyCmpPredicate(predicate, number(a), number(b)); };
  return binary(holds)(op, operands);
}

/// The condition has the shape of the values, or is one for all elements.
static Expected<HostTensor> evaluateSelect(Operation *op, ArrayRef<HostTensor> operands) {
  const HostTensor &condition = operands[0], &yes = operands[1], &no = operands[2];
  if (yes.shape() != no.shape() || (condition.rank() > 0 && condition.shape() != yes.shape()))
    return errorAt(op, "has operands of shape " + toString(condition.shape()) + ", " + toString(yes.shape()) + " and " +
                           toString(no.shape()) + "; needed equal shapes");
  if (condition.rank() == 0)
    return condition.scalar() != 0 ? yes : no;
  std::vector<double> out = no.values().vec();
  for (size_t i = 0; i < out.size(); ++i)
    if (condition.data()[i] != 0)
      out[i] = yes.data()[i];
  return HostTensor(Shape(no.shape()), std::move(out));
}

static int64_t evaluateAffine(AffineExpr expr, ArrayRef<int64_t> dims, ArrayRef<int64_t> symbols) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t a = evaluateAffine(binary.getLHS(), dims, symbols), b = evaluateAffine(binary.getRHS(), dims, symbols);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(a, b);
  case AffineExprKind::CeilDiv:
    return llvm::divideCeilSigned(a, b);
  case AffineExprKind::Mod:
    return a - b * llvm::divideFloorSigned(a, b);
  default:
    llvm_unreachable("all binary kinds are above");
  }
}

/// Whether an expression divides by something that is not a positive number, for which affine defines nothing.
static bool dividesByUnknown(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr inner) {
    if (inner.getKind() == AffineExprKind::Add || inner.getKind() == AffineExprKind::Mul)
      return;
    if (auto binary = dyn_cast<AffineBinaryOpExpr>(inner)) {
      auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
      found |= !divisor || divisor.getValue() <= 0;
    }
  });
  return found;
}

/// One number, or in the body of loops one for each iteration.
static Expected<HostTensor> evaluateApply(Operation *op, ArrayRef<HostTensor> operands) {
  AffineMap map = cast<affine::AffineApplyOp>(op).getAffineMap();
  if (dividesByUnknown(map.getResult(0)))
    return errorAt(op, "divides by what is not a positive number");
  std::vector<double> out;
  for (int64_t iteration = 0; iteration < (operands.empty() ? 1 : operands[0].size()); ++iteration) {
    SmallVector<int64_t> numbers = llvm::map_to_vector(
        operands, [&](const HostTensor &operand) { return static_cast<int64_t>(operand.data()[iteration]); });
    ArrayRef<int64_t> all = numbers;
    out.push_back(evaluateAffine(map.getResult(0), all.take_front(map.getNumDims()), all.drop_front(map.getNumDims())));
  }
  return HostTensor(operands.empty() ? Shape() : Shape(operands[0].shape()), std::move(out));
}

/// Integers are signed here: a negative one stands for what its bits are without a sign.
static Expected<HostTensor> extendUnsigned(Operation *op, ArrayRef<HostTensor> operands) {
  double range = std::ldexp(1.0, getElementTypeOrSelf(op->getOperand(0)).getIntOrFloatBitWidth());
  return unary([=](double a) { return a < 0 ? a + range : a; })(op, operands);
}

/// Without a sign, every negative number is larger than every other.
static double unsignedMaximum(double a, double b) { return (a < 0) == (b < 0) ? std::fmax(a, b) : std::fmin(a, b); }
static double unsignedMinimum(double a, double b) { return (a < 0) == (b < 0) ? std::fmin(a, b) : std::fmax(a, b); }

/// maximum and minimum hand on a NaN of either side; maxnum and minnum take the other side.
static double maximum(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b); }
static double minimum(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b); }

namespace {
struct Curve {
  const char *name;
  double (*function)(double);
};
} // namespace

/// Functions of math that C++ has as well.
static constexpr Curve kCurves[] = {{"absf", std::fabs},
                                    {"acos", std::acos},
                                    {"acosh", std::acosh},
                                    {"asin", std::asin},
                                    {"asinh", std::asinh},
                                    {"atan", std::atan},
                                    {"atanh", std::atanh},
                                    {"cbrt", std::cbrt},
                                    {"ceil", std::ceil},
                                    {"cos", std::cos},
                                    {"cosh", std::cosh},
                                    {"erf", std::erf},
                                    {"erfc", std::erfc},
                                    {"exp", std::exp},
                                    {"exp2", std::exp2},
                                    {"expm1", std::expm1},
                                    {"floor", std::floor},
                                    {"log", std::log},
                                    {"log10", std::log10},
                                    {"log1p", std::log1p},
                                    {"log2", std::log2},
                                    {"round", std::round},
                                    {"roundeven", std::nearbyint},
                                    {"sin", std::sin},
                                    {"sinh", std::sinh},
                                    {"sqrt", std::sqrt},
                                    {"tan", std::tan},
                                    {"tanh", std::tanh},
                                    {"trunc", std::trunc}};

void mhc::reference::addArithmeticRules(llvm::StringMap<Rule> &rules) {
  rules["arith.constant"] = constant;
  auto identity = unary([](double a) { return a; });
  for (const char *cast : {"extf", "truncf", "index_cast", "sitofp", "extsi"})
    rules[("arith." + llvm::Twine(cast)).str()] = identity;
  rules["arith.fptosi"] = unary([](double a) { return std::trunc(a); });

  rules["arith.addf"] = rules["arith.addi"] = binary([](double a, double b) { return a + b; });
  rules["arith.subf"] = rules["arith.subi"] = binary([](double a, double b) { return a - b; });
  rules["arith.mulf"] = rules["arith.muli"] = binary([](double a, double b) { return a * b; });
  rules["arith.divsi"] = binary([](double a, double b) { return std::trunc(a / b); });
  rules["arith.floordivsi"] = binary([](double a, double b) { return std::floor(a / b); });
  rules["arith.ceildivsi"] = binary([](double a, double b) { return std::ceil(a / b); });
  rules["arith.remsi"] = binary([](double a, double b) { return std::fmod(a, b); });
  rules["arith.extui"] = rules["arith.uitofp"] = extendUnsigned;
  rules["arith.trunci"] = rules["arith.fptoui"] = unaryBits([](const APInt &a) { return a; });
  // A division by zero has no result.
  rules["arith.divui"] = binaryBits([](const APInt &a, const APInt &b) { return b.isZero() ? b : a.udiv(b); });
  rules["arith.ceildivui"] = binaryBits([](const APInt &a, const APInt &b) {
    return b.isZero() ? b : llvm::APIntOps::RoundingUDiv(a, b, APInt::Rounding::UP);
  });
  rules["arith.remui"] = binaryBits([](const APInt &a, const APInt &b) { return b.isZero() ? b : a.urem(b); });
  rules["arith.shli"] = binaryBits([](const APInt &a, const APInt &b) { return a.shl(b); });
  rules["arith.shrsi"] = binaryBits([](const APInt &a, const APInt &b) { return a.ashr(b); });
  rules["arith.shrui"] = binaryBits([](const APInt &a, const APInt &b) { return a.lshr(b); });
  rules["arith.divf"] = binary([](double a, double b) { return a / b; });
  rules["arith.remf"] = binary([](double a, double b) { return std::fmod(a, b); });
  rules["arith.negf"] = unary([](double a) { return -a; });
  rules["arith.andi"] = integers([](int64_t a, int64_t b) { return a & b; });
  rules["arith.ori"] = integers([](int64_t a, int64_t b) { return a | b; });
  rules["arith.xori"] = integers([](int64_t a, int64_t b) { return a ^ b; });
  rules["arith.minsi"] = binary([](double a, double b) { return std::fmin(a, b); });
  rules["arith.maxsi"] = binary([](double a, double b) { return std::fmax(a, b); });
  rules["arith.maxui"] = binary(unsignedMaximum);
  rules["arith.minui"] = binary(unsignedMinimum);
  rules["arith.maximumf"] = binary(maximum);
  rules["arith.minimumf"] = binary(minimum);
  rules["arith.maxnumf"] = binary([](double a, double b) { return std::fmax(a, b); });
  rules["arith.minnumf"] = binary([](double a, double b) { return std::fmin(a, b); });

  rules["arith.cmpf"] = compareFloats;
  rules["arith.cmpi"] = compareIntegers;
  rules["arith.select"] = evaluateSelect;

  rules["affine.apply"] = evaluateApply;

  for (auto [name, function] : kCurves)
    rules[("math." + llvm::Twine(name)).str()] = unary(function);
  rules["math.rsqrt"] = unary([](double a) { return 1 / std::sqrt(a); });
  rules["math.powf"] = rules["math.fpowi"] = binary([](double a, double b) { return std::pow(a, b); });
  rules["math.atan2"] = binary([](double a, double b) { return std::atan2(a, b); });
  rules["math.copysign"] = binary([](double a, double b) { return std::copysign(a, b); });
  rules["math.absi"] = unary([](double a) { return std::fabs(a); });
  rules["math.ctlz"] = unaryBits([](const APInt &a) { return APInt(a.getBitWidth(), a.countl_zero()); });
  rules["math.cttz"] = unaryBits([](const APInt &a) { return APInt(a.getBitWidth(), a.countr_zero()); });
  rules["math.ctpop"] = unaryBits([](const APInt &a) { return APInt(a.getBitWidth(), a.popcount()); });

  rules["math.fma"] = fused;

  rules["mhc.sigmoid"] = unary([](double a) { return 1 / (1 + std::exp(-a)); });
  rules["mhc.silu"] = unary([](double a) { return a / (1 + std::exp(-a)); });
  // log(1 + exp(a)) without overflow, and without losing exp(a) beside the 1.
  rules["mhc.softplus"] = unary([](double a) { return std::fmax(a, 0.0) + std::log1p(std::exp(-std::fabs(a))); });
}
