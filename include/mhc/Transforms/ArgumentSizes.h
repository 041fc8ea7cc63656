//===- ArgumentSizes.h - One value for each size ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_ARGUMENTSIZES_H
#define MHC_TRANSFORMS_ARGUMENTSIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mhc {

class DimAnalysis;

/// Gives each size of an argument one value, wherever it is read: a size of something in between keeps that alive.
/// `dims` may be given where an analysis is there already.
void readSizesFromArguments(mlir::func::FuncOp func, DimAnalysis *dims = nullptr);

} // namespace mhc

#endif // MHC_TRANSFORMS_ARGUMENTSIZES_H
