//===- Sinkhorn-inl.h - Doubly stochastic matrices, one per lane -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// planes[r*n + c][lane] is element (r, c) of the lane's matrix. Shared by sinkhorn and pre.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_SINKHORN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_SINKHORN_INL_H
#undef MHCRT_CPU_SINKHORN_INL_H
#else
#define MHCRT_CPU_SINKHORN_INL_H
#endif

#include "cpu/Newton-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Rounding of the result of every op of an iteration.
struct KeepF32 {
  V operator()(V v) const { return v; }
};
struct RoundTo {
  int64_t format;
  V operator()(V v) const { return roundedTo(v, format); }
};

// A line is a row or a column: `count` elements from `first` on, `step` apart.

HWY_INLINE V lineSum(const V *m, int first, int step, int count) {
  V sum = m[first];
  for (int k = 1; k < count; ++k)
    sum = hn::Add(sum, m[first + k * step]);
  return sum;
}

/// May leave out a NaN: then sums over the line have it.
HWY_INLINE V lineMax(const V *m, int first, int step, int count) {
  V most = m[first];
  for (int k = 1; k < count; ++k)
    most = hn::Max(most, m[first + k * step]);
  return most;
}

HWY_INLINE V lineMaxOrNaN(const V *m, int first, int step, int count) {
  V most = lineMax(m, first, step, count);
  for (int k = 0; k < count; ++k)
    most = keepNaN(m[first + k * step], most);
  return most;
}

/// The sum, or at least eps; a sum that is NaN stays so.
HWY_INLINE V clampSum(V sum, V eps) { return hn::IfThenElse(hn::Lt(sum, eps), eps, sum); }

/// Divides by the sum: one division per line. Multiplying by the reciprocal costs one more rounding, and the next
/// steps take it out again; of 16-bit numbers it never changes what their quotient rounds to.
template <typename Round = KeepF32>
HWY_INLINE void normalizeLine(V *m, int first, int step, int count, int32_t denom, V eps, Round round = {}) {
  V sum = round(lineSum(m, first, step, count));
  if (denom == MHCRT_DENOM_ADD)
    sum = round(hn::Add(sum, eps));
  else if (denom == MHCRT_DENOM_CLAMP)
    sum = clampSum(sum, eps);
  const V scale = hn::Div(hn::Set(d, 1.0f), sum);
  for (int k = 0; k < count; ++k)
    m[first + k * step] = round(hn::Mul(m[first + k * step], scale));
}

template <typename Round>
HWY_INLINE void subtractLogSumExp(V *m, int first, int step, int count, Round round) {
  const V most = lineMax(m, first, step, count);
  V sum = hn::Zero(d);
  for (int k = 0; k < count; ++k)
    sum = hn::Add(sum, round(expOfNegative(round(hn::Sub(m[first + k * step], most)))));
  const V shift = round(hn::Add(most, round(logV(round(sum)))));
  for (int k = 0; k < count; ++k)
    m[first + k * step] = round(hn::Sub(m[first + k * step], shift));
}

template <typename Round>
HWY_INLINE void sinkhornStep(V *m, int n, bool rows, const SinkhornOptions &options, Round round) {
  const V eps = round(hn::Set(d, options.eps));
  for (int line = 0; line < n; ++line) {
    const int first = rows ? line * n : line, step = rows ? 1 : n;
    if (options.init == MHCRT_INIT_LOG)
      subtractLogSumExp(m, first, step, n, round);
    else
      normalizeLine(m, first, step, n, options.denom, eps, round);
  }
}

template <typename Round>
HWY_INLINE void shiftedExp(V *m, int first, int step, int count, Round round) {
  const V shift = lineMaxOrNaN(m, first, step, count);
  for (int k = 0; k < count; ++k)
    m[first + k * step] = round(expOfNegative(round(hn::Sub(m[first + k * step], shift))));
}

/// The function of the logits that the steps start from, but for the sums of a softmax and eps.
template <typename Round = KeepF32>
HWY_INLINE void startFunction(V *m, int n, const SinkhornOptions &options, Round round = {}) {
  if (options.init == MHCRT_INIT_EXP_MAX)
    return shiftedExp(m, 0, 1, n * n, round);
  if (options.isSigmoid()) {
    for (int k = 0; k < n * n; ++k)
      m[k] = round(sigmoid(m[k]));
    return;
  }
  const bool rows = options.init != MHCRT_INIT_EXP_COLMAX;
  for (int line = 0; line < n; ++line) {
    const int first = rows ? line * n : line, step = rows ? 1 : n;
    if (options.init == MHCRT_INIT_EXP) {
      for (int k = first; k < first + n * step; k += step)
        m[k] = round(expV(m[k]));
      continue;
    }
    shiftedExp(m, first, step, n, round);
  }
}

