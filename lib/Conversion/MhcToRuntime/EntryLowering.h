//===- EntryLowering.h - One entry and the calls in it ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_CONVERSION_MHCTORUNTIME_ENTRYLOWERING_H
#define MHC_LIB_CONVERSION_MHCTORUNTIME_ENTRYLOWERING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/SymbolTable.h"

namespace mhc {

/// The function of the runtime that gives a constant its place in the memory of the GPU.
inline constexpr llvm::StringLiteral kConstantFunction = "mhcrt_constant";

struct EntryOptions {
  bool onGpu = false; ///< where the tensors are
  bool lines = false; ///< whether calls are preceded by their place in the source
};

/// Turns a public function on buffers into `mhc_entry_<name>`. Fails with an error where it meets an op that should
/// have been lowered before, or one that would touch the memory of the GPU.
llvm::LogicalResult lowerEntry(mlir::func::FuncOp func, mlir::SymbolTable &symbols, const EntryOptions &options);

/// Calls mhcrt_set_location with the place of `loc` in the source, or with "" where it is not known.
void setRuntimeLocation(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value context, mlir::SymbolTable &symbols);

/// A call of mhc.check_size or an assertion.
bool isCheck(mlir::Operation *op);

/// "layer.mlir:12:8", or "layer.mlir:12-48" for an op that was made from others: from their first to their last line,
/// in the file of the first that is known. "" where none is.
std::string describe(mlir::Location loc);

/// Start of the error message of a check: that something is outside, or an assertion.
std::string describeCheck(mlir::Operation *check);

/// Calls the runtime for a check.
void checkInRuntime(mlir::OpBuilder &builder, mlir::Operation *check, mlir::Value context, mlir::SymbolTable &symbols);

/// Moves the calls in `body`, a block of a lowered entry, into functions of limited length, each of which is given the
/// values `shared`. The last call, whose result the block returns, stays. A short block is left alone.
void splitEntry(mlir::func::FuncOp entry, mlir::Block &body, llvm::ArrayRef<mlir::Value> shared,
                mlir::SymbolTable &symbols);

/// Whether a loop function, lowered or not, has the context as first argument: it hands work to the runtime.
bool needsContext(mlir::func::FuncOp func);

/// Gives a loop function pointers and sizes for its buffers, and the context as first argument where needed.
/// Calls of it must be lowered before: they follow the old type.
void lowerLoopFunction(mlir::func::FuncOp func, mlir::SymbolTable &symbols);

/// Lets the checks in the kernels of `device` note the first that fails in the memory of the GPU, where the runtime
/// looks for it when it waits.
void lowerKernelChecks(mlir::gpu::GPUModuleOp device);

/// Gives a kernel pointers and sizes for its buffers.
void lowerKernel(mlir::gpu::GPUFuncOp kernel);

/// Turns the launches in lowered loop functions into calls of the runtime.
void lowerLaunches(mlir::ModuleOp module);

/// Splits a lowered loop function in three, so that threads share the loop at `depth`: `count` iterations of `work`
/// elements each. Both are values or constants of the function.
void shareLoop(mlir::func::FuncOp func, int64_t depth, mlir::OpFoldResult count, mlir::OpFoldResult work,
               mlir::SymbolTable &symbols);

/// Turns a constant buffer into a global of the LLVM dialect.
void lowerGlobals(mlir::ModuleOp module);

/// A function that takes what `mhcrt_call_function` does, but the tensors by pointer and open sizes, and calls it on
/// tensors on its own stack: one serves all calls of `outside`.
mlir::func::FuncOp outsideCaller(mlir::func::FuncOp outside, mlir::SymbolTable &symbols);

/// The lines of the manifest for an entry, or for a function that entries call: one that mhc-describe-entries and
/// mhc-bufferize have seen. `kind` is the first word.
llvm::FailureOr<std::string> manifestOf(llvm::StringRef kind, mlir::func::FuncOp func);

} // namespace mhc

#endif // MHC_LIB_CONVERSION_MHCTORUNTIME_ENTRYLOWERING_H
