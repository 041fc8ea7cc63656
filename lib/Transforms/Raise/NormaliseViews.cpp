//===- NormaliseViews.cpp - Changes of shape where they disturb least ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Normalise.h"
#include "SinkhornMatch.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mhc;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// f(view(a), view(b)) -> view(f(a, b))
//===----------------------------------------------------------------------===//

/// Whether a reshape only adds dimensions of size one.
static bool addsOnlyUnits(tensor::ExpandShapeOp op) {
  return llvm::all_of(op.getReassociationIndices(), [&](ArrayRef<int64_t> group) {
    return llvm::count_if(group, [&](int64_t dim) { return op.getType().getDimSize(dim) != 1; }) <= 1;
  });
}

/// Whether a reshape joins dimensions of static size.
static bool joinsSizes(tensor::CollapseShapeOp op) {
  return llvm::any_of(op.getReassociationIndices(), [&](ArrayRef<int64_t> group) {
    return llvm::count_if(group, [&](int64_t dim) { return op.getSrcType().getDimSize(dim) > 1; }) > 1;
  });
}

/// Whether a reshape joins tokens of two dimensions: mHC ops have them as one.
static bool joinsTokens(tensor::CollapseShapeOp op) {
  return llvm::any_of(op.getReassociationIndices(), [&](ArrayRef<int64_t> group) {
    return llvm::count_if(group, [&](int64_t dim) { return op.getSrcType().isDynamicDim(dim); }) > 1;
  });
}

bool mhc::repeatsWholeDims(BroadcastOp op) {
  return llvm::all_of(llvm::enumerate(op.getDims()), [&](auto dim) {
    return op.getX().getType().getDimSize(dim.index()) == op.getOut().getType().getDimSize(dim.value());
  });
}

/// Whether arithmetic may go in front of an op: a view of all elements in another order or shape, or as often as it
/// repeats them, with tokens in one dimension.
static bool mayComputeBefore(Operation *op) {
  auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op);
  return collapse ? !joinsTokens(collapse) : isa_and_nonnull<tensor::ExpandShapeOp, TransposeOp, BroadcastOp>(op);
}

static bool isSameView(Operation *a, Operation *b) {
  if (!b || a->getName() != b->getName() ||
      tensorType(a->getOperand(0)).getShape() != tensorType(b->getOperand(0)).getShape())
    return false;
  if (auto transpose = dyn_cast<TransposeOp>(a))
    return transpose.getPerm() == cast<TransposeOp>(b).getPerm();
  if (auto broadcast = dyn_cast<BroadcastOp>(a))
    return broadcast.getDims() == cast<BroadcastOp>(b).getDims();
  return a->getAttr("reassociation") == b->getAttr("reassociation");
}

namespace {
/// Something that is repeated, and which dimensions of the result are its own.
struct Repeated {
  Value x;
  SmallVector<int64_t> dims;
};
} // namespace

/// The source of a repetition, also where a dimension that it adds is split. A number of each token, as the scale of a
/// norm, is not looked for behind a split: it stays with the streams that it scales.
static std::optional<Repeated> repeatedIn(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return Repeated{broadcast.getX(), SmallVector<int64_t>(broadcast.getDims())};
  auto split = value.getDefiningOp<tensor::ExpandShapeOp>();
  auto broadcast = split ? split.getSrc().getDefiningOp<BroadcastOp>() : BroadcastOp();
  if (!broadcast || broadcast.getDims().size() < 2)
    return std::nullopt;
  Repeated repeated{broadcast.getX(), {}};
  SmallVector<ReassociationIndices> groups = split.getReassociationIndices();
  for (int64_t dim : broadcast.getDims()) {
    if (groups[dim].size() != 1)
      return std::nullopt;
    repeated.dims.push_back(groups[dim].front());
  }
  return repeated;
}

/// The source of an operand that is repeated along all dimensions along which the view repeats, and along more.
static std::optional<Repeated> repeatedMore(Operation *view, Value operand) {
  auto outer = dyn_cast<BroadcastOp>(view);
  std::optional<Repeated> repeated = outer ? repeatedIn(operand) : std::nullopt;
  const bool fits = repeated && repeatsWholeDims(outer) &&
                    llvm::all_of(repeated->dims, [&](int64_t dim) { return llvm::is_contained(outer.getDims(), dim); });
  return fits ? repeated : std::nullopt;
}

