//===- ReadArith.cpp - arith and math as expressions --------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "OpReader.h"
#include "Order.h"
#include "mhc/IR/Constants.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::algebra;

/// The number in all elements of a constant.
static std::optional<double> splatNumber(Attribute value) {
  if (auto elements = dyn_cast<DenseElementsAttr>(value); elements && elements.isSplat())
    value = elements.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(value)) {
    // A number of f32 may have been widened.
    double wide = number.getValueAsDouble();
    float narrow = static_cast<float>(wide);
    return narrow == wide ? asWritten(APFloat(narrow)) : asWritten(number.getValue());
  }
  if (auto number = dyn_cast<IntegerAttr>(value))
    return number.getType().isIndex() || number.getType().isSignlessInteger(1)
               ? static_cast<double>(number.getValue().getZExtValue())
               : static_cast<double>(number.getValue().getSExtValue());
  return std::nullopt;
}

/// A constant that holds the positions along a dimension, each as often as the others in a row, or the identity matrix.
std::optional<Expr> OpReader::positionsIn(arith::ConstantOp constant) {
  constexpr int64_t kMostElements = 4096; // more are a weight
  auto type = dyn_cast<RankedTensorType>(constant.getType());
  bool isSmall = type && type.getNumElements() <= kMostElements;
  DenseElementsAttr elements = isSmall ? denseElements(constant.getValue()) : DenseElementsAttr();
  if (!elements || elements.isSplat())
    return std::nullopt;
  ArrayRef<int64_t> shape = type.getShape();
  auto dims = llvm::to_vector(
      llvm::make_filter_range(llvm::seq<int>(0, shape.size()), [&](int dim) { return shape[dim] != 1; }));
  auto position = [&](int dim) { return algebra.position(own(constant, dim)); };
  auto holds = [&](auto numberAt) {
    return llvm::all_of(llvm::enumerate(elements.getValues<Attribute>()),
                        [&](auto element) { return splatNumber(element.value()) == numberAt(element.index()); });
  };
  if (dims.size() == 1 && elements.getElementType().isInteger()) {
    const int64_t size = shape[dims[0]];
    for (int64_t times = 1; times < size; ++times)
      if (size % times == 0 && holds([&](size_t i) { return i / times; })) {
        Index repeated;
        repeated.pieces.push_back({static_cast<Var>(dims[0]), times, size / times, 1});
        return algebra.position(repeated);
      }
  }
  bool isSquare = dims.size() == 2 && shape[dims[0]] == shape[dims[1]];
  if (!isSquare || !holds([&](size_t i) { return i / shape[dims[0]] == i % shape[dims[0]]; }))
    return std::nullopt;
  std::optional<Expr> row = position(dims[0]), column = position(dims[1]);
  return row && column ? algebra.equal(*row, *column) : std::nullopt;
}

/// Whether an expression is 1 or 0 by the positions that it is read at.
static bool isChoice(const Expr &expr) {
  const Factor *factor = singleFactor(expr);
  return factor && expr[0].coefficient == 1 && factor->node()->isApply("equal");
}

/// Whether a choice is of one number's place, not of two indices that are equal.
static bool isOfOnePlace(Algebra &algebra, const Expr &choice) {
  if (!isChoice(choice))
    return false;
  auto isNumber = [&](unsigned side) {
    std::optional<Expr> place = algebra.part(choice[0].factors[0].element, {}, side);
    return place && numberOf(*place);
  };
  return isNumber(0) || isNumber(1);
}

static bool isOneBit(Value value) { return getElementTypeOrSelf(value).isInteger(1); }

/// x, where the condition is that x is no number.
static std::optional<Expr> notNumber(Algebra &algebra, const Expr &condition) {
  const Factor *factor = singleFactor(condition);
  StringRef name =
      factor && factor->node()->kind == Node::Apply ? cast<StringAttr>(factor->node()->label).getValue() : "";
  constexpr StringLiteral kUnequal = "arith.cmpf predicate=13 ", kUnordered = "arith.cmpf predicate=14 ";
  if (!name.starts_with(kUnequal) && !name.starts_with(kUnordered))
    return std::nullopt;
  std::optional<Expr> a = algebra.part(factor->element, {}, 0), b = algebra.part(factor->element, {}, 1);
  return a && b && compare(*a, *b, By::names) == 0 ? a : std::nullopt;
}

