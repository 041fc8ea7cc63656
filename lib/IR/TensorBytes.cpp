//===- TensorBytes.cpp - Limit of a tensor's size ------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/TensorBytes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

static constexpr int64_t kMostBytes = 1ll << 46;

static bool isTooLarge(ShapedType type) {
  Type element = type.getElementType();
  int64_t bytes = element.isIntOrFloat() ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) : 1;
  for (int64_t size : type.hasRank() ? type.getShape() : ArrayRef<int64_t>())
    if (size > 0 && (llvm::MulOverflow(bytes, size, bytes) || bytes > kMostBytes))
      return true;
  return false;
}

LogicalResult mhc::verifyBytes(Operation *op, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !isTooLarge(shaped))
    return success();
  return op->emitError() << type << " is larger than " << (kMostBytes >> 40) << " TiB";
}
