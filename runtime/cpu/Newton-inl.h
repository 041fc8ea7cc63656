//===- Newton-inl.h - Doubly stochastic limits, one per lane ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Newton's steps to diag(e^u) exp(Z) diag(e^v) whose rows and columns sum to one, and the gradient of that limit
// (math.md 3.4). The numbers that decide are those of NewtonRule, which the op's decomposition has as well. A lane that
// is there changes no more, so that a matrix does not depend on its neighbours.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_NEWTON_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_NEWTON_INL_H
#undef MHCRT_CPU_NEWTON_INL_H
#else
#define MHCRT_CPU_NEWTON_INL_H
#endif

#include "cpu/Gates-inl.h"
#include "src/NewtonRule.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

using LaneMask = hn::Mask<D>;

/// A NaN stays.
HWY_INLINE V atLeast(V v, float least) { return hn::IfThenElse(hn::Lt(v, hn::Set(d, least)), hn::Set(d, least), v); }

/// In fours, so that sums of 16 cells round as seldom as a sum of 6.
HWY_INLINE V sumOfLine(const V *m, int first, int step, int count) {
  V sum = hn::Zero(d);
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    const V *four = m + first + k * step;
    sum = hn::Add(sum, hn::Add(hn::Add(four[0], four[step]), hn::Add(four[2 * step], four[3 * step])));
  }
  for (; k < count; ++k)
    sum = hn::Add(sum, m[first + k * step]);
  return sum;
}

/// Weights between rows: how much two of them share of the columns. Above the diagonal alone. Four rows at a time, so
/// that a product costs little more than a load.
HWY_INLINE void sharesOfRows(const V *m, int n, V *w) {
  for (int i = 0; i < n; ++i) {
    const V *row = m + i * n;
    int j = i + 1;
    for (; j + 4 <= n; j += 4) {
      const V *others = m + j * n;
      V a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
      for (int k = 0; k < n; ++k) {
        a = hn::MulAdd(row[k], others[k], a);
        b = hn::MulAdd(row[k], others[n + k], b);
        c = hn::MulAdd(row[k], others[2 * n + k], c);
        e = hn::MulAdd(row[k], others[3 * n + k], e);
      }
      w[i * n + j] = a, w[i * n + j + 1] = b, w[i * n + j + 2] = c, w[i * n + j + 3] = e;
    }
    for (; j < n; ++j) {
      V sum = hn::Mul(row[0], m[j * n]);
      for (int k = 1; k < n; ++k)
        sum = hn::MulAdd(row[k], m[j * n + k], sum);
      w[i * n + j] = sum;
    }
  }
}

/// The reciprocal of what row k shares with the rows behind it.
HWY_INLINE V inverseDegree(const V *w, int n, int k) {
  V degree = w[k * n + k + 1];
  for (int j = k + 2; j < n; ++j)
    degree = hn::Add(degree, w[k * n + j]);
  return hn::Div(hn::Set(d, 1.0f), atLeast(degree, kLeastDegree));
}

/// Solves sum_j w[i,j] (x[i] - x[j]) = x[i] in place, the last x being 0. Rows are eliminated as nodes of a network
/// are: nothing is subtracted, so that weak links keep their digits. Overwrites w.
template <int kSize>
HWY_INLINE void solveShares(V *w, int n, V *x) {
  V inverse[kSize ? kSize : 16];
  for (int k = 0; k + 1 < n; ++k) {
    inverse[k] = inverseDegree(w, n, k);
    for (int i = k + 1; i < n; ++i) {
      const V share = hn::Mul(w[k * n + i], inverse[k]);
      x[i] = hn::MulAdd(share, x[k], x[i]);
      for (int j = i + 1; j < n; ++j)
        w[i * n + j] = hn::MulAdd(share, w[k * n + j], w[i * n + j]);
    }
  }
  x[n - 1] = hn::Zero(d);
  for (int k = n - 2; k >= 0; --k) {
    V sum = x[k];
    for (int j = k + 1; j < n - 1; ++j)
      sum = hn::MulAdd(w[k * n + j], x[j], sum);
    x[k] = hn::Mul(sum, inverse[k]);
  }
}

