//===- FakeDriver.cpp - A GPU that only takes notes -----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Long because it has every function of the CUDA runtime that the library calls.
//
//===------------------------------------------------------------------------===//
#include "FakeDriver.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cublasLt.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>
#include <utility>

using namespace mhcrt::test;

FakeDriver &mhcrt::test::driver() {
  static FakeDriver fake;
  return fake;
}

size_t FakeDriver::used() const {
  size_t bytes = 0;
  for (const auto &[address, block] : blocks)
    bytes += block.bytes;
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

cudaStream_t FakeDriver::makeStream(int ofDevice) {
  static uintptr_t next = 0x1000;
  const auto stream = reinterpret_cast<cudaStream_t>(next += 16);
  streams[stream].device = ofDevice;
  return stream;
}

std::set<size_t> &FakeDriver::doneOn(cudaStream_t stream) {
  Stream &found = streams[stream];
  return found.capture ? found.captured : found.done;
}

bool FakeDriver::isCapturing() const {
  return std::any_of(streams.begin(), streams.end(), [](const auto &entry) { return entry.second.capture != 0; });
}

bool FakeDriver::wouldWaitForCapture(cudaStream_t stream) const {
  return (stream == nullptr || stream == cudaStreamLegacy) &&
         std::any_of(streams.begin(), streams.end(),
                     [](const auto &entry) { return entry.second.capture != 0 && entry.second.isBlocking; });
}

void FakeDriver::enqueue(const std::string &what, cudaStream_t stream) {
  devicesUsed.insert(device);
  std::set<size_t> &done = doneOn(stream);
  work.push_back({what, device, streams[stream].capture, done});
  done.insert(work.size() - 1);
}

static cudaError_t fail(cudaError_t error) {
  if (error != cudaSuccess)
    driver().lastError = error;
  return error;
}

/// A call that ends the captures that forbid it.
static cudaError_t endCaptures(cudaError_t error) {
  for (const auto &[handle, stream] : driver().streams)
    if (stream.capture)
      driver().endedCaptures.insert(stream.capture);
  return fail(error);
}

static thread_local cudaStreamCaptureMode captureMode = cudaStreamCaptureModeGlobal;

/// True in a capture, unless it is in the relaxed mode: only that mode allows the call.
static bool isForbidden() { return captureMode != cudaStreamCaptureModeRelaxed && driver().isCapturing(); }

static bool isDefault(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

static cudaError_t launch(const void *function, dim3 grid, dim3 block, size_t sharedBytes, cudaStream_t stream,
                          bool overlaps = false) {
  const auto known = kernels().find(function);
  const std::string name = known == kernels().end() ? "loop" : known->second;
  if (!isDefault(stream) && driver().streams[stream].device != driver().device)
    return fail(cudaErrorInvalidResourceHandle);
  if (driver().wouldWaitForCapture(stream))
    return endCaptures(cudaErrorStreamCaptureImplicit);
  driver().calls.push_back("launch " + name);
  driver().launches.push_back({name, grid, block, sharedBytes, stream, overlaps});
  driver().enqueue(name, stream);
  if (const auto during = driver().duringLaunch)
    during();
  return fail(driver().launchError);
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
  *device = driver().device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= driver().devices)
    return fail(cudaErrorInvalidDevice);
  driver().device = device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrComputeCapabilityMajor   ? driver().major
           : attribute == cudaDevAttrComputeCapabilityMinor ? driver().minor
           : attribute == cudaDevAttrMultiProcessorCount    ? driver().multiprocessors
                                                            : 1 << 18;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
  *properties = {};
  std::strcpy(properties->name, "a fake GPU");
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **address, size_t bytes) {
  static uintptr_t next = 1 << 20;
  note("malloc");
  if (isForbidden())
    return endCaptures(cudaErrorStreamCaptureUnsupported);
  if (bytes > driver().memory - driver().used())
    return fail(cudaErrorMemoryAllocation);
  *address = reinterpret_cast<void *>(next);
  next += 1 << 20;
  driver().devicesUsed.insert(driver().device);
  driver().blocks[*address] = {bytes, driver().device};
  return cudaSuccess;
}

cudaError_t cudaFree(void *address) {
  if (!address)
    return cudaSuccess;
  while (std::getenv("FAKE_HANGS")) // behind work that does not end: test/Tools/Inputs/fake_driver.c
    pause();
  note("free");
  if (isForbidden())
    return endCaptures(cudaErrorStreamCaptureUnsupported);
  driver().devicesUsed.insert(driver().device);
  return driver().blocks.erase(address) ? cudaSuccess : fail(cudaErrorInvalidValue);
}

cudaError_t cudaHostAlloc(void **address, size_t bytes, unsigned) {
  *address = std::malloc(bytes);
  return note("host malloc");
}

cudaError_t cudaFreeHost(void *address) {
  std::free(address);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  *total = driver().memory;
  *free = *total - driver().used();
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t stream) {
  driver().enqueue("memset", stream);
  return note("memset");
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const auto known = driver().contents.find(kind == cudaMemcpyHostToDevice ? to : from);
  if (known != driver().contents.end() && kind == cudaMemcpyDeviceToHost)
    std::memcpy(to, known->second.data(), std::min(bytes, known->second.size()));
  if (known != driver().contents.end() && kind == cudaMemcpyHostToDevice)
    known->second.assign(static_cast<const char *>(from), bytes);
  driver().enqueue("copy", stream);
  note("copy");
  return fail(driver().copyError);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  *stream = driver().makeStream(driver().device);
  driver().streams[*stream].isBlocking = false;
  return note("stream");
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return note("stream destroyed"); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  note("synchronize");
  return driver().streams[stream].capture ? endCaptures(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() { return note("synchronize"); }
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
  if (driver().streams[stream].capture)
    return endCaptures(cudaErrorStreamCaptureUnsupported);
  *device = isDefault(stream) ? driver().device : driver().streams[stream].device;
  return cudaSuccess;
}

// Events

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  static uintptr_t next = 0x10;
  *event = reinterpret_cast<cudaEvent_t>(next += 16);
  driver().devicesUsed.insert(driver().device);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (driver().wouldWaitForCapture(stream))
    return endCaptures(cudaErrorStreamCaptureImplicit);
  driver().events[event] = {driver().streams[stream].capture, driver().doneOn(stream)};
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  Stream &stream = driver().streams[handle];
  const Event &awaited = driver().events[event];
  if (stream.capture && !awaited.capture)
    return endCaptures(cudaErrorStreamCaptureIsolation);
  if (stream.capture && stream.capture != awaited.capture)
    return endCaptures(cudaErrorStreamCaptureMerge);
  if (awaited.capture && isDefault(handle) && handle != cudaStreamPerThread)
    return endCaptures(cudaErrorStreamCaptureUnsupported);
  if (awaited.capture)
    stream.capture = awaited.capture; // joins it
  std::set<size_t> &done = driver().doneOn(handle);
  done.insert(awaited.done.begin(), awaited.done.end());
  return cudaSuccess;
}

// Graphs

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
  std::swap(*mode, captureMode);
  return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *, const cudaGraphNode_t **, const cudaGraphEdgeData **, size_t *) {
  if (driver().wouldWaitForCapture(stream))
    return fail(cudaErrorStreamCaptureImplicit);
  const int capture = driver().streams[stream].capture;
  const bool isEnded = driver().endedCaptures.count(capture);
  *status = capture == 0 ? cudaStreamCaptureStatusNone
            : isEnded    ? cudaStreamCaptureStatusInvalidated
                         : cudaStreamCaptureStatusActive;
  if (capture && !isEnded)
    *id = capture;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  note("record");
  if (driver().streams[stream].capture)
    return endCaptures(cudaErrorIllegalState);
  if (driver().recordError != cudaSuccess)
    return fail(driver().recordError);
  driver().streams[stream].capture = ++driver().captures;
  driver().streams[stream].captured.clear();
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph) {
  note("recorded");
  const Stream origin = driver().streams[handle];
  bool isJoined = true;
  for (auto &[other, stream] : driver().streams)
    if (stream.capture == origin.capture) {
      isJoined &=
          std::includes(origin.captured.begin(), origin.captured.end(), stream.captured.begin(), stream.captured.end());
      stream.capture = 0;
      stream.captured.clear();
    }
  *graph = nullptr;
  if (origin.capture == 0)
    return fail(cudaErrorIllegalState);
  if (driver().endedCaptures.count(origin.capture))
    return fail(cudaErrorStreamCaptureInvalidated);
  if (!isJoined)
    return fail(cudaErrorStreamCaptureUnjoined);
  *graph = reinterpret_cast<cudaGraph_t>(0x9);
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *graph, cudaGraph_t, unsigned long long) {
  *graph = reinterpret_cast<cudaGraphExec_t>(0xA);
  return note("graph");
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t stream) {
  driver().enqueue("replay", stream);
  return note("replay");
}
cudaError_t cudaGraphDestroy(cudaGraph_t) { return note("graph destroyed"); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return note("graph destroyed"); }

