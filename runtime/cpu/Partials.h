//===- Partials.h - Sums over tokens in a fixed order ------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum over tokens is cut into runs whose ends depend on the number of tokens alone. Each run has a partial sum in
// scratch memory, and the partial sums are added in order: the same bits for any number of threads.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_PARTIALS_H
#define MHCRT_CPU_PARTIALS_H

#include "src/Context.h"

#include <algorithm>

namespace mhcrt {

/// How M tokens are cut into runs of whole multiples of `multiple` tokens, at most `most` of them.
struct TokenRuns {
  int64_t M, length, count;

  TokenRuns(int64_t M, int64_t multiple, int64_t most)
      : M(M), length(roundUp(std::max<int64_t>(1, divideUp(M, most)), multiple)), count(divideUp(M, length)) {}

  int64_t first(int64_t run) const { return run * length; }
  int64_t last(int64_t run) const { return std::min(M, (run + 1) * length); }
};

/// out[k] = start[k] + sum over runs of partials[run * stride + k]; `start` may be null, and may be `out`.
inline void addPartials(const float *partials, int64_t runs, int64_t stride, int64_t first, int64_t last,
                        const float *start, float *out) {
  for (int64_t k = first; k < last; ++k)
    out[k] = start ? start[k] : 0.0f;
  // Whole rows at a time: the additions of one k stay in the order of the runs.
  for (int64_t run = 0; run < runs; ++run)
    for (int64_t k = first; k < last; ++k)
      out[k] += partials[run * stride + k];
}

} // namespace mhcrt

#endif // MHCRT_CPU_PARTIALS_H
