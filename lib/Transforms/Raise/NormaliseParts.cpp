//===- NormaliseParts.cpp - Slices and what joins them ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NormaliseParts.h"
#include "mhc/IR/LeafBuilder.h"

using namespace mlir;
using namespace mhc;

namespace {
template <typename Op>
struct PartPattern : OpRewritePattern<Op> {
  PartPattern(MLIRContext *context, LazyDims &dims) : OpRewritePattern<Op>(context), parts(dims) {}
  mutable Parts parts;
};

/// Consecutive parts that are joined: one part.
struct FoldJoinedSlices : PartPattern<tensor::ConcatOp> {
  using PartPattern::PartPattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    ValueRange inputs = op.getInputs();
    for (size_t begin = 0; begin + 1 < inputs.size(); ++begin)
      for (size_t end = inputs.size(); end > begin + 1; --end)
        if (auto part = parts.join(inputs.slice(begin, end - begin), op.getDim());
            part && statesSizesOf(part->whole, op.getResultType(), op.getDim())) {
          SmallVector<Value> rest(inputs.take_front(begin));
          rest.push_back(valueOf(rewriter, op.getLoc(), *part, op.getDim()));
          llvm::append_range(rest, inputs.drop_front(end));
          rewriter.replaceOp(op, LeafBuilder(rewriter, op.getLoc()).concat(rest, op.getDim()));
          return success();
        }
    return failure();
  }
};

/// The same computed of all parts of some values, joined again: computed of the values.
struct ComputeAfterJoining : PartPattern<tensor::ConcatOp> {
  using PartPattern::PartPattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    Joined joined(parts, op.getDim());
    if (joined.typeOf(op.getInputs()) != op.getResultType() || !joined.match(op.getInputs(), op.getOperation()))
      return failure();
    rewriter.replaceOp(op, joined.build(rewriter, op.getLoc(), op.getInputs()));
    return success();
  }
};

/// Products with columns of one matrix side by side, or with rows of one on top of each other: the product with the
/// matrix.
template <typename Product>
struct FoldJoinedProducts : PartPattern<tensor::ConcatOp> {
  using PartPattern::PartPattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    auto first = op.getInputs()[0].getDefiningOp<Product>();
    int64_t rank = op.getResultType().getRank(), joined = op.getDim();
    if (!first || joined < rank - 2)
      return failure();
    bool columns = joined == rank - 1;
    auto shared = [&](Product product) { return columns ? product.getLhs() : product.getRhs(); };
    auto partial = [&](Product product) { return columns ? product.getRhs() : product.getLhs(); };
    SmallVector<Value> matrices;
    SmallVector<Operation *> products;
    for (Value input : op.getInputs()) {
      auto product = input.getDefiningOp<Product>();
      if (!product || shared(product) != shared(first) || product->getAttrs() != first->getAttrs())
        return failure();
      products.push_back(product);
      matrices.push_back(partial(product));
    }
    bool transposed = columns ? first.getTransposeRhs() : first.getTransposeLhs();
    int64_t dim = transposed == columns ? rank - 2 : rank - 1;
    Joined all(parts, dim);
    if (!all.match(matrices, products))
      return failure();
    Value whole = all.build(rewriter, op.getLoc(), matrices);
    rewriter.replaceOpWithNewOp<Product>(op, op.getResultType(), columns ? Value(first.getLhs()) : whole,
                                         columns ? whole : Value(first.getRhs()), first.getTransposeLhs(),
                                         first.getTransposeRhs());
    return success();
  }
};

/// A product with some columns or rows of a matrix, beside the product with all of them: a part of that.
template <typename Product>
struct TakePartOfProduct : PartPattern<Product> {
  using PartPattern<Product>::PartPattern;

  LogicalResult matchAndRewrite(Product op, PatternRewriter &rewriter) const override {
    int64_t rank = op.getType().getRank();
    for (unsigned operand : {0, 1}) {
      bool transposed = operand == 0 ? op.getTransposeLhs() : op.getTransposeRhs();
      int64_t dim = transposed == bool(operand) ? rank - 2 : rank - 1;
      std::optional<Part> part =
          this->parts.partOf(op->getOperand(operand).template getDefiningOp<tensor::ExtractSliceOp>(), dim);
      Operation *whole = part ? productWith(op, operand, part->whole) : nullptr;
      if (!whole)
        continue;
      if (op->isBeforeInBlock(whole))
        rewriter.moveOpBefore(whole, op); // reads nothing that `op` does not read
      Part same{whole->getResult(0), part->offset, part->size};
      rewriter.replaceOp(op, valueOf(rewriter, op.getLoc(), same, operand == 0 ? rank - 2 : rank - 1));
      return success();
    }
    return failure();
  }

private:
  static Operation *productWith(Product op, unsigned operand, Value whole) {
    for (Operation *user : whole.getUsers())
      if (isa<Product>(user) && user->getBlock() == op->getBlock() && user->getAttrs() == op->getAttrs() &&
          user->getOperand(operand) == whole && user->getOperand(1 - operand) == op->getOperand(1 - operand))
        return user;
    return nullptr;
  }
};

/// A part of what is joined: of the inputs that it is among.
struct SliceBeforeJoining : PartPattern<tensor::ExtractSliceOp> {
  using PartPattern::PartPattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op, PatternRewriter &rewriter) const override {
    auto concat = op.getSource().getDefiningOp<tensor::ConcatOp>();
    int64_t dim = concat ? concat.getDim() : 0;
    std::optional<Part> part = concat ? parts.partOf(op, dim) : std::nullopt;
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

/// A part of a part.
struct FoldNestedSlices : PartPattern<tensor::ExtractSliceOp> {
  using PartPattern::PartPattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getSource().getDefiningOp<tensor::ExtractSliceOp>();
    for (int64_t dim = 0; inner && dim < op.getType().getRank(); ++dim) {
      std::optional<Part> small = parts.partOf(op, dim), large = parts.partOf(inner, dim);
      if (!small || !large || !statesSizesOf(large->whole, op.getType(), dim))
        continue;
      Part part{large->whole, large->offset + small->offset, small->size};
      rewriter.replaceOp(op, valueOf(rewriter, op.getLoc(), part, dim));
      return success();
    }
    return failure();
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
  patterns.add<FoldJoinedSlices, ComputeAfterJoining, FoldJoinedProducts<MatmulOp>, FoldJoinedProducts<BatchMatmulOp>,
               TakePartOfProduct<MatmulOp>, TakePartOfProduct<BatchMatmulOp>, FoldNestedSlices>(patterns.getContext(),
                                                                                                dims);
}

void mhc::addSlicePatterns(RewritePatternSet &patterns, LazyDims &dims) {
  patterns.add<SliceBeforeJoining>(patterns.getContext(), dims);
  patterns.add(reduceJoinedFirst);
}
