//===- Buffers.h - Buffers as a pointer and sizes ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_CONVERSION_MHCTORUNTIME_BUFFERS_H
#define MHC_LIB_CONVERSION_MHCTORUNTIME_BUFFERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

namespace mhc {

/// The type of an element in memory: an index is 64 bits.
mlir::Type memoryType(mlir::Type element);

/// The parts of a lowered memref. Sizes and strides count elements; dynamic ones are index values.
struct Buffer {
  mlir::Value base;    ///< where the allocation starts
  mlir::Value pointer; ///< the first element
  mlir::Type element;
  llvm::SmallVector<mlir::OpFoldResult> sizes, strides;
};

/// Arithmetic on sizes and pointers that folds numbers and makes each constant once, at the start of a block.
class AddressBuilder {
public:
  AddressBuilder(mlir::OpBuilder &builder, mlir::Block *constants) : builder(builder), constantBlock(constants) {}

  mlir::Value constant(mlir::TypedAttr value);
  mlir::Value i32(int64_t value) { return constant(builder.getI32IntegerAttr(value)); }
  mlir::Value index(mlir::OpFoldResult size);
  mlir::OpFoldResult number(int64_t value) { return builder.getIndexAttr(value); }

  mlir::OpFoldResult add(mlir::Location loc, mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult mul(mlir::Location loc, mlir::OpFoldResult a, mlir::OpFoldResult b);
  /// pointer + offset elements.
  mlir::Value advance(mlir::Location loc, mlir::Value pointer, mlir::Type element, mlir::OpFoldResult offset);
  llvm::SmallVector<mlir::OpFoldResult> rowMajor(mlir::Location loc, llvm::ArrayRef<mlir::OpFoldResult> sizes);

  /// The buffer that a view op makes of `source`; nothing for an op that is no view.
  std::optional<Buffer> view(mlir::Operation *op, const Buffer &source);
  mlir::Value elementPointer(mlir::Location loc, const Buffer &buffer, mlir::ValueRange indices);

private:
  mlir::OpBuilder &builder;
  mlir::Block *constantBlock;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
};

} // namespace mhc

#endif // MHC_LIB_CONVERSION_MHCTORUNTIME_BUFFERS_H
