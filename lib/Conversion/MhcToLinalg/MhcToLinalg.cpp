//===- MhcToLinalg.cpp - Leaf and elementwise ops to linalg ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk over the function, without a pattern driver: every op is met once, and operands are converted before users.
//
//===----------------------------------------------------------------------===//

#include "GenericBuilder.h"
#include "mhc/Conversion/Passes.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

namespace mhc {
#define GEN_PASS_DEF_CONVERTMHCTOLINALGPASS
#include "mhc/Conversion/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

namespace {
/// Scalar arithmetic in the body of a generic op.
struct Scalars {
  OpBuilder &builder;
  Location loc;

  Value constant(double value) {
    return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
  }
  Value widen(Value value) {
    Type type = value.getType();
    if (!type.isBF16() && !type.isF16())
      return value;
    return arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
  }
  Value narrow(Value value, Type type) {
    if (value.getType() == type)
      return value;
    return arith::TruncFOp::create(builder, loc, type, value);
  }
  /// Sums may be reordered: mhc-order-sums chooses an order for vectors.
  Value sum(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b, arith::FastMathFlags::reassoc); }
  Value add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
  Value div(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
  Value max(Value a, Value b) { return arith::MaximumFOp::create(builder, loc, a, b); }
  Value exp(Value a) { return math::ExpOp::create(builder, loc, a); }
  Value neg(Value a) { return arith::NegFOp::create(builder, loc, a); }
  Value onePlusExpNeg(Value a) { return add(constant(1.0), exp(neg(a))); }
  /// max(x, 0) + log(1 + exp(-|x|)): no exponential overflows.
  Value softplus(Value a) {
    Value small = exp(neg(math::AbsFOp::create(builder, loc, a)));
    return add(max(a, constant(0.0)), math::Log1pOp::create(builder, loc, small));
  }
};

class LeafConverter {
public:
  explicit LeafConverter(func::FuncOp func) : func(func), builder(func.getContext()) {}

  LogicalResult run() {
    SmallVector<Operation *> ops;
    func.walk([&](Operation *op) {
      if (!op->getParentOfType<linalg::LinalgOp>())
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      builder.setInsertionPoint(op);
      if (failed(convert(op)))
        return failure();
    }
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
    return success();
  }

private:
  LogicalResult convert(Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return fillUsesOf(constant), success();
    if (isa<tensor::SplatOp, BroadcastOp>(op) && llvm::all_of(op->getUsers(), readsThrough))
      return success();
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case<SigmoidOp, SiluOp, SoftplusOp>([&](auto leaf) { return replace(leaf, convertUnary(leaf)); })
        .Case<SoftmaxOp, RmsNormOp, ReduceOp, BroadcastOp, TransposeOp, ShiftOp, SequenceStartsOp>(
            [&](auto leaf) { return replace(leaf, convertLeaf(leaf)); })
        .Case([&](tensor::SplatOp splat) { return replace(splat, convertSplat(splat)); })
        .Case([&](tensor::DimOp dim) { return convertDim(dim); })
        .Case<tensor::ConcatOp, linalg::SoftmaxOp>([&](auto whole) {
          FailureOr<SmallVector<Value>> parts = whole.decomposeOperation(builder);
          return failed(parts) ? failure() : replace(whole, parts->front());
        })
        .Default([&](Operation *other) { return isElementwise(other) ? convertElementwise(other) : success(); });
  }

  LogicalResult convertDim(tensor::DimOp op) {
    std::optional<int64_t> dim = op.getConstantIndex();
    if (dim && isa_and_nonnull<BroadcastOp, tensor::SplatOp>(op.getSource().getDefiningOp())) {
      OpFoldResult size = tensorSizes(builder, op.getSource())[*dim];
      op.replaceAllUsesWith(getValueOrCreateConstantIndexOp(builder, op.getLoc(), size));
    }
    return success();
  }

  /// Users of a splat or a broadcast are converted later and look for it; so the op itself stays until the end.
  LogicalResult replace(Operation *op, Value value) {
    if (!isa<tensor::SplatOp, BroadcastOp>(op)) {
      op->getResult(0).replaceAllUsesWith(value);
      return success();
    }
    op->getResult(0).replaceUsesWithIf(value, [&](OpOperand &use) { return !readsThrough(use.getOwner()); });
    return success();
  }

  /// Whether `op` becomes a generic op by addInput, which sees through splats and broadcasts.
  static bool readsThrough(Operation *op) {
    return isElementwise(op) ||
           isa<SigmoidOp, SiluOp, SoftplusOp, SoftmaxOp, RmsNormOp, ReduceOp, BroadcastOp, TransposeOp, tensor::DimOp>(
               op);
  }

  static bool isElementwise(Operation *op) {
    return OpTrait::hasElementwiseMappableTraits(op) &&
           llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) && op->getDialect() &&
           op->getDialect()->getNamespace() != MhcDialect::getDialectNamespace();
  }

