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

/// Gives each size of an argument one value, wherever it is read: a size of something in between keeps that alive.
void readSizesFromArguments(mlir::func::FuncOp func);

} // namespace mhc

#endif // MHC_TRANSFORMS_ARGUMENTSIZES_H
