//===- random.cu - Random numbers that depend on their place only ---------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generic: one thread per four elements, in f64, rounded once to f32. The words are those of the CPU, and so are
// uniform numbers; normal numbers go through the GPU's log, sin and cos.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Launch.cuh"
#include "cuda/host/Variants.h"
#include "src/Checks.h"
#include "src/Philox.h"

using namespace mhcrt;

namespace {

__device__ inline void uniform(const Words &words, double (&out)[4]) {
  for (int i = 0; i < 4; ++i)
    out[i] = ldexp(static_cast<double>(uniformBits(words[i])), -kUniformBits);
}

/// Two normal numbers of each pair of words. The first is never 0, whose logarithm would be infinite.
__device__ inline void normal(const Words &words, double (&out)[4]) {
  for (int i = 0; i < 4; i += 2) {
    const double radius = sqrt(-2 * log(ldexp(words[i] + 0.5, -32)));
    double sine, cosine; // of a turn in units of half a turn: a power of two, so that nothing is rounded
    sincospi(ldexp(static_cast<double>(words[i + 1]), -31), &sine, &cosine);
    out[i] = radius * cosine;
    out[i + 1] = radius * sine;
  }
}

__global__ void __launch_bounds__(kThreads) randomKernel(PhiloxStream philox, float *out, int64_t E, bool isNormal) {
  for (int64_t block = firstItem(); block < (E + 3) / 4; block += itemStep()) {
    const Words words = philox(block);
    double values[4];
    if (isNormal)
      normal(words, values);
    else
      uniform(words, values);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (4 * block + i < E)
        out[4 * block + i] = static_cast<float>(values[i]);
  }
}

cudaError_t launchGeneric(mhcrt_context &context, const RandomArgs &a) {
  return launchKernel(randomKernel, gridFor(context, divideUp(a.E, 4)), kThreads, 0, context.stream,
                      PhiloxStream{static_cast<const int64_t *>(a.seed), a.stream}, static_cast<float *>(a.out), a.E,
                      a.distribution == MHCRT_DISTRIBUTION_NORMAL);
}

} // namespace

static constexpr Variant<RandomArgs> kVariants[] = {{"generic", 0, kAnyArch, nullptr, launchGeneric}};

mhcrt_status mhcrt::runRandom(mhcrt_context &context, const RandomArgs &args) {
  if (!checkRandom(context, args))
    return context.status;
  return args.E ? launchVariant(context, "random", kVariants, args) : context.status;
}
