//===- RandomGraphBuilder.cpp - One random op after the other -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RandomGraphBuilder.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

#include <numeric>

namespace mhc::conformance {

using namespace mlir;

llvm::ArrayRef<RandomGraphBuilder::Make> RandomGraphBuilder::makers() {
  using B = RandomGraphBuilder;
  static const Make all[] = {&B::unary,       &B::unary,        &B::binary,    &B::binary,       &B::binary,
                             &B::power,       &B::choose,       &B::softmax,   &B::rmsNorm,      &B::reduce,
                             &B::reduce,      &B::broadcast,    &B::transpose, &B::repeatUnit,   &B::matmul,
                             &B::batchMatmul, &B::slice,        &B::insert,    &B::reshape,      &B::concat,
                             &B::round,       &B::castShape,    &B::splat,     &B::elements,     &B::loop,
                             &B::branch,      &B::integerPower, &B::call,      &B::externalCall, &B::shift};
  return all;
}

/// Whether ops on the value would take long.
static bool isLarge(Value value) {
  static constexpr int64_t kMostElements = 4096, kManyTokens = 9;
  int64_t elements = 1;
  for (int64_t size : cast<RankedTensorType>(value.getType()).getShape())
    elements *= ShapedType::isDynamic(size) ? kManyTokens : size;
  return elements > kMostElements;
}

void RandomGraphBuilder::addOne() {
  Make make = makers()[random.between(0, makers().size() - 1)];
  Value value = (this->*make)();
  if (value && !isLarge(value))
    pool.push_back(value);
}

void RandomGraphBuilder::add(int64_t count) {
  for (; count > 0; --count)
    addOne();
}

/// The last value, so that no graph is all dead, and sometimes others, sometimes one twice.
SmallVector<Value> RandomGraphBuilder::pickResults() {
  SmallVector<Value> results = {pool.back()};
  for (int64_t count = random.between(0, 2); count > 0; --count)
    results.push_back(any());
  return results;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value RandomGraphBuilder::ofRank(int64_t low, int64_t high) {
  SmallVector<Value> fitting;
  for (Value value : pool)
    if (typeOf(value).getRank() >= low && typeOf(value).getRank() <= high)
      fitting.push_back(value);
  return fitting.empty() ? Value() : fitting[random.between(0, fitting.size() - 1)];
}

Value RandomGraphBuilder::like(Value value) {
  SmallVector<Value> fitting;
  for (Value other : pool)
    if (other.getType() == value.getType())
      fitting.push_back(other);
  return fitting[random.between(0, fitting.size() - 1)];
}

int64_t RandomGraphBuilder::staticDim(Value value) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < typeOf(value).getRank(); ++dim)
    if (!typeOf(value).isDynamicDim(dim))
      dims.push_back(dim);
  return dims.empty() ? -1 : dims[random.between(0, dims.size() - 1)];
}

Value RandomGraphBuilder::positive(Value value) {
  Value y = SoftplusOp::create(builder, loc(), value.getType(), value);
  return leaf.add(y, leaf.splat(0.25, y));
}

