//===- SinkhornBwd-inl.h - Sinkhorn backwards, one matrix per lane -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The iterations run again and leave a record per step: n*n values of the step's result, then per line the reciprocal
// of its divisor and 1, or 0 where a clamp made the divisor a constant. Shared by sinkhorn_bwd and pre_bwd.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_SINKHORN_BWD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_SINKHORN_BWD_INL_H
#undef MHCRT_CPU_SINKHORN_BWD_INL_H
#else
#define MHCRT_CPU_SINKHORN_BWD_INL_H
#endif

#include "cpu/Sinkhorn-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

HWY_INLINE void replayLine(V *m, int first, int step, int n, const SinkhornOptions &options, float *values,
                           float *scaleAt, float *freeAt) {
  const V one = hn::Set(d, 1.0f);
  if (options.init == MHCRT_INIT_LOG) {
    const V most = lineMax(m, first, step, n);
    V sum = hn::Zero(d);
    for (int k = 0; k < n; ++k) {
      const V e = expOfNegative(hn::Sub(m[first + k * step], most));
      store(e, values + (first + k * step) * kLanes);
      sum = hn::Add(sum, e);
    }
    const V shift = hn::Add(most, logV(sum)), scale = hn::Div(one, sum);
    for (int k = 0; k < n; ++k) {
      float *value = values + (first + k * step) * kLanes;
      store(hn::Mul(load(value), scale), value);
      m[first + k * step] = hn::Sub(m[first + k * step], shift);
    }
    return;
  }
  V sum = lineSum(m, first, step, n), isFree = one;
  const V eps = hn::Set(d, options.eps);
  if (options.denom == MHCRT_DENOM_ADD) {
    sum = hn::Add(sum, eps);
  } else if (options.denom == MHCRT_DENOM_CLAMP) {
    isFree = hn::IfThenElseZero(hn::Gt(sum, eps), one);
    sum = clampSum(sum, eps);
  }
  const V scale = hn::Div(one, sum);
  for (int k = 0; k < n; ++k) {
    m[first + k * step] = hn::Mul(m[first + k * step], scale);
    store(m[first + k * step], values + (first + k * step) * kLanes);
  }
  store(scale, scaleAt);
  store(isFree, freeAt);
}

HWY_INLINE void reverseLine(V *g, int first, int step, int n, bool inLogs, const float *values, const float *scaleAt,
                            const float *freeAt) {
  V sum = hn::Zero(d);
  for (int k = 0; k < n; ++k) {
    const V value = g[first + k * step];
    sum = inLogs ? hn::Add(sum, value) : hn::MulAdd(value, load(values + (first + k * step) * kLanes), sum);
  }
  if (inLogs) {
    for (int k = 0; k < n; ++k) {
      const int at = first + k * step;
      g[at] = hn::NegMulAdd(load(values + at * kLanes), sum, g[at]);
    }
    return;
  }
  sum = hn::Mul(sum, load(freeAt));
  const V scale = load(scaleAt);
  for (int k = 0; k < n; ++k)
    g[first + k * step] = hn::Mul(hn::Sub(g[first + k * step], sum), scale);
}

/// Where a line has its maximum: 1 over the number of equal ones; 0 elsewhere.
HWY_INLINE void maximumShares(const V *m, int n, bool rows, float *shares) {
  const V one = hn::Set(d, 1.0f);
  for (int line = 0; line < n; ++line) {
    const int first = rows ? line * n : line, step = rows ? 1 : n;
    const V most = lineMax(m, first, step, n);
    V count = hn::Zero(d);
    for (int k = 0; k < n; ++k)
      count = hn::Add(count, hn::IfThenElseZero(hn::Eq(m[first + k * step], most), one));
    const V share = hn::Div(one, count);
    for (int k = 0; k < n; ++k)
      store(hn::IfThenElseZero(hn::Eq(m[first + k * step], most), share), shares + (first + k * step) * kLanes);
  }
}

