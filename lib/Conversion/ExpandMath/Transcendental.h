//===- Transcendental.h - Our own exp and tanh ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_CONVERSION_EXPANDMATH_TRANSCENDENTAL_H
#define MHC_LIB_CONVERSION_EXPANDMATH_TRANSCENDENTAL_H

#include "mlir/IR/PatternMatch.h"

namespace mhc {

/// exp and tanh of f32. Upstream's polynomials are off by up to 5 and 4 units in the last place; these by 1 and 2, and
/// exp is right down to the smallest number.
void populateTranscendentalPatterns(mlir::RewritePatternSet &patterns);

} // namespace mhc

#endif // MHC_LIB_CONVERSION_EXPANDMATH_TRANSCENDENTAL_H
