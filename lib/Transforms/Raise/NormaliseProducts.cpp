//===- NormaliseProducts.cpp - The form in which products are joined ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Normalise.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mhc;

/// A batch of one is a product of two matrices.
static LogicalResult foldSingleBatch(tensor::CollapseShapeOp op, PatternRewriter &rewriter) {
  auto product = op.getSrc().getDefiningOp<BatchMatmulOp>();
  if (!product || op.getSrcType().getDimSize(0) != 1 || op.getResultType().getRank() != 2 ||
      op.getReassociationIndices()[0] != ReassociationIndices{0, 1})
    return failure();
  auto matrix = [&](Value batch) -> Value {
    DenseElementsAttr table;
    if (matchPattern(batch, m_Constant(&table)))
      return arith::ConstantOp::create(rewriter, op.getLoc(),
                                       table.reshape(table.getType().clone(table.getType().getShape().drop_front())));
    auto expand = batch.getDefiningOp<tensor::ExpandShapeOp>();
    bool fits = expand && expand.getSrcType().getRank() == 2 &&
                expand.getReassociationIndices()[0] == ReassociationIndices{0, 1};
    return fits ? expand.getSrc() : Value();
  };
  Value lhs = matrix(product.getLhs());
  Value rhs = lhs ? matrix(product.getRhs()) : Value();
  if (!lhs || !rhs)
    return failure();
  rewriter.replaceOpWithNewOp<MatmulOp>(op, op.getResultType(), lhs, rhs, product.getTransposeLhs(),
                                        product.getTransposeRhs());
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

/// A product with a column of ones is a sum.
static LogicalResult sumByOnes(MatmulOp op, PatternRewriter &rewriter) {
  Type f32 = rewriter.getF32Type();
  if (op.getType().getDimSize(1) != 1 || getElementTypeOrSelf(op.getLhs()) != f32 ||
      op.getType().getElementType() != f32 || !isNumber(op.getRhs(), 1))
    return failure();
  LeafBuilder leaf(rewriter, op.getLoc());
  Value sum = leaf.reduce(ReduceKind::sum, op.getLhs(), {op.getTransposeLhs() ? 0 : 1});
  llvm::SmallBitVector units(2);
  units.set(1);
  rewriter.replaceOp(op, leaf.insertUnits(sum, units));
  return success();
}

void mhc::addProductPatterns(RewritePatternSet &patterns) {
  patterns.add(foldSingleBatch);
  patterns.add(multiplyBeforeTranspose);
  patterns.add(sumByOnes);
}
