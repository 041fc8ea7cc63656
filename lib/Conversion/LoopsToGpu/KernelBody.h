//===- KernelBody.h - Work of one thread of a loop kernel ----- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_CONVERSION_LOOPSTOGPU_KERNELBODY_H
#define MHC_LIB_CONVERSION_LOOPSTOGPU_KERNELBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mhc {

/// The sizes of the loops of `op`, computed from its operands at the builder's place.
llvm::SmallVector<mlir::OpFoldResult> loopSizes(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op);

/// Threads that share one iteration of the parallel loops: a warp for a reduction of a row, else one.
int64_t threadsPerIteration(mlir::linalg::LinalgOp op);

/// Iterations of the innermost parallel loop that one thread does; they divide its size.
int64_t neighboursPerThread(mlir::linalg::LinalgOp op);

/// Writes what the thread number `thread` does: an iteration of the parallel loops of `op` with all of its reduction
/// loops, its share of one, or several neighbours. The operands of `op` must be visible at the builder's place.
void emitThread(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op, mlir::Value thread);

} // namespace mhc

#endif // MHC_LIB_CONVERSION_LOOPSTOGPU_KERNELBODY_H
