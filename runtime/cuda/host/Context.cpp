//===- Context.cpp - Device, memory and errors of one caller --------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "cuda/host/CallGuard.h"
#include "cuda/host/CutFault.h"
#include "cuda/host/Images.h"
#include "cuda/host/LoopChecks.h"
#include "mhcrt/cuda.h"
#include "src/ContextState.h"

#include <algorithm>
#include <cstring>
#include <new>

using namespace mhcrt;

mhcrt_context::~mhcrt_context() {
  for (const DeviceBlock &block : {workspace, scratch.lasting, between.lasting, counters})
    release(block);
  for (const DeviceBlock &block : kept)
    release(block);
  for (const auto &[host, block] : constants)
    release(block);
  for (auto &[image, library] : images)
    forget(cudaLibraryUnload(library));
  for (cudaEvent_t event : {turn, behind})
    if (event)
      forget(cudaEventDestroy(event));
  if (ownStream)
    forget(cudaStreamDestroy(ownStream));
  forget(cudaFreeHost(idFaults.data));
}

mhcrt_status mhcrt_context::check(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return status;
  forget(error);
  return fail(MHCRT_DEVICE_ERROR, "%s: %s (%s)", what, cudaGetErrorString(error), cudaGetErrorName(error));
}

/// The ops that read row numbers, then those that read cuts.
static constexpr const char *kIdOps[] = {"mhcrt_take", "mhcrt_take_bwd", "mhcrt_pre_gated_delta_rule",
                                         "mhcrt_pre_gated_delta_rule_bwd"};
static constexpr int kIdOpCount = 4, kFirstCutOp = 2;
static constexpr IdFault kNoFault = {~0ull, -1};

/// The message of the CPU's checks (KernelCall), and `when` the number was met.
static void failId(mhcrt_context &context, int op, const IdFault &fault, const char *when) {
  const auto number = static_cast<int32_t>(fault.first);
  const auto position = static_cast<long long>(fault.first >> 32);
  if (op < kFirstCutOp) {
    context.fail(MHCRT_INVALID_ARGUMENT, "%s: 'ids' has %d at %lld; needed 0 to %lld%s", kIdOps[op], number, position,
                 static_cast<long long>(fault.size - 1), when);
    return;
  }
  const auto needed = static_cast<uint32_t>(fault.size);
  context.fail(MHCRT_INVALID_ARGUMENT, "%s: 'cu_seqlens' has %d at %lld; needed %s%u%s", kIdOps[op], number, position,
               needed & kCutBound ? "at least " : "", needed & ~kCutBound, when);
}

/// Makes an error of what kernels reported so far. They write both words of a report, of which one may still be on its
/// way: without both it is left for the next time.
static void reportIds(mhcrt_context &context, const char *when) {
  auto *faults = static_cast<volatile IdFault *>(context.idFaults.data);
  for (int op = 0; op < kIdOpCount; ++op) {
    const IdFault fault = {faults[op].first, faults[op].size};
    if (fault.first == kNoFault.first || fault.size == kNoFault.size)
      continue;
    faults[op].first = kNoFault.first;
    faults[op].size = kNoFault.size;
    failId(context, op, fault, when);
  }
}

/// Callers that never synchronize the context, as PyTorch's, hear of a bad number from a later call.
IdFault *mhcrt_context::idFault(const char *kernel) {
  reportIds(*this, ", in an earlier call");
  const auto *op = std::find_if(kIdOps, kIdOps + kIdOpCount, [&](const char *op) { return !std::strcmp(op, kernel); });
  return static_cast<IdFault *>(idFaults.data) + (op - kIdOps);
}

mhcrt_status mhcrt_context::synchronize() {
  constexpr const char *kName = "mhcrt_synchronize";
  unsigned long long capture = 0;
  if (!askCapture(kName, capture))
    return status;
  if (capture)
    return fail(MHCRT_INVALID_ARGUMENT, "%s: the stream is captured, so that nothing runs; end the capture first",
                kName);
  check(cudaStreamSynchronize(stream), kName);
  reportLoopChecks(*this, kName);
  reportIds(*this, "");
  return status;
}

