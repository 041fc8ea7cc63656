//===- LayoutCost.h - Cost of an op by the layout of its streams --*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops have a fast kernel, by the layout of their streams: of the needs in the tables of runtime/cuda those that a
// layout decides about, and what was measured of the CPU's kernels (docs/performance.md). The runtime has the last
// word, by call; test/Tools/mhcc-layout-rows.test compares the two.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_ANALYSIS_LAYOUTCOST_H
#define MHC_ANALYSIS_LAYOUTCOST_H

#include "mhc/IR/MhcOps.h"

namespace mhc {

/// The streams that an op reads and makes: the tensors whose order its `layout` says.
llvm::SmallVector<mlir::Value> streamsOf(KernelOpInterface op);

/// Whether a fast kernel takes the op, were its streams in `layout`. `gpu` is ten times the compute capability, 0 for
/// the CPU.
bool hasFastKernel(KernelOpInterface op, Layout layout, unsigned gpu);

/// Bytes per token that the op's kernels move: those of its record, and twice as many without a fast kernel.
int64_t bytesPerToken(KernelOpInterface op, Layout layout, unsigned gpu);

} // namespace mhc

#endif // MHC_ANALYSIS_LAYOUTCOST_H
