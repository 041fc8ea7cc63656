//===- FakeDriver.cpp - A GPU that only takes notes -----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "FakeDriver.h"

#include <algorithm>
#include <cstring>
#include <cublasLt.h>
#include <nvtx3/nvToolsExt.h>

using namespace mhcrt::test;

FakeDriver &mhcrt::test::driver() {
  static FakeDriver fake;
  return fake;
}

size_t FakeDriver::used() const {
  size_t bytes = 0;
  for (const auto &[address, size] : blocks)
    bytes += size;
  return bytes;
}

int FakeDriver::count(const std::string &call) const {
  return static_cast<int>(std::count(calls.begin(), calls.end(), call));
}

/// Mangled names of the kernels' host functions, by their address.
static std::map<const void *, std::string> &kernels() {
  static std::map<const void *, std::string> names;
  return names;
}

static cudaError_t note(const char *call) {
  driver().calls.emplace_back(call);
  return cudaSuccess;
}

static cudaError_t launch(const void *function, dim3 grid, dim3 block, size_t sharedBytes, cudaStream_t stream) {
  const auto known = kernels().find(function);
  const std::string name = known == kernels().end() ? "loop" : known->second;
  driver().calls.push_back("launch " + name);
  driver().launches.push_back({name, grid, block, sharedBytes, stream});
  return driver().launchError;
}

namespace {
struct Configuration {
  dim3 grid, block;
  size_t sharedBytes;
  cudaStream_t stream;
} configuration;
} // namespace

extern "C" {

// Device, memory, streams

cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrComputeCapabilityMajor   ? driver().major
           : attribute == cudaDevAttrComputeCapabilityMinor ? driver().minor
           : attribute == cudaDevAttrMultiProcessorCount    ? driver().multiprocessors
                                                            : 1 << 18;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **address, size_t bytes) {
  static uintptr_t next = 1 << 20;
  note("malloc");
  if (bytes > driver().memory - driver().used())
    return cudaErrorMemoryAllocation;
  *address = reinterpret_cast<void *>(next);
  next += 1 << 20;
  driver().blocks[*address] = bytes;
  return cudaSuccess;
}

cudaError_t cudaFree(void *address) {
  if (address) {
    note("free");
    driver().blocks.erase(address);
  }
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  *total = driver().memory;
  *free = *total - driver().used();
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t) { return note("memset"); }

cudaError_t cudaMemcpyAsync(void *to, const void *, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  if (kind == cudaMemcpyDeviceToHost)
    std::memcpy(to, driver().copiedToHost.data(), std::min(bytes, driver().copiedToHost.size()));
  return note("copy");
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(0x5);
  return note("stream");
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return note("stream destroyed"); }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return note("synchronize"); }

// Graphs

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  note("record");
  return driver().recordError;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph) {
  *graph = reinterpret_cast<cudaGraph_t>(0x9);
  return note("recorded");
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *graph, cudaGraph_t, unsigned long long) {
  *graph = reinterpret_cast<cudaGraphExec_t>(0xA);
  return note("graph");
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) { return note("replay"); }
cudaError_t cudaGraphDestroy(cudaGraph_t) { return note("graph destroyed"); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return note("graph destroyed"); }

cudaError_t cudaGetLastError() { return driver().launchError; }
const char *cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "an error of the fake driver";
}
const char *cudaGetErrorName(cudaError_t) { return "cudaErrorFake"; }

// Kernels

void **__cudaRegisterFatBinary(void *) {
  static void *handle;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
void __cudaRegisterFunction(void **, const char *function, char *, const char *name, int, uint3 *, uint3 *, dim3 *,
                            dim3 *, int *) {
  kernels()[function] = name;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t sharedBytes, CUstream_st *stream) {
  configuration = {grid, block, sharedBytes, stream};
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *sharedBytes, void *stream) {
  *grid = configuration.grid, *block = configuration.block, *sharedBytes = configuration.sharedBytes;
  *static_cast<cudaStream_t *>(stream) = configuration.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void *>(function));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **, size_t sharedBytes,
                               cudaStream_t stream) {
  return launch(kernel, grid, block, sharedBytes, stream);
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **, size_t sharedBytes,
                             cudaStream_t stream) {
  return launch(function, grid, block, sharedBytes, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **) {
  return launch(function, config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream);
}

cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int) { return note("attribute"); }

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int, size_t) {
  *blocks = 2;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *, const cudaLaunchConfig_t *) {
  *clusters = 7;
  return cudaSuccess;
}

/// Describes no tensor: kernels do not run.
static int encodeTensorMap() { return 0; }

cudaError_t cudaGetDriverEntryPointByVersion(const char *, void **function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult *result) {
  *function = reinterpret_cast<void *>(encodeTensorMap);
  if (result)
    *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *image, cudaJitOption *, void **, unsigned,
                                cudaLibraryOption *, void **, unsigned) {
  *library = reinterpret_cast<cudaLibrary_t>(const_cast<void *>(image));
  return note("load");
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name) {
  *kernel = reinterpret_cast<cudaKernel_t>(library);
  driver().calls.push_back(std::string("find ") + name);
  return std::strcmp(name, "missing") == 0 ? cudaErrorSymbolNotFound : cudaSuccess;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t) { return note("unload"); }

// What NVTX opens by name

static int NVTX_API pushRange(const char *text) {
  driver().calls.push_back(std::string("range ") + text);
  return 0;
}
static int NVTX_API popRange() {
  note("end of range");
  return 0;
}
static int NVTX_API takeRanges(NvtxGetExportTableFunc_t tables) {
  const auto *callbacks = static_cast<const NvtxExportTableCallbacks *>(tables(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable functions = nullptr;
  unsigned count = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &functions, &count))
    return 0;
  *functions[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(pushRange);
  *functions[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(popRange);
  return 1;
}

// cuBLASLt, which the backend opens by name

static cublasStatus_t ltCreate(cublasLtHandle_t *handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(0x7);
  return CUBLAS_STATUS_SUCCESS;
}
static cublasStatus_t ltAlgorithms(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                   cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                   cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t[], int *count) {
  note("plan");
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}
static cublasStatus_t ltMatmul() {
  note("product");
  return CUBLAS_STATUS_SUCCESS;
}
static cublasStatus_t ltOther() { return CUBLAS_STATUS_SUCCESS; }

void *dlopen(const char *name, int) {
  driver().calls.push_back(std::string("open ") + name);
  return driver().hasBlas || std::strcmp(name, kRangeNotes) == 0 ? &driver() : nullptr;
}
int dlclose(void *) { return 0; }
void *dlsym(void *, const char *name) {
  const auto is = [&](const char *other) { return std::strcmp(name, other) == 0; };
  return is("cublasLtCreate")                   ? reinterpret_cast<void *>(ltCreate)
         : is("cublasLtMatmulAlgoGetHeuristic") ? reinterpret_cast<void *>(ltAlgorithms)
         : is("cublasLtMatmul")                 ? reinterpret_cast<void *>(ltMatmul)
         : is("InitializeInjectionNvtx2")       ? reinterpret_cast<void *>(takeRanges)
                                                : reinterpret_cast<void *>(ltOther);
}

} // extern "C"