cudaError_t cudaPeekAtLastError() { return driver().lastError; }
cudaError_t cudaGetLastError() { return std::exchange(driver().lastError, cudaSuccess); }
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
  const cudaLaunchAttribute *begin = config->attrs, *end = begin + config->numAttrs;
  const bool overlaps = std::any_of(begin, end, [](const cudaLaunchAttribute &attribute) {
    return attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization;
  });
  return launch(function, config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream, overlaps);
}

cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int) {
  driver().devicesUsed.insert(driver().device);
  return note("attribute");
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int, size_t) {
  driver().devicesUsed.insert(driver().device);
  *blocks = 2;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int threads,
                                                                   size_t sharedBytes, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, sharedBytes);
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *, const cudaLaunchConfig_t *) {
  driver().devicesUsed.insert(driver().device);
  *clusters = driver().clusters;
  return driver().clustersError;
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
  note("load");
  if (isForbidden())
    return endCaptures(cudaErrorStreamCaptureUnsupported);
  *library = reinterpret_cast<cudaLibrary_t>(const_cast<void *>(image));
  return cudaSuccess;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name) {
  *kernel = reinterpret_cast<cudaKernel_t>(library);
  driver().calls.push_back(std::string("find ") + name);
  return std::strcmp(name, "missing") == 0 ? fail(cudaErrorSymbolNotFound) : cudaSuccess;
}

cudaError_t cudaLibraryGetGlobal(void **address, size_t *bytes, cudaLibrary_t, const char *name) {
  if (isForbidden())
    return endCaptures(cudaErrorStreamCaptureUnsupported);
  const auto known = driver().globals.find(name);
  if (known == driver().globals.end())
    return fail(cudaErrorSymbolNotFound);
  *address = known->second;
  *bytes = driver().contents[known->second].size();
  return cudaSuccess;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t) { return note("unload"); }

// Functions that NVTX opens by name

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
  if (isForbidden())
    return endCaptures(cudaErrorStreamCaptureUnsupported), CUBLAS_STATUS_NOT_INITIALIZED;
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
static cublasStatus_t ltMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *,
                               cublasLtMatrixLayout_t, const void *, cublasLtMatrixLayout_t, const void *, const void *,
                               cublasLtMatrixLayout_t, void *, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *,
                               void *, size_t, cudaStream_t stream) {
  note("product");
  driver().enqueue("product", stream);
  if (const auto during = driver().duringLaunch)
    during();
  if (driver().launchError != cudaSuccess)
    return fail(driver().launchError), CUBLAS_STATUS_EXECUTION_FAILED;
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
