//===- Normalise.h - One word for what has many ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_RAISE_NORMALISE_H
#define MHC_LIB_TRANSFORMS_RAISE_NORMALISE_H

#include "mlir/IR/PatternMatch.h"

namespace mhc {

/// x + 0, x * 1 -> x; a + -b -> a - b; x^2, x^0.5 -> products and roots; a * (1 / b) -> a / b
void addArithmeticPatterns(mlir::RewritePatternSet &patterns);
/// Arithmetic in front of views, transposes into flags and dimensions, parts of one value -> the value
void addViewPatterns(mlir::RewritePatternSet &patterns);

/// Whether the op computes each element of a float tensor from the same elements of its operands.
bool isElementwise(mlir::Operation *op);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_NORMALISE_H