// Other integers are not read: they may overflow.
std::optional<Expr> OpReader::choice(Operation *op, ArrayRef<Expr> operands) {
  auto isKnown = [](const Expr &expr) { return positionOf(expr) || numberOf(expr); };
  return llvm::TypeSwitch<Operation *, std::optional<Expr>>(op)
      .Case([&](arith::ConstantOp constant) { return positionsIn(constant); })
      .Case([&](arith::IndexCastOp) {
        Type type = getElementTypeOrSelf(op->getResult(0));
        bool isWide = type.isIndex() || type.getIntOrFloatBitWidth() >= 32; // no size is more than that
        return isWide && isKnown(operands[0]) ? std::optional(operands[0]) : std::nullopt;
      })
      .Case([&](arith::AddIOp) -> std::optional<Expr> {
        for (unsigned side : {0, 1})
          if (isKnown(operands[side]) && numberOf(operands[1 - side]) == 0.0)
            return operands[side];
        return std::nullopt;
      })
      .Case([&](arith::CmpIOp compare) -> std::optional<Expr> {
        bool isNegative = compare.getPredicate() == arith::CmpIPredicate::slt && numberOf(operands[1]) == 0.0;
        if (isNegative && positionOf(operands[0]))
          return Algebra::number(0);
        bool isOfPositions = llvm::all_of(operands, isKnown) && llvm::any_of(operands, positionOf);
        return isOfPositions && compare.getPredicate() == arith::CmpIPredicate::eq
                   ? algebra.equal(operands[0], operands[1])
                   : std::nullopt;
      })
      .Case<arith::ExtUIOp, arith::UIToFPOp, arith::SIToFPOp>([&](Operation *) {
        bool hasSign = isa<arith::SIToFPOp>(op) && isOneBit(op->getOperand(0)); // is -1 for true
        return isChoice(operands[0]) && !hasSign ? std::optional(operands[0]) : std::nullopt;
      })
      .Case([&](arith::SelectOp) {
        if (std::optional<double> known = numberOf(operands[0]))
          return std::optional(operands[*known == 0 ? 2 : 1]);
        // A guard that passes on what is no number, as the other value does by itself.
        if (std::optional<Expr> x = notNumber(algebra, operands[0]); x && compare(*x, operands[1], By::names) == 0)
          return std::optional(operands[2]);
        // One stream of several is streams all the same.
        bool isRead = reading.chooses || !isOfOnePlace(algebra, operands[0]);
        bool isOrZero = isRead && isChoice(operands[0]) && numberOf(operands[2]) == 0.0;
        return isOrZero ? algebra.multiply(operands[0], operands[1]) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// A function's name with its attributes, but for the liberties that it leaves to compilers.
static std::string nameOf(Operation *op) {
  std::string name = op->getName().getStringRef().str();
  llvm::raw_string_ostream os(name);
  for (NamedAttribute attribute : op->getAttrs())
    if (attribute.getName() != "fastmath" && attribute.getName() != "overflowFlags")
      os << ' ' << attribute.getName().getValue() << '=' << attribute.getValue();
  os << " : " << getElementTypeOrSelf(op->getResult(0));
  return name;
}

/// The lowest number of f32, with which a maximum may start in place of minus infinity, is below that.
static bool isLowest(const Expr &expr) {
  constexpr double kLowest = -3.38e38; // of bf16, the narrowest with the exponents of f32
  std::optional<double> number = numberOf(expr);
  return number && *number < kLowest;
}

std::optional<Expr> OpReader::maximum(const Expr &a, const Expr &b) {
  if (isLowest(a) || isLowest(b))
    return isLowest(a) ? b : a;
  return algebra.apply("max", {a, b});
}

std::string algebra::roundingTo(Format format) { return "round " + stringifyFormat(format).str(); }

bool algebra::isRounded(const Expr &expr, Format format) {
  const Factor *factor = singleFactor(expr);
  return factor && expr[0].coefficient == 1 && factor->node()->isApply(roundingTo(format));
}

/// The maxima of maxima that are looked into.
constexpr int kMostMaxima = 4;

/// The maximum of numbers of a format is one of them.
static bool isNarrow(const Expr &expr, Format format, int maxima) {
  const Factor *factor = singleFactor(expr);
  if (!factor || std::abs(expr[0].coefficient) != 1)
    return false;
  const Node &node = *factor->node();
  if (node.isReduce("max") || node.isApply("max"))
    return maxima > 0 && llvm::all_of(node.parts, [&](const Expr &part) { return isNarrow(part, format, maxima - 1); });
  return node.isApply(roundingTo(format)) ||
         (node.value && narrowFormat(getElementTypeOrSelf(node.value.getType())) == format);
}

bool algebra::isNarrow(const Expr &expr, Format format) { return ::isNarrow(expr, format, kMostMaxima); }

/// A number in a format. One of those that the format has with fewer digits, or as zero, is another number, as is 1e-6
/// in f16; else rounding changes it no more than what is computed with it, and it stays as it is written.
static double stored(double number, FloatType type) {
  APFloat narrow(number);
  bool losesInfo;
  narrow.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  if (!narrow.isDenormal() && !narrow.isZero())
    return number;
  narrow.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return narrow.convertToDouble();
}

std::optional<Expr> OpReader::rounded(std::optional<Expr> expr, Type type) {
  std::optional<Format> format = narrowFormat(getElementTypeOrSelf(type));
  if (!expr || !format)
    return expr;
  if (std::optional<double> number = numberOf(*expr))
    return Algebra::number(stored(*number, cast<FloatType>(getElementTypeOrSelf(type))));
  if (reading.rounding == Rounding::ignored || isNarrow(*expr, *format))
    return expr;
  reading.seesAny = true;
  return algebra.apply(roundingTo(*format), {*expr});
}

std::optional<Expr> OpReader::scalar(Operation *op, ArrayRef<Expr> operands) {
  if (std::optional<Expr> chosen = choice(op, operands))
    return chosen; // 0, 1 and what is chosen are numbers of all types
  bool isExact = isa<arith::ConstantOp, arith::ExtFOp>(op);
  std::optional<Expr> expr = exact(op, operands);
  return isExact ? expr : rounded(expr, op->getResult(0).getType());
}

std::optional<Expr> OpReader::exact(Operation *op, ArrayRef<Expr> operands) {
  using Result = std::optional<Expr>;
  auto pow = [&](const Expr &base, const Expr &exponent) -> Result {
    std::optional<double> number = numberOf(exponent);
    double halves = number ? 2 * *number : 0.5;
    if (halves != std::nearbyint(halves) || std::abs(halves) > 16 || halves == 0)
      return algebra.apply(nameOf(op), operands);
    // The power of a negative number is none where the exponent is no integer.
    return algebra.power(base, static_cast<int>(halves));
  };
  auto tanh = [&](const Expr &x) -> Result {
    Result sigmoid = algebra.apply("sigmoid", {Algebra::scale(x, 2)});
    return sigmoid ? algebra.add(Algebra::scale(*sigmoid, 2), Algebra::number(-1)) : std::nullopt;
  };
  auto known =
      llvm::TypeSwitch<Operation *, std::optional<Result>>(op)
          .Case([&](arith::ConstantOp constant) -> Result {
            if (std::optional<double> number = splatNumber(constant.getValue()))
              return Algebra::number(*number);
            return algebra.constant(constant.getValue(), reading.sizes(constant), reading.whole(constant));
          })
          .Case<arith::ExtFOp, arith::TruncFOp>([&](Operation *) -> Result { return operands[0]; })
          .Case([&](arith::NegFOp) -> Result { return Algebra::scale(operands[0], -1); })
          .Case([&](arith::AddFOp) { return algebra.add(operands[0], operands[1]); })
          .Case([&](arith::SubFOp) { return algebra.add(operands[0], Algebra::scale(operands[1], -1)); })
          .Case([&](arith::MulFOp) { return algebra.multiply(operands[0], operands[1]); })
          .Case([&](arith::DivFOp) { return algebra.divide(operands[0], operands[1]); })
          .Case<arith::MaximumFOp, arith::MaxNumFOp>([&](Operation *) { return maximum(operands[0], operands[1]); })
          .Case([&](math::FmaOp) -> Result {
            Result product = algebra.multiply(operands[0], operands[1]);
            return product ? algebra.add(*product, operands[2]) : std::nullopt;
          })
          .Case([&](math::AbsFOp) { return algebra.apply("abs", operands); })
          .Case([&](math::ExpOp) { return algebra.exp(operands[0]); })
          .Case([&](math::LogOp) { return algebra.log(operands[0]); })
          .Case([&](math::ExpM1Op) -> Result {
            Result exp = algebra.exp(operands[0]);
            return exp ? algebra.add(*exp, Algebra::number(-1)) : std::nullopt;
          })
          .Case([&](math::Log1pOp) -> Result {
            Result sum = algebra.add(operands[0], Algebra::number(1));
            return sum ? algebra.log(*sum) : std::nullopt;
          })
          .Case([&](math::SqrtOp) { return algebra.power(operands[0], 1); })
          .Case([&](math::RsqrtOp) { return algebra.power(operands[0], -1); })
          .Case<math::PowFOp, math::FPowIOp>([&](Operation *) { return pow(operands[0], operands[1]); })
          .Case([&](math::TanhOp) { return tanh(operands[0]); })
          .Default([](Operation *) { return std::nullopt; });
  if (known)
    return *known;
  bool isFunction = op->hasTrait<OpTrait::Elementwise>() && isMemoryEffectFree(op) && op->getNumResults() == 1;
  return isFunction ? algebra.apply(nameOf(op), operands) : std::nullopt;
}
