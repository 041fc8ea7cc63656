//===- NormaliseParts.cpp - Slices and what joins them ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NormaliseParts.h"
#include "mhc/Algebra/Reading.h"
#include "mhc/IR/LeafBuilder.h"

using namespace mlir;
using namespace mhc;

namespace {
template <typename Op>
struct PartPattern : OpRewritePattern<Op> {
  PartPattern(MLIRContext *context, LazyDims &dims) : OpRewritePattern<Op>(context), parts(dims) {}
  mutable Parts parts;
};

/// The transposes that are joined, all of one order and nothing else's; none where one is something else.
static SmallVector<Operation *> transposesIn(tensor::ConcatOp op) {
  SmallVector<Operation *> all;
  for (Value input : op.getInputs()) {
    auto transpose = input.getDefiningOp<TransposeOp>();
    if (!transpose || singleUser(input) != op || (!all.empty() && transpose->getAttrs() != all[0]->getAttrs()))
      return {};
    all.push_back(transpose);
  }
  return all;
}

/// The same computed of all parts of some values, joined again: computed of the values. Also where each is transposed.
struct ComputeAfterJoining : PartPattern<tensor::ConcatOp> {
  using PartPattern::PartPattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    const int64_t dim = op.getDim();
    if (Value joined = join(rewriter, op, op.getInputs(), dim, op.getOperation(), op.getResultType())) {
      rewriter.replaceOp(op, joined);
      return success();
    }
    SmallVector<Operation *> transposes = transposesIn(op);
    if (transposes.empty())
      return failure();
    ArrayRef<int64_t> perm = cast<TransposeOp>(transposes[0]).getPerm();
    SmallVector<int64_t> shape(perm.size());
    for (auto [size, from] : llvm::zip(op.getResultType().getShape(), perm))
      shape[from] = size;
    auto sources = llvm::map_to_vector(transposes, [](Operation *view) { return view->getOperand(0); });
    Value joined = join(rewriter, op, sources, perm[dim], transposes, op.getResultType().clone(shape));
    if (!joined)
      return failure();
    rewriter.replaceOp(op, LeafBuilder(rewriter, op.getLoc()).transpose(joined, perm));
    return success();
  }

private:
  /// The values side by side as one of this type, where only `readers` read what they are computed of; null for none.
  Value join(PatternRewriter &rewriter, tensor::ConcatOp op, ValueRange values, int64_t dim,
             ArrayRef<Operation *> readers, RankedTensorType type) const {
    Joined joined(parts, dim);
    const bool fits = joined.typeOf(values) == type && joined.match(values, readers);
    return fits ? joined.build(rewriter, op.getLoc(), values) : Value();
  }
};

/// A part of what is joined: of the inputs that it is among.
struct SliceBeforeJoining : PartPattern<tensor::ExtractSliceOp> {
  using PartPattern::PartPattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op, PatternRewriter &rewriter) const override {
    auto concat = op.getSource().getDefiningOp<tensor::ConcatOp>();
    int64_t dim = concat ? concat.getDim() : 0;
    std::optional<Part> part = concat && !concat->hasAttr(algebra::kWhole) ? parts.partOf(op, dim) : std::nullopt;
    if (!part)
      return failure();
    int64_t start = 0, end = part->offset + part->size;
    SmallVector<Value> inside;
    for (Value input : concat.getInputs()) {
      int64_t size = cast<RankedTensorType>(input.getType()).getDimSize(dim);
      if (ShapedType::isDynamic(size) || !statesSizesOf(input, op.getType(), dim))
        return failure();
      int64_t from = std::max(part->offset, start), to = std::min(end, start + size);
      if (from < to)
        inside.push_back(valueOf(rewriter, op.getLoc(), {input, from - start, to - from}, dim));
      start += size;
    }
    rewriter.replaceOp(op, LeafBuilder(rewriter, op.getLoc()).concat(inside, dim));
    return success();
  }
};
} // namespace

/// The dimension along which tensors are joined, behind a transpose or not.
static std::optional<int64_t> joinedDim(Value x) {
  auto transpose = x.getDefiningOp<TransposeOp>();
  auto concat = (transpose ? transpose.getX() : x).getDefiningOp<tensor::ConcatOp>();
  if (!concat)
    return std::nullopt;
  const auto dim = static_cast<int64_t>(concat.getDim());
  return transpose ? llvm::find(transpose.getPerm(), dim) - transpose.getPerm().begin() : dim;
}

/// Reduces along a dimension that joins tensors first: what is added up there was written as a value of its own.
static LogicalResult reduceJoinedFirst(ReduceOp op, PatternRewriter &rewriter) {
  std::optional<int64_t> joined = joinedDim(op.getX());
  if (!joined || op.getDims().size() == 1 || !llvm::is_contained(op.getDims(), *joined))
    return failure();
  SmallVector<int64_t> others;
  for (int64_t dim : op.getDims())
    if (dim != *joined)
      others.push_back(dim < *joined ? dim : dim - 1);
  LeafBuilder leaf(rewriter, op.getLoc());
  rewriter.replaceOp(op, leaf.reduce(op.getKind(), leaf.reduce(op.getKind(), op.getX(), {*joined}), others));
  return success();
}

/// A tensor beside itself, such as a stack of equal streams: repeated.
static LogicalResult repeatInPlaceOfJoining(tensor::ConcatOp op, PatternRewriter &rewriter) {
  Value x = op.getInputs()[0];
  auto type = cast<RankedTensorType>(x.getType());
  const auto dim = static_cast<int64_t>(op.getDim()), count = static_cast<int64_t>(op.getInputs().size());
  if (count < 2 || !llvm::all_equal(op.getInputs()) || op.getResultType().isDynamicDim(dim) || type.isDynamicDim(dim))
    return failure();
  LeafBuilder leaf(rewriter, op.getLoc());
  LeafBuilder::Sizes sizes = leaf.sizesOf(x);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  const bool isUnit = type.getDimSize(dim) == 1;
  if (isUnit)
    sizes.erase(sizes.begin() + dim);
  else
    llvm::for_each(MutableArrayRef(dims).drop_front(dim), [](int64_t &at) { ++at; });
  sizes.insert(sizes.begin() + dim, leaf.constant(count));
  Value repeated = leaf.broadcast(x, sizes, dims);
  rewriter.replaceOp(op, isUnit ? repeated : leaf.join(repeated, dim, 2));
  return success();
}

void mhc::addPartPatterns(RewritePatternSet &patterns, LazyDims &dims) {
  patterns.add(repeatInPlaceOfJoining);
  patterns.add<ComputeAfterJoining>(patterns.getContext(), dims);
}

void mhc::addSlicePatterns(RewritePatternSet &patterns, LazyDims &dims) {
  patterns.add<SliceBeforeJoining>(patterns.getContext(), dims);
  patterns.add(reduceJoinedFirst);
}
