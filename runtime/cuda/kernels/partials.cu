//===- partials.cu - Sums of partial sums ---------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The second stage of every sum over tokens: a thread adds one element's partial sums in their order, compensated.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Launch.cuh"
#include "cuda/kernels/Generic.h"
#include "cuda/tile/InOrder.cuh"
#include "src/CompensatedSum.h"

using namespace mhcrt;

namespace {

__global__ void addPartialsKernel(const float *partials, int64_t runs, int64_t stride, int64_t count,
                                  const float *start, float *out) {
  for (int64_t k = firstItem(); k < count; k += itemStep()) {
    CompensatedSum sum;
    sum.add(start ? start[k] : 0.0f);
    inOrder<8, int64_t>(
        0, runs, 1, [&](int64_t run) { return partials[run * stride + k]; }, [&](float v) { sum.add(v); });
    out[k] = sum.value();
  }
}

} // namespace

cudaError_t generic::addPartials(mhcrt_context &context, const float *partials, int64_t runs, int64_t stride,
                                 int64_t count, const void *start, void *out) {
  return launchKernel(addPartialsKernel, gridFor(context, count), kThreads, 0, context.stream, partials, runs, stride,
                      count, static_cast<const float *>(start), static_cast<float *>(out));
}
