//===- Inline.h - Calls replaced by what they call ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_INLINE_H
#define MHC_TRANSFORMS_INLINE_H

#include "mlir/IR/BuiltinOps.h"

namespace mhc {

/// Whether all functions are called from outside alone: `mhc-inline` would only look each symbol up.
bool hasNothingToInline(mlir::ModuleOp module);

} // namespace mhc

#endif // MHC_TRANSFORMS_INLINE_H