/// Groups that join the dimensions of `fine`'s source to those of `operand`'s, where both split them to the same in the
/// end; nothing where they do not.
static std::optional<SmallVector<ReassociationIndices>> joinedSources(tensor::ExpandShapeOp fine, Value operand) {
  auto coarse = operand.getDefiningOp<tensor::ExpandShapeOp>();
  if (!fine || !coarse || coarse.getType().getShape() != fine.getType().getShape() ||
      coarse.getSrcType().getRank() == 0)
    return std::nullopt;
  SmallVector<ReassociationIndices> groups, parts = fine.getReassociationIndices();
  size_t next = 0;
  for (ArrayRef<int64_t> group : coarse.getReassociationIndices()) {
    ReassociationIndices &joined = groups.emplace_back();
    for (; next < parts.size() && parts[next].back() <= group.back(); ++next)
      joined.push_back(next);
    if (joined.empty() || parts[joined.back()].back() != group.back())
      return std::nullopt;
  }
  return groups.size() < parts.size() ? std::optional(groups) : std::nullopt;
}

/// The dimensions of a split's source that `operand` repeats something along; nothing where it tells parts of one
/// apart.
static std::optional<SmallVector<int64_t>> repeatedInSource(tensor::ExpandShapeOp split, Value operand) {
  auto broadcast = operand.getDefiningOp<BroadcastOp>();
  if (!split || !broadcast || !repeatsWholeDims(broadcast) || split.getSrcType().getRank() == 0)
    return std::nullopt;
  SmallVector<int64_t> dims;
  SmallVector<ReassociationIndices> parts = split.getReassociationIndices();
  for (auto [source, group] : llvm::enumerate(parts)) {
    bool kept = llvm::is_contained(broadcast.getDims(), group.front());
    if (kept)
      dims.push_back(source);
    auto isKept = [&](int64_t part) { return llvm::is_contained(broadcast.getDims(), part); };
    if (kept ? group.size() > 1 : llvm::any_of(group, isKept))
      return std::nullopt;
  }
  return dims;
}

/// Whether there is something that the view would show as `operand`, or a constant, transpose or reshape makes it.
static bool canSeeBehind(Operation *view, Value operand) {
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(view);
  return isSameView(view, operand.getDefiningOp()) || constantValue(operand) || (collapse && joinsSizes(collapse)) ||
         (isa<TransposeOp>(view) && (operand.getDefiningOp<TransposeOp>() || isRepeated(operand))) ||
         repeatedMore(view, operand) || joinedSources(dyn_cast<tensor::ExpandShapeOp>(view), operand) ||
         repeatedInSource(dyn_cast<tensor::ExpandShapeOp>(view), operand);
}

static Value behind(OpBuilder &builder, Operation *view, Value operand) {
  if (isSameView(view, operand.getDefiningOp()))
    return operand.getDefiningOp()->getOperand(0);
  Value source = view->getOperand(0);
  LeafBuilder leaf(builder, operand.getLoc());
  auto type = tensorType(source).clone(getElementTypeOrSelf(operand));
  if (std::optional<double> number = constantValue(operand))
    return leaf.splat(*number, leaf.cast(source, type.getElementType()));
  if (auto transpose = dyn_cast<TransposeOp>(view)) {
    SmallVector<int64_t> inverse = invertPermutationVector(transpose.getPerm());
    return isRepeated(operand) ? transposeRepeated(builder, operand, inverse) : leaf.transpose(operand, inverse);
  }
  if (std::optional<Repeated> narrow = repeatedMore(view, operand)) {
    ArrayRef<int64_t> outer = cast<BroadcastOp>(view).getDims();
    SmallVector<int64_t> dims = llvm::map_to_vector(
        narrow->dims, [&](int64_t dim) -> int64_t { return llvm::find(outer, dim) - outer.begin(); });
    return leaf.broadcast(narrow->x, leaf.sizesOf(source), dims);
  }
  if (auto dims = repeatedInSource(dyn_cast<tensor::ExpandShapeOp>(view), operand))
    return leaf.broadcast(operand.getDefiningOp<BroadcastOp>().getX(), leaf.sizesOf(source), *dims);
  if (auto groups = joinedSources(dyn_cast<tensor::ExpandShapeOp>(view), operand))
    return tensor::ExpandShapeOp::create(builder, operand.getLoc(), type, operand.getDefiningOp()->getOperand(0),
                                         *groups, leaf.sizesOf(source));
  return tensor::ExpandShapeOp::create(builder, operand.getLoc(), type, operand,
                                       cast<tensor::CollapseShapeOp>(view).getReassociationIndices(),
                                       leaf.sizesOf(source));
}

