//===- Measure.cu - Time of a call, copy speed and multiply-add peak ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Context.h"
#include "mhcrt/measure.h"

#include <algorithm>
#include <array>

using namespace mhcrt;

static constexpr int kReplays = 9;
static constexpr int kFmaThreads = 256, kFmaRounds = 4096, kChains = 8;

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

namespace {
/// Two events around what a function enqueues.
class Stopwatch {
public:
  explicit Stopwatch(mhcrt_context &context) : context(context) {
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
  }
  Stopwatch(const Stopwatch &) = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;
  ~Stopwatch() {
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
  }

  /// Median seconds of kReplays turns. Negative with the context's error set.
  template <typename Body>
  double median(Body body) {
    std::array<float, kReplays> milliseconds;
    for (float &time : milliseconds) {
      cudaEventRecord(start, context.stream);
      body();
      cudaEventRecord(stop, context.stream);
      if (context.check(cudaEventSynchronize(stop), "mhcrt_measure") != MHCRT_OK)
        return -1;
      cudaEventElapsedTime(&time, start, stop);
    }
    std::nth_element(milliseconds.begin(), milliseconds.begin() + kReplays / 2, milliseconds.end());
    return milliseconds[kReplays / 2] * 1e-3;
  }

private:
  mhcrt_context &context;
  cudaEvent_t start = nullptr, stop = nullptr;
};
} // namespace

/// The call as a graph; null with the context's error set.
static cudaGraphExec_t capture(mhcrt_context &context, mhcrt_status (*call)(void *), void *user) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaError_t error = cudaStreamBeginCapture(context.stream, cudaStreamCaptureModeThreadLocal);
  const mhcrt_status status = call(user);
  if (error == cudaSuccess)
    error = cudaStreamEndCapture(context.stream, &graph);
  if (error == cudaSuccess && status == MHCRT_OK)
    error = cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphDestroy(graph);
  context.check(error, "mhcrt_measure_call");
  return exec;
}

double mhcrt_measure_call(mhcrt_context *context, mhcrt_status (*call)(void *user), void *user) {
  // The first turn loads code and makes the scratch memory grow, which a capture may not.
  if (call(user) != MHCRT_OK || mhcrt_synchronize(context) != MHCRT_OK)
    return -1;
  double seconds = -1;
  if (cudaGraphExec_t exec = capture(*context, call, user)) {
    seconds = Stopwatch(*context).median([&] { cudaGraphLaunch(exec, context->stream); });
    cudaGraphExecDestroy(exec);
  }
  return seconds;
}

double mhcrt_measure_copy_bandwidth(mhcrt_context *context, const void *from, void *to, int64_t bytes) {
  constexpr int kCopies = 4;
  const double seconds = Stopwatch(*context).median([&] {
    for (int i = 0; i < kCopies; ++i)
      cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, context->stream);
  });
  return 2.0 * kCopies * bytes / seconds;
}

double mhcrt_measure_fma_peak(mhcrt_context *context) {
  const int blocks = context->multiprocessors * 8;
  const double seconds = Stopwatch(*context).median(
      [&] { multiplyAddsKernel<<<blocks, kFmaThreads, 0, context->stream>>>(nullptr, 0.5f, 0.25f); });
  return double(blocks) * kFmaThreads * kFmaRounds * kChains / seconds;
}
