//===- Import.h - The steps of import ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_IMPORT_IMPORT_H
#define MHC_LIB_TRANSFORMS_IMPORT_IMPORT_H

#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mhc {

/// while loops of a known number of iterations, and scans -> for loops
void importLoops(mlir::func::FuncOp func);
/// tables that are gathered of constants -> constants; elements of a vector at known places -> repeated ones, joined
void importTables(mlir::func::FuncOp func);
/// convolutions -> one op for each point of their window
void unrollWindows(mlir::func::FuncOp func);
/// linalg ops -> leaf ops
void importLinalg(mlir::func::FuncOp func);
/// numbers read from tensors and repeated -> slices that are repeated
void importScalars(mlir::func::FuncOp func);
/// insertions that fill an empty tensor, parts chosen by an index -> tensor.concat
void importConcat(mlir::func::FuncOp func);
/// leaf ops that leave a size open in one type and state it in another -> in all
void stateOpenSizes(mlir::func::FuncOp func);
/// tokens in two dimensions of unknown size -> in one
void joinTokens(mlir::func::FuncOp func);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_IMPORT_IMPORT_H
