//===- NormaliseParts.cpp - Slices and what joins them ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Normalise.h"
#include "Raise.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <map>
#include <set>

using namespace mlir;
using namespace mhc;

namespace {
/// Some elements of a value along one dimension, and all along the others.
struct Part {
  Value whole;
  int64_t offset, size;
};

/// Knows which slices are parts along a dimension.
class Parts {
public:
  explicit Parts(DimAnalysis &dims) : dims(dims) {}

  std::optional<Part> partOf(tensor::ExtractSliceOp slice, int64_t dim) {
    if (!slice || !slice.hasUnitStride() || slice.getSourceType().getRank() != slice.getType().getRank() ||
        ShapedType::isDynamic(slice.getStaticOffset(dim)) || slice.isDynamicSize(dim))
      return std::nullopt;
    for (int64_t other = 0; other < slice.getType().getRank(); ++other)
      if (other != dim && !covers(slice, other))
        return std::nullopt;
    return Part{slice.getSource(), slice.getStaticOffset(dim), slice.getStaticSize(dim)};
  }

  /// Consecutive parts, as one part of the same whole.
  std::optional<Part> join(ValueRange values, int64_t dim) {
    std::optional<Part> joined;
    for (Value value : values) {
      std::optional<Part> part = partOf(value.getDefiningOp<tensor::ExtractSliceOp>(), dim);
      if (!part || (joined && (part->whole != joined->whole || part->offset != joined->offset + joined->size)))
        return std::nullopt;
      if (joined)
        joined->size += part->size;
      else
        joined = part;
    }
    return joined;
  }

private:
  bool covers(tensor::ExtractSliceOp slice, int64_t dim) {
    for (Value value : {slice.getSource(), slice.getResult()})
      dims.learn(value);
    bool all = slice.isDynamicSize(dim) ? dims.sameSize(slice.getSource(), dim, slice.getResult(), dim)
                                        : slice.getSourceType().getDimSize(dim) == slice.getStaticSize(dim);
    return slice.getStaticOffset(dim) == 0 && all;
  }

  DimAnalysis &dims;
};
} // namespace

/// Whether parts of a value along a dimension have the sizes of a type along the others, as types state them.
static bool statesSizesOf(Value whole, RankedTensorType type, int64_t dim) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(whole.getType()).getShape());
  shape[dim] = type.getDimSize(dim);
  return type.getShape() == ArrayRef(shape);
}

/// The part as a value of its own; the whole where it is that.
static Value valueOf(OpBuilder &builder, Location loc, const Part &part, int64_t dim) {
  if (cast<RankedTensorType>(part.whole.getType()).getDimSize(dim) == part.size)
    return part.whole;
  return LeafBuilder(builder, loc).slice(part.whole, dim, part.offset, part.size);
}

namespace {
template <typename Op>
struct PartPattern : OpRewritePattern<Op> {
  PartPattern(MLIRContext *context, DimAnalysis &dims) : OpRewritePattern<Op>(context), parts(dims) {}
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
    Computations found;
    if (op.getResultType().isDynamicDim(op.getDim()) ||
        !areComputedAlike(op.getInputs(), op.getDim(), kMostSteps, found))
      return failure();
    auto isWithin = [&](Operation *user) { return user == op || isa<tensor::DimOp>(user) || found.ops.contains(user); };
    if (!llvm::all_of(found.ops, [&](Operation *part) { return llvm::all_of(part->getUsers(), isWithin); }))
      return failure();
    std::map<Places, Value> joined;
    rewriter.replaceOp(op, compute(op.getInputs(), op, joined, rewriter));
    return success();
  }

private:
  using Places = std::vector<const void *>; ///< of values, to find those that are joined more than once

  struct Computations {
    llvm::SetVector<Operation *> ops;
    std::set<Places> results;
  };

  static constexpr int kMostSteps = 32; ///< of one part

