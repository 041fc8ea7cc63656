//===- ThreadPool.h - Persistent workers of one context ---------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the tiles of one kernel call at a time. Which thread takes which tile is decided while running, so that a core
// that others use takes fewer; results cannot depend on it, because a tile's result does not depend on its thread.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_THREADPOOL_H
#define MHCRT_SRC_THREADPOOL_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace mhcrt {

class ThreadPool {
public:
  /// Called once per tile, with the number of the thread that runs it, below threads().
  using Body = void (*)(void *argument, int64_t tile, int thread);

  /// May throw std::bad_alloc or std::system_error.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int threads() const { return static_cast<int>(workers.size()) + 1; }

  /// Returns when all tiles are done. The calling thread is thread 0.
  void run(int64_t tiles, Body body, void *argument);

private:
  void work(int thread);
  void stop();
  void takeTiles(Body body, void *argument, int64_t tiles, int thread);

  std::mutex mutex;
  std::condition_variable wake;  ///< a job was opened, or the pool stops
  std::condition_variable idle;  ///< the last worker left the job
  std::atomic<uint64_t> jobs{0}; ///< number of jobs opened so far; workers spin on it before they sleep

  // The open job; guarded by the mutex. A worker that wakes after the job was closed finds no body and sleeps again,
  // so the caller never waits for a thread that the system has not scheduled yet.
  Body body = nullptr;
  void *argument = nullptr;
  int64_t tiles = 0;
  int active = 0;
  bool stopping = false;

  alignas(64) std::atomic<int64_t> next{0};
  std::vector<std::thread> workers;
};

} // namespace mhcrt

#endif // MHCRT_SRC_THREADPOOL_H