HWY_INLINE void normalizeColumns(V *m, int n, LaneMask isActive) {
  const V one = hn::Set(d, 1.0f);
  for (int c = 0; c < n; ++c) {
    const V scale = hn::IfThenElse(isActive, hn::Div(one, sumOfLine(m, c, n, n)), one);
    for (int r = 0; r < n; ++r)
      m[r * n + c] = atLeast(hn::Mul(m[r * n + c], scale), kLeastCell);
  }
}

/// The exponential of the logits, divided by a power of two that makes them differ by kWidestRange at most; rows, then
/// columns are normalized. Returns one over that power.
HWY_INLINE V newtonStart(V *m, int n, int64_t halvings) {
  const V one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f);
  V least = hn::Inf(d), most = hn::Neg(least), scale = one;
  for (int k = 0; k < n * n; ++k)
    least = hn::Min(least, m[k]), most = hn::Max(most, m[k]);
  const V range = hn::Sub(most, least), widest = hn::Set(d, kWidestRange);
  for (int64_t k = 0; k < halvings; ++k) {
    const LaneMask isWide = hn::Gt(hn::Mul(range, scale), widest);
    if (hn::AllFalse(d, isWide))
      break;
    scale = hn::IfThenElse(isWide, hn::Mul(scale, half), scale);
  }
  for (int r = 0; r < n; ++r) {
    V *row = m + r * n, shift = row[0], sum = hn::Zero(d);
    for (int c = 1; c < n; ++c)
      shift = hn::Max(shift, row[c]);
    for (int c = 0; c < n; ++c) {
      row[c] = expOfNegative(hn::Mul(hn::Sub(row[c], shift), scale));
      sum = hn::Add(sum, row[c]);
    }
    const V inverse = hn::Div(one, sum);
    for (int c = 0; c < n; ++c)
      row[c] = hn::Mul(row[c], inverse);
  }
  normalizeColumns(m, n, hn::FirstN(d, kLanes));
  return scale;
}

/// The share of a step that is taken where it changes u by `spread`, after `steps` steps at one scale.
HWY_INLINE V dampingOf(V spread, V steps) {
  const V one = hn::Set(d, 1.0f);
  if (hn::AllTrue(d, hn::Le(spread, hn::Set(d, kFullStep))))
    return one;
  const V inverse = hn::Div(one, spread);
  const V capped = hn::Min(one, hn::Mul(hn::Set(d, kLongestStep), inverse));
  const V sure = hn::Mul(logV(hn::Add(one, spread)), inverse);
  const V damping = hn::IfThenElse(hn::Lt(steps, hn::Set(d, kTrustedSteps)), capped, sure);
  return keepNaN(spread, hn::IfThenElse(hn::Gt(spread, hn::Set(d, kFullStep)), damping, one));
}

