//===- NormaliseTransposes.cpp - Transposes go down until they meet ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposes go behind what reads them, until they undo each other or a product takes them. What repeats is the
// exception: in front of it there are fewer elements. But tokens come first there too.
//
//===----------------------------------------------------------------------===//

#include "Normalise.h"
#include "RaiseForms.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include <numeric>

using namespace mlir;
using namespace mhc;

/// The positions of some dimensions in their sorted order: the order in which a transpose of the sorted ones has them.
static SmallVector<int64_t> ranksOf(ArrayRef<int64_t> dims) {
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted);
  return llvm::map_to_vector(dims, [&](int64_t dim) -> int64_t { return llvm::find(sorted, dim) - sorted.begin(); });
}

template <typename T>
static SmallVector<T> permuted(ArrayRef<T> list, ArrayRef<int64_t> perm) {
  return llvm::map_to_vector(perm, [&](int64_t i) { return list[i]; });
}

/// A repetition of a transpose.
static Value transposeBroadcast(OpBuilder &builder, BroadcastOp broadcast, ArrayRef<int64_t> perm) {
  LeafBuilder leaf(builder, broadcast.getLoc());
  SmallVector<int64_t> inverse = invertPermutationVector(perm);
  SmallVector<int64_t> dims = permuted<int64_t>(inverse, broadcast.getDims());
  SmallVector<int64_t> order = invertPermutationVector(ranksOf(dims));
  Value x = llvm::is_sorted(order) ? Value(broadcast.getX()) : leaf.transpose(broadcast.getX(), order);
  llvm::sort(dims);
  LeafBuilder::Sizes sizes = leaf.sizesOf(broadcast);
  return leaf.broadcast(x, permuted<OpFoldResult>(sizes, perm), dims);
}

/// The dimension of the tokens, the only one of unknown size, where others come before it; 0 for any other type.
static int64_t tokensBehindOthers(RankedTensorType type) {
  return type.getNumDynamicDims() == 1 ? llvm::find_if(type.getShape(), ShapedType::isDynamic) - type.getShape().begin()
                                       : 0;
}

static LogicalResult repeatTokensFirst(BroadcastOp op, PatternRewriter &rewriter) {
  int64_t tokens = tokensBehindOthers(op.getOut().getType());
  if (tokens == 0)
    return failure();
  SmallVector<int64_t> perm = {tokens};
  for (int64_t dim = 0; dim < op.getOut().getType().getRank(); ++dim)
    if (dim != tokens)
      perm.push_back(dim);
  Value repeated = transposeBroadcast(rewriter, op, perm);
  rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getOut().getType(), repeated, invertPermutationVector(perm));
  return success();
}

bool mhc::isRepeated(Value value) {
  for (int steps = 0; steps <= kMostSteps; ++steps, value = value.getDefiningOp()->getOperand(0)) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<BroadcastOp>(op))
      return true;
    bool square = isa_and_nonnull<arith::MulFOp>(op) && op->getOperand(0) == op->getOperand(1);
    if (!square && !isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(op))
      return false;
  }
  return false;
}

/// Computes of other operands what an op computes of its own.
static Value computeOf(OpBuilder &builder, Operation *op, function_ref<Value(Value)> operandOf) {
  SmallVector<Value> operands;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    operands.push_back(i > 0 && operand == op->getOperand(0) ? operands[0] : operandOf(operand));
  Type element = getElementTypeOrSelf(op->getResult(0));
  OperationState state(op->getLoc(), op->getName(), operands,
                       cast<RankedTensorType>(operands[0].getType()).clone(element), op->getAttrs());
  return builder.create(state)->getResult(0);
}

Value mhc::transposeRepeated(OpBuilder &builder, Value value, ArrayRef<int64_t> perm) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return transposeBroadcast(builder, broadcast, perm);
  if (isProductToTranspose(value))
    return productOfTransposes(builder, value.getLoc(), value);
  return computeOf(builder, value.getDefiningOp(),
                   [&](Value operand) { return transposeRepeated(builder, operand, perm); });
}

/// Whether a value is computed of what is repeated, or is `other`, and of nothing else, for one reader.
static bool isComputedOfRepeated(Value value, function_ref<bool(Value)> other, int steps = kMostSteps) {
  Operation *op = value.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op))
    return repeatsWholeDims(broadcast);
  auto isComputed = [&](Value operand) { return isComputedOfRepeated(operand, other, steps - 1); };
  return other(value) ||
         (steps > 0 && op && isElementwise(op) && singleUser(value) && llvm::all_of(op->getOperands(), isComputed));
}

