//===- Runtime.cpp - The runtime of one backend ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include "mhcrt/kernels.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>

using namespace mhc::bench;

static Runtime linked() {
  Runtime runtime;
  runtime.createContext = mhcrt_context_create;
  runtime.destroyContext = mhcrt_context_destroy;
  runtime.threads = mhcrt_context_threads;
  runtime.amx = mhcrt_context_amx;
  runtime.setAmx = mhcrt_context_set_amx;
  runtime.lastError = mhcrt_last_error;
  runtime.clearError = mhcrt_clear_error;
  runtime.createBuffer = mhcrt_buffer_create;
  runtime.destroyBuffer = mhcrt_buffer_destroy;
  runtime.copy = mhcrt_copy;
  runtime.synchronize = mhcrt_synchronize;
  runtime.measureCall = mhcrt_measure_call;
  runtime.measureCopy = mhcrt_measure_copy_bandwidth;
  runtime.measureMultiplyAdds = mhcrt_measure_fma_peak;
  return runtime;
}

/// The library beside this program, in ../lib or in its own folder, else wherever the system looks.
static void *openCudaLibrary() {
  static int anchor;
  const std::string program = llvm::sys::fs::getMainExecutable(nullptr, &anchor);
  static constexpr const char *kName = "libmhcrt_cuda.so";
  for (const char *folder : {"../lib", "."}) {
    llvm::SmallString<256> path(llvm::sys::path::parent_path(program));
    llvm::sys::path::append(path, folder, kName);
    if (llvm::sys::fs::exists(path))
      return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  return dlopen(kName, RTLD_NOW | RTLD_LOCAL);
}

llvm::Expected<Runtime> Runtime::open(llvm::StringRef backend) {
  Runtime runtime = linked();
  if (backend == "cpu")
    return runtime;
  if (backend != "cuda")
    return llvm::createStringError("backend is '" + backend + "'; needed 'cpu' or 'cuda'");
  runtime.library = openCudaLibrary();
  if (!runtime.library)
    return llvm::createStringError(llvm::StringRef("backend 'cuda' needs libmhcrt_cuda.so: ") + dlerror());
  const char *missing = nullptr;
  auto find = [&](auto &function, const char *symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(runtime.library, symbol));
    missing = function ? missing : symbol;
  };
  find(runtime.createContext, "mhcrt_context_create");
  find(runtime.destroyContext, "mhcrt_context_destroy");
  find(runtime.threads, "mhcrt_context_threads");
  find(runtime.amx, "mhcrt_context_amx");
  find(runtime.setAmx, "mhcrt_context_set_amx");
  find(runtime.lastError, "mhcrt_last_error");
  find(runtime.clearError, "mhcrt_clear_error");
  find(runtime.createBuffer, "mhcrt_buffer_create");
  find(runtime.destroyBuffer, "mhcrt_buffer_destroy");
  find(runtime.copy, "mhcrt_copy");
  find(runtime.synchronize, "mhcrt_synchronize");
  find(runtime.measureCall, "mhcrt_measure_call");
  find(runtime.measureCopy, "mhcrt_measure_copy_bandwidth");
  find(runtime.measureMultiplyAdds, "mhcrt_measure_fma_peak");
  find(runtime.chosen, "mhcrt_cuda_chosen");
  find(runtime.describe, "mhcrt_cuda_describe");
  find(runtime.pin, "mhcrt_cuda_pin");
  find(runtime.setStrict, "mhcrt_cuda_set_strict");
  find(runtime.choices, "mhcrt_cuda_choices");
  find(runtime.choiceAt, "mhcrt_cuda_choice_at");
  if (missing)
    return llvm::createStringError(llvm::Twine("libmhcrt_cuda.so does not export ") + missing);
  return runtime;
}

Runtime::Function Runtime::kernel(llvm::StringRef symbol) const {
  if (library)
    return reinterpret_cast<Function>(dlsym(library, symbol.str().c_str()));
  return llvm::StringSwitch<Function>(symbol)
#define MHC_KERNEL(name) .Case(#name, reinterpret_cast<Function>(&name))
#include "KernelSymbols.inc"
#undef MHC_KERNEL
      .Default(nullptr);
}
