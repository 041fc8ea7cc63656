//===- sinkhorn_bwd.cpp - Gradient of the Sinkhorn iterations -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y = x / d, g = d_y * y:  d_x * x = g - y * sum(g), every step of sinkhorn from the last to the first
//
// Plan    One matrix per lane. The iterations run again and leave a record per step in the second-level cache: n*n
//         values of its result, then per line 1, or 0 where a clamp made the divisor a constant. Then the steps run
//         backwards. Nothing is approximated, for any number of iterations. Gradients are those of logarithms, which
//         no step divides: beside the identity, divisors that are 1 but for a rounding would make the same error in
//         every step.
// Bytes   per token 12*n*n.
// Needs   scratch memory of 2*iters*(n*n + n) vectors per thread.
// Round   all f32.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/sinkhorn_bwd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Newton-inl.h"
#include "cpu/Sinkhorn-inl.h"
#include "cpu/Tiles-inl.h"

#include "cpu/Entry.h"
#include "src/Checks.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Unlike the product with a reciprocal that normalizeLine() takes, a value is the quotient's: where a sum is 1 but for
/// a rounding in every step, beside the identity, the products' roundings would add up.
HWY_INLINE void replayLine(V *m, int first, int step, int n, const SinkhornOptions &options, float *values,
                           float *freeAt) {
  const V one = hn::Set(d, 1.0f);
  store(one, freeAt);
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
  V sum = lineSum(m, first, step, n);
  const V eps = hn::Set(d, options.eps);
  if (options.denom == MHCRT_DENOM_ADD) {
    sum = hn::Add(sum, eps);
  } else if (options.denom == MHCRT_DENOM_CLAMP) {
    store(hn::IfThenElseZero(hn::Gt(sum, eps), one), freeAt);
    sum = clampSum(sum, eps);
  }
  const V scale = hn::Div(one, sum);
  for (int k = 0; k < n; ++k) {
    V &value = m[first + k * step];
    const V product = hn::Mul(value, scale);
    value = hn::MulAdd(hn::NegMulAdd(product, sum, value), scale, product);
    store(value, values + (first + k * step) * kLanes);
  }
}

/// A step backwards, and the end of a start: a line of the gradient of logarithms loses its sum, by weights.
HWY_INLINE void subtractSum(V *g, int first, int step, int count, const float *weights, V isFree) {
  const V sum = hn::Mul(lineSum(g, first, step, count), isFree);
  for (int k = 0; k < count; ++k) {
    const int at = first + k * step;
    g[at] = hn::NegMulAdd(load(weights + at * kLanes), sum, g[at]);
  }
}

/// The step that is reversed first: g, of the mix itself, becomes the gradient of the logarithm before it. The sum is
/// subtracted before the product: of equal values in a line nothing is left then but one rounding for the whole line,
/// which the next steps take out, and not one for each cell, which they keep.
HWY_INLINE void reverseLast(V *g, int first, int step, int count, const float *weights, V isFree) {
  V sum = hn::Zero(d);
  for (int k = first; k < first + count * step; k += step)
    sum = hn::MulAdd(g[k], load(weights + k * kLanes), sum);
  sum = hn::Mul(sum, isFree);
  for (int k = first; k < first + count * step; k += step)
    g[k] = hn::Mul(hn::Sub(g[k], sum), load(weights + k * kLanes));
}

/// Where a line has its maximum: 1 over the number of equal ones; 0 elsewhere.
HWY_INLINE void maximumShares(const V *m, int first, int step, int count, float *shares) {
  const V one = hn::Set(d, 1.0f), most = lineMax(m, first, step, count);
  V equal = hn::Zero(d);
  for (int k = 0; k < count; ++k)
    equal = hn::Add(equal, hn::IfThenElseZero(hn::Eq(m[first + k * step], most), one));
  const V share = hn::Div(one, equal);
  for (int k = 0; k < count; ++k)
    store(hn::IfThenElseZero(hn::Eq(m[first + k * step], most), share), shares + (first + k * step) * kLanes);
}

