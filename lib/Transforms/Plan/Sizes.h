//===- Sizes.h - Sizes as polynomials of symbols ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_PLAN_SIZES_H
#define MHC_LIB_TRANSFORMS_PLAN_SIZES_H

#include "mhc/Analysis/Polynomial.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <string>
#include <vector>

namespace mhc {

/// Meaning of a symbol: the size of an argument, or else a number that an op computes from sizes alone.
struct SizeSymbol {
  std::string name; ///< "?" for the number of an op
  mlir::BlockArgument argument;
  int64_t dim = 0;
  mlir::Operation *op = nullptr;
  llvm::SmallVector<Polynomial, 2> operands; ///< of the op
};

/// Writes the index values of a bufferized entry as polynomials of symbols: those in `mhc.dims`, and one for each
/// number that is no polynomial of them, such as a remainder.
class SizeAnalysis {
public:
  explicit SizeAnalysis(mlir::func::FuncOp func);

  /// The number of elements of a buffer type with these dynamic sizes.
  std::optional<Polynomial> elements(mlir::MemRefType type, mlir::ValueRange dynamicSizes);
  std::optional<Polynomial> evaluate(mlir::Value index);
  std::optional<Polynomial> evaluate(mlir::OpFoldResult size);
  std::optional<Polynomial> sizeOf(mlir::Value buffer, int64_t dim);

  const SizeSymbol &symbol(unsigned number) const { return symbols[number]; }

private:
  std::optional<Polynomial> compute(mlir::Value index);
  std::optional<Polynomial> polynomialOf(mlir::Operation *op);
  std::optional<Polynomial> numberOf(mlir::Operation *op);
  unsigned addSymbol(SizeSymbol symbol);
  std::optional<Polynomial> evaluate(mlir::AffineExpr expr, mlir::ValueRange dims, mlir::ValueRange symbols);
  std::optional<Polynomial> product(llvm::ArrayRef<mlir::OpFoldResult> sizes);
  std::optional<Polynomial> argumentSize(mlir::BlockArgument argument, int64_t dim);
  std::optional<unsigned> addArgument(llvm::StringRef name);

  mlir::func::FuncOp func;
  std::vector<SizeSymbol> symbols;
  llvm::StringMap<std::optional<unsigned>> arguments; ///< symbols by their names
  llvm::DenseMap<mlir::Value, std::optional<Polynomial>> known;
};

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_PLAN_SIZES_H