/// Factors of lines, of which `others` are those of the other lines: one over the scaled sum and eps.
HWY_INLINE void potentialStep(const V *m, int n, bool rows, V *mine, const V *others, V eps) {
  for (int line = 0; line < n; ++line) {
    const int first = rows ? line * n : line, step = rows ? 1 : n;
    V sum = hn::Mul(m[first], others[0]);
    for (int k = 1; k < n; ++k)
      sum = hn::MulAdd(m[first + k * step], others[k], sum);
    mine[line] = hn::Div(hn::Set(d, 1.0f), hn::Add(sum, eps));
  }
}

template <int kSize>
HWY_INLINE void scaleByPotentials(V *m, int n, const SinkhornOptions &options) {
  V rows[kSize ? kSize : 16], columns[kSize ? kSize : 16];
  for (int k = 0; k < n; ++k)
    rows[k] = columns[k] = hn::Set(d, 1.0f);
  const V eps = hn::Set(d, options.eps);
  for (int64_t step = 0; step < options.steps(); ++step) {
    if (options.rowsAt(step))
      potentialStep(m, n, true, rows, columns, eps);
    else
      potentialStep(m, n, false, columns, rows, eps);
  }
  for (int k = 0; k < n * n; ++k)
    m[k] = hn::Mul(hn::Mul(m[k], rows[k / n]), columns[k % n]);
}

/// kSize is n where the compiler should know it, so that the matrix stays in registers; 0 where it should not.
template <int kSize, typename Round>
HWY_INLINE void sinkhornSized(float *planes, int runtimeN, const SinkhornOptions &options, Round round) {
  const int n = kSize ? kSize : runtimeN;
  V m[kSize ? kSize * kSize : 256];
  for (int k = 0; k < n * n; ++k)
    m[k] = round(load(planes + k * kLanes));

  const bool rowsFirst = options.order == MHCRT_ORDER_ROW_COL, isSoftmax = options.init == MHCRT_INIT_SOFTMAX_EPS;
  const V eps = round(hn::Set(d, options.eps));
  int64_t iterations = options.iters;
  if (isSoftmax) {
    // The softmax is the first row step, and one op; its sum has no eps.
    startFunction(m, n, options);
    for (int r = 0; r < n; ++r) {
      normalizeLine(m, r * n, 1, n, MHCRT_DENOM_NONE, hn::Zero(d));
      for (int c = 0; c < n; ++c)
        m[r * n + c] = round(hn::Add(round(m[r * n + c]), eps));
    }
  } else if (options.init != MHCRT_INIT_LOG) {
    startFunction(m, n, options, round);
    for (int k = 0; k < n * n && options.addsEps(); ++k)
      m[k] = round(hn::Add(m[k], eps));
  }
  if (options.hasPotentials()) {
    scaleByPotentials<kSize>(m, n, options);
  } else if (isSoftmax) {
    sinkhornStep(m, n, false, options, round);
    for (--iterations; iterations > 0; --iterations) {
      sinkhornStep(m, n, true, options, round);
      sinkhornStep(m, n, false, options, round);
    }
  } else {
    for (; iterations > 0; --iterations) {
      sinkhornStep(m, n, rowsFirst, options, round);
      sinkhornStep(m, n, !rowsFirst, options, round);
    }
    if (options.init == MHCRT_INIT_LOG)
      for (int k = 0; k < n * n; ++k)
        m[k] = round(expV(m[k]));
  }
  for (int k = 0; k < n * n; ++k)
    store(m[k], planes + k * kLanes);
}

template <typename Round>
HWY_INLINE void sinkhornRounded(float *planes, int64_t n, const SinkhornOptions &options, Round round) {
  if (n == 4)
    sinkhornSized<4>(planes, 4, options, round);
  else
    sinkhornSized<0>(planes, static_cast<int>(n), options, round);
}

template <int kSize>
HWY_INLINE void newtonSized(float *planes, int runtimeN, int64_t iters) {
  const int n = kSize ? kSize : runtimeN;
  V m[kSize ? kSize * kSize : 256];
  for (int k = 0; k < n * n; ++k)
    m[k] = load(planes + k * kLanes);
  newtonLimit<kSize>(m, n, iters);
  for (int k = 0; k < n * n; ++k)
    store(m[k], planes + k * kLanes);
}

HWY_INLINE void sinkhornPlanes(float *planes, int64_t n, const SinkhornOptions &options) {
  if (options.isNewton())
    n == 4 ? newtonSized<4>(planes, 4, options.iters) : newtonSized<0>(planes, static_cast<int>(n), options.iters);
  else if (options.format == MHCRT_FORMAT_F32)
    sinkhornRounded(planes, n, options, KeepF32());
  else
    sinkhornRounded(planes, n, options, RoundTo{options.format});
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_SINKHORN_INL_H
