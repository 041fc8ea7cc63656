//===- measure.cu - Time of a call, copy speed and multiply-add peak ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "cuda/host/CallGuard.h"
#include "cuda/host/Launch.cuh"
#include "mhcrt/measure.h"

#include <algorithm>
#include <array>

using namespace mhcrt;

namespace {

constexpr int kReplays = 9;
constexpr int kFmaThreads = 256, kFmaRounds = 4096, kChains = 8;

__global__ void multiplyAddsKernel(float *sink, float factor, float term) {
  float sums[kChains];
  for (int i = 0; i < kChains; ++i)
    sums[i] = factor + i;
  for (int round = 0; round < kFmaRounds; ++round)
#pragma unroll
    for (int i = 0; i < kChains; ++i)
      sums[i] = fmaf(sums[i], factor, term);
  float all = 0;
  for (int i = 0; i < kChains; ++i)
    all += sums[i];
  if (all == 1.5f) // never, and the compiler cannot know
    *sink = all;
}

constexpr const char *kName = "mhcrt_measure";

/// Two events around what a function enqueues by calls of the context.
class Stopwatch {
public:
  explicit Stopwatch(mhcrt_context &context) : context(context) {
    const CallGuard guard(context, kName);
    for (cudaEvent_t *event : {&start, &stop})
      context.check(cudaEventCreate(event), kName);
  }
  Stopwatch(const Stopwatch &) = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;
  ~Stopwatch() {
    for (cudaEvent_t event : {start, stop})
      forget(cudaEventDestroy(event));
  }

  /// Median seconds of kReplays turns. Negative with the context's error set.
  template <typename Body>
  double median(Body body) {
    std::array<float, kReplays> milliseconds = {};
    for (float &time : milliseconds) {
      record(start);
      body();
      record(stop);
      if (context.status != MHCRT_OK || context.check(read(time), kName) != MHCRT_OK)
        return -1;
    }
    std::nth_element(milliseconds.begin(), milliseconds.begin() + kReplays / 2, milliseconds.end());
    return milliseconds[kReplays / 2] * 1e-3;
  }

private:
  void record(cudaEvent_t event) {
    const CallGuard guard(context, kName);
    context.check(cudaEventRecord(event, context.stream), kName);
  }
  cudaError_t read(float &time) {
    const cudaError_t error = cudaEventSynchronize(stop);
    return error == cudaSuccess ? cudaEventElapsedTime(&time, start, stop) : error;
  }

  mhcrt_context &context;
  cudaEvent_t start = nullptr, stop = nullptr;
};

} // namespace

double mhcrt_measure_call(mhcrt_context *context, mhcrt_status (*call)(void *user), void *user) {
  // The first turn loads code and makes the scratch memory grow, which a graph may not.
  if (call(user) != MHCRT_OK || mhcrt_synchronize(context) != MHCRT_OK || mhcrt_cuda_record_begin(context) != MHCRT_OK)
    return -1;
  call(user);
  double seconds = -1;
  mhcrt_cuda_graph *graph = nullptr;
  if (mhcrt_cuda_record_end(context, &graph) == MHCRT_OK)
    seconds = Stopwatch(*context).median([&] { mhcrt_cuda_replay(context, graph); });
  mhcrt_cuda_graph_destroy(graph);
  return seconds;
}

double mhcrt_measure_copy_bandwidth(mhcrt_context *context, const void *from, void *to, int64_t bytes) {
  constexpr int kCopies = 4;
  const double seconds = Stopwatch(*context).median([&] {
    for (int i = 0; i < kCopies; ++i)
      mhcrt_copy(context, to, from, bytes);
  });
  return 2.0 * kCopies * bytes / seconds;
}

double mhcrt_measure_fma_peak(mhcrt_context *context) {
  const unsigned blocks = context->multiprocessors * 8;
  const double seconds = Stopwatch(*context).median([&] {
    const CallGuard guard(*context, kName);
    context->check(launchKernel(multiplyAddsKernel, blocks, kFmaThreads, 0, context->stream, nullptr, 0.5f, 0.25f),
                   kName);
  });
  return double(blocks) * kFmaThreads * kFmaRounds * kChains / seconds;
}