  GenericBuilder generic(Value like) { return GenericBuilder(builder, like.getLoc(), tensorSizes(builder, like)); }

  LogicalResult convertElementwise(Operation *op);
  template <typename Op>
  Value convertUnary(Op op);
  Value convertLeaf(SoftmaxOp op);
  Value convertLeaf(RmsNormOp op);
  Value convertLeaf(ReduceOp op);
  Value convertLeaf(BroadcastOp op);
  Value convertLeaf(TransposeOp op);
  Value convertLeaf(ShiftOp op);
  Value convertLeaf(SequenceStartsOp op);
  Value convertSplat(tensor::SplatOp op);
  void fillUsesOf(arith::ConstantOp op);

  Value formula(SigmoidOp, Scalars s, Value x) { return s.div(s.constant(1.0), s.onePlusExpNeg(x)); }
  Value formula(SiluOp, Scalars s, Value x) { return s.div(x, s.onePlusExpNeg(x)); }
  Value formula(SoftplusOp, Scalars s, Value x) { return s.softplus(x); }

  /// Elements `by` further down along `dim`, and `padding` in front of them, or behind them where `by` is negative.
  Value moved(Value tensor, int64_t dim, int64_t by, TypedAttr padding);
  /// The number of elements along `dims`, as a scalar.
  Value count(Value tensor, ArrayRef<int64_t> dims, Type type);
  TypedAttr f32(double value) { return builder.getF32FloatAttr(static_cast<float>(value)); }

