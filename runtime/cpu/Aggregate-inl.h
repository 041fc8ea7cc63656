//===- Aggregate-inl.h - u = sum_i h[i] x[i] of one token -------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by aggregate, pre and head, so that the three agree bit for bit.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_AGGREGATE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_AGGREGATE_INL_H
#undef MHCRT_CPU_AGGREGATE_INL_H
#else
#define MHCRT_CPU_AGGREGATE_INL_H
#endif

#include "cpu/Planes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// One vector, `count` of its lanes.
template <typename X>
HWY_INLINE V weigh(const X *x, int64_t stride, const float *h, int64_t n, int64_t count) {
  V sum = hn::Mul(hn::Set(d, h[0]), loadSome(x, count));
  for (int64_t i = 1; i < n; ++i)
    sum = hn::MulAdd(hn::Set(d, h[i]), loadSome(x + i * stride, count), sum);
  return sum;
}

/// Streams at a distance of `stride` elements.
template <bool kStream, typename X, typename T>
HWY_INLINE void aggregateRows(const X *x, int64_t stride, const float *h, int64_t n, int64_t count, T *u) {
  int64_t c = 0;
  for (; c + 2 * kLanes <= count; c += 2 * kLanes) {
    V sumA, sumB, a, b;
    for (int64_t i = 0; i < n; ++i) {
      prefetchRow(x + i * stride, c, count, n * stride);
      loadPairAs<T>(x + i * stride + c, a, b);
      const V weight = hn::Set(d, h[i]);
      sumA = i == 0 ? hn::Mul(weight, a) : hn::MulAdd(weight, a, sumA);
      sumB = i == 0 ? hn::Mul(weight, b) : hn::MulAdd(weight, b, sumB);
    }
    storePair<kStream>(sumA, sumB, u + c);
  }
  for (; c < count; c += kLanes) {
    const int64_t lanes = HWY_MIN(kLanes, count - c);
    const V sum = weigh(x + c, stride, h, n, lanes);
    storeSome(sum, u + c, lanes);
  }
}

template <bool kStream, typename T>
HWY_INLINE void aggregateTokenAs(const T *x, const float *h, int64_t n, int64_t C, int32_t layout, T *u) {
  if (layout == MHCRT_LAYOUT_NC) {
    // A constant number of streams lets the compiler keep the weights in registers.
    if (n == 4)
      return aggregateRows<kStream>(x, C, h, 4, C, u);
    return aggregateRows<kStream>(x, C, h, n, C, u);
  }
  Planes planes;
  for (int64_t c = 0; c < C; c += kBlock) {
    const int64_t count = HWY_MIN(kBlock, C - c);
    loadPlanes(x, layout, n, C, c, count, planes);
    aggregateRows<kStream>(planes.values, kBlock, h, n, count, u + c);
  }
}

template <typename T>
HWY_INLINE void aggregateToken(const T *x, const float *h, int64_t n, int64_t C, int32_t layout, T *u, bool stream) {
  if (stream)
    aggregateTokenAs<true>(x, h, n, C, layout, u);
  else
    aggregateTokenAs<false>(x, h, n, C, layout, u);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_AGGREGATE_INL_H
