//===- Activity.h - Which values depend on what is differentiated ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_AUTODIFF_ACTIVITY_H
#define MHC_LIB_TRANSFORMS_AUTODIFF_ACTIVITY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mhc {

/// Float values that depend on an argument that needs a gradient.
using ActiveValues = llvm::DenseSet<mlir::Value>;

/// Whether a value of this type can have a gradient.
bool isFloat(mlir::Type type);

/// Replaces each op on the way of a gradient that has no rule itself: control flow by straight-line code, and ops that
/// stand for a chain by the chain. Returns the values that depend on `wanted`.
llvm::FailureOr<ActiveValues> prepare(mlir::func::FuncOp func, mlir::ValueRange wanted);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_AUTODIFF_ACTIVITY_H
