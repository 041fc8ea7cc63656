//===- CompensatedSum.h - A sum of any number of terms ----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ogita, Rump and Oishi, "Accurate sum and dot product" (SIAM J. Sci. Comput. 2005). A plain f32 sum of a million
// terms of one sign may be off by a hundredth.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_COMPENSATEDSUM_H
#define MHCRT_SRC_COMPENSATEDSUM_H

namespace mhcrt {

/// A sum in f32 whose error does not grow with the number of its terms: what each addition rounds away is added beside
/// it. constexpr, for kernels too.
struct CompensatedSum {
  float sum = 0.0f, rest = 0.0f;

  constexpr void add(float term) {
    const float next = sum + term, taken = next - sum;
    rest += (sum - (next - taken)) + (term - taken);
    sum = next;
  }
  /// A sum that is not finite has no rest.
  constexpr float value() const { return rest - rest == 0.0f ? sum + rest : sum; }
};

} // namespace mhcrt

#endif // MHCRT_SRC_COMPENSATEDSUM_H
