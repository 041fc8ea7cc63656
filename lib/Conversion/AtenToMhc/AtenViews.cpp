//===- AtenViews.cpp - ATen ops that show, copy or make tensors ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtenCall.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <limits>

using namespace mlir;
using namespace mhc;
using namespace mhc::aten;

Values aten::readReshape(AtenCall &call) { return one(call.reshaped()); }
Values aten::readAlias(AtenCall &call) { return one(call.tensor("self")); }
Values aten::readClone(AtenCall &call) { return one(call.tensor("self")); }

/// Another element type.
Values aten::readCopy(AtenCall &call) {
  if (std::optional<double> number = call.number("self")) // as `vmap` makes tensors of numbers
    return one(call.splat(*number, call.resultElement()));
  return one(call.toResult(call.tensor(call.has("a") ? "a" : "self")));
}

static Values transposed(AtenCall &call, Value self, SmallVector<int64_t> perm) {
  return one(call.leaf.transpose(self, perm));
}

Values aten::readPermute(AtenCall &call) {
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

Values aten::readTranspose(AtenCall &call) {
  Value self = call.tensor("self");
  return swapDims(call, self, call.dim("dim0", self), call.dim("dim1", self));
}

Values aten::readMatrixTranspose(AtenCall &call) {
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
  if (rank < 3 || isF64(vector) || !type.hasStaticShape() || wide.getRank() != rank || !wide.hasStaticShape() ||
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

Values aten::readExpand(AtenCall &call) {
  Value self = call.tensor("self"), streams = self ? streamsOfToken(call, self) : Value();
  return one(streams ? streams : call.spread(self));
}

/// Copies along dimensions of one element, which are as good as a view; or of all elements of one dimension, one after
/// the other.
Values aten::readRepeat(AtenCall &call) {
  Value self = call.tensor("self");
  std::optional<SmallVector<int64_t>> times = call.integers("repeats");
  if (!self || !times)
    return {};
  const int64_t rank = rankOf(self), more = static_cast<int64_t>(times->size()) - rank;
  if (more < 0 || llvm::any_of(*times, [](int64_t count) { return count < 0; }))
    return {};
  SmallVector<int64_t> whole;
  for (int64_t dim : llvm::seq(rank))
    if ((*times)[dim + more] != 1 && cast<RankedTensorType>(self.getType()).getDimSize(dim) != 1)
      whole.push_back(dim);
  if (whole.empty())
    return readExpand(call);
  if (llvm::count_if(*times, [](int64_t count) { return count != 1; }) != 1)
    return {};
  const int64_t dim = whole.front();
  LeafBuilder::Sizes sizes = call.leaf.sizesOf(self);
  sizes.insert(sizes.begin() + dim, call.builder.getIndexAttr((*times)[dim + more]));
  auto own = llvm::to_vector(llvm::seq<int64_t>(0, rank + 1));
  own.erase(own.begin() + dim);
  return one(call.leaf.join(call.leaf.broadcast(self, sizes, own), dim, 2));
}

constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max(); ///< of a slice, as PyTorch writes it

/// Where a slice begins, in sizes; nothing where it may be cut short. Without an end it is as long as what is left
/// behind its start, wherever that is; with one, a slice as long as its start and its end say begins at that start.
static std::optional<Polynomial> startOf(AtenCall &call, const Polynomial &whole, const Polynomial &size) {
  if (!call.has("end") || call.integer("end") == kNoEnd)
    return subtract(whole, size);
  auto placeOf = [&](StringRef name) {
    std::optional<int64_t> number = call.has(name) ? call.integer(name) : 0;
    return number ? call.place(whole, *number) : std::nullopt;
  };
  std::optional<Polynomial> start = placeOf("start"), end = placeOf("end");
  std::optional<Polynomial> between = start && end ? subtract(*end, *start) : std::nullopt;
  return between == size && !size.empty() ? start : std::nullopt;
}

Values aten::readSlice(AtenCall &call) {
  Value self = call.tensor("self");
  std::optional<int64_t> dim = call.dim("dim", self);
  if (!dim || call.resultType().getRank() != rankOf(self) || call.factor("step") != 1)
    return {};
  int64_t start = call.integer("start").value_or(0), size = call.resultType().getDimSize(*dim);
  bool isLiteral = (!call.has("start") || call.integer("start")) && (!call.has("end") || call.integer("end"));
  if (self.getType() == call.resultType() && start == 0 && isLiteral && !ShapedType::isDynamic(size))
    return one(self);
  // All of an open dimension: the end is no number that a size is less than.
  if (ShapedType::isDynamic(size) && self.getType() == call.resultType() && start == 0 && isLiteral &&
      call.integer("end").value_or(kNoEnd) == kNoEnd)
    return one(self);
  const bool isOfOpen = cast<RankedTensorType>(self.getType()).isDynamicDim(*dim);
  const Polynomial part = call.resultDims()[*dim];
  const bool isFirst = !call.has("start") || call.integer("start") == 0;
  if (ShapedType::isDynamic(size) && isFirst && (isLiteral || !call.integer("end")))
    return one(call.part(self, SmallVector<int64_t>(rankOf(self), 0)));
  if (isLiteral && !isOfOpen)
    return one(call.slice(self, *dim, start, size));
  // A projection behind a part of open sequences is found where streams begin with it.
  if (!constantOf(part) && !call.isOnlySummed())
    return {};
  std::optional<Polynomial> first = startOf(call, call.argumentDims("self")[*dim], part);
  return first ? one(call.slice(self, *dim, *first, part)) : Values();
}

Values aten::readSelect(AtenCall &call) {
  Value self = call.tensor("self");
  std::optional<int64_t> dim = call.dim("dim", self), index = call.integer("index");
  if (!dim || !index)
    return {};
  Value part;
  if (!cast<RankedTensorType>(self.getType()).isDynamicDim(*dim))
    part = call.slice(self, *dim, *index, 1);
  else if (std::optional<Polynomial> first = call.place(call.argumentDims("self")[*dim], *index))
    part = call.slice(self, *dim, *first, constantPolynomial(1));
  if (!part)
    return {};
  llvm::SmallBitVector units(rankOf(self));
  units.set(*dim);
  return one(call.leaf.dropUnits(part, units));
}

/// Consecutive parts along a dimension, as large as the results are.
Values aten::readSplit(AtenCall &call) {
  Value self = call.tensor("self");
  std::optional<int64_t> dim = call.dim("dim", self);
  Values parts;
  int64_t start = 0;
  for (unsigned i = 0; dim && i < call.results().size(); ++i) {
    RankedTensorType type = call.resultType(i);
    bool isPart = type && type.getRank() == rankOf(self);
    Value part = isPart ? call.slice(self, *dim, start, type.getDimSize(*dim)) : Value();
    if (!part)
      return {};
    parts.push_back(part);
    start += type.getDimSize(*dim);
  }
  return parts;
}

Values aten::readUnbind(AtenCall &call) {
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

Values aten::readConcat(AtenCall &call) {
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

/// The rows of `self` along a dimension that `numbers` says: parts of rows behind each other, and repeated ones.
static Value chosen(AtenCall &call, Value self, int64_t dim, ArrayRef<int64_t> numbers) {
  const int64_t whole = cast<RankedTensorType>(self.getType()).getDimSize(dim);
  if (llvm::any_of(numbers, [&](int64_t number) { return number < 0 || number >= whole; })) // also where it is open
    return {};
  Values parts;
  while (!numbers.empty()) {
    const int64_t step = numbers.size() > 1 && numbers[1] == numbers[0] ? 0 : 1;
    size_t count = 1;
    while (count < numbers.size() && numbers[count] == numbers[count - 1] + step)
      ++count;
    Value part = call.leaf.slice(self, dim, numbers[0], step == 0 ? 1 : count);
    if (step == 0) {
      LeafBuilder::Sizes sizes = call.leaf.sizesOf(part);
      sizes[dim] = call.builder.getIndexAttr(count);
      llvm::SmallBitVector units(rankOf(self));
      units.set(dim);
      auto own = llvm::to_vector(llvm::seq(rankOf(self)));
      own.erase(own.begin() + dim);
      part = call.leaf.broadcast(call.leaf.dropUnits(part, units), sizes, own);
    }
    parts.push_back(part);
    numbers = numbers.drop_front(count);
  }
  return parts.empty() ? Value() : parts.size() == 1 ? parts[0] : call.leaf.concat(parts, dim);
}

Values aten::readIndexSelect(AtenCall &call) {
  Value self = call.tensor("self");
  std::optional<int64_t> dim = call.dim("dim", self);
  std::optional<SmallVector<int64_t>> numbers = call.constant("index");
  return dim && numbers ? one(chosen(call, self, *dim, *numbers)) : Values();
}

Values aten::readIndex(AtenCall &call) {
  Value self = call.tensor("self");
  std::optional<SmallVector<int64_t>> numbers = call.constant("indices");
  return self && rankOf(self) > 0 && numbers ? one(chosen(call, self, 0, *numbers)) : Values();
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

Values aten::readScatterSlice(AtenCall &call) {
  Value self = call.tensor("self"), part = call.tensor("src");
  std::optional<int64_t> dim = call.dim("dim", self);
  if (!dim || !part || rankOf(part) != rankOf(self) || call.factor("step") != 1 ||
      (call.has("start") && !call.integer("start")))
    return {};
  const int64_t whole = cast<RankedTensorType>(self.getType()).getDimSize(*dim),
                start = call.integer("start").value_or(0);
  const int64_t size = cast<RankedTensorType>(part.getType()).getDimSize(*dim),
                first = start < 0 ? start + whole : start;
  return one(replaced(call, self, part, *dim, first, first + size));
}

Values aten::readScatterSelect(AtenCall &call) {
  Value self = call.tensor("self"), part = call.tensor("src");
  std::optional<int64_t> dim = call.dim("dim", self), index = call.integer("index");
  if (!dim || !index || !part || rankOf(part) != rankOf(self) - 1)
    return {};
  const int64_t first = *index < 0 ? *index + cast<RankedTensorType>(self.getType()).getDimSize(*dim) : *index;
  llvm::SmallBitVector units(rankOf(self));
  units.set(*dim);
  return one(replaced(call, self, call.leaf.insertUnits(part, units), *dim, first, first + 1));
}

Values aten::readStack(AtenCall &call) {
  Values parts = call.tensors("tensors");
  std::optional<int64_t> dim = call.integer("dim");
  if (parts.empty() || !dim || !call.resultType())
    return {};
  const int64_t rank = call.resultType().getRank(), at = *dim < 0 ? *dim + rank : *dim;
  if (at < 0 || at >= rank || llvm::any_of(parts, [&](Value part) { return rankOf(part) != rank - 1; }))
    return {};
  llvm::SmallBitVector units(rank);
  units.set(at);
  const bool areEqual = llvm::all_equal(parts);
  for (Value &part : parts)
    part = call.leaf.insertUnits(part, units);
  Value streams = areEqual ? streamsOfToken(call, parts[0]) : Value();
  return one(streams ? streams : call.leaf.concat(parts, at));
}

Values aten::readZeros(AtenCall &call) { return one(call.splat(0, call.resultElement())); }
Values aten::readOnes(AtenCall &call) { return one(call.splat(1, call.resultElement())); }

Values aten::readFull(AtenCall &call) {
  std::optional<double> number = call.number("fill_value");
  return number ? one(call.splat(*number, call.resultElement())) : Values();
}

/// The identity, beside which a residual map may stand. Large ones are none of streams.
static Value makeIdentity(AtenCall &call, RankedTensorType type) {
  constexpr int64_t kMostElements = 256;
  auto element = type ? dyn_cast<FloatType>(type.getElementType()) : FloatType();
  if (!element || type.getRank() != 2 || !type.hasStaticShape() || type.getNumElements() > kMostElements)
    return {};
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  SmallVector<APFloat> elements(type.getNumElements(), APFloat::getZero(semantics));
  for (int64_t i = 0; i < std::min(type.getDimSize(0), type.getDimSize(1)); ++i)
    elements[i * type.getDimSize(1) + i] = APFloat(semantics, 1);
  return arith::ConstantOp::create(call.builder, call.loc, DenseElementsAttr::get(type, elements));
}

Values aten::readIdentity(AtenCall &call) {
  Value made = makeIdentity(call, call.resultType());
  return made ? one(made) : Values();
}

/// A matrix whose diagonal is a vector: a scale of rows or columns, as a product.
Values aten::readDiagonal(AtenCall &call) {
  Value self = call.tensor("self");
  if (!self || call.integer("offset") != 0 || call.integer("dim1") != -2 || call.integer("dim2") != -1)
    return {};
  const int64_t rank = rankOf(self), n = cast<RankedTensorType>(self.getType()).getDimSize(rank - 1);
  Value ones = makeIdentity(call, RankedTensorType::get({n, n}, call.resultElement()));
  if (!ones)
    return {};
  LeafBuilder::Sizes sizes = call.leaf.sizesOf(self);
  sizes.push_back(sizes.back());
  Value values = call.leaf.broadcast(self, sizes, llvm::to_vector(llvm::seq(rank)));
  return one(call.leaf.mul(values, call.leaf.broadcast(ones, sizes, {rank - 1, rank})));
}
