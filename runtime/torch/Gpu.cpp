//===- Gpu.cpp - The CUDA backend in PyTorch's process --------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Gpu.h"
#include "mhcrt/cuda.h"
#include "src/LibraryFile.h"

#include <torch/csrc/stable/accelerator.h>

#include <stdexcept>

using namespace mhcrt;

namespace {

struct GpuLibrary {
  void *kernels = nullptr;
  Backend backend = {};
  decltype(&mhcrt_cuda_describe) describe = nullptr;
  decltype(&mhcrt_context_destroy) destroy = nullptr;
  decltype(&mhcrt_cuda_set_stream) setStream = nullptr;
  decltype(&mhcrt_cuda_set_allocator) setAllocator = nullptr;
  decltype(&mhcrt_cuda_set_multiprocessors) setMultiprocessors = nullptr;

  AOTITorchError (*currentStream)(int32_t device, void **stream) = nullptr;
  AOTITorchError (*alloc)(uint64_t bytes, void **memory) = nullptr;
  AOTITorchError (*free)(void *memory) = nullptr;

  std::string error; ///< why it is no use

  GpuLibrary();

private:
  void load(const std::string &path);
  void bind(void *torch);
};

} // namespace

/// The path of the library beside this one.
static std::string kernelLibraryPath() {
  Dl_info own;
  dladdr(reinterpret_cast<const void *>(&gpuBackend), &own);
  const std::string path = own.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + "libmhcrt_cuda.so";
}

void GpuLibrary::load(const std::string &path) {
  if (isWholeLibrary(path, error) && !(kernels = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)))
    error = dlerror();
}

void GpuLibrary::bind(void *torch) {
  std::string missing;
  resolve(kernels, "mhcrt_context_create", backend.create, missing);
  resolve(kernels, "mhcrt_last_error", backend.lastError, missing);
  resolve(kernels, "mhcrt_clear_error", backend.clearError, missing);
  resolve(kernels, "mhcrt_cuda_describe", describe, missing);
  resolve(kernels, "mhcrt_context_destroy", destroy, missing);
  resolve(kernels, "mhcrt_cuda_set_stream", setStream, missing);
  resolve(kernels, "mhcrt_cuda_set_allocator", setAllocator, missing);
  resolve(kernels, "mhcrt_cuda_set_multiprocessors", setMultiprocessors, missing);
  resolve(torch, "aoti_torch_get_current_cuda_stream", currentStream, missing);
  resolve(torch, "aoti_torch_cuda_caching_allocator_raw_alloc", alloc, missing);
  resolve(torch, "aoti_torch_cuda_caching_allocator_raw_delete", free, missing);
  if (!missing.empty())
    error = "there is no function " + missing;
}

GpuLibrary::GpuLibrary() {
  const std::string path = kernelLibraryPath();
  load(path);
  if (kernels)
    bind(dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD));
  if (!error.empty())
    error = "tensors of a GPU need " + path + ": " + error;
}

static const GpuLibrary &gpuLibrary() {
  static const GpuLibrary library;
  if (!library.error.empty())
    throw std::runtime_error(library.error);
  return library;
}

const Backend &mhcrt::gpuBackend() { return gpuLibrary().backend; }

void *mhcrt::currentStream(TensorPlace place) {
  void *stream = nullptr;
  TORCH_ERROR_CODE_CHECK(gpuLibrary().currentStream(place.index, &stream));
  return stream;
}

/// The context's GPU is current here, and its stream is PyTorch's present one.
static void *takeMemory(void *, int64_t bytes, void *) {
  void *memory = nullptr;
  return gpuLibrary().alloc(static_cast<uint64_t>(bytes), &memory) == AOTI_TORCH_SUCCESS ? memory : nullptr;
}

static void giveMemory(void *, void *memory, int64_t, void *) { gpuLibrary().free(memory); }

mhcrt_context *mhcrt::createOnGpu(TensorPlace place, void *stream) {
  const GpuLibrary &library = gpuLibrary();
  const torch::stable::accelerator::DeviceGuard guard(place.index);
  mhcrt_context *context = nullptr;
  if (library.backend.create(0, &context) != MHCRT_OK) {
    mhcrt_cuda_machine machine;
    library.describe(&machine);
    throw std::runtime_error("mhcrt_context_create: no context on " + place.text() + ": " + machine.problem);
  }
  library.setAllocator(context, takeMemory, giveMemory, nullptr);
  if (library.setStream(context, stream) == MHCRT_OK &&
      library.setMultiprocessors(context, multiprocessors()) == MHCRT_OK)
    return context;
  const std::string error = library.backend.lastError(context);
  library.destroy(context);
  throw std::runtime_error(error);
}

void mhcrt::useMultiprocessors(mhcrt_context *context) { gpuLibrary().setMultiprocessors(context, multiprocessors()); }

Kernel mhcrt::gpuKernel(const char *name) {
  Kernel kernel = nullptr;
  std::string missing;
  if (!resolve(gpuLibrary().kernels, name, kernel, missing))
    throw std::runtime_error(missing + ": the library for GPUs has no such function");
  return kernel;
}
