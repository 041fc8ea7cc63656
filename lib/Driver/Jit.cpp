//===- Jit.cpp - Models in this process ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Driver/Driver.h"
#include "mhc/IR/ElementTypes.h"
#include "mhcrt/functions.h"
#include "mhcrt/kernels.h"
#include "mhcrt/sizes.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include <cstddef>

using namespace mhc;
namespace orc = llvm::orc;

// mhc/IR/ElementTypes.h repeats these for the layers that do not see the runtime.
static_assert(kNoElement == int(MHCRT_NONE) && kF32 == int(MHCRT_F32) && kBF16 == int(MHCRT_BF16) &&
              kF16 == int(MHCRT_F16) && kF64 == int(MHCRT_F64) && kI32 == int(MHCRT_I32) && kI64 == int(MHCRT_I64));
static_assert(kMaxRank == MHCRT_MAX_RANK && kTensorBytes == sizeof(mhcrt_tensor) &&
              kTensorDtypeOffset == offsetof(mhcrt_tensor, dtype) && kTensorDimsOffset == offsetof(mhcrt_tensor, dims));

struct JitModel::Code {
  std::unique_ptr<orc::LLJIT> jit;
};

JitModel::JitModel() = default;
JitModel::~JitModel() { mhcrt_model_close(model); }

namespace {
struct RuntimeSymbol {
  const char *name;
  void *address;
};
} // namespace

/// Symbols that compiled code calls. Naming the kernels here is also what makes the linker keep them.
static const RuntimeSymbol kRuntimeSymbols[] = {
    {"mhcrt_workspace", reinterpret_cast<void *>(&mhcrt_workspace)},
    {"mhcrt_parallel_loop", reinterpret_cast<void *>(&mhcrt_parallel_loop)},
    {"mhcrt_set_location", reinterpret_cast<void *>(&mhcrt_set_location)},
    {"mhcrt_check_size", reinterpret_cast<void *>(&mhcrt_check_size)},
    {"mhcrt_check_assertion", reinterpret_cast<void *>(&mhcrt_check_assertion)},
    {"mhcrt_call_function", reinterpret_cast<void *>(&mhcrt_call_function)},
    {"mhcrt_last_status", reinterpret_cast<void *>(&mhcrt_last_status)},
#define MHC_KERNEL(name) {#name, reinterpret_cast<void *>(&name)},
#include "KernelSymbols.inc"
#undef MHC_KERNEL
};

static llvm::Error defineRuntime(orc::LLJIT &jit) {
  orc::SymbolMap symbols;
  for (const RuntimeSymbol &symbol : kRuntimeSymbols)
    symbols[jit.mangleAndIntern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.address),
                                                 llvm::JITSymbolFlags::Exported};
  if (llvm::Error error = jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols))))
    return error;
  // Functions of the C library, such as memcpy and expf.
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit.getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  jit.getMainJITDylib().addGenerator(std::move(*process));
  return llvm::Error::success();
}

static mhcrt_entry findEntry(void *user, const char *name) {
  auto address = static_cast<orc::LLJIT *>(user)->lookup(std::string("mhc_entry_") + name);
  if (!address) {
    llvm::consumeError(address.takeError());
    return nullptr;
  }
  return address->toPtr<mhcrt_entry>();
}

llvm::Expected<std::unique_ptr<JitModel>> Compiler::openLibrary(mlir::ModuleOp module, const CompileOptions &options) {
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("mhc-model", "so", path))
    return llvm::createStringError(error, "no temporary file can be made");
  llvm::FileRemover remove(path); // an open library needs its file no more
  if (llvm::Error error = writeLibrary(module, options, path))
    return error;
  std::unique_ptr<JitModel> result(new JitModel);
  mhcrt_message message;
  if (mhcrt_model_open(path.c_str(), &result->model, &message) != MHCRT_OK)
    return llvm::createStringError(message.text);
  return result;
}

llvm::Expected<std::unique_ptr<JitModel>> Compiler::jit(mlir::ModuleOp module, CompileOptions options) {
  if (!options.gpu.empty())
    return openLibrary(module, options);
  if (options.cpu.empty())
    options.cpu = "native";
  auto bytes = object(module, options);
  if (!bytes)
    return bytes.takeError();
  auto created = orc::LLJITBuilder().create();
  if (!created)
    return created.takeError();
  std::unique_ptr<JitModel> result(new JitModel);
  result->code = std::make_unique<JitModel::Code>();
  result->code->jit = std::move(*created);
  orc::LLJIT &jit = *result->code->jit;
  if (llvm::Error error = defineRuntime(jit))
    return error;
  auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(*bytes), "mhc", false);
  if (llvm::Error error = jit.addObjectFile(std::move(buffer)))
    return error;
  auto manifest = jit.lookup("mhc_model_manifest");
  if (!manifest)
    return manifest.takeError();
  mhcrt_message message;
  if (mhcrt_model_wrap(manifest->toPtr<const char *>(), findEntry, &jit, &result->model, &message) != MHCRT_OK)
    return llvm::createStringError(message.text);
  return result;
}
