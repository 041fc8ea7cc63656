//===- Sinkhorn-inl.h - Doubly stochastic matrices, one per lane -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps that the iterations and their gradient share.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_SINKHORN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_SINKHORN_INL_H
#undef MHCRT_CPU_SINKHORN_INL_H
#else
#define MHCRT_CPU_SINKHORN_INL_H
#endif

#include "cpu/Gates-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Rounding of the result of every op of an iteration.
struct KeepF32 {
  V operator()(V v) const { return v; }
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

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_SINKHORN_INL_H
