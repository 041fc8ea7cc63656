//===- AtenProducts.cpp - ATen ops that add elements up --------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtenCall.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <limits>

using namespace mlir;
using namespace mhc;
using namespace mhc::aten;

Values aten::readSum(AtenCall &call) { return one(call.reduce(ReduceKind::sum)); }
Values aten::readMean(AtenCall &call) { return one(call.reduce(ReduceKind::mean)); }
Values aten::readMax(AtenCall &call) { return one(call.reduce(ReduceKind::max)); }

/// The largest elements, where nothing asks for their places.
Values aten::readMaxAndPlace(AtenCall &call) {
  bool isAlone = call.results().size() == 2 && call.results()[1].use_empty();
  return isAlone ? Values{call.reduce(ReduceKind::max), Value()} : Values();
}

/// The sum of magnitudes, or the root of the sum of squares, rounded once.
Values aten::readVectorNorm(AtenCall &call) {
  std::optional<double> order = call.has("ord") ? call.number("ord") : 2;
  Value self = call.tensor("self");
  if (!self || (order != 1 && order != 2))
    return {};
  Value x = isF64(self) || call.resultElement().isF64() ? call.leaf.cast(self, call.builder.getF64Type())
                                                        : call.leaf.toF32(self);
  Value part = order == 2 ? call.leaf.mul(x, x) : math::AbsFOp::create(call.builder, call.loc, x).getResult();
  Value sum = call.reduce(ReduceKind::sum, part);
  if (sum && order == 2)
    sum = math::SqrtOp::create(call.builder, call.loc, sum);
  return one(call.toResult(sum));
}

Values aten::readSoftmax(AtenCall &call) {
  Value self = call.tensor("self");
  std::optional<int64_t> dim = call.dim("dim", self);
  return dim && !call.resultElement().isF64() ? one(call.leaf.softmax(call.toResult(self), *dim)) : Values();
}

/// x - max - log(sum exp(x - max)), rounded once.
Values aten::readLogSoftmax(AtenCall &call) {
  Value self = call.tensor("self");
  std::optional<int64_t> dim = call.dim("dim", self);
  if (!dim)
    return {};
  Value x = isF64(self) ? self : call.leaf.toF32(self);
  Value shifted = call.leaf.sub(x, call.leaf.reduceLike(ReduceKind::max, x, *dim));
  Value sum = call.leaf.reduceLike(ReduceKind::sum, call.leaf.exp(shifted), *dim);
  return one(call.toResult(call.leaf.sub(shifted, call.leaf.log(sum))));
}

/// -softplus(-x), where nothing asks for what its derivative keeps.
Values aten::readLogSigmoid(AtenCall &call) {
  Value self = call.tensor("self");
  if (!self || isF64(self) || call.results().size() != 2 || !call.results()[1].use_empty())
    return {};
  Value opposite = call.leaf.negate(call.leaf.toF32(self));
  Value softplus = SoftplusOp::create(call.builder, call.loc, opposite.getType(), opposite);
  return {call.toResult(call.leaf.negate(softplus)), Value()};
}

Values aten::readLogSumExp(AtenCall &call) {
  Value self = call.tensor("self");
  std::optional<SmallVector<int64_t>> dims = call.dims("dim", self);
  if (!dims || dims->size() != 1)
    return {};
  Value max = call.leaf.reduce(ReduceKind::max, self, *dims);
  Value wide = call.leaf.reduceLike(ReduceKind::max, self, dims->front());
  Value sum = call.leaf.reduce(ReduceKind::sum, call.leaf.exp(call.leaf.sub(self, wide)), *dims);
  Value all = call.leaf.add(max, call.leaf.log(sum));
  llvm::SmallBitVector units(rankOf(self));
  units.set(dims->front());
  return one(call.flag("keepdim") ? call.leaf.insertUnits(all, units) : all);
}

