//===- SliceSizes.cpp - Slices whose sizes become known ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an open size of a slice becomes a constant, upstream's canonicalization gives the slice a type anew. Of several
// dimensions of size 1 it drops the first ones and not those that the slice had dropped: a slice of sizes [%d, 5, 1],
// of type ?x5, becomes one of type 5x1 where %d is 1, which no cast brings back. These patterns come first.
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/MhcDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mhc;

/// The type of the part that a slice takes or puts, with the known ones of `sizes`; nothing where none becomes known,
/// or where the part has all dimensions, which upstream keeps.
template <typename Slice>
static RankedTensorType knownPart(Slice op, RankedTensorType part, SmallVectorImpl<OpFoldResult> &sizes) {
  ArrayRef<int64_t> before = op.getStaticSizes();
  auto dropped = computeRankReductionMask(before, part.getShape());
  if (part.getRank() == static_cast<int64_t>(before.size()) || !dropped || failed(foldDynamicOffsetSizeList(sizes)))
    return nullptr;
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!dropped->contains(dim))
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return part.clone(shape);
}

static RankedTensorType partOf(tensor::ExtractSliceOp op) { return op.getType(); }
static RankedTensorType partOf(tensor::InsertSliceOp op) { return op.getSourceType(); }

static void replace(tensor::ExtractSliceOp op, RankedTensorType type, ArrayRef<OpFoldResult> sizes,
                    PatternRewriter &rewriter) {
  Value part = tensor::ExtractSliceOp::create(rewriter, op.getLoc(), type, op.getSource(), op.getMixedOffsets(), sizes,
                                              op.getMixedStrides());
  rewriter.replaceOpWithNewOp<tensor::CastOp>(op, op.getType(), part);
}

static void replace(tensor::InsertSliceOp op, RankedTensorType type, ArrayRef<OpFoldResult> sizes,
                    PatternRewriter &rewriter) {
  Value part = tensor::CastOp::create(rewriter, op.getLoc(), type, op.getSource());
  rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(op, part, op.getDest(), op.getMixedOffsets(), sizes,
                                                     op.getMixedStrides());
}

namespace {
template <typename Slice>
struct KnowSizes : OpRewritePattern<Slice> {
  using OpRewritePattern<Slice>::OpRewritePattern;

  LogicalResult matchAndRewrite(Slice op, PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> sizes = op.getMixedSizes();
    RankedTensorType type = knownPart(op, partOf(op), sizes);
    if (!type)
      return rewriter.notifyMatchFailure(op, "no size becomes known, or no dimension is dropped");
    replace(op, type, sizes, rewriter);
    return success();
  }
};
} // namespace

void MhcDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  patterns.add<KnowSizes<tensor::ExtractSliceOp>, KnowSizes<tensor::InsertSliceOp>>(getContext(), PatternBenefit(2));
}
