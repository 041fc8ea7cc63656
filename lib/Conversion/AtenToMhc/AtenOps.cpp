//===- AtenOps.cpp - The ATen ops that are read, a row each -------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Long because the table and what reads its rows belong together.
//
//===----------------------------------------------------------------------===//

#include "AtenCall.h"
#include "mhc/Conversion/WriteAten.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <limits>

using namespace mlir;
using namespace mhc;
using namespace mhc::aten;

using Values = SmallVector<Value>;

static Values one(Value value) { return value ? Values{value} : Values(); }

static int64_t rankOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getRank(); }

/// Whether a tensor is of f64, which leaf ops besides arithmetic, sums and views do not take.
static bool isF64(Value tensor) { return getElementTypeOrSelf(tensor).isF64(); }

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Reductions and products
//===----------------------------------------------------------------------===//

template <ReduceKind kind>
static Values reduction(AtenCall &call) {
  return one(call.reduce(kind));
}

/// The largest elements, where nothing asks for their places.
static Values largest(AtenCall &call) {
  return call.results()[1].use_empty() ? Values{call.reduce(ReduceKind::max), Value()} : Values();
}

/// A convolution along the last of three dimensions, of each channel for itself: the sum of the padded rows, each moved
/// and times its tap, rounded once.
static Values convolution(AtenCall &call) {
  Value x = call.tensor("input"), weight = call.tensor("weight"),
        bias = call.has("bias") ? call.tensor("bias") : Value();
  auto wide = x ? dyn_cast<RankedTensorType>(x.getType()) : RankedTensorType();
  auto taps = weight ? dyn_cast<RankedTensorType>(weight.getType()) : RankedTensorType();
  const auto is = [&](StringRef name, int64_t number) { return call.integers(name) == SmallVector<int64_t>{number}; };
  std::optional<SmallVector<int64_t>> padding = call.integers("padding");
  if (!wide || !taps || wide.getRank() != 3 || !taps.hasStaticShape() || call.integer("groups") != wide.getDimSize(1) ||
      taps.getShape().drop_back() != ArrayRef<int64_t>{wide.getDimSize(1), 1} || isF64(x) || isF64(weight) ||
      (call.has("bias") && !bias) || call.flag("transposed") || !is("stride", 1) || !is("dilation", 1) || !padding)
    return {};
  constexpr int64_t kMostTaps = 16;
  if (padding->size() != 1 || taps.getDimSize(2) > kMostTaps)
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
  return one(call.toResult(sum));
}

