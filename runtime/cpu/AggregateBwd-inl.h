//===- AggregateBwd-inl.h - Gradients of u = sum_i h[i] x[i] -----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by aggregate_bwd and, for d_h_pre, pre_bwd.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_AGGREGATE_BWD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_AGGREGATE_BWD_INL_H
#undef MHCRT_CPU_AGGREGATE_BWD_INL_H
#else
#define MHCRT_CPU_AGGREGATE_BWD_INL_H
#endif

#include "cpu/Planes-inl.h"

#include "cpu/Entry.h"

#ifndef MHCRT_CPU_AGGREGATE_BWD_CALL
#define MHCRT_CPU_AGGREGATE_BWD_CALL
namespace mhcrt {
struct AggregateBwdCall : AggregateBwdArgs {
  bool bypasses; ///< the caches
};
} // namespace mhcrt
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Rows at a distance of `stride`; x is null when the sums are not wanted, dx when it is not.
template <bool kStream, typename T, typename A>
HWY_INLINE void aggregateBwdRows(const T *du, const T *x, const A *dxIn, A *dx, int64_t stride, const float *h,
                                 int64_t n, int64_t count, V *sums) {
  int64_t c = 0;
  for (; c + 2 * kLanes <= count; c += 2 * kLanes) {
    V uA, uB, a, b;
    loadPair(du + c, uA, uB);
    for (int64_t i = 0; i < n; ++i) {
      if (x) {
        prefetchRow(x + i * stride, c, count, n * stride);
        loadPair(x + i * stride + c, a, b);
        sums[i] = hn::MulAdd(uB, b, hn::MulAdd(uA, a, sums[i]));
      }
      if (!dx)
        continue;
      a = b = hn::Zero(d);
      if (dxIn)
        loadPairAs<T>(dxIn + i * stride + c, a, b);
      const V weight = hn::Set(d, h[i]);
      storePairAs<kStream, T>(hn::MulAdd(weight, uA, a), hn::MulAdd(weight, uB, b), dx + i * stride + c);
    }
  }
  for (; c < count; c += kLanes) {
    const int64_t lanes = HWY_MIN(kLanes, count - c);
    const V u = loadSome(du + c, lanes);
    for (int64_t i = 0; i < n; ++i) {
      if (x)
        sums[i] = hn::MulAdd(u, loadSome(x + i * stride + c, lanes), sums[i]);
      if (!dx)
        continue;
      const V start = dxIn ? loadSome(dxIn + i * stride + c, lanes) : hn::Zero(d);
      storeSome(hn::MulAdd(hn::Set(d, h[i]), u, start), dx + i * stride + c, lanes);
    }
  }
}

template <typename T, typename A>
HWY_INLINE void aggregateBwdToken(const AggregateBwdCall &args, int64_t m, V *sums) {
  const int64_t n = args.n, C = args.C, token = m * n * C;
  const T *du = static_cast<const T *>(args.d_u) + m * C;
  const T *x = args.d_h_pre ? static_cast<const T *>(args.x) + token : nullptr;
  const A *dxIn = args.d_x_in ? static_cast<const A *>(args.d_x_in) + token : nullptr;
  A *dx = args.d_x ? static_cast<A *>(args.d_x) + token : nullptr;
  const float *h = floats(args.h_pre) + m * n;
  // A constant number of streams lets the compiler keep sums and weights in registers.
  if (n == 4 && args.bypasses)
    aggregateBwdRows<true>(du, x, dxIn, dx, C, h, 4, C, sums);
  else if (n == 4)
    aggregateBwdRows<false>(du, x, dxIn, dx, C, h, 4, C, sums);
  else
    aggregateBwdRows<false>(du, x, dxIn, dx, C, h, n, C, sums);
}

HWY_INLINE void aggregateBwdBlocks(const AggregateBwdCall &args, int64_t m, V *sums) {
  const int64_t n = args.n, C = args.C;
  Planes x, dx;
  HWY_ALIGN float du[kBlock];
  for (int64_t first = 0; first < C; first += kBlock) {
    const int64_t count = HWY_MIN(kBlock, C - first);
    widenAny(args.d_u, args.x_type, m * C + first, count, du);
    if (args.d_h_pre)
      loadPlanesAny(args.x, args.x_type, m, args.layout, n, C, first, count, x);
    if (args.d_x_in)
      loadPlanesAny(args.d_x_in, args.d_x_in_type, m, args.layout, n, C, first, count, dx);
    const float *start = args.d_x_in ? dx.values : nullptr;
    aggregateBwdRows<false>(du, args.d_h_pre ? x.values : nullptr, start, args.d_x ? dx.values : nullptr, kBlock,
                            floats(args.h_pre) + m * n, n, count, sums);
    if (args.d_x)
      storePlanesAny(dx, args.d_x_type, m, args.layout, n, C, first, count, args.d_x);
  }
}

inline void aggregateBwdTokens(const AggregateBwdCall &args, int64_t first, int64_t last) {
  const bool rows = args.layout == MHCRT_LAYOUT_NC && (!args.d_x_in || args.d_x_in_type == args.d_x_type);
  V sums[16];
  for (int64_t m = first; m < last; ++m) {
    for (int64_t i = 0; i < args.n; ++i)
      sums[i] = hn::Zero(d);
    if (rows && args.x_type == MHCRT_F32)
      aggregateBwdToken<float, float>(args, m, sums);
    else if (rows && args.x_type == MHCRT_BF16 && args.d_x_type == MHCRT_F32)
      aggregateBwdToken<Bf16, float>(args, m, sums);
    else if (rows && args.x_type == MHCRT_BF16)
      aggregateBwdToken<Bf16, Bf16>(args, m, sums);
    else
      aggregateBwdBlocks(args, m, sums);
    if (args.d_h_pre)
      for (int64_t i = 0; i < args.n; ++i)
        floats(args.d_h_pre)[m * args.n + i] = sumLanes(sums[i]);
  }
  if (args.bypasses)
    hwy::FlushStream();
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_AGGREGATE_BWD_INL_H
