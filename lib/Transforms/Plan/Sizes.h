//===- Sizes.h - Sizes as polynomials of symbols ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_PLAN_SIZES_H
#define MHC_LIB_TRANSFORMS_PLAN_SIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <optional>

namespace mhc {

/// A product of symbols, as their sorted numbers; the empty product is one.
using Monomial = std::vector<unsigned>;
/// Coefficients by monomial; none is zero.
using Polynomial = std::map<Monomial, int64_t>;

/// Writes the index values of a bufferized entry as polynomials of the symbols in `mhc.dims`.
class SizeAnalysis {
public:
  explicit SizeAnalysis(mlir::func::FuncOp func);

  /// The number of elements of a buffer type with these dynamic sizes.
  std::optional<Polynomial> elements(mlir::MemRefType type, mlir::ValueRange dynamicSizes);
  std::optional<Polynomial> evaluate(mlir::Value index);

  unsigned symbols() const { return names.size(); }
  llvm::StringRef name(unsigned symbol) const { return names[symbol]; }
  /// Argument and dimension that has this size.
  std::pair<mlir::BlockArgument, int64_t> source(unsigned symbol) const { return sources[symbol]; }

private:
  std::optional<Polynomial> compute(mlir::Value index);
  std::optional<Polynomial> evaluate(mlir::OpFoldResult size);
  std::optional<Polynomial> evaluate(mlir::AffineExpr expr, mlir::ValueRange dims, mlir::ValueRange symbols);
  std::optional<Polynomial> sizeOf(mlir::Value buffer, int64_t dim);
  std::optional<Polynomial> product(llvm::ArrayRef<mlir::OpFoldResult> sizes);
  std::optional<Polynomial> argumentSize(mlir::BlockArgument argument, int64_t dim);

  mlir::func::FuncOp func;
  llvm::SmallVector<std::string> names;
  llvm::SmallVector<std::pair<mlir::BlockArgument, int64_t>> sources;
  llvm::StringMap<unsigned> numbers;
  llvm::DenseMap<mlir::Value, std::optional<Polynomial>> known;
};

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_PLAN_SIZES_H
