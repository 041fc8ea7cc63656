//===- TensorSizes.h - Sizes of tensors in tokens ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_ANALYSIS_TENSORSIZES_H
#define MHC_LIB_ANALYSIS_TENSORSIZES_H

#include "mhc/Analysis/CostModel.h"
#include "mhc/Analysis/DimAnalysis.h"

namespace mhc {

/// Sizes as multiples of M. What is no such multiple is noted in `unknown` and counts as nothing.
class TensorSizes {
public:
  explicit TensorSizes(const DimAnalysis &dims) : dims(dims) {}

  /// The product of some dimensions of tensors.
  Amount product(llvm::ArrayRef<std::pair<mlir::Value, int>> sizes, std::string &unknown) const;
  Amount elements(mlir::Value tensor, std::string &unknown) const;
  Amount bytes(mlir::Value tensor, std::string &unknown) const;
  /// The tensor that this op gives another shape or a part of, without a copy; null for an op that is no view.
  mlir::Value viewSource(mlir::Operation *op) const;

private:
  const DimAnalysis &dims;
};

/// Adds a reason to a list of them.
void note(std::string &unknown, llvm::StringRef reason);

} // namespace mhc

#endif // MHC_LIB_ANALYSIS_TENSORSIZES_H
