//===- Contexts.cpp - Contexts for the threads of PyTorch -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Contexts.h"
#include "Gpu.h"

#include <torch/csrc/stable/ops.h>

#include <atomic>
#include <map>
#include <mutex>
#include <new>
#include <pthread.h>
#include <stdexcept>
#include <tuple>
#include <vector>

using namespace mhcrt;

namespace {
struct FreeContexts {
  std::mutex mutex;
  std::map<std::tuple<int32_t, int32_t, intptr_t>, std::vector<mhcrt_context *>> contexts;
};
} // namespace

bool TensorPlace::isGpu() const { return type == aoti_torch_device_type_cuda(); }
std::string TensorPlace::text() const { return isGpu() ? "cuda:" + std::to_string(index) : "cpu"; }

/// Never destroyed: threads may call until the process ends. A child that was forked has none of the threads of its
/// parent's contexts, and begins with none.
static FreeContexts &freeContexts() {
  static FreeContexts *free = [] {
    pthread_atfork(nullptr, nullptr, [] { new (&freeContexts()) FreeContexts; });
    return new FreeContexts;
  }();
  return *free;
}

static const Backend &backendOf(TensorPlace place) {
  static constexpr Backend cpu = {mhcrt_context_create, mhcrt_last_error, mhcrt_clear_error};
  return place.isGpu() ? gpuBackend() : cpu;
}

static std::atomic<int32_t> theMultiprocessors{0};
int32_t mhcrt::multiprocessors() { return theMultiprocessors; }

void mhc_torch_set_multiprocessors(int32_t count) {
  FreeContexts &free = freeContexts();
  std::lock_guard<std::mutex> lock(free.mutex);
  theMultiprocessors = count;
  for (auto &[key, contexts] : free.contexts)
    if (std::get<0>(key) == aoti_torch_device_type_cuda())
      for (mhcrt_context *context : contexts)
        useMultiprocessors(context);
}

static mhcrt_context *createOnCpu(int32_t threads) {
  mhcrt_context *context = nullptr;
  if (mhcrt_context_create(threads, &context) != MHCRT_OK)
    throw std::runtime_error("mhcrt_context_create: no context of " + std::to_string(threads) + " threads to be had");
  return context;
}

BorrowedContext::BorrowedContext(TensorPlace place)
    : place(place), backend(backendOf(place)),
      kind(place.isGpu() ? reinterpret_cast<intptr_t>(currentStream(place)) : torch::stable::get_num_threads()) {
  FreeContexts &free = freeContexts();
  {
    std::lock_guard<std::mutex> lock(free.mutex);
    if (auto &found = free.contexts[{place.type, place.index, kind}]; !found.empty()) {
      context = found.back();
      found.pop_back();
    }
  }
  if (!context)
    context = place.isGpu() ? createOnGpu(place, reinterpret_cast<void *>(kind)) : createOnCpu(int32_t(kind));
}

BorrowedContext::~BorrowedContext() {
  backend.clearError(context);
  FreeContexts &free = freeContexts();
  std::lock_guard<std::mutex> lock(free.mutex);
  free.contexts[{place.type, place.index, kind}].push_back(context);
}