  func::FuncOp func;
  OpBuilder builder;
};
} // namespace

/// The op on scalars. Narrow floats are widened, since no machine we know computes in them.
static SmallVector<Value> cloneOnScalars(Operation *op, OpBuilder &builder, ValueRange inputs) {
  Scalars scalars{builder, op->getLoc()};
  bool widen = !isa<CastOpInterface>(op);
  SmallVector<Value> operands(inputs);
  SmallVector<Type> types, needed;
  if (widen)
    for (Value &operand : operands)
      operand = scalars.widen(operand);
  for (Type type : op->getResultTypes()) {
    needed.push_back(getElementTypeOrSelf(type));
    bool isNarrow = needed.back().isBF16() || needed.back().isF16();
    types.push_back(widen && isNarrow ? builder.getF32Type() : needed.back());
  }
  OperationState state(op->getLoc(), op->getName(), operands, types, op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  SmallVector<Value> results(builder.create(state)->getResults());
  for (auto [result, type] : llvm::zip(results, needed))
    result = scalars.narrow(result, type);
  return results;
}

LogicalResult LeafConverter::convertElementwise(Operation *op) {
  Value like = *llvm::find_if(op->getOperands(), [](Value v) { return isa<RankedTensorType>(v.getType()); });
  GenericBuilder loops = generic(like);
  for (Value operand : op->getOperands())
    loops.addInput(operand);
  for (Type type : op->getResultTypes()) {
    if (!isa<RankedTensorType>(type))
      return op->emitError() << "cannot be computed: its result is no ranked tensor";
    loops.addResult(getElementTypeOrSelf(type));
  }
  op->replaceAllUsesWith(
      loops.build([&](OpBuilder &inner, ValueRange inputs, ValueRange) { return cloneOnScalars(op, inner, inputs); }));
  return success();
}

template <typename Op>
Value LeafConverter::convertUnary(Op op) {
  GenericBuilder loops = generic(op.getX());
  Type type = op.getType().getElementType();
  loops.addInput(op.getX());
  loops.addResult(type);
  return loops.build([&](OpBuilder &inner, ValueRange inputs, ValueRange) {
    Scalars s{inner, op.getLoc()};
    return SmallVector<Value>{s.narrow(formula(op, s, s.widen(inputs[0])), type)};
  })[0];
}

Value LeafConverter::convertLeaf(SoftmaxOp op) {
  Location loc = op.getLoc();
  Type type = op.getType().getElementType();
  int64_t dim = op.getDim();

  GenericBuilder maximum = generic(op.getX());
  AffineMap kept = maximum.without(dim);
  maximum.addInput(op.getX());
  maximum.addReduction(f32(-INFINITY), dim);
  Value max = maximum.build([&](OpBuilder &inner, ValueRange inputs, ValueRange sums) {
    Scalars s{inner, loc};
    return SmallVector<Value>{s.max(s.widen(inputs[0]), sums[0])};
  })[0];

  GenericBuilder exponentials = generic(op.getX());
  exponentials.addInput(op.getX());
  exponentials.addInput(max, kept);
  exponentials.addResult(builder.getF32Type());
  exponentials.addReduction(f32(0.0), dim);
  SmallVector<Value> parts = exponentials.build([&](OpBuilder &inner, ValueRange inputs, ValueRange sums) {
    Scalars s{inner, loc};
    Value exp = s.exp(s.sub(s.widen(inputs[0]), inputs[1]));
    return SmallVector<Value>{exp, s.sum(sums[1], exp)};
  });

  GenericBuilder quotient = generic(op.getX());
  quotient.addInput(parts[0]);
  quotient.addInput(parts[1], kept);
  quotient.addResult(type);
  return quotient.build([&](OpBuilder &inner, ValueRange inputs, ValueRange) {
    Scalars s{inner, loc};
    return SmallVector<Value>{s.narrow(s.div(inputs[0], inputs[1]), type)};
  })[0];
}

Value LeafConverter::convertLeaf(RmsNormOp op) {
  Location loc = op.getLoc();
  Type type = op.getType().getElementType();
  int64_t last = op.getType().getRank() - 1;

  GenericBuilder squares = generic(op.getX());
  AffineMap kept = squares.without(last);
  squares.addInput(op.getX());
  squares.addReduction(f32(0.0), last);
  Value sum = squares.build([&](OpBuilder &inner, ValueRange inputs, ValueRange sums) {
    Scalars s{inner, loc};
    Value x = s.widen(inputs[0]);
    return SmallVector<Value>{s.sum(sums[0], s.mul(x, x))};
  })[0];

  GenericBuilder product = generic(op.getX());
  product.addInput(op.getX());
  product.addInput(sum, kept);
  product.addInput(count(op.getX(), last, builder.getF32Type()));
  if (op.getWeight())
    product.addInput(op.getWeight(), AffineMap::get(last + 1, 0, builder.getAffineDimExpr(last)));
  product.addResult(type);
  return product.build([&](OpBuilder &inner, ValueRange inputs, ValueRange) {
    Scalars s{inner, loc};
    Value mean = s.add(s.div(inputs[1], inputs[2]), s.constant(op.getEps().convertToDouble()));
    Value out = s.div(s.widen(inputs[0]), math::SqrtOp::create(inner, loc, mean));
    if (op.getWeight())
      out = s.mul(out, s.widen(inputs[3]));
    return SmallVector<Value>{s.narrow(out, type)};
  })[0];
}

Value LeafConverter::convertLeaf(ReduceOp op) {
  Location loc = op.getLoc();
  Type type = op.getOut().getType().getElementType();
  Type sumType = type.isF64() ? type : builder.getF32Type();
  bool isMax = op.getKind() == ReduceKind::max;

  GenericBuilder reduction = generic(op.getX());
  reduction.addInput(op.getX());
  reduction.addReduction(builder.getFloatAttr(sumType, isMax ? -INFINITY : 0.0), op.getDims());
  Value out = reduction.build([&](OpBuilder &inner, ValueRange inputs, ValueRange sums) {
    Scalars s{inner, loc};
    Value x = s.widen(inputs[0]);
    return SmallVector<Value>{isMax ? s.max(sums[0], x) : s.sum(sums[0], x)};
  })[0];
  if (op.getKind() != ReduceKind::mean && type == sumType)
    return out;

  GenericBuilder finish = generic(out);
  finish.addInput(out);
  finish.addResult(type);
  if (op.getKind() == ReduceKind::mean)
    finish.addInput(count(op.getX(), op.getDims(), sumType));
  return finish.build([&](OpBuilder &inner, ValueRange inputs, ValueRange) {
    Scalars s{inner, loc};
    return SmallVector<Value>{s.narrow(inputs.size() > 1 ? s.div(inputs[0], inputs[1]) : inputs[0], type)};
  })[0];
}

Value LeafConverter::convertLeaf(BroadcastOp op) {
  GenericBuilder loops = generic(op.getOut());
  loops.addInput(op.getOut());
  loops.addResult(op.getOut().getType().getElementType());
  return loops.build([](OpBuilder &, ValueRange inputs, ValueRange) { return SmallVector<Value>(inputs); })[0];
}

Value LeafConverter::convertLeaf(TransposeOp op) {
  SmallVector<OpFoldResult> from = tensorSizes(builder, op.getX()), sizes;
  SmallVector<AffineExpr> exprs(from.size());
  for (auto [i, dim] : llvm::enumerate(op.getPerm())) {
    sizes.push_back(from[dim]);
    exprs[dim] = builder.getAffineDimExpr(i);
  }
  GenericBuilder loops(builder, op.getLoc(), sizes);
  loops.addInput(op.getX(), AffineMap::get(from.size(), 0, exprs, builder.getContext()));
  loops.addResult(op.getOut().getType().getElementType());
  return loops.build([](OpBuilder &, ValueRange inputs, ValueRange) { return SmallVector<Value>(inputs); })[0];
}

/// The smaller of a size and a number.
static OpFoldResult atMost(OpBuilder &builder, Location loc, OpFoldResult size, int64_t most) {
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return builder.getIndexAttr(std::min(*known, most));
  Value limit = arith::ConstantIndexOp::create(builder, loc, most);
  return arith::MinSIOp::create(builder, loc, cast<Value>(size), limit).getResult();
}

Value LeafConverter::moved(Value tensor, int64_t dim, int64_t by, TypedAttr padding) {
  constexpr int64_t kFew = 64; // rows that may be padded beyond an open size
  Location loc = tensor.getLoc();
  SmallVector<OpFoldResult> sizes = tensorSizes(builder, tensor);
  SmallVector<OpFoldResult> low(sizes.size(), builder.getIndexAttr(0)), high = low, offsets = low;
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  const bool isFew = std::abs(by) <= kFew && !getConstantIntValue(sizes[dim]);
  OpFoldResult gone = isFew ? builder.getIndexAttr(std::abs(by)) : atMost(builder, loc, sizes[dim], std::abs(by));
  (by > 0 ? low : high)[dim] = gone;
  if (by < 0)
    offsets[dim] = gone;
  Value fill = arith::ConstantOp::create(builder, loc, padding);
  Value padded = tensor::PadOp::create(builder, loc, Type(), tensor, low, high, fill);
  return tensor::ExtractSliceOp::create(builder, loc, cast<RankedTensorType>(tensor.getType()), padded, offsets, sizes,
                                        strides);
}

/// A token that has moved stays where the sequence of the later one of both places starts no later than the earlier.
Value LeafConverter::convertLeaf(ShiftOp op) {
  int64_t dim = op.getDim(), by = op.getBy();
  Type type = op.getX().getType().getElementType();
  Value out = moved(op.getX(), dim, by, builder.getFloatAttr(type, 0.0));
  if (!op.getStarts())
    return out;
  Value starts = by > 0 ? Value(op.getStarts()) : moved(op.getStarts(), 0, by, builder.getI32IntegerAttr(INT32_MAX));
  GenericBuilder loops = generic(out);
  int64_t rank = op.getX().getType().getRank();
  loops.addInput(out);
  loops.addInput(starts, AffineMap::get(rank, 0, builder.getAffineDimExpr(dim)));
  loops.addResult(type);
  return loops.build([&](OpBuilder &inner, ValueRange inputs, ValueRange) {
    Location loc = op.getLoc();
    Value here = linalg::IndexOp::create(inner, loc, dim);
    Value distance = arith::ConstantIndexOp::create(inner, loc, std::max<int64_t>(by, 0));
    Value earlier = arith::SubIOp::create(inner, loc, here, distance);
    Value start = arith::IndexCastOp::create(inner, loc, inner.getIndexType(), inputs[1]);
    Value isSame = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::sle, start, earlier);
    Value zero = arith::ConstantOp::create(inner, loc, inner.getFloatAttr(type, 0.0));
    return SmallVector<Value>{arith::SelectOp::create(inner, loc, isSame, inputs[0], zero)};
  })[0];
}

Value LeafConverter::convertLeaf(SequenceStartsOp op) {
  Location loc = op.getLoc();
  OpFoldResult tokens = op.getSize() ? OpFoldResult(op.getSize())
                                     : OpFoldResult(builder.getIndexAttr(op.getStarts().getType().getDimSize(0)));
  GenericBuilder loops(builder, loc, {tokens, tensorSizes(builder, op.getCuSeqlens())[0]});
  loops.addInput(op.getCuSeqlens(), AffineMap::get(2, 0, builder.getAffineDimExpr(1)));
  loops.addReduction(builder.getI32IntegerAttr(0), 1);
  return loops.build([&](OpBuilder &inner, ValueRange inputs, ValueRange accumulators) {
    Value token = arith::IndexCastOp::create(inner, loc, inner.getI32Type(), linalg::IndexOp::create(inner, loc, 0));
    Value isBefore = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::sle, inputs[0], token);
    Value later = arith::MaxSIOp::create(inner, loc, inputs[0], accumulators[0]);
    return SmallVector<Value>{arith::SelectOp::create(inner, loc, isBefore, later, accumulators[0])};
  })[0];
}