cudaError_t mhcrt_context::open() {
  int major = 0, minor = 0;
  cudaError_t error = cudaGetDevice(&device);
  const auto then = [&](auto call) { error = error == cudaSuccess ? call() : error; };
  then([&] { return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device); });
  then([&] { return cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device); });
  then([&] { return hasCodeFor(kImages, major * 10 + minor) ? cudaSuccess : cudaErrorNoKernelImageForDevice; });
  then([&] { return cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device); });
  then([&] { return cudaStreamCreateWithFlags(&ownStream, cudaStreamNonBlocking); });
  for (cudaEvent_t *event : {&turn, &behind})
    then([&] { return cudaEventCreateWithFlags(event, cudaEventDisableTiming); });
  arch = major * 10 + minor;
  stream = ownStream;

  // In memory of the host, so that a call sees reports without waiting for the GPU.
  then([&] { return cudaHostAlloc(&idFaults.data, kIdOpCount * sizeof(IdFault), cudaHostAllocMapped); });
  if (error == cudaSuccess)
    std::fill_n(static_cast<IdFault *>(idFaults.data), kIdOpCount, kNoFault);
  return error;
}

extern "C" {

mhcrt_status mhcrt_context_create(int32_t threads, mhcrt_context **context) {
  if (!context)
    return MHCRT_INVALID_ARGUMENT;
  *context = nullptr;
  if (threads < 0)
    return MHCRT_INVALID_ARGUMENT;
  auto *fresh = new (std::nothrow) mhcrt_context;
  if (!fresh)
    return MHCRT_OUT_OF_MEMORY;
  const RelaxedCapture relaxed;
  const cudaError_t error = fresh->open();
  fresh->check(error, "mhcrt_context_create");
  const mhcrt_status status = error == cudaErrorNoKernelImageForDevice ? MHCRT_UNAVAILABLE : fresh->status;
  if (status != MHCRT_OK)
    delete fresh;
  else
    *context = fresh;
  return status;
}

void mhcrt_context_destroy(mhcrt_context *context) {
  if (!context)
    return;
  const RelaxedCapture relaxed;
  int callersDevice = context->device;
  forget(cudaGetDevice(&callersDevice));
  forget(cudaSetDevice(context->device));
  context->followStreams("mhcrt_context_destroy");
  if (context->isStreamOfOtherThread()) // memory goes back in no order with its work
    forget(cudaDeviceSynchronize());
  delete context;
  forget(cudaSetDevice(callersDevice));
}

/// Those that are there already stay: a graph may have their addresses.
static cudaError_t makeCounters(mhcrt_context &context) {
  if (context.counters.data)
    return cudaSuccess;
  const RelaxedCapture relaxed;
  constexpr int64_t kBytes = kTileCounters * sizeof(uint32_t);
  cudaError_t error = cudaMalloc(&context.counters.data, kBytes);
  if (error == cudaSuccess)
    error = cudaMemsetAsync(context.counters.data, 0, kBytes, context.ownStream);
  return error == cudaSuccess ? cudaStreamSynchronize(context.ownStream) : error;
}

mhcrt_status mhcrt_cuda_set_multiprocessors(mhcrt_context *context, int32_t count) {
  constexpr const char *kName = "mhcrt_cuda_set_multiprocessors";
  const CallGuard guard(*context, kName);
  if (!guard)
    return MHCRT_INVALID_ARGUMENT;
  if (count < 0)
    return context->fail(MHCRT_INVALID_ARGUMENT, "%s: 'count' is %d; needed at least 0", kName, count);
  int all = 0;
  cudaError_t error = cudaDeviceGetAttribute(&all, cudaDevAttrMultiProcessorCount, context->device);
  const bool isShared = count > 0 && count < all;
  if (error == cudaSuccess && isShared)
    error = makeCounters(*context);
  if (error == cudaSuccess)
    context->multiprocessors = count > 0 ? count : all, context->isShared = isShared;
  return context->check(error, kName);
}

int32_t mhcrt_context_threads(const mhcrt_context *) { return 1; }

int32_t mhcrt_context_amx(const mhcrt_context *) { return 0; }

mhcrt_status mhcrt_context_set_amx(mhcrt_context *, int32_t amx) { return amx ? MHCRT_UNAVAILABLE : MHCRT_OK; }

int32_t mhcrt_context_device(const mhcrt_context *) { return MHCRT_CUDA; }

mhcrt_status mhcrt_copy(mhcrt_context *context, void *to, const void *from, int64_t bytes) {
  const CallGuard guard(*context, "mhcrt_copy");
  if (!guard)
    return MHCRT_INVALID_ARGUMENT;
  return context->check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, context->stream), "mhcrt_copy");
}

mhcrt_status mhcrt_synchronize(mhcrt_context *context) {
  const CallGuard guard(*context, "mhcrt_synchronize");
  return guard ? context->synchronize() : MHCRT_INVALID_ARGUMENT;
}

} // extern "C"
