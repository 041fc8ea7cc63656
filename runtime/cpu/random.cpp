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
#include "cpu/Entry.h"
#include "cpu/Tokens.h"
#include "src/Checks.h"
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

mhcrt_status mhcrt::runRandom(mhcrt_context &context, const RandomArgs &a) {
  if (!checkRandom(context, a))
    return context.status;

  const PhiloxStream philox = {static_cast<const int64_t *>(a.seed), a.stream};
  float *to = floats(a.out);
  forTokens(context, divideUp(a.E, 4), 4 * sizeof(float), [&](int64_t first, int64_t last) {
    for (int64_t block = first; block < last; ++block) {
      double values[4];
      (a.distribution == MHCRT_DISTRIBUTION_NORMAL ? normal : uniform)(philox(block), values);
      for (int64_t e = 4 * block; e < std::min(a.E, 4 * block + 4); ++e)
        to[e] = static_cast<float>(values[e % 4]);
    }
  });
  return MHCRT_OK;
}

MHCRT_ENTRY(random, Random)