Value RandomGraphBuilder::element(Value tensor) {
  SmallVector<Value> place;
  for (int64_t size : typeOf(tensor).getShape())
    place.push_back(index(ShapedType::isDynamic(size) ? 0 : random.between(0, size - 1)));
  return tensor::ExtractOp::create(builder, loc(), tensor, place);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

Value RandomGraphBuilder::applyUnary(Value x) {
  switch (random.between(0, 11)) {
  case 0:
    return leaf.exp(bounded(x));
  case 1:
    return leaf.log(positive(x));
  case 2:
    return math::Log1pOp::create(builder, loc(), positive(x));
  case 3:
    return bounded(x);
  case 4:
    return leaf.sqrt(positive(x));
  case 5:
    return math::RsqrtOp::create(builder, loc(), positive(x));
  case 6:
    return math::AbsFOp::create(builder, loc(), x);
  case 7:
    return math::ErfOp::create(builder, loc(), x);
  case 8:
    return leaf.sigmoid(x);
  case 9:
    return SiluOp::create(builder, loc(), x.getType(), x);
  case 10:
    return SoftplusOp::create(builder, loc(), x.getType(), x);
  default:
    return leaf.negate(x);
  }
}

Value RandomGraphBuilder::applyBinary(Value x, Value y) {
  switch (random.between(0, 8)) {
  case 0:
    return leaf.add(x, y);
  case 1:
    return leaf.sub(x, y);
  case 2:
  case 3:
    return leaf.mul(x, bounded(y));
  case 4:
    return leaf.div(x, positive(y));
  case 5:
    return leaf.max(x, y);
  case 6:
    return arith::MinimumFOp::create(builder, loc(), x, y);
  case 7:
    return arith::MaxNumFOp::create(builder, loc(), x, y);
  default:
    return arith::MinNumFOp::create(builder, loc(), x, y);
  }
}

Value RandomGraphBuilder::binary() {
  Value x = any();
  return applyBinary(x, like(x));
}

Value RandomGraphBuilder::power() {
  Value x = any(), base = positive(bounded(x));
  return math::PowFOp::create(builder, loc(), base, bounded(like(x)));
}

Value RandomGraphBuilder::integerPower() {
  Value x = bounded(any());
  if (!typeOf(x).hasStaticShape())
    return {};
  auto type = typeOf(x).clone(builder.getI32Type());
  int32_t exponent = random.between(0, 3);
  Value power = arith::ConstantOp::create(builder, loc(), DenseElementsAttr::get(type, exponent));
  return math::FPowIOp::create(builder, loc(), x, power);
}

Value RandomGraphBuilder::choose() {
  Value x = any(), condition = leaf.isGreater(x, like(x));
  return leaf.select(condition, like(x), like(x));
}

/// In 16 bits and back. The evaluator does not round, so that differences stay exact.
Value RandomGraphBuilder::round() {
  Value narrow = leaf.cast(any(), random.flip() ? Type(builder.getBF16Type()) : Type(builder.getF16Type()));
  return leaf.toF32(random.flip() ? applyUnary(narrow) : applyBinary(narrow, narrow));
}

//===----------------------------------------------------------------------===//
// Along dimensions
//===----------------------------------------------------------------------===//

Value RandomGraphBuilder::softmax() {
  Value x = ofRank(1, 4);
  return x ? leaf.softmax(x, random.between(0, typeOf(x).getRank() - 1)) : Value();
}

Value RandomGraphBuilder::rmsNorm() {
  Value x = ofRank(1, 4), weight;
  if (!x)
    return {};
  int64_t last = typeOf(x).getRank() - 1;
  if (random.flip())
    weight = leaf.reduce(ReduceKind::mean, x, llvm::to_vector(llvm::seq<int64_t>(0, last)));
  return RmsNormOp::create(builder, loc(), x.getType(), x, weight, APFloat(0.125));
}

Value RandomGraphBuilder::reduce() {
  Value x = any();
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < typeOf(x).getRank(); ++dim)
    if (random.flip())
      dims.push_back(dim);
  return leaf.reduce(random.pick({ReduceKind::sum, ReduceKind::max, ReduceKind::mean}), x, dims);
}

Value RandomGraphBuilder::broadcast() {
  Value x = ofRank(0, 2);
  if (!x)
    return {};
  LeafBuilder::Sizes sizes = leaf.sizesOf(x);
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(x).getRank()));
  int64_t place = random.between(0, sizes.size());
  Value other = any();
  OpFoldResult size = typeOf(other).getRank() && random.flip() ? leaf.size(other, 0) : leaf.constant(3);
  sizes.insert(sizes.begin() + place, size);
  for (int64_t &dim : dims)
    dim += dim >= place;
  return leaf.broadcast(x, sizes, dims);
}

/// Repeats a dimension of size one.
Value RandomGraphBuilder::repeatUnit() {
  Value x = ofRank(1, 3);
  if (!x)
    return {};
  LeafBuilder::Sizes sizes = leaf.sizesOf(x);
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, sizes.size())), kept = all;
  int64_t dim = random.between(0, sizes.size() - 1);
  kept.erase(kept.begin() + dim);
  Value narrow = leaf.reduce(ReduceKind::sum, x, dim);
  OpFoldResult old = std::exchange(sizes[dim], leaf.constant(1));
  Value unit = leaf.broadcast(narrow, sizes, kept);
  sizes[dim] = random.flip() ? old : OpFoldResult(leaf.constant(2));
  return leaf.broadcast(unit, sizes, all);
}

