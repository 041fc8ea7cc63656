//===- Decompose.h - mHC ops as leaf ops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_DECOMPOSE_H
#define MHC_TRANSFORMS_DECOMPOSE_H

#include "mhc/IR/MhcInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mhc {

/// Replaces an op by the ops that define it, which may be mHC ops again.
void decompose(DecomposableOpInterface op);

/// The body of the pass mhc-decompose for one function. The dialects that it needs must be loaded.
void decomposeOps(mlir::func::FuncOp func);

} // namespace mhc

#endif // MHC_TRANSFORMS_DECOMPOSE_H