/// The sum of magnitudes, or the root of the sum of squares, rounded once.
static Values vectorNorm(AtenCall &call) {
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

static Values softmax(AtenCall &call) {
  Value self = call.tensor("self");
  std::optional<int64_t> dim = call.dim("dim", self);
  return dim && !call.resultElement().isF64() ? one(call.leaf.softmax(call.toResult(self), *dim)) : Values();
}

/// x - max - log(sum exp(x - max)), rounded once.
static Values logSoftmax(AtenCall &call) {
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
static Values logSigmoid(AtenCall &call) {
  Value self = call.tensor("self");
  if (!self || isF64(self) || !call.results()[1].use_empty())
    return {};
  Value opposite = call.leaf.negate(call.leaf.toF32(self));
  Value softplus = SoftplusOp::create(call.builder, call.loc, opposite.getType(), opposite);
  return {call.toResult(call.leaf.negate(softplus)), Value()};
}

static Values logSumExp(AtenCall &call) {
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
static Values rmsNorm(AtenCall &call) {
  Value input = call.tensor("input"), weight = call.has("weight") ? call.tensor("weight") : Value();
  std::optional<SmallVector<int64_t>> normalised = call.integers("normalized_shape");
  std::optional<double> eps = std::numeric_limits<float>::epsilon();
  if (call.has("eps"))
    eps = call.number("eps");
  if (!input || isF64(input) || !normalised || normalised->size() != 1 || !eps || (call.has("weight") && !weight))
    return {};
  const int64_t last = rankOf(input) - 1;
  const Type f32 = call.builder.getF32Type();
  const Value x = call.leaf.cast(input, f32), squares = call.leaf.mul(x, x);
  const auto factorOf = [&](Value mean) -> Value {
    return math::RsqrtOp::create(call.builder, call.loc, call.leaf.add(mean, call.leaf.splat(*eps, mean)));
  };
  Value normed = call.leaf.mul(x, factorOf(call.leaf.reduceLike(ReduceKind::mean, squares, last)));
  if (weight)
    normed = call.leaf.mul(normed, call.spread(call.leaf.cast(weight, f32)));
  llvm::SmallBitVector units(last + 1);
  units.set(last);
  Value factors = call.leaf.insertUnits(factorOf(call.leaf.reduce(ReduceKind::mean, squares, {last})), units);
  return {call.toResult(normed), factors};
}

static bool sameElements(Value a, Value b) { return a && b && getElementTypeOrSelf(a) == getElementTypeOrSelf(b); }

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
static Value product(AtenCall &call, Value a, Value b, Value (LeafBuilder::*build)(Value, Value, bool, bool)) {
  if (!a || !b || getElementTypeOrSelf(a) != getElementTypeOrSelf(b))
    return {};
  if (!isF64(a))
    return (call.leaf.*build)(a, b, false, false);
  if (!wasNarrow(a) || !wasNarrow(b))
    return {};
  return call.leaf.cast((call.leaf.*build)(call.leaf.toF32(a), call.leaf.toF32(b), false, false),
                        getElementTypeOrSelf(a));
}

static Values matmul(AtenCall &call) {
  return one(product(call, call.tensor("self"), call.tensor("mat2"), &LeafBuilder::matmul));
}

static Values batchMatmul(AtenCall &call) {
  return one(product(call, call.tensor("self"), call.tensor("mat2"), &LeafBuilder::batchMatmul));
}

/// A product with one column.
static Values matrixVector(AtenCall &call) {
  Value vector = call.tensor("vec");
  auto type = vector ? cast<RankedTensorType>(vector.getType()) : RankedTensorType();
  if (!type || !type.hasStaticShape())
    return {};
  const SmallVector<ReassociationIndices> joined = {{0, 1}};
  Value column =
      tensor::ExpandShapeOp::create(call.builder, call.loc, type.clone({type.getDimSize(0), 1}), vector, joined);
  Value made = product(call, call.tensor("self"), column, &LeafBuilder::matmul);
  return one(made ? tensor::CollapseShapeOp::create(call.builder, call.loc, made, joined).getResult() : Value());
}

/// `self` and a product.
static Values addProduct(AtenCall &call, Value a, Value b, Value (LeafBuilder::*build)(Value, Value, bool, bool)) {
  Value start = call.tensor("self");
  bool isPlain = call.number("alpha").value_or(1) == 1 && call.number("beta").value_or(1) == 1;
  Value bias = sameElements(a, start) && isPlain ? call.spread(start) : Value();
  Value all = bias ? product(call, a, b, build) : Value();
  return all ? one(call.leaf.add(all, bias)) : Values();
}

static Values addMatmul(AtenCall &call) {
  return addProduct(call, call.tensor("mat1"), call.tensor("mat2"), &LeafBuilder::matmul);
}

static Values addBatchMatmul(AtenCall &call) {
  return addProduct(call, call.tensor("batch1"), call.tensor("batch2"), &LeafBuilder::batchMatmul);
}

//===----------------------------------------------------------------------===//
// Views and copies
//===----------------------------------------------------------------------===//

static Values reshape(AtenCall &call) { return one(call.reshaped()); }

static Values same(AtenCall &call) { return one(call.tensor("self")); }

/// Another element type.
static Values copy(AtenCall &call) {
  Value self = call.tensor("self");
  return self && call.resultType() ? one(call.toResult(self)) : Values();
}

static Values transposed(AtenCall &call, Value self, SmallVector<int64_t> perm) {
  return one(call.leaf.transpose(self, perm));
}

static Values permute(AtenCall &call) {
  Value self = call.tensor("self");
  std::optional<SmallVector<int64_t>> perm = call.dims("dims", self);
  return perm && static_cast<int64_t>(perm->size()) == rankOf(self) ? transposed(call, self, *perm) : Values();
}

static Values swapDims(AtenCall &call, Value self, std::optional<int64_t> a, std::optional<int64_t> b) {
  if (!self || !a || !b)
    return {};
  auto perm = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(self)));
  std::swap(perm[*a], perm[*b]);
  return transposed(call, self, perm);
}

static Values transpose(AtenCall &call) {
  Value self = call.tensor("self");
  return swapDims(call, self, call.dim("dim0", self), call.dim("dim1", self));
}

static Values matrixTranspose(AtenCall &call) {
  Value self = call.tensor("self");
  return self && rankOf(self) < 2 ? one(self) : swapDims(call, self, 0, 1);
}

/// The streams of one token that start as one vector; null for all else. Such streams are an op right away: no dim says
/// later that the vector is a token's, and not the same for all tokens.
static Value streamsOfToken(AtenCall &call, Value vector) {
  constexpr int64_t kMostStreams = 16;
  auto type = cast<RankedTensorType>(vector.getType());
  RankedTensorType wide = call.resultType();
  const int64_t rank = type.getRank();
  if (rank < 3 || isF64(vector) || wide.getRank() != rank || !wide.hasStaticShape() ||
      type.getNumElements() != wide.getShape().back() || type.getShape().back() != wide.getShape().back())
    return {};
  const int64_t n = wide.getDimSize(rank - 2), channels = wide.getDimSize(rank - 1);
  if (wide.getNumElements() != n * channels || n < 2 || n > kMostStreams || n == channels) // a matrix
    return {};
  auto tokens = llvm::to_vector<2>(llvm::seq<int64_t>(0, rank - 2)),
       front = llvm::to_vector<2>(llvm::seq<int64_t>(0, rank - 1));
  const SmallVector<ReassociationIndices> joined = {front, {rank - 1}}, split = {tokens, {rank - 2}, {rank - 1}};
  Value x = tensor::CollapseShapeOp::create(call.builder, call.loc, vector, joined);
  auto streams = RankedTensorType::get({1, n, channels}, type.getElementType());
  Value expanded = ExpandOp::create(call.builder, call.loc, streams, x, Layout::nC);
  return tensor::ExpandShapeOp::create(call.builder, call.loc, wide, expanded, split);
}

static Values expand(AtenCall &call) {
  Value self = call.tensor("self"), streams = self ? streamsOfToken(call, self) : Value();
  return one(streams ? streams : call.spread(self));
}

/// Copies along dimensions of one element, which are as good as a view; or of all elements of one dimension, one after
/// the other.
static Values repeat(AtenCall &call) {
  Value self = call.tensor("self");
  std::optional<SmallVector<int64_t>> times = call.integers("repeats");
  if (!self || !times)
    return {};
  const int64_t rank = rankOf(self), more = static_cast<int64_t>(times->size()) - rank;
  SmallVector<int64_t> whole;
  for (int64_t dim : llvm::seq(rank))
    if ((*times)[dim + more] != 1 && cast<RankedTensorType>(self.getType()).getDimSize(dim) != 1)
      whole.push_back(dim);
  if (whole.empty())
    return expand(call);
  if (llvm::count_if(*times, [](int64_t count) { return count != 1; }) != 1)
    return {};
  const int64_t dim = whole.front();
  LeafBuilder::Sizes sizes = call.leaf.sizesOf(self);
  sizes.insert(sizes.begin() + dim, call.builder.getIndexAttr((*times)[dim + more]));
  auto own = llvm::to_vector(llvm::seq<int64_t>(0, rank + 1));
  own.erase(own.begin() + dim);
  return one(call.leaf.join(call.leaf.broadcast(self, sizes, own), dim, 2));
}

static Values slice(AtenCall &call) {
  Value self = call.tensor("self");
  std::optional<int64_t> dim = call.dim("dim", self);
  if (!dim || call.integer("step").value_or(1) != 1)
    return {};
  int64_t start = call.integer("start").value_or(0), size = call.resultType().getDimSize(*dim);
  bool isLiteral = (!call.has("start") || call.integer("start")) && (!call.has("end") || call.integer("end"));
  if (self.getType() == call.resultType() && start == 0 && isLiteral && !ShapedType::isDynamic(size))
    return one(self);
  // All of an open dimension: the end is no number that a size is less than.
  if (ShapedType::isDynamic(size) && self.getType() == call.resultType() && start == 0 && isLiteral &&
      call.integer("end").value_or(std::numeric_limits<int64_t>::max()) == std::numeric_limits<int64_t>::max())
    return one(self);
  if (ShapedType::isDynamic(size) && call.integer("start").value_or(0) == 0 && (isLiteral || !call.integer("end")))
    return one(call.part(self, SmallVector<int64_t>(rankOf(self), 0)));
  return isLiteral ? one(call.slice(self, *dim, start, size)) : Values();
}

static Values select(AtenCall &call) {
  Value self = call.tensor("self");
  std::optional<int64_t> dim = call.dim("dim", self), index = call.integer("index");
  Value part = dim && index ? call.slice(self, *dim, *index, 1) : Value();
  if (!part)
    return {};
  llvm::SmallBitVector units(rankOf(self));
  units.set(*dim);
  return one(call.leaf.dropUnits(part, units));
}

/// Consecutive parts along a dimension, as large as the results are.
static Values split(AtenCall &call) {
  Value self = call.tensor("self");
  std::optional<int64_t> dim = call.dim("dim", self);
  Values parts;
  int64_t start = 0;
  for (unsigned i = 0; dim && i < call.results().size(); ++i) {
    RankedTensorType type = call.resultType(i);
    Value part = type ? call.slice(self, *dim, start, type.getDimSize(*dim)) : Value();
    if (!part)
      return {};
    parts.push_back(part);
    start += type.getDimSize(*dim);
  }
  return parts;
}

static Values unbind(AtenCall &call) {
  Value self = call.tensor("self");
  std::optional<int64_t> dim = call.dim("dim", self);
  Values parts;
  for (unsigned i = 0; dim && i < call.results().size(); ++i) {
    Value part = call.slice(self, *dim, i, 1);
    if (!part)
      return {};
    llvm::SmallBitVector units(rankOf(self));
    units.set(*dim);
    parts.push_back(call.leaf.dropUnits(part, units));
  }
  return parts;
}

static Values concat(AtenCall &call) {
  Values parts = call.tensors("tensors");
  if (parts.empty() || !llvm::all_of(parts, [&](Value part) { return sameElements(part, parts[0]); }))
    return {};
  std::optional<int64_t> dim = call.dim("dim", parts[0]);
  bool haveRank = llvm::all_of(parts, [&](Value part) { return rankOf(part) == rankOf(parts[0]); });
  if (!dim || !haveRank || !call.resultType())
    return {};
  Value streams = llvm::all_equal(parts) ? streamsOfToken(call, parts[0]) : Value();
  return one(streams ? streams : call.leaf.concat(parts, *dim));
}

/// `self` with other elements from `start` to `end` along a dimension.
static Value replaced(AtenCall &call, Value self, Value part, int64_t dim, int64_t start, int64_t end) {
  const int64_t whole = cast<RankedTensorType>(self.getType()).getDimSize(dim);
  if (ShapedType::isDynamic(whole) || start < 0 || start >= end || end > whole || !sameElements(self, part))
    return {};
  Values parts;
  if (start > 0)
    parts.push_back(call.leaf.slice(self, dim, 0, start));
  parts.push_back(part);
  if (end < whole)
    parts.push_back(call.leaf.slice(self, dim, end, whole - end));
  return call.leaf.concat(parts, dim);
}

static Values scatterSlice(AtenCall &call) {
  Value self = call.tensor("self"), part = call.tensor("src");
  std::optional<int64_t> dim = call.dim("dim", self);
  if (!dim || !part || call.integer("step").value_or(1) != 1 || (call.has("start") && !call.integer("start")))
    return {};
  const int64_t whole = cast<RankedTensorType>(self.getType()).getDimSize(*dim),
                start = call.integer("start").value_or(0);
  const int64_t size = cast<RankedTensorType>(part.getType()).getDimSize(*dim),
                first = start < 0 ? start + whole : start;
  return one(replaced(call, self, part, *dim, first, first + size));
}

static Values scatterSelect(AtenCall &call) {
  Value self = call.tensor("self"), part = call.tensor("src");
  std::optional<int64_t> dim = call.dim("dim", self), index = call.integer("index");
  if (!dim || !index || !part)
    return {};
  const int64_t first = *index < 0 ? *index + cast<RankedTensorType>(self.getType()).getDimSize(*dim) : *index;
  llvm::SmallBitVector units(rankOf(self));
  units.set(*dim);
  return one(replaced(call, self, call.leaf.insertUnits(part, units), *dim, first, first + 1));
}

static Values stack(AtenCall &call) {
  Values parts = call.tensors("tensors");
  std::optional<int64_t> dim = call.integer("dim");
  if (parts.empty() || !dim || !call.resultType())
    return {};
  const int64_t rank = call.resultType().getRank(), at = *dim < 0 ? *dim + rank : *dim;
  llvm::SmallBitVector units(rank);
  units.set(at);
  const bool areEqual = llvm::all_equal(parts);
  for (Value &part : parts)
    part = call.leaf.insertUnits(part, units);
  Value streams = areEqual ? streamsOfToken(call, parts[0]) : Value();
  return one(streams ? streams : call.leaf.concat(parts, at));
}

template <int value>
static Values filled(AtenCall &call) {
  return one(call.splat(value, call.resultElement()));
}

static Values full(AtenCall &call) {
  std::optional<double> number = call.number("fill_value");
  return number ? one(call.splat(*number, call.resultElement())) : Values();
}

/// The identity, beside which a residual map may stand. Large ones are none of streams.
static Values identity(AtenCall &call) {
  constexpr int64_t kMostElements = 256;
  RankedTensorType type = call.resultType();
  if (!type || !type.hasStaticShape() || type.getNumElements() > kMostElements)
    return {};
  const llvm::fltSemantics &semantics = cast<FloatType>(type.getElementType()).getFloatSemantics();
  SmallVector<APFloat> elements(type.getNumElements(), APFloat::getZero(semantics));
  for (int64_t i = 0; i < std::min(type.getDimSize(0), type.getDimSize(1)); ++i)
    elements[i * type.getDimSize(1) + i] = APFloat(semantics, 1);
  return one(arith::ConstantOp::create(call.builder, call.loc, DenseElementsAttr::get(type, elements)).getResult());
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

namespace {
struct Row {
  StringLiteral name;
  Values (*read)(AtenCall &call);
  bool isView = false; ///< shows the elements of another tensor
};
} // namespace

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
    {"aten.sum.default", reduction<ReduceKind::sum>},
    {"aten.sum.dim_IntList", reduction<ReduceKind::sum>},
    {"aten.mean.default", reduction<ReduceKind::mean>},
    {"aten.mean.dim", reduction<ReduceKind::mean>},
    {"aten.amax.default", reduction<ReduceKind::max>},
    {"aten.max.default", reduction<ReduceKind::max>},
    {"aten.max.dim", largest},
    {"aten.linalg_vector_norm.default", vectorNorm},
    {"aten._softmax.default", softmax},
    {"aten.softmax.int", softmax},
    {"aten._log_softmax.default", logSoftmax},
    {"aten.log_softmax.int", logSoftmax},
    {"aten.log_sigmoid_forward.default", logSigmoid},
    {"aten.logsumexp.default", logSumExp},
    {"aten._fused_rms_norm.default", rmsNorm},
    {"aten.mm.default", matmul},
    {"aten.mv.default", matrixVector},
    {"aten.bmm.default", batchMatmul},
    {"aten.addmm.default", addMatmul},
    {"aten.baddbmm.default", addBatchMatmul},
    {"aten.addcmul.default", addMultiplied},
    {"aten.convolution.default", convolution},
    {"aten.view.default", reshape, true},
    {"aten._unsafe_view.default", reshape, true},
    {"aten.reshape.default", reshape, true},
    {"aten.unsqueeze.default", reshape, true},
    {"aten.squeeze.default", reshape, true},
    {"aten.squeeze.dim", reshape, true},
    {"aten.squeeze.dims", reshape, true},
    {"aten.alias.default", same, true},
    {"aten.clone.default", same},
    {"aten.contiguous.default", same},
    {"aten.lift_fresh_copy.default", same},
    {"aten._to_copy.default", copy},
    {"aten.to.dtype", copy},
    {"aten.permute.default", permute, true},
    {"aten.transpose.int", transpose, true},
    {"aten.t.default", matrixTranspose, true},
    {"aten.expand.default", expand, true},
    {"aten.repeat.default", repeat},
    {"aten.slice.Tensor", slice, true},
    {"aten.slice_scatter.default", scatterSlice},
    {"aten.select_scatter.default", scatterSelect},
    {"aten.select.int", select, true},
    {"aten.split.Tensor", split, true},
    {"aten.split_with_sizes.default", split, true},
    {"aten.unbind.int", unbind, true},
    {"aten.cat.default", concat},
    {"aten.stack.default", stack},
    {"aten.full.default", full},
    {"aten.full_like.default", full},
    {"aten.new_full.default", full},
    {"aten.eye.default", identity},
    {"aten.eye.m", identity},
    {"aten.zeros.default", filled<0>},
    {"aten.zeros_like.default", filled<0>},
    {"aten.new_zeros.default", filled<0>},
    {"aten.ones.default", filled<1>},
    {"aten.ones_like.default", filled<1>},
    {"aten.new_ones.default", filled<1>},
};

static const Row *rowOf(StringRef name) {
  static const llvm::StringMap<const Row *> all = [] {
    llvm::StringMap<const Row *> rows;
    for (const Row &row : kRows)
      rows[row.name] = &row;
    return rows;
  }();
  return all.lookup(name);
}

bool mhc::isAtenView(StringRef name) {
  const Row *row = rowOf(name);
  return row && row->isView;
}

SmallVector<Value> mhc::aten::readCall(StringRef name, AtenCall &call) {
  const Row *row = rowOf(name);
  // A literal that fits no type of leaf ops makes an integer tensor, which is left as it is.
  auto isLeft = [](Value result) { return !result.use_empty() && !isFloat(result.getType()); };
  if (!row || call.results().empty() || !isFloat(call.results()[0].getType()) || llvm::any_of(call.results(), isLeft))
    return {};
  Values values = row->read(call);
  // A row that is wrong about a shape or a type has not read the call.
  auto isRead = [](auto pair) {
    auto [value, result] = pair;
    return value ? value.getType() == result.getType() : result.use_empty();
  };
  bool isWhole = values.size() == call.results().size() && llvm::all_of(llvm::zip(values, call.results()), isRead);
  return isWhole && values[0] ? values : Values();
}
