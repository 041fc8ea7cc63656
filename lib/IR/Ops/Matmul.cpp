//===- Matmul.cpp - matmul and batch_matmul ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

namespace {
/// An operand of a product, stored as it is or transposed.
struct Factor {
  TypedValue<RankedTensorType> matrix;
  bool transposed;

  Factor flipped() const { return {matrix, !transposed}; }
};
} // namespace

/// The share of `target`, the product of two factors, in the element type of cotangents.
template <typename Op>
static void addProduct(OpBuilder &builder, Op op, VjpContext &context, TypedValue<RankedTensorType> target, Factor lhs,
                       Factor rhs) {
  RankedTensorType type = target.getType();
  Type result = type.clone(cotangentElement(type.getElementType()));
  context.addCotangent(
      target, Op::create(builder, op.getLoc(), result, lhs.matrix, rhs.matrix, lhs.transposed, rhs.transposed));
}

/// d_lhs = d_out rhs^T and d_rhs = lhs^T d_out, transposed where the operand is. 16-bit operands are multiplied with a
/// cotangent of 16 bits, as in the forward pass; the sum is kept in f32.
template <typename Op>
static LogicalResult buildProductVjp(Op op, OpBuilder &builder, VjpContext &context) {
  LeafBuilder leaf(builder, op.getLoc());
  Factor lhs{op.getLhs(), op.getTransposeLhs()}, rhs{op.getRhs(), op.getTransposeRhs()};
  Value cotangent = leaf.cast(context.cotangentOf(op.getOut()), getElementTypeOrSelf(op.getOut()));
  Factor g{cast<TypedValue<RankedTensorType>>(cotangent), false};
  if (context.needsGradient(lhs.matrix)) {
    if (lhs.transposed)
      addProduct(builder, op, context, lhs.matrix, rhs, g.flipped());
    else
      addProduct(builder, op, context, lhs.matrix, g, rhs.flipped());
  }
  if (context.needsGradient(rhs.matrix)) {
    if (rhs.transposed)
      addProduct(builder, op, context, rhs.matrix, g.flipped(), lhs);
    else
      addProduct(builder, op, context, rhs.matrix, lhs.flipped(), g);
  }
  return success();
}

LogicalResult MatmulOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  return buildProductVjp(*this, builder, context);
}

LogicalResult BatchMatmulOp::buildVjp(OpBuilder &builder, VjpContext &context) {
  return buildProductVjp(*this, builder, context);
}

/// The matrix of which a product's operand is the transpose; null for others.
static Value transposed(Value matrix) {
  auto transpose = matrix.getDefiningOp<TransposeOp>();
  if (!transpose)
    return {};
  ArrayRef<int64_t> perm = transpose.getPerm();
  int64_t rank = perm.size();
  bool swapsRowsAndColumns = perm[rank - 1] == rank - 2 && perm[rank - 2] == rank - 1;
  return swapsRowsAndColumns ? Value(transpose.getX()) : Value();
}

/// A transposed operand is a flag of the product: no copy is made of it.
template <typename Op>
static LogicalResult takeTransposes(Op op, PatternRewriter &rewriter) {
  Value lhs = transposed(op.getLhs()), rhs = transposed(op.getRhs());
  if (!lhs && !rhs)
    return failure();
  rewriter.replaceOpWithNewOp<Op>(op, op.getType(), lhs ? lhs : Value(op.getLhs()), rhs ? rhs : Value(op.getRhs()),
                                  op.getTransposeLhs() != bool(lhs), op.getTransposeRhs() != bool(rhs));
  return success();
}

LogicalResult MatmulOp::canonicalize(MatmulOp op, PatternRewriter &rewriter) { return takeTransposes(op, rewriter); }

/// The matrix that an operand repeats for each product of a batch, as exporters repeat a weight; null for others. It
/// may be widened behind that.
static Value repeatedMatrix(OpBuilder &builder, Value operand) {
  auto widened = operand.getDefiningOp<arith::ExtFOp>();
  auto broadcast = (widened ? widened.getIn() : operand).getDefiningOp<BroadcastOp>();
  if (!broadcast || broadcast.getDims() != ArrayRef<int64_t>{1, 2} ||
      broadcast.getX().getType().getShape() != broadcast.getType().getShape().drop_front())
    return {};
  return LeafBuilder(builder, operand.getLoc()).cast(broadcast.getX(), getElementTypeOrSelf(operand));
}

/// A batch of products with one matrix is one product.
static LogicalResult multiplyByOne(BatchMatmulOp op, PatternRewriter &rewriter) {
  Value matrix = op.getTransposeLhs() ? Value() : repeatedMatrix(rewriter, op.getRhs());
  if (!matrix)
    return failure();
  LeafBuilder leaf(rewriter, op.getLoc());
  LeafBuilder::Sizes sizes = leaf.sizesOf(op.getOut());
  Value rows = leaf.join(op.getLhs(), 0, 2);
  int64_t count = cast<RankedTensorType>(rows.getType()).getDimSize(0);
  RankedTensorType type = op.getType();
  Value product = MatmulOp::create(rewriter, op.getLoc(), type.clone({count, type.getDimSize(2)}), rows, matrix,
                                   /*transpose_lhs=*/false, op.getTransposeRhs());
  SmallVector<ReassociationIndices> groups = {{0, 1}, {2}};
  rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, type, product, groups, sizes);
  return success();
}

LogicalResult BatchMatmulOp::canonicalize(BatchMatmulOp op, PatternRewriter &rewriter) {
  return success(succeeded(takeTransposes(op, rewriter)) || succeeded(multiplyByOne(op, rewriter)));
}
