//===- Stages.h - The stages of a pipeline ------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_PIPELINE_STAGES_H
#define MHC_LIB_TRANSFORMS_PIPELINE_STAGES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mhc {

/// Values that an op reads, those of its regions included.
llvm::SmallVector<mlir::Value> readBy(mlir::Operation *op);

/// The function of a stage in place of `func`, with its attributes, and without a body.
mlir::func::FuncOp createStage(mlir::OpBuilder &builder, mlir::func::FuncOp func, int64_t stage, mlir::TypeRange inputs,
                               mlir::TypeRange results);

/// Gives each stage functions of its own in place of those that make weights or what is made of them. `stages` has the
/// functions of each stage.
void divideState(mlir::ModuleOp module, llvm::ArrayRef<llvm::SmallVector<mlir::func::FuncOp>> stages);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_PIPELINE_STAGES_H
