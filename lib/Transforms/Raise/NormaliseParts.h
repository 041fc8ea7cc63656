//===- NormaliseParts.h - Slices and what joins them ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_RAISE_NORMALISEPARTS_H
#define MHC_LIB_TRANSFORMS_RAISE_NORMALISEPARTS_H

#include "Normalise.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <map>
#include <set>
#include <vector>

namespace mhc {

/// Some elements of a value along one dimension, and all along the others.
struct Part {
  mlir::Value whole;
  int64_t offset, size;
};

/// Knows which slices are parts along a dimension.
class Parts {
public:
  explicit Parts(LazyDims &dims) : dims(dims) {}

  std::optional<Part> partOf(mlir::tensor::ExtractSliceOp slice, int64_t dim);
  /// Consecutive parts, as one part of the same whole.
  std::optional<Part> join(mlir::ValueRange values, int64_t dim);

private:
  bool covers(mlir::tensor::ExtractSliceOp slice, int64_t dim);

  LazyDims &dims;
};

/// Whether parts of a value along a dimension have the sizes of a type along the others, as types state them.
bool statesSizesOf(mlir::Value whole, mlir::RankedTensorType type, int64_t dim);
/// The part as a value of its own; the whole where it is that.
mlir::Value valueOf(mlir::OpBuilder &builder, mlir::Location loc, const Part &part, int64_t dim);

/// The same computed of consecutive parts of some values along a dimension, or those parts themselves.
class Joined {
public:
  Joined(Parts &parts, int64_t dim) : parts(parts), dim(dim) {}

  /// Whether the values are that, and nobody but `readers` reads them or what they are computed of.
  bool match(mlir::ValueRange values, llvm::ArrayRef<mlir::Operation *> readers);
  /// That of the values side by side.
  mlir::RankedTensorType typeOf(mlir::ValueRange values) const;
  /// The values side by side: the same computed of the whole, for values that match.
  mlir::Value build(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange values);

private:
  using Places = std::vector<const void *>; ///< of values

  bool areAlike(mlir::ValueRange values, int steps);
  bool areViewsAlike(mlir::ValueRange values);
  bool areComputedAlike(mlir::ValueRange values, int steps);
  mlir::Value show(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange values);
  std::optional<Part> joinMatrix(mlir::ValueRange values);
  mlir::Value multiply(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange values, const Part &matrix);
  mlir::Value compute(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange values);
  /// Consecutive parts of a value that has the sizes of the first along the other dimensions.
  std::optional<Part> joinParts(mlir::ValueRange values, int64_t along);

  Parts &parts;
  int64_t dim;
  llvm::SetVector<mlir::Operation *> ops; ///< that compute
  std::set<Places> seen;                  ///< lists that are alike
  std::map<Places, mlir::Value> built;
};

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_NORMALISEPARTS_H
