//===- aggregate_bwd.cpp - Gradients of aggregate in one pass -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_x[m,i,c]   = d_x_in[m,i,c] + h_pre[m,i] * d_u[m,c]
//   d_h_pre[m,i] = sum_c d_u[m,c] * x[m,i,c]
//
// Plan    Lanes along C; the n sums and n weights of a token in registers, one pass. nC: rows side by side. Cn: blocks
//         of 256 channels as planes of f32. Large outputs bypass the caches.
// Bytes   per token (2n+1)*C elements and 8*n; n*C more for d_x_in.
// Needs   nothing; streaming stores need rows of a multiple of 64 bytes.
// Round   f32 products and sums, one rounding at the store. d_x may be d_x_in.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/aggregate_bwd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Planes-inl.h"
#include "cpu/Tiles-inl.h"

#include "cpu/Tokens.h"
#include "src/Checks.h"

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

void aggregateBwdTokens(const AggregateBwdCall &args, int64_t first, int64_t last) {
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

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(aggregateBwdTokens);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runAggregateBwd(mhcrt_context &context, const AggregateBwdArgs &a) {
  if (!checkAggregateBwd(context, a))
    return context.status;

  const int64_t rowBytes = a.C * mhcrt_dtype_bytes(a.x_type);
  // Where d_x starts from d_x_in, its lines are in the caches already.
  const bool stream = !a.d_x_in && a.d_x_type == a.x_type && streams(a.d_x, a.M * a.n, rowBytes);
  const AggregateBwdCall args = {a, stream};
  forTokens(context, a.M, (2 * a.n + 1) * rowBytes,
            [&](int64_t first, int64_t last) { HWY_DYNAMIC_DISPATCH(aggregateBwdTokens)(args, first, last); });
  return MHCRT_OK;
}

MHCRT_ENTRY(aggregate_bwd, AggregateBwd)
#endif // HWY_ONCE
