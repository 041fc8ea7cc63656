//===- Linalg.cpp - Ops of linalg as leaf ops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exporters write a model as linalg on tensors, one small op after the other. Each op becomes leaf ops on whole
// tensors, on which the other steps match: operands are spread over the domain of the loops, the body is applied to
// tensors, and what it adds up or takes the maximum of is reduced. An op that cannot be read so stays as it is.
//
//===----------------------------------------------------------------------===//

#include "LinalgView.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mhc;

namespace {
/// Reads one op. What was built before it turns out that an op cannot be read stays without a user.
class LinalgReader {
public:
  explicit LinalgReader(linalg::LinalgOp op)
      : op(op), builder(op), loc(op.getLoc()), leaf(builder, loc), views(op, builder) {}

  bool read();

private:
  Value readResult(OpResult result);
  Value readReduction(Value yielded, BlockArgument accumulator);
  Value readContraction();
  Value withStart(Value tensor, unsigned operand, ReduceKind kind);

  /// A scalar of the body as a tensor over the domain. Null when it cannot be one.
  Value tensorOf(Value scalar);
  Value apply(Operation *scalarOp);
  Value power(Operation *scalarOp, double exponent);
  Value splat(TypedAttr number);
  Attribute constantOf(Value scalar);
  /// Whether a scalar is what a reduction has made so far, which no tensor over the domain holds.
  bool isRunning(Value scalar);
  bool isReduced(OpOperand &init) { return loopsOf(op.getMatchingIndexingMap(&init)).size() < op.getNumLoops(); }

  linalg::LinalgOp op;
  OpBuilder builder;
  Location loc;
  LeafBuilder leaf;
  LinalgViews views;
  DenseMap<Value, Value> tensors;
};
} // namespace

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// The number that a tensor has in all elements.
static Attribute splatOf(Value tensor) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    tensor = fill.getInputs()[0];
  Attribute number;
  if (!matchPattern(tensor, m_Constant(&number)))
    return {};
  if (auto elements = dyn_cast<DenseElementsAttr>(number))
    return elements.isSplat() ? elements.getSplatValue<Attribute>() : Attribute();
  return number;
}

bool LinalgReader::isRunning(Value scalar) {
  auto argument = dyn_cast<BlockArgument>(scalar);
  if (!argument || argument.getOwner() != op.getBlock())
    return false;
  OpOperand &operand = op->getOpOperand(argument.getArgNumber());
  return op.isDpsInit(&operand) && isReduced(operand);
}

/// The number that a scalar of the body always is: what exporters convert inside, such as an epsilon from f64.
Attribute LinalgReader::constantOf(Value scalar) {
  if (isRunning(scalar))
    return {};
  if (auto argument = dyn_cast<BlockArgument>(scalar))
    return argument.getOwner() == op.getBlock() ? splatOf(op->getOperand(argument.getArgNumber())) : Attribute();
  Attribute number;
  if (matchPattern(scalar, m_Constant(&number)))
    return number;
  Operation *scalarOp = scalar.getDefiningOp();
  if (scalarOp->getNumOperands() == 0 || scalarOp->getNumResults() != 1 || !isPure(scalarOp))
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : scalarOp->getOperands()) {
    operands.push_back(constantOf(operand));
    if (!operands.back())
      return {};
  }
  SmallVector<OpFoldResult> folded;
  if (failed(scalarOp->fold(operands, folded)) || folded.size() != 1)
    return {};
  return dyn_cast<Attribute>(folded[0]);
}

Value LinalgReader::splat(TypedAttr number) {
  RankedTensorType type = views.typeOf(number.getType());
  if (type.hasStaticShape())
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, number));
  Value scalar = arith::ConstantOp::create(builder, loc, number);
  return views.splat(scalar);
}

Value LinalgReader::tensorOf(Value scalar) {
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
Value LinalgReader::power(Operation *scalarOp, double exponent) {
  Value base = tensorOf(scalarOp->getOperand(0));
  if (!base)
    return {};
  if (exponent == 2)
    return leaf.mul(base, base);
  auto type = dyn_cast<FloatType>(scalarOp->getResult(0).getType());
  return math::PowFOp::create(builder, loc, base, splat(FloatAttr::get(type, exponent)));
}

Value LinalgReader::apply(Operation *scalarOp) {
  if (scalarOp->getNumResults() != 1 || !OpTrait::hasElementwiseMappableTraits(scalarOp))
    return {};
  if (isa<math::FPowIOp, math::PowFOp>(scalarOp)) {
    Attribute exponent = constantOf(scalarOp->getOperand(1));
    if (auto number = dyn_cast_if_present<IntegerAttr>(exponent))
      return power(scalarOp, number.getValue().getSExtValue());
    if (auto number = dyn_cast_if_present<FloatAttr>(exponent))
      return power(scalarOp, number.getValueAsDouble());
  }
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

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static std::optional<ReduceKind> kindOf(Operation *combiner) {
  if (isa<arith::AddFOp>(combiner))
    return ReduceKind::sum;
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner))
    return ReduceKind::max;
  return std::nullopt;
}

