//===- Dropout-inl.h - Dropout of one token's streams -----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dropout factors of a block of channels in post, post_bwd and rebuild: the scale where the dropout keeps an element of
// the streams, which are numbered in memory order, and 0 where it drops one.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_DROPOUT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_DROPOUT_INL_H
#undef MHCRT_CPU_DROPOUT_INL_H
#else
#define MHCRT_CPU_DROPOUT_INL_H
#endif

#include "cpu/Planes-inl.h"
#include "src/Philox.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// The factors of elements [first, first+count).
HWY_INLINE void dropoutFactors(const Dropout &dropout, int64_t first, int64_t count, float *factors) {
  for (int64_t i = 0; i < count;) {
    const Words words = dropout.philox((first + i) / 4);
    for (int64_t k = (first + i) % 4; k < 4 && i < count; ++k, ++i)
      factors[i] = dropout(words[k], 1.0f);
  }
}

/// Factors of channels [first, first+count) of token m.
HWY_INLINE void dropoutPlanes(const Dropout &dropout, int64_t m, int32_t layout, int64_t n, int64_t C, int64_t first,
                              int64_t count, Planes &factors) {
  const int64_t token = m * n * C;
  if (layout == MHCRT_LAYOUT_NC) {
    for (int64_t o = 0; o < n; ++o)
      dropoutFactors(dropout, token + o * C + first, count, factors[o]);
    return;
  }
  Planes flat;
  dropoutFactors(dropout, token + first * n, count * n, flat.values);
  deinterleave(flat.values, n, count, factors);
}

/// Selects 0 for a dropped element, even if it is not finite.
HWY_INLINE V drop(V value, V factor) { return hn::IfThenElseZero(hn::Ne(factor, hn::Zero(d)), hn::Mul(value, factor)); }

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_DROPOUT_INL_H