  static Places placesOf(ValueRange values) {
    Places places;
    for (Value value : values)
      places.push_back(value.getAsOpaquePointer());
    return places;
  }

  static SmallVector<Value> operandsOf(ValueRange values, unsigned operand) {
    return llvm::map_to_vector(values, [&](Value value) { return value.getDefiningOp()->getOperand(operand); });
  }

  /// Whether each value repeats something along the same dimensions: the same, or along `dim` parts of a value.
  bool areRepeatedAlike(ValueRange values, int64_t dim) const {
    auto first = values[0].getDefiningOp<BroadcastOp>();
    auto isAlike = [&](Value value) {
      auto broadcast = value.getDefiningOp<BroadcastOp>();
      return broadcast && broadcast.getDims() == first.getDims() && repeatsWholeDims(broadcast);
    };
    if (!first || !llvm::all_of(values, isAlike))
      return false;
    SmallVector<Value> sources = operandsOf(values, 0);
    const auto *place = llvm::find(first.getDims(), dim);
    return place == first.getDims().end() ? llvm::all_equal(sources)
                                          : parts.join(sources, place - first.getDims().begin()).has_value();
  }

  /// Whether each value is what one op computes of parts and numbers, not of numbers alone. Adds the ops to `found`.
  bool areComputedAlike(ValueRange values, int64_t dim, int steps, Computations &found) const {
    Operation *first = values[0].getDefiningOp();
    if (steps == 0 || !first || !isElementwise(first))
      return false;
    if (!found.results.insert(placesOf(values)).second)
      return true;
    for (Value value : values) {
      Operation *op = value.getDefiningOp();
      if (!op || op->getName() != first->getName() || op->getAttrs() != first->getAttrs())
        return false;
      found.ops.insert(op);
    }
    bool computes = false;
    for (unsigned i = 0; i < first->getNumOperands(); ++i) {
      SmallVector<Value> operands = operandsOf(values, i);
      std::optional<double> number = constantValue(operands[0]);
      auto isNumber = [&](Value operand) { return constantValue(operand) == number; };
      computes |= !number;
      if (number ? !llvm::all_of(operands, isNumber)
                 : !parts.join(operands, dim) && !areRepeatedAlike(operands, dim) &&
                       !areComputedAlike(operands, dim, steps - 1, found))
        return false;
    }
    return computes;
  }

  Value repeat(ValueRange values, tensor::ConcatOp concat, OpBuilder &builder) const {
    auto first = values[0].getDefiningOp<BroadcastOp>();
    int64_t dim = concat.getDim();
    LeafBuilder leaf(builder, concat.getLoc());
    LeafBuilder::Sizes sizes = leaf.sizesOf(first);
    sizes[dim] = builder.getIndexAttr(concat.getResultType().getDimSize(dim));
    Value source = first.getX();
    if (const auto *place = llvm::find(first.getDims(), dim); place != first.getDims().end()) {
      int64_t along = place - first.getDims().begin();
      source = valueOf(builder, concat.getLoc(), *parts.join(operandsOf(values, 0), along), along);
    }
    return leaf.broadcast(source, sizes, first.getDims());
  }