/// The gradient of the start from that of the first step: `start` is the exponential or the softmax.
HWY_INLINE void reverseStart(V *g, int n, const SinkhornOptions &options, const float *start, const float *shares) {
  const bool rows = options.init != MHCRT_INIT_EXP_COLMAX;
  for (int k = 0; k < n * n; ++k)
    g[k] = hn::Mul(g[k], load(start + k * kLanes));
  if (options.init == MHCRT_INIT_EXP)
    return;
  const float *weights = options.init == MHCRT_INIT_SOFTMAX_EPS ? start : shares;
  for (int line = 0; line < n; ++line) {
    const int first = rows ? line * n : line, step = rows ? 1 : n;
    const V sum = lineSum(g, first, step, n);
    for (int k = 0; k < n; ++k) {
      const int at = first + k * step;
      g[at] = hn::NegMulAdd(load(weights + at * kLanes), sum, g[at]);
    }
  }
}

/// In place: planes of the mix's gradient become the logits'. `logits` is overwritten. `history` has
/// sinkhornHistoryBytes().
template <int kSize>
HWY_INLINE void sinkhornBwdSized(float *planes, float *logits, int runtimeN, const SinkhornOptions &options,
                                 float *history) {
  const int n = kSize ? kSize : runtimeN, cells = n * n;
  const int64_t slot = static_cast<int64_t>(cells + 2 * n) * kLanes;
  const bool inLogs = options.init == MHCRT_INIT_LOG, isSoftmax = options.init == MHCRT_INIT_SOFTMAX_EPS;
  const bool rowsFirst = isSoftmax || options.order == MHCRT_ORDER_ROW_COL;
  const int64_t steps = 2 * options.iters - (isSoftmax ? 1 : 0);
  // The softmax is the first row step, so the steps that are recorded begin with the columns.
  auto byRows = [&](int64_t step) { return (step % 2 == 0) == (rowsFirst != isSoftmax); };
  V m[kSize ? kSize * kSize : 256];

  for (int k = 0; k < cells; ++k)
    m[k] = load(logits + k * kLanes);
  float *shares = history + steps * slot;
  if (options.init == MHCRT_INIT_EXP_ROWMAX || options.init == MHCRT_INIT_EXP_COLMAX)
    maximumShares(m, n, options.init == MHCRT_INIT_EXP_ROWMAX, shares);
  if (!inLogs)
    sinkhornExp(m, n, options);
  if (isSoftmax)
    for (int r = 0; r < n; ++r)
      normalizeLine(m, r * n, 1, n, MHCRT_DENOM_NONE, hn::Zero(d));
  for (int k = 0; k < cells; ++k) {
    store(m[k], logits + k * kLanes); // what the start's own gradient needs
    if (isSoftmax)
      m[k] = hn::Add(m[k], hn::Set(d, options.eps));
  }
  for (int64_t step = 0; step < steps; ++step) {
    float *values = history + step * slot, *scales = values + cells * kLanes, *frees = scales + n * kLanes;
    const bool rows = byRows(step);
    for (int line = 0; line < n; ++line)
      replayLine(m, rows ? line * n : line, rows ? 1 : n, n, options, values, scales + line * kLanes,
                 frees + line * kLanes);
  }

  V g[kSize ? kSize * kSize : 256];
  for (int k = 0; k < cells; ++k) {
    g[k] = load(planes + k * kLanes);
    if (inLogs)
      g[k] = hn::Mul(g[k], expV(m[k]));
  }
  for (int64_t step = steps - 1; step >= 0; --step) {
    const float *values = history + step * slot, *scales = values + cells * kLanes, *frees = scales + n * kLanes;
    const bool rows = byRows(step);
    for (int line = 0; line < n; ++line)
      reverseLine(g, rows ? line * n : line, rows ? 1 : n, n, inLogs, values, scales + line * kLanes,
                  frees + line * kLanes);
  }
  if (!inLogs)
    reverseStart(g, n, options, logits, shares);
  for (int k = 0; k < cells; ++k)
    store(g[k], planes + k * kLanes);
}

HWY_INLINE void sinkhornBwdPlanes(float *planes, float *logits, int64_t n, const SinkhornOptions &options,
                                  float *history) {
  if (n == 4)
    sinkhornBwdSized<4>(planes, logits, 4, options, history);
  else
    sinkhornBwdSized<0>(planes, logits, static_cast<int>(n), options, history);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_SINKHORN_BWD_INL_H
