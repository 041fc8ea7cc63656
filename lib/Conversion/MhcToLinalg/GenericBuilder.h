//===- GenericBuilder.h - Builds linalg.generic ops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_CONVERSION_MHCTOLINALG_GENERICBUILDER_H
#define MHC_LIB_CONVERSION_MHCTOLINALG_GENERICBUILDER_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mhc {

/// Makes linalg.generic ops, whose iteration space is that of a tensor of `sizes`. A result is stored by its own map; a
/// dimension that no result has is reduced.
class GenericBuilder {
public:
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::ValueRange inputs,
                                                                 mlir::ValueRange accumulators)>;

  GenericBuilder(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<mlir::OpFoldResult> sizes)
      : builder(builder), loc(loc), sizes(sizes) {}

  mlir::AffineMap identity();
  /// Map to the dimensions but those in `reduced`.
  mlir::AffineMap without(llvm::ArrayRef<int64_t> reduced);

  /// Reads `value` by `map`, or, where that is shorter, through a splat or a broadcast that made it.
  void addInput(mlir::Value value, mlir::AffineMap map);
  void addInput(mlir::Value value) { addInput(value, identity()); }
  /// A result that is overwritten.
  void addResult(mlir::Type elementType);
  /// A result that starts as `start` everywhere and is accumulated over the dimensions `reduced`.
  void addReduction(mlir::TypedAttr start, llvm::ArrayRef<int64_t> reduced);

  /// Values of the body's block arguments; `inputs` counts every addInput, in order.
  llvm::SmallVector<mlir::Value> build(Body body);

private:
  struct Input {
    int operand;              ///< number among the op's inputs, or -1
    mlir::TypedAttr constant; ///< the scalar where there is no operand
  };

  void addExtents();
  mlir::Value empty(mlir::AffineMap map, mlir::Type elementType);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::SmallVector<mlir::OpFoldResult> sizes;
  llvm::SmallVector<Input> inputs;
  llvm::SmallVector<mlir::Value> operands, inits;
  llvm::SmallVector<mlir::AffineMap> operandMaps, initMaps;
};

/// Sizes of a tensor, found without reading a broadcast that a generic op sees through.
llvm::SmallVector<mlir::OpFoldResult> tensorSizes(mlir::OpBuilder &builder, mlir::Value tensor);

} // namespace mhc

#endif // MHC_LIB_CONVERSION_MHCTOLINALG_GENERICBUILDER_H