  /// The values joined as `concat` joins its inputs.
  Value compute(ValueRange values, tensor::ConcatOp concat, std::map<Places, Value> &known, OpBuilder &builder) const {
    Value &joined = known[placesOf(values)]; // stays where it is
    if (joined)
      return joined;
    if (std::optional<Part> part = parts.join(values, concat.getDim()))
      return joined = valueOf(builder, concat.getLoc(), *part, concat.getDim());
    if (areRepeatedAlike(values, concat.getDim()))
      return joined = repeat(values, concat, builder);
    Operation *first = values[0].getDefiningOp();
    SmallVector<Value> operands(first->getNumOperands());
    for (auto [i, operand] : llvm::enumerate(operands))
      if (!constantValue(first->getOperand(i)))
        operand = compute(operandsOf(values, i), concat, known, builder);
    Value sized = *llvm::find_if(operands, [](Value operand) { return bool(operand); });
    for (auto [i, operand] : llvm::enumerate(operands))
      if (Value part = first->getOperand(i); !operand) {
        LeafBuilder leaf(builder, part.getLoc());
        operand = leaf.splat(*constantValue(part), leaf.cast(sized, getElementTypeOrSelf(part)));
      }
    Type type = concat.getResultType().clone(getElementTypeOrSelf(values[0]));
    OperationState state(first->getLoc(), first->getName(), operands, type, first->getAttrs());
    return joined = builder.create(state)->getResult(0);
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
    for (Value input : op.getInputs()) {
      auto product = input.getDefiningOp<Product>();
      if (!product || shared(product) != shared(first) || product->getAttrs() != first->getAttrs())
        return failure();
      matrices.push_back(partial(product));
    }
    bool transposed = columns ? first.getTransposeRhs() : first.getTransposeLhs();
    int64_t dim = transposed == columns ? rank - 2 : rank - 1;
    std::optional<Part> part = parts.join(matrices, dim);
    if (!part || !statesSizesOf(partial(first), cast<RankedTensorType>(part->whole.getType()), dim))
      return failure();
    Value whole = valueOf(rewriter, op.getLoc(), *part, dim);
    rewriter.replaceOpWithNewOp<Product>(op, op.getResultType(), columns ? Value(first.getLhs()) : whole,
                                         columns ? whole : Value(first.getRhs()), first.getTransposeLhs(),
                                         first.getTransposeRhs());
    return success();
  }
};

/// A product of matrices that are joined along what is summed: the sum of the products of their parts.
struct SplitJoinedSum : OpRewritePattern<BatchMatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BatchMatmulOp op, PatternRewriter &rewriter) const override {
    auto left = op.getLhs().getDefiningOp<tensor::ConcatOp>(), right = op.getRhs().getDefiningOp<tensor::ConcatOp>();
    uint64_t ofLeft = op.getTransposeLhs() ? 1 : 2, ofRight = op.getTransposeRhs() ? 2 : 1;
    auto haveOneSize = [&](auto parts) {
      auto [a, b] = parts;
      int64_t size = cast<RankedTensorType>(a.getType()).getDimSize(ofLeft);
      return !ShapedType::isDynamic(size) && size == cast<RankedTensorType>(b.getType()).getDimSize(ofRight);
    };
    if (!left || !right || left.getDim() != ofLeft || right.getDim() != ofRight ||
        !op.getType().getElementType().isF32() || left.getInputs().size() != right.getInputs().size() ||
        !llvm::all_of(llvm::zip(left.getInputs(), right.getInputs()), haveOneSize))
      return failure();
    LeafBuilder leaf(rewriter, op.getLoc());
    Value sum;
    for (auto [a, b] : llvm::zip(left.getInputs(), right.getInputs())) {
      Value product =
          BatchMatmulOp::create(rewriter, op.getLoc(), op.getType(), a, b, op.getTransposeLhs(), op.getTransposeRhs());
      sum = sum ? leaf.add(sum, product) : product;
    }
    rewriter.replaceOp(op, sum);
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

void mhc::addPartPatterns(RewritePatternSet &patterns, DimAnalysis &dims) {
  patterns.add<FoldJoinedSlices, ComputeAfterJoining, FoldJoinedProducts<MatmulOp>, FoldJoinedProducts<BatchMatmulOp>,
               TakePartOfProduct<MatmulOp>, TakePartOfProduct<BatchMatmulOp>, FoldNestedSlices>(patterns.getContext(),
                                                                                                dims);
}

void mhc::addSlicePatterns(RewritePatternSet &patterns, DimAnalysis &dims) {
  patterns.add<SliceBeforeJoining>(patterns.getContext(), dims);
  patterns.add<SplitJoinedSum>(patterns.getContext());
}