static LogicalResult transposeBeforeRepeating(TransposeOp op, PatternRewriter &rewriter) {
  // Streams that are repeated have no order yet; others keep theirs.
  auto isProduct = [&](Value value) {
    return swapsRowsAndColumns(op) && isProductToTranspose(value) &&
           llvm::any_of(value.getDefiningOp()->getOperands(), isRepeated);
  };
  if ((!isRepeated(op.getX()) && !isComputedOfRepeated(op.getX(), isProduct)) || tokensBehindOthers(op.getType()) != 0)
    return failure();
  rewriter.replaceOp(op, transposeRepeated(rewriter, op.getX(), op.getPerm()));
  return success();
}

/// A value that is repeated and then split repeats something split.
static BroadcastOp repeatSplit(OpBuilder &builder, BroadcastOp broadcast, tensor::ExpandShapeOp expand) {
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape(), ofX;
  SmallVector<ReassociationIndices> parts = expand.getReassociationIndices(), groups;
  SmallVector<int64_t> dims;
  for (int64_t source : broadcast.getDims()) {
    ReassociationIndices &group = groups.emplace_back();
    for (int64_t part : parts[source]) {
      group.push_back(dims.size());
      dims.push_back(part);
      ofX.push_back(sizes[part]);
    }
  }
  LeafBuilder leaf(builder, broadcast.getLoc());
  Value x = broadcast.getX();
  if (dims.size() > groups.size())
    x = tensor::ExpandShapeOp::create(builder, broadcast.getLoc(),
                                      LeafBuilder::typeOf(ofX, broadcast.getX().getType().getElementType()), x, groups,
                                      ofX);
  return leaf.broadcast(x, sizes, dims).getDefiningOp<BroadcastOp>();
}

/// Computes `value`, split and then transposed.
static Value computeSplit(OpBuilder &builder, Value value, tensor::ExpandShapeOp expand, ArrayRef<int64_t> perm) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return transposeBroadcast(builder, repeatSplit(builder, broadcast, expand), perm);
  return computeOf(builder, value.getDefiningOp(),
                   [&](Value operand) { return computeSplit(builder, operand, expand, perm); });
}

static LogicalResult transposeBeforeSplitting(TransposeOp op, PatternRewriter &rewriter) {
  auto expand = op.getX().getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand || !isComputedOfRepeated(expand.getSrc(), [](Value) { return false; }) ||
      tokensBehindOthers(op.getType()) != 0)
    return failure();
  rewriter.replaceOp(op, computeSplit(rewriter, expand.getSrc(), expand, op.getPerm()));
  return success();
}

static LogicalResult reduceBeforeTranspose(ReduceOp op, PatternRewriter &rewriter) {
  auto transpose = op.getX().getDefiningOp<TransposeOp>();
  if (!transpose)
    return failure();
  SmallVector<int64_t> kept, dims;
  for (auto [dim, source] : llvm::enumerate(transpose.getPerm()))
    (llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)) ? dims : kept).push_back(source);
  llvm::sort(dims);
  LeafBuilder leaf(rewriter, op.getLoc());
  Value reduced = leaf.reduce(op.getKind(), transpose.getX(), dims);
  rewriter.replaceOp(op, llvm::is_sorted(kept) ? reduced : leaf.transpose(reduced, ranksOf(kept)));
  return success();
}

/// A product has its tokens in front.
static LogicalResult multiplyBeforeTranspose(MatmulOp op, PatternRewriter &rewriter) {
  if (op.getType().isDynamicDim(0) || !op.getType().isDynamicDim(1))
    return failure();
  LeafBuilder leaf(rewriter, op.getLoc());
  Value product = leaf.matmul(op.getRhs(), op.getLhs(), !op.getTransposeRhs(), !op.getTransposeLhs());
  rewriter.replaceOp(op, leaf.transpose(product, {1, 0}));
  return success();
}

static LogicalResult sliceBeforeTranspose(tensor::ExtractSliceOp op, PatternRewriter &rewriter) {
  auto transpose = op.getSource().getDefiningOp<TransposeOp>();
  if (!transpose || op.getType().getRank() != op.getSourceType().getRank())
    return failure();
  SmallVector<int64_t> inverse = invertPermutationVector(transpose.getPerm());
  Value slice = tensor::ExtractSliceOp::create(
      rewriter, op.getLoc(), transpose.getX(), permuted<OpFoldResult>(op.getMixedOffsets(), inverse),
      permuted<OpFoldResult>(op.getMixedSizes(), inverse), permuted<OpFoldResult>(op.getMixedStrides(), inverse));
  rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), slice, transpose.getPerm());
  return success();
}

