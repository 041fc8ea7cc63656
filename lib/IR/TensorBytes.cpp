//===- TensorBytes.cpp - Bytes of elements and of tensors -------- -*- C++ -*-===//
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

std::optional<int64_t> mhc::bytesOf(Type element) {
  if (element.isIndex())
    return 8;
  if (!element.isIntOrFloat())
    return std::nullopt;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

static bool isTooLarge(ShapedType type) {
  int64_t bytes = mhc::bytesOf(type.getElementType()).value_or(1);
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
