//===- ElementwiseSizes.cpp - One type for operands of one shape *- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Import.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;

/// The shape with each size that some type states; no shape where all types are the same, or scalars.
static std::optional<SmallVector<int64_t>> joinShapes(TypeRange types) {
  std::optional<SmallVector<int64_t>> joined;
  bool differ = false;
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      continue;
    if (!joined) {
      joined = llvm::to_vector(tensor.getShape());
      continue;
    }
    differ |= tensor.getShape() != ArrayRef(*joined);
    for (auto [size, other] : llvm::zip_equal(*joined, tensor.getShape()))
      size = ShapedType::isDynamic(size) ? other : size;
  }
  return differ ? joined : std::nullopt;
}

static Type withShape(Type type, ArrayRef<int64_t> shape) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.clone(shape) : type;
}

/// Upstream lets an op on tensor<4> and tensor<?> be; what is made of it needs one type.
void mhc::joinElementwiseSizes(func::FuncOp func) {
  OpBuilder builder(func.getContext());
  func.walk([&](Operation *op) {
    if (!OpTrait::hasElementwiseMappableTraits(op))
      return;
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    std::optional<SmallVector<int64_t>> shape = joinShapes(types);
    if (!shape)
      return;
    builder.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands())
      if (Type type = withShape(operand.get().getType(), *shape); type != operand.get().getType())
        operand.set(tensor::CastOp::create(builder, op->getLoc(), type, operand.get()));
    builder.setInsertionPointAfter(op);
    for (OpResult result : op->getResults()) {
      Type before = result.getType(), type = withShape(before, *shape);
      if (type == before)
        continue;
      result.setType(type);
      auto cast = tensor::CastOp::create(builder, op->getLoc(), before, result);
      result.replaceAllUsesExcept(cast, cast);
    }
  });
}