/// The gradient of the logits from that of the logarithm of what the steps start from: `start`, the exponential, the
/// sigmoid or the softmax, and eps.
HWY_INLINE void reverseStart(V *g, int n, const SinkhornOptions &options, const float *start, const float *shares) {
  const V one = hn::Set(d, 1.0f), eps = hn::Set(d, options.eps);
  for (int k = 0; k < n * n && options.addsEps(); ++k) {
    const V value = load(start + k * kLanes);
    g[k] = hn::Mul(g[k], hn::Div(value, hn::Add(value, eps)));
  }
  for (int k = 0; k < n * n && options.isSigmoid(); ++k)
    g[k] = hn::Mul(g[k], hn::Sub(one, load(start + k * kLanes)));
  if (options.isSigmoid() || options.init == MHCRT_INIT_EXP)
    return;
  if (options.init == MHCRT_INIT_EXP_MAX)
    return subtractSum(g, 0, 1, n * n, shares, one);
  const bool rows = options.init != MHCRT_INIT_EXP_COLMAX;
  for (int line = 0; line < n; ++line)
    subtractSum(g, rows ? line * n : line, rows ? 1 : n, n, options.init == MHCRT_INIT_SOFTMAX_EPS ? start : shares,
                one);
}

/// g: the gradient of the start's logarithm from that of the mix. A step's record is the factors that it replaced.
/// Gradients of factors are those of their logarithms as well.
template <int kSize>
HWY_INLINE void potentialsBwd(V *g, const V *m, const float *planes, int n, const SinkhornOptions &options,
                              float *history) {
  V factors[2][kSize ? kSize : 16], grads[2][kSize ? kSize : 16]; // of columns, of rows
  for (int k = 0; k < n; ++k) {
    factors[0][k] = factors[1][k] = hn::Set(d, 1.0f);
    grads[0][k] = grads[1][k] = hn::Zero(d);
  }
  for (int64_t step = 0; step < options.steps(); ++step) {
    const bool rows = options.rowsAt(step);
    for (int line = 0; line < n; ++line)
      store(factors[rows][line], history + (step * n + line) * kLanes);
    potentialStep(m, n, rows, factors[rows], factors[!rows], hn::Set(d, options.eps));
  }
  for (int k = 0; k < n * n; ++k) {
    g[k] = hn::Mul(load(planes + k * kLanes), hn::Mul(factors[1][k / n], factors[0][k % n]));
    for (bool rows : {false, true}) {
      V &grad = grads[rows][rows ? k / n : k % n];
      grad = hn::MulAdd(g[k], m[k], grad);
    }
  }
  for (int64_t step = options.steps() - 1; step >= 0; --step) {
    const bool rows = options.rowsAt(step);
    for (int line = 0; line < n; ++line) {
      const V scale = hn::Mul(factors[rows][line], grads[rows][line]);
      for (int k = 0; k < n; ++k) {
        const int at = rows ? line * n + k : k * n + line;
        const V passed = hn::Mul(scale, factors[!rows][k]);
        g[at] = hn::Sub(g[at], passed);
        grads[!rows][k] = hn::NegMulAdd(m[at], passed, grads[!rows][k]);
      }
      grads[rows][line] = hn::Zero(d);
      factors[rows][line] = load(history + (step * n + line) * kLanes);
    }
  }
  for (int k = 0; k < n * n; ++k)
    g[k] = hn::Mul(g[k], m[k]);
}

/// The same where each step divides m, or subtracts from it.
HWY_INLINE void stepsBwd(V *g, V *m, const float *planes, int n, const SinkhornOptions &options, float *history) {
  const int cells = n * n;
  const int64_t slot = static_cast<int64_t>(cells + n) * kLanes;
  for (int64_t step = 0; step < options.steps(); ++step) {
    float *values = history + step * slot, *frees = values + cells * kLanes;
    const bool rows = options.rowsAt(step);
    for (int line = 0; line < n; ++line)
      replayLine(m, rows ? line * n : line, rows ? 1 : n, n, options, values, frees + line * kLanes);
  }
  for (int k = 0; k < cells; ++k)
    g[k] = load(planes + k * kLanes);
  if (options.steps() == 0)
    for (int k = 0; k < cells; ++k)
      g[k] = hn::Mul(g[k], options.init == MHCRT_INIT_LOG ? expV(m[k]) : m[k]);
  for (int64_t step = options.steps() - 1; step >= 0; --step) {
    const float *values = history + step * slot, *frees = values + cells * kLanes;
    const bool rows = options.rowsAt(step), isLast = step == options.steps() - 1;
    for (int line = 0; line < n; ++line) {
      const int first = rows ? line * n : line, apart = rows ? 1 : n;
      const V isFree = load(frees + line * kLanes);
      if (isLast)
        reverseLast(g, first, apart, n, values, isFree);
      else
        subtractSum(g, first, apart, n, values, isFree);
    }
  }
}