/// The norm that a GPU has as one op: in f32, and rounded once. The factors are its second result.
Values aten::readRmsNorm(AtenCall &call) {
  Value input = call.tensor("input"), weight = call.has("weight") ? call.tensor("weight") : Value();
  std::optional<SmallVector<int64_t>> normalised = call.integers("normalized_shape");
  std::optional<double> eps = std::numeric_limits<float>::epsilon();
  if (call.has("eps"))
    eps = call.number("eps");
  if (!input || isF64(input) || rankOf(input) == 0 || !normalised || normalised->size() != 1 || !eps ||
      (call.has("weight") && !weight))
    return {};
  const int64_t last = rankOf(input) - 1;
  const Type f32 = call.builder.getF32Type();
  const Value x = call.leaf.cast(input, f32), squares = call.leaf.mul(x, x);
  const auto factorOf = [&](Value mean) -> Value {
    return math::RsqrtOp::create(call.builder, call.loc, call.leaf.add(mean, call.leaf.splat(*eps, mean)));
  };
  Value normed = call.leaf.mul(x, factorOf(call.leaf.reduceLike(ReduceKind::mean, squares, last)));
  if (weight)
    normed = call.leaf.mul(normed, call.leaf.broadcast(call.leaf.cast(weight, f32), call.leaf.sizesOf(x), {last}));
  llvm::SmallBitVector units(last + 1);
  units.set(last);
  Value factors = call.leaf.insertUnits(factorOf(call.leaf.reduce(ReduceKind::mean, squares, {last})), units);
  return {call.toResult(normed), factors};
}

/// Whether all that an f64 value is computed of, element by element, was narrower before.
static bool wasNarrow(Value value, unsigned depth = 0) {
  constexpr unsigned kMostOps = 8;
  Operation *op = value.getDefiningOp();
  if (!op || depth == kMostOps)
    return false;
  if (isa<arith::ExtFOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
    return true;
  auto isTensor = [](Value operand) { return isa<RankedTensorType>(operand.getType()); };
  const bool isView = showsOperand(op) || isa<BroadcastOp, TransposeOp>(op);
  return (isView || op->hasTrait<OpTrait::Elementwise>()) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return !isTensor(operand) || wasNarrow(operand, depth + 1);
         });
}

/// A product of matrices, or of batches of them. Of what was narrower, one in f64 is one in f32, in which coefficients
/// are used: kernels add its terms in f32 or more.
static Value product(AtenCall &call, Value a, Value b) {
  if (!sameElements(a, b) || rankOf(a) != rankOf(b) || (rankOf(a) != 2 && rankOf(a) != 3))
    return {};
  auto build = [&](Value a, Value b) { return rankOf(a) == 2 ? call.leaf.matmul(a, b) : call.leaf.batchMatmul(a, b); };
  if (!isF64(a))
    return build(a, b);
  if (!wasNarrow(a) || !wasNarrow(b))
    return {};
  Value narrow = call.leaf.toF32(b);
  return call.leaf.cast(build(call.leaf.toF32(a), narrow), getElementTypeOrSelf(a));
}

Values aten::readMatmul(AtenCall &call) { return one(product(call, call.tensor("self"), call.tensor("mat2"))); }

/// A product with one column.
Values aten::readMatrixVector(AtenCall &call) {
  Value vector = call.tensor("vec");
  auto type = vector ? cast<RankedTensorType>(vector.getType()) : RankedTensorType();
  if (!type || type.getRank() != 1 || !type.hasStaticShape())
    return {};
  const SmallVector<ReassociationIndices> joined = {{0, 1}};
  Value column =
      tensor::ExpandShapeOp::create(call.builder, call.loc, type.clone({type.getDimSize(0), 1}), vector, joined);
  Value made = product(call, call.tensor("self"), column);
  return one(made ? tensor::CollapseShapeOp::create(call.builder, call.loc, made, joined).getResult() : Value());
}

/// `self` and a product.
Values aten::readAddMatmul(AtenCall &call) {
  const bool isBatch = call.has("batch1");
  Value start = call.tensor("self"), a = call.tensor(isBatch ? "batch1" : "mat1");
  bool isPlain = call.factor("alpha") == 1 && call.factor("beta") == 1;
  Value bias = sameElements(a, start) && isPlain ? call.spread(start) : Value();
  Value all = bias ? product(call, a, call.tensor(isBatch ? "batch2" : "mat2")) : Value();
  return all ? one(call.leaf.add(all, bias)) : Values();
}

static bool areAll(const AtenCall &call, StringRef name, int64_t number) {
  std::optional<SmallVector<int64_t>> numbers = call.integers(name);
  return numbers && !numbers->empty() && llvm::all_of(*numbers, [&](int64_t other) { return other == number; });
}