static Value showAgain(OpBuilder &builder, Operation *view, Value value, RankedTensorType type) {
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(view))
    return tensor::CollapseShapeOp::create(builder, value.getLoc(), type, value, collapse.getReassociationIndices());
  if (auto transpose = dyn_cast<TransposeOp>(view))
    return TransposeOp::create(builder, value.getLoc(), type, value, transpose.getPerm());
  if (auto broadcast = dyn_cast<BroadcastOp>(view))
    return BroadcastOp::create(builder, value.getLoc(), type, value, broadcast.getSizes(), broadcast.getDims());
  auto expand = cast<tensor::ExpandShapeOp>(view);
  return tensor::ExpandShapeOp::create(builder, value.getLoc(), type, value, expand.getReassociationIndices(),
                                       expand.getMixedOutputShape());
}

/// The operand that a product or quotient scales by a number; null for others.
static Value scaledOperand(Operation *op) {
  if (!isa_and_nonnull<arith::MulFOp, arith::DivFOp>(op))
    return {};
  if (constantValue(op->getOperand(1)))
    return op->getOperand(0);
  return isa<arith::MulFOp>(op) && constantValue(op->getOperand(0)) ? op->getOperand(1) : Value();
}

/// The value that another shows, or shows times a number.
static Value scaledSource(Value value) {
  for (Operation *op = value.getDefiningOp(); op; op = value.getDefiningOp()) {
    Value source = mayComputeBefore(op) ? op->getOperand(0) : scaledOperand(op);
    if (!source)
      break;
    value = source;
  }
  return value;
}

/// Whether an op multiplies a value with itself, one of them times a number; or makes that.
static bool isOfSquare(Operation *op) {
  if (scaledOperand(op))
    return llvm::any_of(op->getUsers(), isOfSquare);
  return isa<arith::MulFOp>(op) && scaledSource(op->getOperand(0)) == scaledSource(op->getOperand(1));
}

