//===- Sinkhorn.h - Checks that sinkhorn and pre share -------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_IR_OPS_SINKHORN_H
#define MHC_LIB_IR_OPS_SINKHORN_H

#include "mhc/IR/MhcOps.h"

namespace mhc {

/// C1 to C4 of mhc.sinkhorn.
llvm::LogicalResult verifySinkhornAttrs(mlir::Operation *op, Init init, Order order, Denom denom, int64_t iters,
                                        std::optional<Format> format, std::optional<Solver> solver);
/// The limit on n of a mixture of all permutations.
llvm::LogicalResult verifyPermutationStreams(mlir::Operation *op, int64_t n);

} // namespace mhc

#endif // MHC_LIB_IR_OPS_SINKHORN_H
