//===- LeafBuilder.cpp - Builds chains of leaf ops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

using namespace mlir;
using namespace mhc;

static RankedTensorType tensorType(Value value) { return ::llvm::cast<RankedTensorType>(value.getType()); }

/// Steps that a size is followed up: past the ops of one site, not past all layers of a model.
constexpr int kMaxHops = 8;

/// The value and dimension that a size comes from, so that asking for a size does not keep the op alive that was asked.
static std::pair<Value, int64_t> sizeSource(Value value, int64_t dim) {
  for (int hop = 0; hop < kMaxHops; ++hop) {
    Operation *op = value.getDefiningOp();
    if (!op)
      break;
    if (op->hasTrait<OpTrait::Elementwise>() && op->getNumOperands() > 0 &&
        isa<RankedTensorType>(op->getOperand(0).getType())) {
      value = op->getOperand(0);
      continue;
    }
    auto dims = dyn_cast<DimsOpInterface>(op);
    if (!dims)
      break;
    DimLabels labels = dims.getDimLabels();
    int label = labels.results[::llvm::cast<OpResult>(value).getResultNumber()][dim];
    Value next;
    for (auto [operand, operandLabels] : llvm::zip(op->getOperands(), labels.operands)) {
      auto *found = label < 0 ? operandLabels.end() : llvm::find(operandLabels, label);
      if (found == operandLabels.end())
        continue;
      next = operand;
      dim = found - operandLabels.begin();
      break;
    }
    if (!next)
      break;
    value = next;
  }
  return {value, dim};
}

/// The size operand of a broadcast for a dimension; null where the broadcast tensor gives the size.
static Value repeatedSize(BroadcastOp op, int64_t dim) {
  auto isGiven = [&](int64_t i) {
    const auto *source = llvm::find(op.getDims(), i);
    return op.getOut().getType().isDynamicDim(i) &&
           (source == op.getDims().end() || op.getX().getType().getDimSize(source - op.getDims().begin()) == 1);
  };
  return isGiven(dim) ? op.getSizes()[llvm::count_if(llvm::seq<int64_t>(0, dim), isGiven)] : Value();
}

OpFoldResult mhc::sizeOf(OpBuilder &builder, Location loc, Value tensor, int64_t dim) {
  int64_t size = tensorType(tensor).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    return builder.getIndexAttr(size);
  auto [source, index] = sizeSource(tensor, dim);
  if (auto expand = source.getDefiningOp<tensor::ExpandShapeOp>())
    return expand.getMixedOutputShape()[index];
  auto broadcast = source.getDefiningOp<BroadcastOp>();
  if (Value given = broadcast ? repeatedSize(broadcast, index) : Value())
    return given;
  return tensor::getMixedSize(builder, loc, source, index);
}

LeafBuilder::Sizes LeafBuilder::sizesOf(Value tensor) {
  Sizes sizes;
  for (int64_t dim = 0; dim < tensorType(tensor).getRank(); ++dim)
    sizes.push_back(mhc::sizeOf(builder, loc, tensor, dim));
  return sizes;
}

SmallVector<Value> LeafBuilder::dynamicSizes(Value tensor) {
  SmallVector<Value> sizes;
  for (auto [dim, size] : llvm::enumerate(sizesOf(tensor)))
    if (tensorType(tensor).isDynamicDim(dim))
      sizes.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  return sizes;
}

RankedTensorType LeafBuilder::typeOf(ArrayRef<OpFoldResult> sizes, Type elementType) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes) // what an operand's type leaves open stays open, though the value is a constant
    shape.push_back(isa<Attribute>(size) ? *getConstantIntValue(size) : ShapedType::kDynamic);
  return RankedTensorType::get(shape, elementType);
}

Value LeafBuilder::cast(Value tensor, Type elementType) {
  Type element = getElementTypeOrSelf(tensor);
  if (element == elementType)
    return tensor;
  unsigned from = element.getIntOrFloatBitWidth(), to = elementType.getIntOrFloatBitWidth();
  if (from == to) // bf16 and f16 meet in f32
    return cast(toF32(tensor), elementType);
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  Type result = type ? type.clone(elementType) : elementType;
  if (from < to)
    return arith::ExtFOp::create(builder, loc, result, tensor);
  return arith::TruncFOp::create(builder, loc, result, tensor);
}