/// The limit of the logits m, in place.
template <int kSize>
HWY_INLINE void newtonLimit(V *m, int n, int64_t iters) {
  const V one = hn::Set(d, 1.0f);
  V w[kSize ? kSize * kSize : 256], x[kSize ? kSize : 16];
  V scale = newtonStart(m, n, mostHalvings(iters)), steps = hn::Zero(d);
  LaneMask isActive = hn::FirstN(d, kLanes);
  for (int64_t left = iters; left > 0 && n > 1; --left) {
    V worst = hn::Zero(d);
    for (int r = 0; r < n; ++r) {
      x[r] = hn::Sub(one, sumOfLine(m, r * n, 1, n));
      worst = hn::Max(keepNaN(x[r], worst), hn::Abs(x[r]));
    }
    const LaneMask isLast = hn::Ge(scale, one);
    isActive = hn::AndNot(hn::And(isLast, hn::Le(worst, hn::Set(d, kSumTolerance))), isActive);
    if (hn::AllFalse(d, isActive))
      return;
    if (kSize == 0) {
      // The last row would have the roundings of all; of four they are few.
      const V mean = hn::Div(sumOfLine(x, 0, 1, n), hn::Set(d, static_cast<float>(n)));
      for (int r = 0; r < n; ++r)
        x[r] = hn::Sub(x[r], mean);
    }
    sharesOfRows(m, n, w);
    solveShares<kSize>(w, n, x);
    V least = x[0], most = x[0];
    for (int r = 1; r < n; ++r)
      least = hn::Min(least, x[r]), most = hn::Max(most, x[r]);
    const V spread = hn::Sub(most, least), damping = dampingOf(spread, steps);
    const V middle = hn::Mul(hn::Add(most, least), hn::Set(d, 0.5f));
    const LaneMask isNear = hn::Le(spread, hn::Set(d, kLongestStep));
    const LaneMask mustGrow = hn::Le(scale, hn::Set(d, leastScale(left)));
    const LaneMask grows = hn::And(hn::AndNot(isLast, isActive), hn::Or(isNear, mustGrow));
    for (int r = 0; r < n; ++r) {
      const V factor = keepNaN(x[r], hn::Exp(d, hn::Mul(hn::Sub(x[r], middle), damping)));
      x[r] = hn::IfThenElse(isActive, factor, one);
    }
    for (int k = 0; k < n * n; ++k)
      m[k] = hn::Mul(m[k], x[k / n]);
    if (!hn::AllFalse(d, grows))
      for (int k = 0; k < n * n; ++k)
        m[k] = hn::IfThenElse(grows, hn::Mul(m[k], m[k]), m[k]);
    normalizeColumns(m, n, isActive);
    scale = hn::IfThenElse(grows, hn::Add(scale, scale), scale);
    steps = hn::IfThenElseZero(hn::Not(grows), hn::Add(steps, one));
    isActive = hn::AndNot(hn::And(isLast, hn::Le(spread, hn::Set(d, kLastStep))), isActive);
  }
}

/// The gradient of the logits, in place of that of the limit m: what is left of g where rows and columns of m * g lose
/// their sums. Of two rows the difference counts that their shared columns have; it is kept for each pair, because the
/// sums of a row have too few digits where groups of rows share next to nothing.
template <int kSize>
HWY_INLINE void newtonBwd(V *g, const V *m, int n) {
  V w[kSize ? kSize * kSize : 256], pull[kSize ? kSize * kSize : 256], a[kSize ? kSize : 16];
  V inverse[kSize ? kSize : 16];
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) {
      V share = hn::Zero(d), sum = hn::Zero(d);
      for (int c = 0; c < n; ++c) {
        const V both = hn::Mul(m[i * n + c], m[j * n + c]);
        share = hn::Add(share, both);
        sum = hn::MulAdd(both, hn::Sub(g[i * n + c], g[j * n + c]), sum);
      }
      w[i * n + j] = share, pull[i * n + j] = sum;
    }
  for (int k = 0; k + 1 < n; ++k) {
    inverse[k] = inverseDegree(w, n, k);
    for (int i = k + 1; i < n; ++i) {
      const V share = hn::Mul(w[k * n + i], inverse[k]), pulled = hn::Mul(pull[k * n + i], inverse[k]);
      for (int j = i + 1; j < n; ++j) {
        V &link = pull[i * n + j];
        link = hn::MulAdd(share, pull[k * n + j], hn::NegMulAdd(pulled, w[k * n + j], link));
        w[i * n + j] = hn::MulAdd(share, w[k * n + j], w[i * n + j]);
      }
    }
  }
  a[n - 1] = hn::Zero(d);
  for (int k = n - 2; k >= 0; --k) {
    V sum = hn::Zero(d);
    for (int j = k + 1; j < n; ++j)
      sum = hn::Add(hn::MulAdd(w[k * n + j], a[j], sum), pull[k * n + j]);
    a[k] = hn::Mul(sum, inverse[k]);
  }
  for (int c = 0; c < n; ++c) {
    V sum = hn::Zero(d);
    for (int r = 0; r < n; ++r) {
      g[r * n + c] = hn::Sub(g[r * n + c], a[r]);
      sum = hn::MulAdd(m[r * n + c], g[r * n + c], sum);
    }
    for (int r = 0; r < n; ++r)
      g[r * n + c] = hn::Mul(m[r * n + c], hn::Sub(g[r * n + c], sum));
  }
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_NEWTON_INL_H