Value LeafConverter::convertSplat(tensor::SplatOp op) {
  Value empty = tensor::EmptyOp::create(builder, op.getLoc(), tensorSizes(builder, op), op.getType().getElementType());
  return linalg::FillOp::create(builder, op.getLoc(), op.getInput(), empty).getResult(0);
}

/// One number in all of a large tensor would be as many bytes of the program. Each use fills a buffer of its own, which
/// it may write into.
void LeafConverter::fillUsesOf(arith::ConstantOp op) {
  constexpr int64_t kLargestTable = 1024; // elements
  auto numbers = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!numbers || numbers.getNumElements() <= kLargestTable)
    return;
  for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
    if (readsThrough(use.getOwner()))
      continue;
    Operation *place = use.getOwner();
    while (auto body = place->getParentOfType<linalg::LinalgOp>())
      place = body;
    builder.setInsertionPoint(place);
    Value scalar = arith::ConstantOp::create(builder, op.getLoc(), numbers.getSplatValue<TypedAttr>());
    Value empty = tensor::EmptyOp::create(builder, op.getLoc(), numbers.getType().getShape(), numbers.getElementType());
    use.set(linalg::FillOp::create(builder, op.getLoc(), scalar, empty).getResult(0));
  }
}

Value LeafConverter::count(Value tensor, ArrayRef<int64_t> dims, Type type) {
  Location loc = tensor.getLoc();
  auto shape = cast<RankedTensorType>(tensor.getType()).getShape();
  double known = 1;
  Value product;
  for (int64_t dim : dims) {
    if (!ShapedType::isDynamic(shape[dim])) {
      known *= shape[dim];
      continue;
    }
    Value size = getValueOrCreateConstantIndexOp(builder, loc, tensorSizes(builder, tensor)[dim]);
    Value wide = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size);
    Value factor = arith::SIToFPOp::create(builder, loc, type, wide);
    product = product ? arith::MulFOp::create(builder, loc, product, factor).getResult() : factor;
  }
  if (product && known == 1)
    return product;
  Value constant = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, known));
  return product ? arith::MulFOp::create(builder, loc, product, constant).getResult() : constant;
}

namespace {
struct ConvertMhcToLinalg : mhc::impl::ConvertMhcToLinalgPassBase<ConvertMhcToLinalg> {
  void runOnOperation() override {
    if (failed(LeafConverter(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
