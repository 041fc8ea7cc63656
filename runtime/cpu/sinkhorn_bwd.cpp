//===- sinkhorn_bwd.cpp - Gradient of the Sinkhorn iterations -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y = x / d:  d_x = (d_y - sum(d_y * y)) / d, every step of sinkhorn from the last to the first
//
// Plan    One matrix per lane. The iterations run again and leave a record per step in the second-level cache: n*n
// values
//         of its result, then per line the reciprocal of its divisor and 1, or 0 where a clamp made the divisor a
//         constant. Then the steps run backwards. Nothing is approximated, for any number of iterations.
// Bytes   per token 12*n*n.
// Needs   scratch memory of 2*iters*(n*n + 2n) vectors per thread.
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
HWY_INLINE void maximumShares(const V *m, int first, int step, int count, float *shares) {
  const V one = hn::Set(d, 1.0f), most = lineMax(m, first, step, count);
  V equal = hn::Zero(d);
  for (int k = 0; k < count; ++k)
    equal = hn::Add(equal, hn::IfThenElseZero(hn::Eq(m[first + k * step], most), one));
  const V share = hn::Div(one, equal);
  for (int k = 0; k < count; ++k)
    store(hn::IfThenElseZero(hn::Eq(m[first + k * step], most), share), shares + (first + k * step) * kLanes);
}

/// A line of the start's gradient loses its sum, by weights.
HWY_INLINE void subtractSum(V *g, int first, int step, int count, const float *weights) {
  const V sum = lineSum(g, first, step, count);
  for (int k = 0; k < count; ++k) {
    const int at = first + k * step;
    g[at] = hn::NegMulAdd(load(weights + at * kLanes), sum, g[at]);
  }
}

/// The gradient of the logits from that of the start: `start` is the exponential, the sigmoid or the softmax.
HWY_INLINE void reverseStart(V *g, int n, const SinkhornOptions &options, const float *start, const float *shares) {
  const bool rows = options.init != MHCRT_INIT_EXP_COLMAX;
  for (int k = 0; k < n * n; ++k)
    g[k] = hn::Mul(g[k], load(start + k * kLanes));
  if (options.isSigmoid())
    for (int k = 0; k < n * n; ++k)
      g[k] = hn::Mul(g[k], hn::Sub(hn::Set(d, 1.0f), load(start + k * kLanes)));
  if (options.isSigmoid() || options.init == MHCRT_INIT_EXP)
    return;
  if (options.init == MHCRT_INIT_EXP_MAX)
    return subtractSum(g, 0, 1, n * n, shares);
  for (int line = 0; line < n; ++line)
    subtractSum(g, rows ? line * n : line, rows ? 1 : n, n, options.init == MHCRT_INIT_SOFTMAX_EPS ? start : shares);
}

/// g: the gradient of the start m from that of the mix. A step's record is the factors that it replaced. Gradients of
/// factors are those of their logarithms.
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
}

/// The same where each step divides m, or subtracts from it.
HWY_INLINE void stepsBwd(V *g, V *m, const float *planes, int n, const SinkhornOptions &options, float *history) {
  const int cells = n * n;
  const int64_t slot = static_cast<int64_t>(cells + 2 * n) * kLanes;
  const bool inLogs = options.init == MHCRT_INIT_LOG;
  for (int64_t step = 0; step < options.steps(); ++step) {
    float *values = history + step * slot, *scales = values + cells * kLanes, *frees = scales + n * kLanes;
    const bool rows = options.rowsAt(step);
    for (int line = 0; line < n; ++line)
      replayLine(m, rows ? line * n : line, rows ? 1 : n, n, options, values, scales + line * kLanes,
                 frees + line * kLanes);
  }
  for (int k = 0; k < cells; ++k) {
    g[k] = load(planes + k * kLanes);
    if (inLogs)
      g[k] = hn::Mul(g[k], expV(m[k]));
  }
  for (int64_t step = options.steps() - 1; step >= 0; --step) {
    const float *values = history + step * slot, *scales = values + cells * kLanes, *frees = scales + n * kLanes;
    const bool rows = options.rowsAt(step);
    for (int line = 0; line < n; ++line)
      reverseLine(g, rows ? line * n : line, rows ? 1 : n, n, inLogs, values, scales + line * kLanes,
                  frees + line * kLanes);
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
  float *shares = history + options.steps() * (cells + 2 * n) * kLanes;
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