namespace {
/// Arithmetic goes in front of the views of what it reads, also of what is repeated: those that undo each other then
/// meet.
struct ComputeBeforeViews : RewritePattern {
  explicit ComputeBeforeViews(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return failure();
    for (Value operand : op->getOperands())
      if (Operation *view = operand.getDefiningOp();
          mayComputeBefore(view) && !constantValue(operand) && succeeded(computeBefore(view, op, rewriter)))
        return success();
    return failure();
  }

private:
  static LogicalResult computeBefore(Operation *view, Operation *op, PatternRewriter &rewriter) {
    // No mhc op has elements of f64. What is repeated stays narrow, and its square tells that it is streams.
    if (isa<TransposeOp, BroadcastOp>(view) && getElementTypeOrSelf(op->getResult(0)).isF64())
      return failure();
    // Steps look for functions in the shape that the program gives them, but for those of what is repeated and of
    // matrices whose rows or columns are split.
    bool isFunction = op->getNumOperands() == 1 && !isa<arith::NegFOp, arith::ExtFOp, arith::TruncFOp>(op);
    if (auto split = dyn_cast<tensor::ExpandShapeOp>(view); split && isFunction && !addsOnlyUnits(split) &&
                                                            !split.getSrc().getDefiningOp<BroadcastOp>() &&
                                                            (!isMatrixStack(split.getSrc()) || isMatrixStack(split)))
      return failure();
    if (isa<BroadcastOp>(view) && (isOfSquare(op) || isa<arith::ExtFOp, arith::TruncFOp>(op)))
      return failure();
    auto fits = [&](Value operand) { return canSeeBehind(view, operand); };
    if (!llvm::all_of(op->getOperands(), fits))
      return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(behind(rewriter, view, operand));
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    OperationState state(op->getLoc(), op->getName(), operands,
                         tensorType(view->getOperand(0)).clone(type.getElementType()), op->getAttrs());
    rewriter.replaceOp(op, showAgain(rewriter, view, rewriter.create(state)->getResult(0), type));
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The matrix that a value shows as a batch of one; null for others.
static Value matrixOfBatch(Value batch) {
  auto expand = batch.getDefiningOp<tensor::ExpandShapeOp>();
  const bool isOne = expand && expand.getSrcType().getRank() == 2 && expand.getType().getDimSize(0) == 1 &&
                     expand.getReassociationIndices().front().size() == 2;
  return isOne ? expand.getSrc() : Value();
}

/// A batch of one product of matrices is that product, which may be joined with others.
static LogicalResult multiplyWithoutBatch(BatchMatmulOp op, PatternRewriter &rewriter) {
  Value lhs = matrixOfBatch(op.getLhs()), rhs = matrixOfBatch(op.getRhs());
  if (!lhs || !rhs)
    return failure();
  LeafBuilder leaf(rewriter, op.getLoc());
  RankedTensorType type = op.getType();
  Value product = MatmulOp::create(rewriter, op.getLoc(), type.clone(type.getShape().drop_front()), lhs, rhs,
                                   op.getTransposeLhs(), op.getTransposeRhs());
  llvm::SmallBitVector units(type.getRank());
  units.set(0);
  rewriter.replaceOp(op, leaf.insertUnits(product, units));
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Reads dimensions in parts.
static LogicalResult foldReducedView(ReduceOp op, PatternRewriter &rewriter) {
  auto reduced = [&](int64_t dim) { return llvm::is_contained(op.getDims(), dim); };
  auto expand = op.getX().getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand || expand.getSrcType().getRank() == 0) // groups tell nothing of the dimensions of one element
    return failure();
  SmallVector<int64_t> dims;
  for (auto [source, group] : llvm::enumerate(expand.getReassociationIndices())) {
    int64_t count = llvm::count_if(group, reduced);
    if (count != static_cast<int64_t>(group.size()) && (count != 0 || group.size() > 1))
      return failure();
    if (count)
      dims.push_back(source);
  }
  rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), op.getKind(), expand.getSrc(), dims);
  return success();
}

/// Reduces what was joined part by part.
static LogicalResult reduceBeforeJoining(ReduceOp op, PatternRewriter &rewriter) {
  auto collapse = op.getX().getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapse)
    return failure();
  SmallVector<int64_t> dims;
  for (auto [dim, group] : llvm::enumerate(collapse.getReassociationIndices())) {
    if (llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)))
      llvm::append_range(dims, group);
    else if (group.size() > 1)
      return failure();
  }
  rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), op.getKind(), collapse.getSrc(), dims);
  return success();
}

/// A number that scales all addends scales their sum, which may be one of sums.
static LogicalResult scaleAfterSum(ReduceOp op, PatternRewriter &rewriter) {
  Operation *scaled = op.getX().getDefiningOp();
  if (op.getKind() == ReduceKind::max || !isa_and_nonnull<arith::MulFOp, arith::DivFOp>(scaled))
    return failure();
  bool numberFirst = isa<arith::MulFOp>(scaled) && constantValue(scaled->getOperand(0));
  std::optional<double> number = constantValue(scaled->getOperand(numberFirst ? 0 : 1));
  if (!number)
    return failure();
  LeafBuilder leaf(rewriter, op.getLoc());
  Value sum = leaf.reduce(op.getKind(), scaled->getOperand(numberFirst ? 1 : 0), op.getDims());
  Value factor = leaf.splat(*number, sum);
  rewriter.replaceOp(op, isa<arith::MulFOp>(scaled) ? leaf.mul(sum, factor) : leaf.div(sum, factor));
  return success();
}

void mhc::addViewPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ComputeBeforeViews>(context);
  patterns.add(multiplyWithoutBatch);
  patterns.add(foldReducedView);
  patterns.add(reduceBeforeJoining);
  patterns.add(scaleAfterSum);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  BatchMatmulOp::getCanonicalizationPatterns(patterns, context); // a matrix is repeated where others are views
}