/// A convolution along the last of three dimensions, of each channel for itself: the sum of the padded rows, each moved
/// and times its tap, rounded once.
static Value readDepthwise(AtenCall &call, Value x, Value weight, Value bias) {
  auto wide = cast<RankedTensorType>(x.getType()), taps = cast<RankedTensorType>(weight.getType());
  std::optional<SmallVector<int64_t>> padding = call.integers("padding");
  if (wide.getRank() != 3 || taps.getRank() != 3 || !taps.hasStaticShape() ||
      call.integer("groups") != wide.getDimSize(1) ||
      taps.getShape().drop_back() != ArrayRef<int64_t>{wide.getDimSize(1), 1} || isF64(x) || isF64(weight) ||
      !areAll(call, "stride", 1) || !areAll(call, "dilation", 1) || !padding)
    return {};
  constexpr int64_t kMostTaps = 16;
  if (padding->size() != 1 || padding->front() < 0 || padding->front() > kMostTaps || taps.getDimSize(2) > kMostTaps)
    return {};
  const SmallVector<OpFoldResult> none(2, call.leaf.constant(0));
  SmallVector<OpFoldResult> around = none;
  around.push_back(call.leaf.constant(padding->front()));
  Value zero = arith::ConstantOp::create(call.builder, call.loc, call.builder.getF32FloatAttr(0));
  Value padded = tensor::PadOp::create(call.builder, call.loc, Type(), call.leaf.toF32(x), around, around, zero);
  Value sum;
  llvm::SmallBitVector units(3);
  units.set(1, 3);
  for (int64_t tap : llvm::seq(taps.getDimSize(2))) {
    Value row = call.part(padded, {0, 0, tap});
    if (!row)
      return {};
    Value factor = call.leaf.toF32(call.leaf.dropUnits(call.leaf.slice(weight, 2, tap, 1), units));
    Value term = call.leaf.mul(row, call.leaf.broadcast(factor, call.leaf.sizesOf(row), {1}));
    sum = sum ? call.leaf.add(sum, term) : term;
  }
  if (bias)
    sum = call.leaf.add(sum, call.leaf.broadcast(call.leaf.toF32(bias), call.leaf.sizesOf(sum), {1}));
  return call.toResult(sum);
}

/// A convolution by one tap for each pair of channels: a product of the channels of each place.
static Value readPointwise(AtenCall &call, Value x, Value weight, Value bias) {
  auto wide = cast<RankedTensorType>(x.getType()), taps = cast<RankedTensorType>(weight.getType());
  auto isOne = [](int64_t size) { return size == 1; };
  const int64_t rank = wide.getRank();
  if (rank < 3 || !taps.hasStaticShape() || !llvm::all_of(taps.getShape().drop_front(2), isOne) ||
      call.integer("groups") != 1 || !areAll(call, "stride", 1) || !areAll(call, "padding", 0))
    return {};
  SmallVector<int64_t> last = {0}, second = {0, rank - 1};
  llvm::append_range(last, llvm::seq<int64_t>(2, rank));
  llvm::append_range(second, llvm::seq<int64_t>(1, rank - 1));
  last.push_back(1);
  Value places = call.leaf.transpose(x, last);
  LeafBuilder::Sizes sizes = call.leaf.sizesOf(places);
  Value rows = call.leaf.transpose(call.leaf.join(weight, 1, rank - 1), {1, 0});
  Value made = product(call, call.leaf.join(places, 0, rank - 1), rows);
  if (!made)
    return {};
  sizes.back() = call.leaf.constant(taps.getDimSize(0));
  SmallVector<ReassociationIndices> joined = {llvm::to_vector(llvm::seq<int64_t>(0, rank - 1)), {rank - 1}};
  const RankedTensorType type = LeafBuilder::typeOf(sizes, getElementTypeOrSelf(made));
  made = tensor::ExpandShapeOp::create(call.builder, call.loc, type, made, joined, sizes);
  made = call.leaf.transpose(made, second);
  if (bias)
    made = call.leaf.add(
        made, call.leaf.broadcast(call.leaf.cast(bias, type.getElementType()), call.leaf.sizesOf(made), {1}));
  return call.toResult(made);
}

Values aten::readConvolution(AtenCall &call) {
  Value x = call.tensor("input"), weight = call.tensor("weight"),
        bias = call.has("bias") ? call.tensor("bias") : Value();
  if (!x || !weight || (call.has("bias") && !bias) || call.flag("transposed"))
    return {};
  Value made = readPointwise(call, x, weight, bias);
  return one(made ? made : readDepthwise(call, x, weight, bias));
}
