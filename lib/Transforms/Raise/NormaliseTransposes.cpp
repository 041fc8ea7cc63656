//===- NormaliseTransposes.cpp - Transposes go down until they meet ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposes go behind what reads them, until they undo each other or a product takes them. What repeats is the
// exception: in front of it there are fewer elements.
//
//===----------------------------------------------------------------------===//

#include "Normalise.h"
#include "mhc/IR/LeafBuilder.h"
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

Value mhc::transposeRepeated(OpBuilder &builder, BroadcastOp broadcast, ArrayRef<int64_t> perm) {
  LeafBuilder leaf(builder, broadcast.getLoc());
  SmallVector<int64_t> inverse = invertPermutationVector(perm);
  SmallVector<int64_t> dims = permuted<int64_t>(inverse, broadcast.getDims());
  SmallVector<int64_t> order = invertPermutationVector(ranksOf(dims));
  Value x = llvm::is_sorted(order) ? Value(broadcast.getX()) : leaf.transpose(broadcast.getX(), order);
  llvm::sort(dims);
  LeafBuilder::Sizes sizes = leaf.sizesOf(broadcast);
  return leaf.broadcast(x, permuted<OpFoldResult>(sizes, perm), dims);
}

static LogicalResult transposeBeforeRepeating(TransposeOp op, PatternRewriter &rewriter) {
  auto broadcast = op.getX().getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return failure();
  rewriter.replaceOp(op, transposeRepeated(rewriter, broadcast, op.getPerm()));
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
  patterns.add(transposeBeforeRepeating);
  patterns.add(reduceBeforeTranspose);
  patterns.add(multiplyBeforeTranspose);
  patterns.add(sliceBeforeTranspose);
  patterns.add(joinBeforeTranspose);
  patterns.add(transposeBeforeJoining);
  patterns.add(splitBeforeTranspose);
  TransposeOp::getCanonicalizationPatterns(patterns, patterns.getContext());
}
