//===- EraseDead.h - Ops that nothing reads ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_ERASEDEAD_H
#define MHC_TRANSFORMS_ERASEDEAD_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mhc {

/// Whether there is a region of several blocks.
bool hasSeveralBlocks(mlir::func::FuncOp func);
/// Erases the ops of a function whose results nothing reads and that do nothing else.
void eraseDeadOps(mlir::func::FuncOp func, mlir::RewriterBase::Listener *listener = nullptr);

} // namespace mhc

#endif // MHC_TRANSFORMS_ERASEDEAD_H