static LogicalResult joinBeforeTranspose(tensor::ConcatOp op, PatternRewriter &rewriter) {
  auto first = op.getInputs()[0].getDefiningOp<TransposeOp>();
  if (!first)
    return failure();
  SmallVector<Value> parts;
  for (Value input : op.getInputs()) {
    auto transpose = input.getDefiningOp<TransposeOp>();
    if (!transpose || transpose.getPerm() != first.getPerm())
      return failure();
    parts.push_back(transpose.getX());
  }
  LeafBuilder leaf(rewriter, op.getLoc());
  Value whole = leaf.concat(parts, first.getPerm()[op.getDim()]);
  rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getResultType(), whole, first.getPerm());
  return success();
}

/// Transposes that are stacked in a new dimension: the transpose of what is stacked. In front of it, the new dimension
/// stands before the one that it stands before in the result, but for that of the transpose's first.
static LogicalResult stackBeforeTranspose(tensor::ConcatOp op, PatternRewriter &rewriter) {
  int64_t rank = op.getResultType().getRank(), dim = op.getDim();
  SmallVector<Value> parts;
  ArrayRef<int64_t> perm;
  for (Value input : op.getInputs()) {
    auto stack = input.getDefiningOp<tensor::ExpandShapeOp>();
    auto transpose = stack ? stack.getSrc().getDefiningOp<TransposeOp>() : TransposeOp();
    if (!transpose || stack.getType().getDimSize(dim) != 1 || stack.getSrcType().getRank() + 1 != rank ||
        RankedTensorType(RankedTensorType::Builder(stack.getResultType()).dropDim(dim)) != stack.getSrcType() ||
        (!perm.empty() && transpose.getPerm() != perm))
      return failure();
    perm = transpose.getPerm();
    parts.push_back(transpose.getX());
  }
  const int64_t *next = std::find_if(perm.begin() + dim, perm.end(), [](int64_t source) { return source != 0; });
  int64_t place = next == perm.end() ? rank - 1 : *next;
  LeafBuilder leaf(rewriter, op.getLoc());
  llvm::SmallBitVector unit(rank);
  unit.set(place);
  for (Value &part : parts)
    part = leaf.insertUnits(part, unit);
  SmallVector<int64_t> order = llvm::map_to_vector(perm, [&](int64_t source) { return source + (source >= place); });
  order.insert(order.begin() + dim, place);
  rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getResultType(), leaf.concat(parts, place), order);
  return success();
}

//===----------------------------------------------------------------------===//
// Reshapes: dimensions are split before a transpose, and joined behind it
//===----------------------------------------------------------------------===//

/// The dimensions of groups in another order, and the groups that they are then.
static std::pair<SmallVector<int64_t>, SmallVector<ReassociationIndices>>
reorderGroups(ArrayRef<ReassociationIndices> groups, ArrayRef<int64_t> perm) {
  SmallVector<int64_t> dims;
  SmallVector<ReassociationIndices> reordered;
  for (int64_t i : perm) {
    ReassociationIndices &group = reordered.emplace_back();
    for (int64_t dim : groups[i]) {
      group.push_back(dims.size());
      dims.push_back(dim);
    }
  }
  return {dims, reordered};
}

static LogicalResult transposeBeforeJoining(TransposeOp op, PatternRewriter &rewriter) {
  auto collapse = op.getX().getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapse)
    return failure();
  auto [perm, groups] = reorderGroups(collapse.getReassociationIndices(), op.getPerm());
  Value x = LeafBuilder(rewriter, op.getLoc()).transpose(collapse.getSrc(), perm);
  rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, op.getType(), x, groups);
  return success();
}

static LogicalResult splitBeforeTranspose(tensor::ExpandShapeOp op, PatternRewriter &rewriter) {
  auto transpose = op.getSrc().getDefiningOp<TransposeOp>();
  if (!transpose || addsOnlyUnits(op))
    return failure();
  SmallVector<int64_t> inverse = invertPermutationVector(transpose.getPerm());
  auto [order, groups] = reorderGroups(op.getReassociationIndices(), inverse);
  SmallVector<OpFoldResult> sizes = permuted<OpFoldResult>(op.getMixedOutputShape(), order);
  RankedTensorType type = LeafBuilder::typeOf(sizes, op.getType().getElementType());
  Value x = tensor::ExpandShapeOp::create(rewriter, op.getLoc(), type, transpose.getX(), groups, sizes);
  rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), x, invertPermutationVector(order));
  return success();
}

void mhc::addTransposePatterns(RewritePatternSet &patterns) {
  patterns.add(repeatTokensFirst);
  patterns.add(transposeBeforeRepeating);
  patterns.add(transposeBeforeSplitting);
  patterns.add(reduceBeforeTranspose);
  patterns.add(multiplyBeforeTranspose);
  patterns.add(sliceBeforeTranspose);
  patterns.add(joinBeforeTranspose);
  patterns.add(stackBeforeTranspose);
  patterns.add(transposeBeforeJoining);
  patterns.add(splitBeforeTranspose);
  TransposeOp::getCanonicalizationPatterns(patterns, patterns.getContext());
}
