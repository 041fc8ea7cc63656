//===- Clamps.h - Values bounded by numbers ----------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef MHC_LIB_TRANSFORMS_RAISE_CLAMPS_H
#define MHC_LIB_TRANSFORMS_RAISE_CLAMPS_H

#include "mhc/Algebra/Reading.h"

namespace mhc {

/// sigmoid(clamp(z, a, b)) -> clamp(sigmoid(z), sigmoid(a), sigmoid(b)), where z are logits of streams. No op bounds
/// its logits, and a sigmoid is monotone: so the gate is found, and the clamp is left behind it. Whether there was
/// any.
bool liftClamps(mlir::func::FuncOp func, algebra::Reading &reading);

/// Whether an op bounds a value by a number.
bool isClamp(mlir::Operation *op);

/// The largest number that a value may be, as far as the ops that bound it tell: infinity where none does.
double upperBound(mlir::Value value);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_CLAMPS_H
