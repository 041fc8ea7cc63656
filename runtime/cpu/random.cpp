//===- random.cpp - Random numbers by counter -----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out[e] = f(philox(counter = (e / 4, stream, offset), key = seed)[e mod 4])
//
// Plan    Four elements a block, in f64. It runs once per training, to make the weights.
// Bytes   4 per element.
// Needs   at most 2^34 elements.
// Round   f64, rounded once to f32.
//
//===------------------------------------------------------------------------===//
#include "cpu/Tokens.h"
#include "mhcrt/kernels.h"
#include "src/Context.h"
#include "src/KernelCall.h"
#include "src/Philox.h"

#include <cmath>

using namespace mhcrt;

static void uniform(const Words &words, double (&out)[4]) {
  for (int i = 0; i < 4; ++i)
    out[i] = std::ldexp(uniformBits(words[i]), -kUniformBits);
}

/// Two normal numbers of each pair of words. The first is never 0, whose logarithm would be infinite.
static void normal(const Words &words, double (&out)[4]) {
  constexpr double kTurn = 6.283185307179586;
  for (int i = 0; i < 4; i += 2) {
    const double radius = std::sqrt(-2 * std::log(std::ldexp(words[i] + 0.5, -32)));
    const double angle = kTurn * std::ldexp(words[i + 1], -32);
    out[i] = radius * std::cos(angle);
    out[i + 1] = radius * std::sin(angle);
  }
}

mhcrt_status mhcrt_random(mhcrt_context *ctx, const void *seed, int32_t seed_type, void *out, int32_t out_type,
                          int64_t S, int64_t E, int32_t distribution, int64_t stream) {
  KernelCall call(ctx, "mhcrt_random");
  call.equal("S", S, "2", 2).dim("E", E, 0, kMostRandom).dim("stream", stream, 0, UINT32_MAX);
  call.tensor("seed", seed, seed_type, {MHCRT_I64}, S).tensor("out", out, out_type, kF32, E);
  call.attribute("distribution", distribution, 2);
  if (!call.begin())
    return call.status();

  const PhiloxStream philox = {static_cast<const int64_t *>(seed), stream};
  float *to = static_cast<float *>(out);
  forTokens(ctx, divideUp(E, 4), 4 * sizeof(float), [&](int64_t first, int64_t last) {
    for (int64_t block = first; block < last; ++block) {
      double values[4];
      (distribution == MHCRT_DISTRIBUTION_NORMAL ? normal : uniform)(philox(block), values);
      for (int64_t e = 4 * block; e < std::min(E, 4 * block + 4); ++e)
        to[e] = static_cast<float>(values[e % 4]);
    }
  });
  return MHCRT_OK;
}