template <int kSize>
HWY_NOINLINE void sinkhornBwdSized(float *planes, float *logits, int runtimeN, const SinkhornOptions &options,
                                   float *history) {
  const int n = kSize ? kSize : runtimeN, cells = n * n;
  const bool inLogs = options.init == MHCRT_INIT_LOG;
  V m[kSize ? kSize * kSize : 256], g[kSize ? kSize * kSize : 256];

  for (int k = 0; k < cells; ++k)
    m[k] = load(logits + k * kLanes);
  float *shares = history + options.steps() * (cells + n) * kLanes;
  const bool byRow = options.init == MHCRT_INIT_EXP_ROWMAX;
  if (byRow || options.init == MHCRT_INIT_EXP_COLMAX)
    for (int line = 0; line < n; ++line)
      maximumShares(m, byRow ? line * n : line, byRow ? 1 : n, n, shares);
  if (options.init == MHCRT_INIT_EXP_MAX)
    maximumShares(m, 0, 1, cells, shares);
  if (!inLogs)
    startFunction(m, n, options);
  if (options.init == MHCRT_INIT_SOFTMAX_EPS)
    for (int r = 0; r < n; ++r)
      normalizeLine(m, r * n, 1, n, MHCRT_DENOM_NONE, hn::Zero(d));
  for (int k = 0; k < cells; ++k) {
    store(m[k], logits + k * kLanes); // what the start's own gradient needs
    if (options.addsEps())
      m[k] = hn::Add(m[k], hn::Set(d, options.eps));
  }
  if (options.hasPotentials())
    potentialsBwd<kSize>(g, m, planes, n, options, history);
  else
    stepsBwd(g, m, planes, n, options, history);
  if (!inLogs)
    reverseStart(g, n, options, logits, shares);
  for (int k = 0; k < cells; ++k)
    store(g[k], planes + k * kLanes);
}

/// The same of the limit, which is given.
template <int kSize>
HWY_NOINLINE void newtonBwdSized(float *planes, const float *limit, int runtimeN) {
  const int n = kSize ? kSize : runtimeN;
  V m[kSize ? kSize * kSize : 256], g[kSize ? kSize * kSize : 256];
  for (int k = 0; k < n * n; ++k) {
    m[k] = load(limit + k * kLanes);
    g[k] = load(planes + k * kLanes);
  }
  newtonBwd<kSize>(g, m, n);
  for (int k = 0; k < n * n; ++k)
    store(g[k], planes + k * kLanes);
}

void sinkhornBwdPlanes(float *planes, float *logits, int64_t n, const SinkhornOptions &options, float *history) {
  if (options.isNewton()) {
    sinkhornPlanes(logits, n, options);
    n == 4 ? newtonBwdSized<4>(planes, logits, 4) : newtonBwdSized<0>(planes, logits, static_cast<int>(n));
    return;
  }
  if (n == 4)
    sinkhornBwdSized<4>(planes, logits, 4, options, history);
  else
    sinkhornBwdSized<0>(planes, logits, static_cast<int>(n), options, history);
}

void sinkhornBwdTokens(const float *dMix, const float *logits, float *dLogits, int64_t first, int64_t last, int64_t n,
                       const SinkhornOptions &options, float *history) {
  HWY_ALIGN float planes[256 * kLanes], start[256 * kLanes];
  for (int64_t m = first; m < last; m += kLanes) {
    const int64_t count = HWY_MIN(kLanes, last - m);
    rowsToPlanes(dMix + m * n * n, n * n, count, n * n, planes);
    rowsToPlanes(logits + m * n * n, n * n, count, n * n, start);
    sinkhornBwdPlanes(planes, start, n, options, history);
    planesToRows(planes, count, n * n, dLogits + m * n * n);
  }
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(sinkhornBwdTokens);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runSinkhornBwd(mhcrt_context &context, const SinkhornBwdArgs &a) {
  if (!checkSinkhornBwd(context, a) || a.M == 0 ||
      !context.reserveScratch("mhcrt_sinkhorn_bwd", 0, sinkhornHistoryBytes(a.n, a.iters, a.solver)))
    return context.status;

  const SinkhornOptions options = {a.init,  a.order,          a.denom, static_cast<float>(a.eps),
                                   a.iters, MHCRT_FORMAT_F32, a.solver};
  context.parallelFor(divideUp(a.M, kSmallTile), [&](int64_t tile, int thread) {
    HWY_DYNAMIC_DISPATCH(sinkhornBwdTokens)
    (floats(a.d_mix), floats(a.logits), floats(a.d_logits), tile * kSmallTile, std::min(a.M, (tile + 1) * kSmallTile),
     a.n, options, reinterpret_cast<float *>(context.threadScratch(thread)));
  });
  return MHCRT_OK;
}

MHCRT_ENTRY(sinkhorn_bwd, SinkhornBwd)
#endif // HWY_ONCE
