//===- Partials.h - Sums over tokens in a fixed order ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum over tokens is cut into runs whose ends depend on the number of tokens alone. Each run has a partial sum in
// scratch memory, and the partial sums are added in order: the same bits for any number of threads. Sums of many terms
// are compensated, so that their error does not grow with the number of tokens.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_PARTIALS_H
#define MHCRT_CPU_PARTIALS_H

#include "src/CompensatedSum.h"
#include "src/Context.h"

#include <algorithm>

namespace mhcrt {

/// Splits M tokens into runs of whole multiples of `multiple` tokens, at most `most` of them.
struct TokenRuns {
  int64_t M, length, count;

  TokenRuns(int64_t M, int64_t multiple, int64_t most)
      : M(M), length(roundUp(std::max<int64_t>(1, divideUp(M, most)), multiple)), count(divideUp(M, length)) {}

  int64_t first(int64_t run) const { return run * length; }
  int64_t last(int64_t run) const { return std::min(M, (run + 1) * length); }
};

/// As many sums as an array has terms.
struct CompensatedSums {
  float *sums, *rests; ///< as in CompensatedSum

  void clear(int64_t count) const {
    std::fill_n(sums, count, 0.0f);
    std::fill_n(rests, count, 0.0f);
  }
  void add(const float *terms, int64_t count) const {
    for (int64_t k = 0; k < count; ++k) {
      CompensatedSum sum = {sums[k], rests[k]};
      sum.add(terms[k]);
      sums[k] = sum.sum;
      rests[k] = sum.rest;
    }
  }
  /// `to` may be `sums`.
  void store(float *to, int64_t count) const {
    for (int64_t k = 0; k < count; ++k)
      to[k] = CompensatedSum{sums[k], rests[k]}.value();
  }
};

/// out[k] = start[k] + sum over runs of partials[run * stride + k]; `start` may be null, and may be `out`.
inline void addPartials(const float *partials, int64_t runs, int64_t stride, int64_t first, int64_t last,
                        const float *start, float *out) {
  constexpr int64_t kAtOnce = 256; // whole lines of memory
  float sums[kAtOnce], rests[kAtOnce];
  const CompensatedSums total = {sums, rests};
  for (int64_t k = first; k < last; k += kAtOnce) {
    const int64_t count = std::min(kAtOnce, last - k);
    total.clear(count);
    if (start)
      total.add(start + k, count);
    for (int64_t run = 0; run < runs; ++run)
      total.add(partials + run * stride + k, count);
    total.store(out + k, count);
  }
}

} // namespace mhcrt

#endif // MHCRT_CPU_PARTIALS_H
