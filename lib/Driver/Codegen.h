//===- Codegen.h - From the LLVM dialect to machine code ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_DRIVER_CODEGEN_H
#define MHC_LIB_DRIVER_CODEGEN_H

#include "mhc/Driver/Driver.h"
#include "llvm/IR/LLVMContext.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mhc {

/// A module of the LLVM dialect as optimised LLVM IR for one machine.
struct LlvmModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;

  LlvmModule();
  LlvmModule(LlvmModule &&);
  ~LlvmModule();
};

/// Puts machine code in the place of the GPU kernels of a lowered module, if it has any.
llvm::Error embedKernels(Compiler &compiler, mlir::ModuleOp module);

llvm::Expected<LlvmModule> translate(Compiler &compiler, mlir::ModuleOp module, const CompileOptions &options);
llvm::Expected<llvm::SmallVector<char, 0>> emitObject(LlvmModule &module);

} // namespace mhc

#endif // MHC_LIB_DRIVER_CODEGEN_H