Value LeafBuilder::rounded(Value tensor, std::optional<Format> format) {
  switch (format.value_or(Format::f32)) {
  case Format::f32:
    return tensor;
  case Format::bf16:
    return toF32(cast(tensor, builder.getBF16Type()));
  case Format::f16:
    return toF32(cast(tensor, builder.getF16Type()));
  }
  llvm_unreachable("all formats are above");
}

Value LeafBuilder::splat(double value, Value like) {
  auto element = builder.getFloatAttr(getElementTypeOrSelf(like), value);
  auto type = dyn_cast<RankedTensorType>(like.getType());
  if (!type)
    return arith::ConstantOp::create(builder, loc, element);
  if (type.hasStaticShape())
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, element));
  Value scalar = arith::ConstantOp::create(builder, loc, element);
  return tensor::SplatOp::create(builder, loc, type, scalar, dynamicSizes(like));
}

Value LeafBuilder::add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
Value LeafBuilder::sub(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
Value LeafBuilder::mul(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
Value LeafBuilder::div(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
Value LeafBuilder::max(Value a, Value b) { return arith::MaximumFOp::create(builder, loc, a, b); }
Value LeafBuilder::negate(Value a) { return arith::NegFOp::create(builder, loc, a); }
Value LeafBuilder::isGreater(Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, a, b);
}
Value LeafBuilder::isEqual(Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, a, b);
}
Value LeafBuilder::select(Value condition, Value yes, Value no) {
  return arith::SelectOp::create(builder, loc, condition, yes, no);
}
Value LeafBuilder::exp(Value a) { return math::ExpOp::create(builder, loc, a); }
Value LeafBuilder::log(Value a) { return math::LogOp::create(builder, loc, a); }
Value LeafBuilder::sqrt(Value a) { return math::SqrtOp::create(builder, loc, a); }
Value LeafBuilder::sigmoid(Value a) { return SigmoidOp::create(builder, loc, a.getType(), a); }
Value LeafBuilder::sigmoidSlope(Value s) { return mul(s, sub(splat(1.0, s), s)); }
Value LeafBuilder::siluSlope(Value a) {
  Value s = sigmoid(a), one = splat(1.0, a);
  return mul(s, add(one, mul(a, sub(one, s))));
}
Value LeafBuilder::softmax(Value a, int64_t dim) { return SoftmaxOp::create(builder, loc, a.getType(), a, dim); }

Value LeafBuilder::addStart(Value sum, Value start, Type elementType) {
  if (start)
    sum = add(toF32(start), sum);
  return cast(sum, elementType);
}

Value LeafBuilder::reduce(ReduceKind kind, Value tensor, ArrayRef<int64_t> dims) {
  RankedTensorType type = tensorType(tensor);
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      shape.push_back(type.getDimSize(dim));
  return ReduceOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()), kind, tensor, dims);
}

Value LeafBuilder::broadcast(Value tensor, ArrayRef<OpFoldResult> sizes, ArrayRef<int64_t> dims) {
  RankedTensorType type = tensorType(tensor);
  SmallVector<Value> dynamic;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    const auto *source = llvm::find(dims, static_cast<int64_t>(dim));
    bool given = source != dims.end() && type.getDimSize(source - dims.begin()) != 1;
    if (!given && ::llvm::isa<Value>(size))
      dynamic.push_back(::llvm::cast<Value>(size));
  }
  return BroadcastOp::create(builder, loc, typeOf(sizes, type.getElementType()), tensor, dynamic, dims);
}

Value LeafBuilder::reduceLike(ReduceKind kind, Value tensor, int64_t dim) {
  SmallVector<int64_t> kept;
  for (int64_t i = 0; i < tensorType(tensor).getRank(); ++i)
    if (i != dim)
      kept.push_back(i);
  Value reduced = reduce(kind, tensor, dim);
  return broadcast(reduced, sizesOf(tensor), kept);
}