/// Whether what an output starts from leaves the sum or maximum as it is.
static bool startsAtIdentity(Value init, ReduceKind kind) {
  auto number = dyn_cast_if_present<FloatAttr>(splatOf(init));
  if (!number)
    return false;
  APFloat start = number.getValue();
  return kind == ReduceKind::sum ? start.isZero() : start.isInfinity() && start.isNegative();
}

Value LinalgReader::readReduction(Value yielded, BlockArgument accumulator) {
  Operation *combiner = yielded.getDefiningOp();
  std::optional<ReduceKind> kind = combiner ? kindOf(combiner) : std::nullopt;
  if (!kind || !llvm::is_contained(combiner->getOperands(), Value(accumulator)))
    return {};
  Value part = combiner->getOperand(combiner->getOperand(0) == accumulator ? 1 : 0);
  if (part == accumulator)
    return {};
  Value tensor = tensorOf(part);
  if (!tensor || !hasLeafType(tensor))
    return {};
  SmallVector<int64_t> dims;
  for (auto [dim, kindOfLoop] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kindOfLoop == utils::IteratorType::reduction)
      dims.push_back(dim);
  return withStart(leaf.reduce(*kind, tensor, dims), accumulator.getArgNumber(), *kind);
}

/// What loops made of the parts, with what the output was before.
Value LinalgReader::withStart(Value tensor, unsigned operand, ReduceKind kind) {
  OpOperand &init = op->getOpOperand(operand);
  Value out = tensor ? views.as(tensor, init) : Value();
  if (!out || startsAtIdentity(init.get(), kind))
    return out;
  return kind == ReduceKind::sum ? leaf.add(init.get(), out) : leaf.max(init.get(), out);
}

Value LinalgReader::readResult(OpResult result) {
  OpOperand *init = op.getDpsInitOperand(result.getResultNumber());
  Value yielded = op.getBlock()->getTerminator()->getOperand(result.getResultNumber());
  // One op may hold a sum beside what it adds up.
  if (isReduced(*init))
    return readReduction(yielded, op.getMatchingBlockArgument(init));
  Value tensor = tensorOf(yielded);
  return tensor ? views.as(tensor, *init) : Value();
}

/// A sum of products as one matrix product.
Value LinalgReader::readContraction() {
  if (!linalg::isaContractionOpInterface(op) || !llvm::all_of(op->getOperands(), hasLeafType))
    return {};
  return withStart(views.contraction(), op.getNumDpsInputs(), ReduceKind::sum);
}

bool LinalgReader::read() {
  SmallVector<std::pair<OpResult, Value>> read;
  for (OpResult result : op->getResults()) {
    if (result.use_empty())
      continue;
    Value value = op->getNumResults() == 1 ? readContraction() : Value();
    if (!value)
      value = readResult(result);
    if (!value || value.getType() != result.getType())
      return false;
    read.emplace_back(result, value);
  }
  for (auto [result, value] : read)
    result.replaceAllUsesWith(value);
  return true;
}

/// Whether each operand is read at one place for each turn of the loops: under a dimension of its own for each loop
/// that it depends on.
static bool hasPlainMaps(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           llvm::SmallBitVector seen(map.getNumDims());
           return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
             if (auto number = dyn_cast<AffineConstantExpr>(expr))
               return number.getValue() == 0;
             auto dim = dyn_cast<AffineDimExpr>(expr);
             if (!dim || seen[dim.getPosition()])
               return false;
             seen.set(dim.getPosition());
             return true;
           });
         });
}

/// Whether the body only computes. Exporters assert in it that a divisor is not zero: a quotient that is not finite
/// says as much, so assertions go.
static bool onlyComputes(linalg::LinalgOp op) {
  return llvm::all_of(op.getBlock()->without_terminator(),
                      [](Operation &inner) { return isPure(&inner) || isa<cf::AssertOp>(inner); });
}

void mhc::raiseLinalg(func::FuncOp func) {
  SmallVector<linalg::LinalgOp> ops;
  func.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  // A fill says where a sum starts; it is read last, where something else uses it.
  std::stable_partition(ops.begin(), ops.end(), [](linalg::LinalgOp op) { return !isa<linalg::FillOp>(op); });
  for (linalg::LinalgOp op : ops)
    if (hasPlainMaps(op) && onlyComputes(op) && LinalgReader(op).read())
      op->erase();
}
