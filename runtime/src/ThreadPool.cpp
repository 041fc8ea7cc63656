//===- ThreadPool.cpp - Persistent workers of one context -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "ThreadPool.h"

#include <cfenv>

using namespace mhcrt;

// About 20 microseconds: kernels of one layer follow each other within that time, and waking a sleeping thread
// costs more.
static constexpr int kSpins = 1000;

static void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

namespace {
/// Rounds to nearest and keeps numbers below the smallest normal one, whatever the caller's thread is set to: a tile
/// has the same bits on every thread.
class DefaultArithmetic {
public:
  DefaultArithmetic() {
    std::fegetenv(&ofCaller);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultArithmetic() { std::fesetenv(&ofCaller); }
  DefaultArithmetic(const DefaultArithmetic &) = delete;
  DefaultArithmetic &operator=(const DefaultArithmetic &) = delete;

private:
  std::fenv_t ofCaller;
};
} // namespace

ThreadPool::ThreadPool(int threads) {
  workers.reserve(threads - 1);
  try {
    for (int thread = 1; thread < threads; ++thread)
      workers.emplace_back([this, thread] { work(thread); });
  } catch (...) {
    stop();
    throw;
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
    jobs.fetch_add(1);
  }
  wake.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::takeTiles(Body body, void *argument, int64_t tiles, int thread) {
  const DefaultArithmetic arithmetic;
  for (int64_t tile = next.fetch_add(1); tile < tiles; tile = next.fetch_add(1))
    body(argument, tile, thread);
}

void ThreadPool::run(int64_t tiles, Body body, void *argument) {
  if (workers.empty() || tiles <= 1) {
    const DefaultArithmetic arithmetic;
    for (int64_t tile = 0; tile < tiles; ++tile)
      body(argument, tile, 0);
    return;
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    this->body = body;
    this->argument = argument;
    this->tiles = tiles;
    next.store(0);
    jobs.fetch_add(1);
  }
  wake.notify_all();
  takeTiles(body, argument, tiles, 0);

  std::unique_lock<std::mutex> lock(mutex);
  this->body = nullptr;
  idle.wait(lock, [this] { return active == 0; });
}

void ThreadPool::work(int thread) {
  uint64_t seen = 0;
  for (;;) {
    for (int spin = 0; spin < kSpins && jobs.load(std::memory_order_relaxed) == seen; ++spin)
      pause();
    std::unique_lock<std::mutex> lock(mutex);
    wake.wait(lock, [&] { return jobs.load() != seen; });
    seen = jobs.load();
    if (stopping)
      return;
    if (!body)
      continue;
    ++active;
    Body jobBody = body;
    void *jobArgument = argument;
    int64_t jobTiles = tiles;
    lock.unlock();
    takeTiles(jobBody, jobArgument, jobTiles, thread);
    lock.lock();
    if (--active == 0)
      idle.notify_one();
  }
}
