//===- Contexts.cpp - Contexts for the threads of PyTorch -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Contexts.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <vector>

using namespace mhcrt;

namespace {
struct FreeContexts {
  std::mutex mutex;
  std::vector<mhcrt_context *> contexts;
};
} // namespace

/// Never destroyed: threads may call until the process ends. A child that was forked has none of the threads of its
/// parent's contexts, and begins with none.
static FreeContexts &freeContexts() {
  static FreeContexts *free = [] {
    pthread_atfork(nullptr, nullptr, [] { new (&freeContexts()) FreeContexts; });
    return new FreeContexts;
  }();
  return *free;
}

static mhcrt_context *create(int32_t threads) {
  mhcrt_context *context = nullptr;
  if (mhcrt_context_create(threads, &context) != MHCRT_OK)
    throw std::runtime_error("mhcrt_context_create: no context of " + std::to_string(threads) + " threads to be had");
  return context;
}

BorrowedContext::BorrowedContext(int32_t threads) {
  FreeContexts &free = freeContexts();
  {
    std::lock_guard<std::mutex> lock(free.mutex);
    auto found = std::find_if(free.contexts.begin(), free.contexts.end(),
                              [&](const mhcrt_context *one) { return mhcrt_context_threads(one) == threads; });
    if (found != free.contexts.end()) {
      context = *found;
      free.contexts.erase(found);
    }
  }
  if (!context)
    context = create(threads);
}

BorrowedContext::~BorrowedContext() {
  mhcrt_clear_error(context);
  FreeContexts &free = freeContexts();
  std::lock_guard<std::mutex> lock(free.mutex);
  free.contexts.push_back(context);
}
