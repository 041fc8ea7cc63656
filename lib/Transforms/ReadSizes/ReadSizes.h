//===- ReadSizes.h - The steps of reading sizes ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_READSIZES_READSIZES_H
#define MHC_LIB_TRANSFORMS_READSIZES_READSIZES_H

#include "mhc/Analysis/DimAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mhc {

/// reshapes by computed sizes -> tensor.collapse_shape, tensor.expand_shape
void readReshapes(mlir::func::FuncOp func);
/// Whether the body of loops reads elements by index.
bool readsElements(mlir::linalg::GenericOp op);
/// elements read at the place of the loops -> an operand
void readElements(mlir::func::FuncOp func);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_READSIZES_READSIZES_H
