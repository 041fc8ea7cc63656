//===- Kernels.cpp - GPU kernels as machine code ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM writes PTX, and tools of the CUDA toolkit make an image of it: code for the architecture of the target, and the
// PTX for later ones where it is not bound to that architecture (sm_90a and sm_100a are).
//
//===----------------------------------------------------------------------===//

#include "Codegen.h"
#include "mhc/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/CompilationInterfaces.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace mhc;
namespace path = llvm::sys::path;

/// Whether the folder holds what finishes an image.
static bool isToolkit(StringRef folder) {
  SmallString<128> program(folder);
  path::append(program, "bin", "ptxas");
  return llvm::sys::fs::can_execute(program);
}

/// The folder of the ptxas in PATH, or else the one that the build found; "" when there is none.
static std::string usualToolkit() {
  SmallString<128> program; // not a link to it: the toolkit has more than programs
  if (auto found = llvm::sys::findProgramByName("ptxas"); found && !llvm::sys::fs::real_path(*found, program))
    return path::parent_path(path::parent_path(program)).str();
  StringRef built = MHC_CUDA_TOOLKIT;
  return !built.empty() && isToolkit(built) ? built.str() : "";
}

/// The folder in CUDA_HOME, where that is set, or the usual one.
static llvm::Expected<std::string> findToolkit() {
  std::optional<std::string> home = llvm::sys::Process::GetEnv("CUDA_HOME");
  std::string folder = !home ? usualToolkit() : isToolkit(*home) ? *home : "";
  if (!folder.empty())
    return folder;
  std::string place = home ? "CUDA_HOME, '" + *home + "'" : "PATH";
  return llvm::createStringError("GPU kernels are finished by 'ptxas' of the CUDA toolkit, which is not in " + place);
}

/// Gives the globals that the host code names their values.
static void defineImage(ModuleOp module, StringRef image) {
  SymbolTable symbols(module);
  Builder builder(module.getContext());
  auto define = [&](StringRef name, Type type, Attribute value) {
    auto global = symbols.lookup<LLVM::GlobalOp>(name);
    global.setGlobalType(type);
    global.setValueAttr(value);
    global.setLinkage(LLVM::Linkage::Internal);
    global.setAlignment(64);
  };
  Type bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), image.size());
  define(kDeviceImage, bytes, builder.getStringAttr(image));
  define(kDeviceImageBytes, builder.getI64Type(), builder.getI64IntegerAttr(image.size()));
}

llvm::Error mhc::embedKernels(Compiler &compiler, ModuleOp module) {
  auto kernels = module.lookupSymbol<gpu::GPUModuleOp>(kDeviceModule);
  if (!kernels)
    return llvm::Error::success();
  if (kernels.getOps<LLVM::LLVMFuncOp>().empty()) {
    kernels.erase();
    return llvm::Error::success();
  }
  auto toolkit = findToolkit();
  if (!toolkit)
    return toolkit.takeError();
  gpu::TargetOptions options(*toolkit, {}, {}, {}, gpu::CompilationTarget::Fatbin);
  if (llvm::Error error = compiler.withDiagnostics("the GPU kernels cannot be finished", [&] {
        return succeeded(gpu::transformGpuModulesToBinaries(module, nullptr, options));
      }))
    return error;
  auto binary = module.lookupSymbol<gpu::BinaryOp>(kDeviceModule);
  defineImage(module, cast<gpu::ObjectAttr>(binary.getObjectsAttr()[0]).getObject().getValue());
  binary.erase();
  return llvm::Error::success();
}