Value LeafBuilder::transpose(Value tensor, ArrayRef<int64_t> perm) {
  RankedTensorType type = tensorType(tensor);
  SmallVector<int64_t> shape;
  for (int64_t dim : perm)
    shape.push_back(type.getDimSize(dim));
  return TransposeOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()), tensor, perm);
}

Value LeafBuilder::slice(Value tensor, int64_t dim, int64_t offset, int64_t size) {
  Sizes sizes = sizesOf(tensor);
  Sizes offsets(sizes.size(), constant(0)), strides(sizes.size(), constant(1));
  offsets[dim] = constant(offset);
  sizes[dim] = constant(size);
  return tensor::ExtractSliceOp::create(builder, loc, tensor, offsets, sizes, strides);
}

Value LeafBuilder::concat(ArrayRef<Value> tensors, int64_t dim) {
  return tensors.size() == 1 ? tensors[0] : Value(tensor::ConcatOp::create(builder, loc, dim, tensors));
}

Value LeafBuilder::matmul(Value lhs, Value rhs, bool transposeLhs, bool transposeRhs) {
  auto shape = {tensorType(lhs).getDimSize(transposeLhs ? 1 : 0), tensorType(rhs).getDimSize(transposeRhs ? 0 : 1)};
  return MatmulOp::create(builder, loc, tensorType(lhs).clone(shape), lhs, rhs, transposeLhs, transposeRhs);
}

Value LeafBuilder::batchMatmul(Value lhs, Value rhs, bool transposeLhs, bool transposeRhs) {
  auto shape = {tensorType(lhs).getDimSize(0), tensorType(lhs).getDimSize(transposeLhs ? 2 : 1),
                tensorType(rhs).getDimSize(transposeRhs ? 1 : 2)};
  return BatchMatmulOp::create(builder, loc, tensorType(lhs).clone(shape), lhs, rhs, transposeLhs, transposeRhs);
}

Value LeafBuilder::split(Value tensor, int64_t dim, ArrayRef<int64_t> inner) {
  Sizes sizes;
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (auto [i, size] : llvm::enumerate(sizesOf(tensor))) {
    bool splits = static_cast<int64_t>(i) == dim;
    ReassociationIndices &group = groups.emplace_back();
    for (size_t j = 0; j < (splits ? inner.size() : 1); ++j) {
      sizes.push_back(splits ? constant(inner[j]) : size);
      group.push_back(next++);
    }
  }
  return tensor::ExpandShapeOp::create(builder, loc, typeOf(sizes, tensorType(tensor).getElementType()), tensor, groups,
                                       sizes);
}

Value LeafBuilder::join(Value tensor, int64_t dim, int64_t count) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < tensorType(tensor).getRank(); ++i) {
    if (i > dim && i < dim + count)
      groups.back().push_back(i);
    else
      groups.push_back({i});
  }
  return tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
}

Value LeafBuilder::dropUnits(Value tensor, const llvm::SmallBitVector &units) {
  return units.none() ? tensor : Value(tensor::dropGivenUnitDims(builder, loc, tensor, units));
}

Value LeafBuilder::insertUnits(Value tensor, const llvm::SmallBitVector &units) {
  if (units.none())
    return tensor;
  Sizes old = sizesOf(tensor), sizes;
  SmallVector<ReassociationIndices> groups(old.size());
  for (int64_t dim = 0, next = 0, rank = units.size(); dim < rank; ++dim) {
    sizes.push_back(units[dim] ? constant(1) : old[next]);
    next += !units[dim];
    if (!groups.empty()) // a new dimension goes with the one in front of it
      groups[std::max<int64_t>(next - 1, 0)].push_back(dim);
  }
  RankedTensorType type = typeOf(sizes, tensorType(tensor).getElementType());
  return tensor::ExpandShapeOp::create(builder, loc, type, tensor, groups, sizes);
}

Value LeafBuilder::splitLike(Value matrix, Value like) {
  Sizes sizes = sizesOf(like);
  SmallVector<ReassociationIndices> groups = {{0}, {1, 2}};
  RankedTensorType type = tensorType(like).clone(tensorType(matrix).getElementType());
  return tensor::ExpandShapeOp::create(builder, loc, type, matrix, groups, sizes);
}
