//===- Rounding.h - Coefficients that are rounded before they are used ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_FUSE_ROUNDING_H
#define MHC_LIB_TRANSFORMS_FUSE_ROUNDING_H

#include "mhc/IR/MhcOps.h"

namespace mhc {

/// A use of a coefficient behind reshapes, repetitions and casts: arith.truncf to bf16 or f16, and arith.extf back.
struct CoefficientReader {
  mlir::OpOperand *use;
  std::optional<Format> format; ///< that the coefficient is rounded to on the way
};

llvm::SmallVector<CoefficientReader> readersOf(mlir::Value coefficient);

/// Whether all readers see the coefficient in one format, or all as it is.
bool isRoundedAlike(llvm::ArrayRef<CoefficientReader> readers);
/// The format of all readers; none where they differ, or read the coefficient as it is.
std::optional<Format> commonFormat(llvm::ArrayRef<CoefficientReader> readers);

/// Replaces a coefficient by the result of a fused op, which has rounded it to `format`: readers that see the type of
/// the coefficient read the result itself. To the others the casts show the same numbers.
void replaceCoefficient(mlir::Value coefficient, mlir::Value fused, std::optional<Format> format);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_FUSE_ROUNDING_H
