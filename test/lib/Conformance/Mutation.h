//===- Mutation.h - Random changes of a program --------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_CONFORMANCE_MUTATION_H
#define MHC_CONFORMANCE_MUTATION_H

#include "Conformance/Random.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mhc::conformance {

/// Changes one thing in `func` without a thought for its meaning: an operand, an attribute or the kind of an op.
/// Returns false when what was drawn fits nowhere. The result may not verify.
bool mutate(mlir::func::FuncOp func, Random &random);

} // namespace mhc::conformance

#endif // MHC_CONFORMANCE_MUTATION_H