Value RandomGraphBuilder::transpose() {
  Value x = ofRank(2, 4);
  if (!x)
    return {};
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(x).getRank()));
  for (size_t i = perm.size() - 1; i > 0; --i)
    std::swap(perm[i], perm[random.between(0, i)]);
  return leaf.transpose(x, perm);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value RandomGraphBuilder::matmul() {
  Value lhs = ofRank(2, 2), rhs = ofRank(2, 2);
  if (!lhs)
    return {};
  bool transposeLhs = random.flip(), transposeRhs = random.flip();
  if (typeOf(lhs).getDimSize(!transposeLhs) != typeOf(rhs).getDimSize(transposeRhs)) {
    rhs = lhs;
    transposeRhs = !transposeLhs;
  }
  return leaf.matmul(lhs, bounded(rhs), transposeLhs, transposeRhs);
}

Value RandomGraphBuilder::batchMatmul() {
  Value lhs = ofRank(3, 3), rhs = ofRank(3, 3);
  if (!lhs)
    return {};
  bool transposeLhs = random.flip(), transposeRhs = random.flip();
  RankedTensorType left = typeOf(lhs), right = typeOf(rhs);
  if (left.getDimSize(0) != right.getDimSize(0) ||
      left.getDimSize(transposeLhs ? 1 : 2) != right.getDimSize(transposeRhs ? 2 : 1)) {
    rhs = lhs;
    transposeRhs = !transposeLhs;
  }
  return leaf.batchMatmul(lhs, bounded(rhs), transposeLhs, transposeRhs);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Value RandomGraphBuilder::slice() {
  Value x = ofRank(1, 4);
  int64_t dim = x ? staticDim(x) : -1;
  if (dim < 0)
    return {};
  int64_t extent = typeOf(x).getDimSize(dim), offset = random.between(0, extent - 1);
  LeafBuilder::Sizes sizes = leaf.sizesOf(x);
  LeafBuilder::Sizes offsets(sizes.size(), leaf.constant(0)), strides(sizes.size(), leaf.constant(1));
  int64_t stride = random.between(1, 2), most = (extent - offset + stride - 1) / stride;
  offsets[dim] = leaf.constant(offset);
  strides[dim] = leaf.constant(stride);
  sizes[dim] = leaf.constant(random.between(1, most));
  if (random.flip())
    return tensor::ExtractSliceOp::create(builder, loc(), x, offsets, sizes, strides);
  sizes[dim] = leaf.constant(1);
  SmallVector<int64_t> kept(typeOf(x).getShape());
  kept.erase(kept.begin() + dim);
  auto type = RankedTensorType::get(kept, builder.getF32Type());
  return tensor::ExtractSliceOp::create(builder, loc(), type, x, offsets, sizes, strides);
}

Value RandomGraphBuilder::insert() {
  Value x = ofRank(1, 4);
  int64_t dim = x ? staticDim(x) : -1;
  if (dim < 0)
    return {};
  int64_t extent = typeOf(x).getDimSize(dim), size = random.between(1, extent);
  Value part = leaf.slice(applyUnary(like(x)), dim, 0, size);
  LeafBuilder::Sizes sizes = leaf.sizesOf(part);
  LeafBuilder::Sizes offsets(sizes.size(), leaf.constant(0)), strides(sizes.size(), leaf.constant(1));
  offsets[dim] = leaf.constant(random.between(0, extent - size));
  return tensor::InsertSliceOp::create(builder, loc(), part, like(x), offsets, sizes, strides);
}

/// Joins two dimensions and splits them again, with an op between.
Value RandomGraphBuilder::reshape() {
  Value x = ofRank(2, 4);
  if (!x)
    return {};
  RankedTensorType type = typeOf(x);
  int64_t dim = random.between(0, type.getRank() - 2);
  LeafBuilder::Sizes sizes = leaf.sizesOf(x);
  Value joined = leaf.join(x, dim, 2);
  if (random.flip() && !ShapedType::isDynamic(typeOf(joined).getDimSize(dim)))
    return joined;
  auto groups = joined.getDefiningOp<tensor::CollapseShapeOp>().getReassociationIndices();
  Value y = applyUnary(joined);
  return tensor::ExpandShapeOp::create(builder, loc(), type, y, groups, sizes);
}

/// Two of a kind, joined; along the tokens they are added up again, for a pool value has M of them or none.
Value RandomGraphBuilder::concat() {
  Value x = ofRank(1, 3);
  if (!x)
    return {};
  int64_t dim = random.between(0, typeOf(x).getRank() - 1);
  Value joined = tensor::ConcatOp::create(builder, loc(), dim, ValueRange{x, like(x), applyUnary(like(x))});
  return typeOf(x).isDynamicDim(dim) ? leaf.reduce(ReduceKind::mean, bounded(joined), dim) : joined;
}

/// Along any dimension, there or back; sometimes within sequences, some of which are empty.
Value RandomGraphBuilder::shift() {
  Value x = ofRank(1, 4), starts;
  if (!x)
    return {};
  const int64_t dim = random.between(0, typeOf(x).getRank() - 1), by = random.between(-2, 2);
  if (random.flip()) {
    const int32_t cut = static_cast<int32_t>(random.between(0, 3));
    auto type = RankedTensorType::get({4}, builder.getI32Type());
    Value cuts = arith::ConstantOp::create(builder, loc(),
                                           DenseElementsAttr::get(type, ArrayRef<int32_t>{0, cut, cut, cut + 2}));
    const int64_t size = typeOf(x).getDimSize(dim);
    Value count =
        ShapedType::isDynamic(size) ? getValueOrCreateConstantIndexOp(builder, loc(), leaf.size(x, dim)) : Value();
    starts = SequenceStartsOp::create(builder, loc(), RankedTensorType::get({size}, builder.getI32Type()), cuts, count);
  }
  return ShiftOp::create(builder, loc(), x.getType(), x, starts, dim, by);
}

/// Forgets a size for a while.
Value RandomGraphBuilder::castShape() {
  Value x = any();
  RankedTensorType type = typeOf(x);
  auto unknown =
      RankedTensorType::get(SmallVector<int64_t>(type.getRank(), ShapedType::kDynamic), builder.getF32Type());
  Value y = applyUnary(tensor::CastOp::create(builder, loc(), unknown, x));
  return tensor::CastOp::create(builder, loc(), type, y);
}

Value RandomGraphBuilder::elements() {
  SmallVector<Value> scalars;
  for (int i = 0; i < 4; ++i)
    scalars.push_back(element(any()));
  scalars[0] = leaf.mul(scalars[1], scalars[2]);
  SmallVector<int64_t> shape = random.flip() ? SmallVector<int64_t>{4} : SmallVector<int64_t>{2, 2};
  return tensor::FromElementsOp::create(builder, loc(), RankedTensorType::get(shape, builder.getF32Type()), scalars);
}

Value RandomGraphBuilder::splat() {
  Value x = any(), scalar = element(any());
  return tensor::SplatOp::create(builder, loc(), x.getType(), scalar, leaf.dynamicSizes(x));
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// Carries two values; each turn reads both, and one from outside.
Value RandomGraphBuilder::loop() {
  Value x = any(), start = like(x), outside = like(x);
  Value end = index(random.between(0, 4)), lower = index(0), step = index(random.between(1, 2));
  auto loop = scf::ForOp::create(builder, loc(), lower, end, step, ValueRange{x, start});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value first = loop.getRegionIterArg(0), second = loop.getRegionIterArg(1);
  Value next = bounded(applyBinary(first, second));
  Value other = bounded(applyBinary(applyUnary(first), outside));
  scf::YieldOp::create(builder, loc(), ValueRange{next, other});
  return loop.getResult(random.between(0, 1));
}

Value RandomGraphBuilder::branch() {
  Value x = any();
  Value a = element(any()), b = element(any()), condition = leaf.isGreater(a, b);
  // Sides whose sizes nobody can compare are an error of the compiler.
  Value yes = typeOf(x).hasStaticShape() ? like(x) : x, no = typeOf(x).hasStaticShape() ? like(x) : x;
  auto branch = scf::IfOp::create(builder, loc(), TypeRange{x.getType()}, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [block, value] : {std::pair(branch.thenBlock(), yes), std::pair(branch.elseBlock(), no)}) {
    builder.setInsertionPointToEnd(block);
    scf::YieldOp::create(builder, loc(), applyUnary(value));
  }
  return branch.getResult(0);
}

} // namespace mhc::conformance
