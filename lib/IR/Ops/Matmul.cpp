//===- Matmul.cpp - matmul and batch_matmul ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/LeafBuilder.h"

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
