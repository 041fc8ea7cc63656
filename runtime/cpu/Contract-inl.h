//===- Contract-inl.h - Rows added up ---------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_CONTRACT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_CONTRACT_INL_H
#undef MHCRT_CPU_CONTRACT_INL_H
#else
#define MHCRT_CPU_CONTRACT_INL_H
#endif

#include "cpu/Simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Rows at a distance of `stride` elements.
template <bool kStream, typename X, typename T>
HWY_INLINE void contractRows(const X *x, int64_t stride, int64_t n, int64_t count, V divisor, T *out) {
  int64_t c = 0;
  for (; c + 2 * kLanes <= count; c += 2 * kLanes) {
    V sumA, sumB, a, b;
    for (int64_t i = 0; i < n; ++i) {
      prefetchRow(x + i * stride, c, count, n * stride);
      loadPairAs<T>(x + i * stride + c, a, b);
      sumA = i == 0 ? a : hn::Add(sumA, a);
      sumB = i == 0 ? b : hn::Add(sumB, b);
    }
    storePair<kStream>(hn::Div(sumA, divisor), hn::Div(sumB, divisor), out + c);
  }
  for (; c < count; c += kLanes) {
    const int64_t lanes = HWY_MIN(kLanes, count - c);
    const auto at = [&](int64_t i) HWY_ATTR {
      const X *from = x + i * stride + c;
      return loadSome(from, lanes);
    };
    V sum = at(0);
    for (int64_t i = 1; i < n; ++i)
      sum = hn::Add(sum, at(i));
    sum = hn::Div(sum, divisor);
    storeSome(sum, out + c, lanes);
  }
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_CONTRACT_INL_H
