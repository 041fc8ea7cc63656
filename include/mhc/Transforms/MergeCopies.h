//===- MergeCopies.h - Equal computations as one value ---------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_MERGECOPIES_H
#define MHC_TRANSFORMS_MERGECOPIES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mhc {

/// Merges equal computations of a function into one value.
void mergeCopies(mlir::func::FuncOp func, mlir::RewriterBase::Listener *listener = nullptr);

} // namespace mhc

#endif // MHC_TRANSFORMS_MERGECOPIES_H
