//===- Permutation-inl.h - Mixture of permutations, one per lane -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by permutation_mix, pre and their gradients.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_PERMUTATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_PERMUTATION_INL_H
#undef MHCRT_CPU_PERMUTATION_INL_H
#else
#define MHCRT_CPU_PERMUTATION_INL_H
#endif

#include "cpu/Gates-inl.h"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// logits[p][lane], p in lexicographic order, to mix[r*n + c][lane]. The two must not overlap.
HWY_INLINE void permutationPlanes(const float *logits, int64_t R, int64_t n, float *mix) {
  V most = load(logits);
  for (int64_t p = 1; p < R; ++p)
    most = hn::Max(most, load(logits + p * kLanes));
  for (int64_t k = 0; k < n * n; ++k)
    store(hn::Zero(d), mix + k * kLanes);

  int order[16];
  for (int r = 0; r < n; ++r)
    order[r] = r;
  V sum = hn::Zero(d);
  for (int64_t p = 0; p < R; ++p) {
    const V e = expOfNegative(hn::Sub(load(logits + p * kLanes), most));
    sum = hn::Add(sum, e);
    for (int64_t r = 0; r < n; ++r) {
      float *cell = mix + (r * n + order[r]) * kLanes;
      store(hn::Add(load(cell), e), cell);
    }
    std::next_permutation(order, order + n);
  }
  for (int64_t k = 0; k < n * n; ++k)
    store(hn::Div(load(mix + k * kLanes), sum), mix + k * kLanes);
}

/// grad[r*n + c][lane] of the mix to that of the logits, which takes the place of logits[p][lane].
HWY_INLINE void permutationBwdPlanes(const float *grad, int64_t R, int64_t n, float *logits) {
  V most = load(logits);
  for (int64_t p = 1; p < R; ++p)
    most = hn::Max(most, load(logits + p * kLanes));
  int order[16];
  auto cells = [&] { // of the next permutation
    V sum = load(grad + order[0] * kLanes);
    for (int64_t r = 1; r < n; ++r)
      sum = hn::Add(sum, load(grad + (r * n + order[r]) * kLanes));
    std::next_permutation(order, order + n);
    return sum;
  };
  for (int r = 0; r < n; ++r)
    order[r] = r;
  V sum = hn::Zero(d), weighted = hn::Zero(d);
  for (int64_t p = 0; p < R; ++p) {
    const V e = expOfNegative(hn::Sub(load(logits + p * kLanes), most));
    store(e, logits + p * kLanes);
    sum = hn::Add(sum, e);
    weighted = hn::MulAdd(e, cells(), weighted);
  }
  const V mean = hn::Div(weighted, sum);
  for (int r = 0; r < n; ++r)
    order[r] = r;
  for (int64_t p = 0; p < R; ++p) {
    const V weight = hn::Div(load(logits + p * kLanes), sum);
    store(hn::Mul(weight, hn::Sub(cells(), mean)), logits + p * kLanes);
  }
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_PERMUTATION_INL_H
