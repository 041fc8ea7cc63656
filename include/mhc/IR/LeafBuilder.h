//===- LeafBuilder.h - Builds chains of leaf ops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_LEAFBUILDER_H
#define MHC_IR_LEAFBUILDER_H

#include "mhc/IR/MhcOps.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mhc {

/// The size of a dimension: a number, or a value found as far up as ops keep it, such as a dimension of an argument.
mlir::OpFoldResult sizeOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor, int64_t dim);

/// Shorthand for leaf ops on tensors whose leading dimension may be dynamic. Sizes of results follow from the operands.
/// Ops appear in the order of the calls, so at most one argument of a call may make ops: C++ does not order arguments.
class LeafBuilder {
public:
  LeafBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  using Value = mlir::Value;
  using Sizes = llvm::SmallVector<mlir::OpFoldResult>;

  Sizes sizesOf(Value tensor);
  mlir::OpFoldResult size(Value tensor, int64_t dim) { return sizesOf(tensor)[dim]; }
  /// Sizes of the dimensions that the type of `tensor` leaves dynamic, even if the value's size is known.
  llvm::SmallVector<Value> dynamicSizes(Value tensor);
  mlir::OpFoldResult constant(int64_t size) { return builder.getIndexAttr(size); }

  // Elementwise ops and the first three take scalars as well.
  Value cast(Value tensor, mlir::Type elementType);
  Value toF32(Value tensor) { return cast(tensor, builder.getF32Type()); }
  /// Rounded to the format, and in f32 again. Without a format the tensor itself.
  Value rounded(Value tensor, std::optional<Format> format);
  Value splat(double value, Value like);
  /// Casts to the element type in which cotangents are computed.
  Value widen(Value tensor) { return cast(tensor, cotangentElement(mlir::getElementTypeOrSelf(tensor))); }

  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value div(Value a, Value b);
  Value max(Value a, Value b);
  Value negate(Value a);
  Value scale(Value a, double factor) { return mul(a, splat(factor, a)); }
  Value isGreater(Value a, Value b);
  Value isEqual(Value a, Value b);
  Value select(Value condition, Value yes, Value no);
  Value exp(Value a);
  Value log(Value a);
  Value sqrt(Value a);
  Value sigmoid(Value a);
  /// s (1 - s), the derivative of a sigmoid that is s.
  Value sigmoidSlope(Value s);
  /// s (1 + a (1 - s)) with s = sigmoid(a), the derivative of a sigmoid(a).
  Value siluSlope(Value a);
  Value softmax(Value a, int64_t dim);
  /// `sum`, in f32, plus `start` where there is one, rounded once to `elementType`.
  Value addStart(Value sum, Value start, mlir::Type elementType);

  Value reduce(ReduceKind kind, Value tensor, llvm::ArrayRef<int64_t> dims);
  /// Operand dimension i becomes dimension dims[i] of a tensor of `sizes`.
  Value broadcast(Value tensor, llvm::ArrayRef<mlir::OpFoldResult> sizes, llvm::ArrayRef<int64_t> dims);
  /// The reduction of `tensor` along `dim`, repeated to the shape of `tensor`.
  Value reduceLike(ReduceKind kind, Value tensor, int64_t dim);
  Value transpose(Value tensor, llvm::ArrayRef<int64_t> perm);
  Value slice(Value tensor, int64_t dim, int64_t offset, int64_t size);
  Value concat(llvm::ArrayRef<Value> tensors, int64_t dim);
  Value matmul(Value lhs, Value rhs, bool transposeLhs = false, bool transposeRhs = false);
  Value batchMatmul(Value lhs, Value rhs, bool transposeLhs = false, bool transposeRhs = false);
  /// Splits dimension `dim` into the static sizes `inner`, or joins `count` dimensions from `dim` on.
  Value split(Value tensor, int64_t dim, llvm::ArrayRef<int64_t> inner);
  Value join(Value tensor, int64_t dim, int64_t count);
  /// Drops the dimensions `units`, which have size one.
  Value dropUnits(Value tensor, const llvm::SmallBitVector &units);
  /// Inserts new dimensions of size one, which are `units` of the result.
  Value insertUnits(Value tensor, const llvm::SmallBitVector &units);
  /// Splits the last dimension of a matrix into the last two of `like`.
  Value splitLike(Value matrix, Value like);

  /// The type of a tensor of `sizes`.
  static mlir::RankedTensorType typeOf(llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type elementType);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace mhc

#endif // MHC_IR_LEAFBUILDER_H
