//===- ResidualMaps.h - Maps of residual logits -------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_TRANSFORMS_RAISE_RESIDUALMAPS_H
#define MHC_LIB_TRANSFORMS_RAISE_RESIDUALMAPS_H

#include "Raise.h"
#include "mhc/Algebra/Reading.h"

namespace mhc {

/// Replaces a mixture of all permutation matrices, weighed by a softmax.
bool raisePermutationMix(algebra::Reading &reading, Sites &sites, mlir::Operation *op);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_RESIDUALMAPS_H
