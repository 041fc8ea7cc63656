//===- SinkhornThreadBwd.cuh - Sinkhorn backwards in a thread ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The iterations run again and leave a number for each line a step: the divisor, or the potential that the step
// replaced, which in log space is a logarithm. The steps then run backwards, each making the matrix, or the potentials,
// before it from those after. Gradients are those of logarithms, which no step divides.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_ALGEBRA_SINKHORNTHREADBWD_CUH
#define MHCRT_CUDA_ALGEBRA_SINKHORNTHREADBWD_CUH

#include "cuda/algebra/SinkhornThread.cuh"

namespace mhcrt {

/// In place: logits become the exponentials, the sigmoids or the softmax that the steps start from, before eps.
template <int kCells>
__device__ __forceinline__ void sinkhornStart(float (&m)[kCells], const SinkhornOptions &options) {
  if (options.init == MHCRT_INIT_EXP)
    return expLines<Shift::none>(m, KeepF32());
  if (options.init == MHCRT_INIT_EXP_COLMAX)
    return expLines<Shift::columns>(m, KeepF32());
  if (options.init == MHCRT_INIT_EXP_MAX)
    return expLines<Shift::all>(m, KeepF32());
  if (options.isSigmoid())
    return sigmoids(m, KeepF32());
  expLines<Shift::rows>(m, KeepF32());
  if (options.init != MHCRT_INIT_SOFTMAX_EPS)
    return;
#pragma unroll
  for (int line = 0; line < kSideOf<kCells>; ++line) {
    const float scale = 1.0f / lineSum<true>(m, line);
#pragma unroll
    for (int k = 0; k < kSideOf<kCells>; ++k)
      m[lineAt<true, kCells>(line, k)] *= scale;
  }
}

/// Numbers of a matrix's lines, a step's record.
template <int n>
struct alignas(n < 4 ? 4 * n : 16) LineRecord {
  float of[n];
};

/// v / d where r is 1 / d: unlike the product with r rounded to nearest. Where a sum is 1 but for a rounding in every
/// step, beside the identity, the products' roundings would add up.
__device__ __forceinline__ float quotientOf(float v, float d, float r) {
  const float product = v * r;
  return fmaf(fmaf(-product, d, v), r, product);
}

template <bool kRows, int kCells>
__device__ __forceinline__ void divideLines(float (&m)[kCells], const Divisor &rule,
                                            LineRecord<kSideOf<kCells>> *record) {
  LineRecord<kSideOf<kCells>> divisors;
#pragma unroll
  for (int line = 0; line < kSideOf<kCells>; ++line) {
    const float divisor = rule.of(lineSum<kRows>(m, line), KeepF32()), inverse = finiteReciprocalOf(divisor);
    divisors.of[line] = divisor;
#pragma unroll
    for (int k = 0; k < kSideOf<kCells>; ++k) {
      float &value = m[lineAt<kRows, kCells>(line, k)];
      value = quotientOf(value, divisor, inverse);
    }
  }
  *record = divisors;
}

/// A line of the gradient loses its sum, by the values of m.
template <bool kRows, int kCells>
__device__ __forceinline__ void reverseLines(float (&g)[kCells], float (&m)[kCells], const Divisor &rule,
                                             const LineRecord<kSideOf<kCells>> *record) {
  const LineRecord<kSideOf<kCells>> divisors = *record;
#pragma unroll
  for (int line = 0; line < kSideOf<kCells>; ++line) {
    const float divisor = divisors.of[line], sum = rule.isFree(divisor) ? lineSum<kRows>(g, line) : 0.0f;
#pragma unroll
    for (int k = 0; k < kSideOf<kCells>; ++k) {
      const int at = lineAt<kRows, kCells>(line, k);
      g[at] = fmaf(-m[at], sum, g[at]);
      m[at] *= divisor;
    }
  }
}

template <int kCells>
__device__ __forceinline__ void multiply(float (&g)[kCells], const float (&m)[kCells]) {
#pragma unroll
  for (int k = 0; k < kCells; ++k)
    g[k] *= m[k];
}

/// The step that is reversed first: g, of the mix itself, becomes the gradient of the logarithm before it. The sum is
/// subtracted before the product: of equal values in a line nothing is left then but one rounding for the whole line,
/// which the next steps take out, and not one for each cell, which they keep.
template <bool kRows, int kCells, int n = kSideOf<kCells>>
__device__ __forceinline__ void reverseLastLine(float (&g)[kCells], int line, const float (&mix)[n], bool isFree) {
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < n; ++k)
    sum = fmaf(mix[k], g[lineAt<kRows, kCells>(line, k)], sum);
  sum = isFree ? sum : 0.0f;
#pragma unroll
  for (int k = 0; k < n; ++k) {
    float &value = g[lineAt<kRows, kCells>(line, k)];
    value = (value - sum) * mix[k];
  }
}

template <bool kRows, int kCells, int n = kSideOf<kCells>>
__device__ __forceinline__ void reverseLastLines(float (&g)[kCells], float (&m)[kCells], const Divisor &rule,
                                                 const LineRecord<n> *record) {
  const LineRecord<n> divisors = *record;
#pragma unroll
  for (int line = 0; line < n; ++line) {
    float mix[n];
#pragma unroll
    for (int k = 0; k < n; ++k) {
      float &value = m[lineAt<kRows, kCells>(line, k)];
      mix[k] = value;
      value *= divisors.of[line];
    }
    reverseLastLine<kRows>(g, line, mix, rule.isFree(divisors.of[line]));
  }
}

/// The gradient of a maximum goes to the largest values, in equal parts.
template <bool kRows, int kCells>
__device__ __forceinline__ void reverseMaximum(float (&g)[kCells], const float (&logits)[kCells]) {
#pragma unroll
  for (int line = 0; line < kSideOf<kCells>; ++line) {
    const float most = lineMax<kRows>(logits, line), sum = lineSum<kRows>(g, line);
    float count = 0.0f;
#pragma unroll
    for (int k = 0; k < kSideOf<kCells>; ++k)
      count += logits[lineAt<kRows, kCells>(line, k)] == most ? 1.0f : 0.0f;
#pragma unroll
    for (int k = 0; k < kSideOf<kCells>; ++k)
      if (logits[lineAt<kRows, kCells>(line, k)] == most)
        g[lineAt<kRows, kCells>(line, k)] -= sum / count;
  }
}

/// The same of the maximum of all.
template <int kCells>
__device__ __forceinline__ void reverseMaximum(float (&g)[kCells], const float (&logits)[kCells]) {
  const float most = largestOf(logits);
  float sum = 0.0f, count = 0.0f;
#pragma unroll
  for (int k = 0; k < kCells; ++k) {
    sum += g[k];
    count += logits[k] == most ? 1.0f : 0.0f;
  }
#pragma unroll
  for (int k = 0; k < kCells; ++k)
    if (logits[k] == most)
      g[k] -= sum / count;
}

/// g: of the logarithm of what the steps start from; becomes that of the logits.
template <int kCells>
__device__ __forceinline__ void reverseStart(float (&g)[kCells], const float (&logits)[kCells],
                                             const SinkhornOptions &options) {
  float start[kCells];
#pragma unroll
  for (int k = 0; k < kCells; ++k)
    start[k] = logits[k];
  sinkhornStart(start, options);
  if (options.addsEps() && options.eps != 0.0f)
#pragma unroll
    for (int k = 0; k < kCells; ++k)
      g[k] *= start[k] * reciprocalOf(start[k] + options.eps);
  if (options.init == MHCRT_INIT_EXP_ROWMAX)
    reverseMaximum<true>(g, logits);
  if (options.init == MHCRT_INIT_EXP_COLMAX)
    reverseMaximum<false>(g, logits);
  if (options.init == MHCRT_INIT_EXP_MAX)
    reverseMaximum(g, logits);
  if (options.isSigmoid())
#pragma unroll
    for (int k = 0; k < kCells; ++k)
      g[k] *= 1.0f - start[k];
  if (options.init != MHCRT_INIT_SOFTMAX_EPS)
    return;
#pragma unroll
  for (int line = 0; line < kSideOf<kCells>; ++line) {
    const float sum = lineSum<true>(g, line);
#pragma unroll
    for (int k = 0; k < kSideOf<kCells>; ++k) {
      const int at = lineAt<true, kCells>(line, k);
      g[at] = fmaf(-start[at], sum, g[at]);
    }
  }
}

/// One step in log space: the lines' potentials become the log-sum-exp of what the other lines' leave.
template <bool kRows, int n>
__device__ __forceinline__ void potentialStep(const float (&z)[n * n], LineRecord<n> &mine, const LineRecord<n> &other,
                                              LineRecord<n> *record) {
  *record = mine;
#pragma unroll
  for (int line = 0; line < n; ++line) {
    float v[n], sum = 0.0f;
#pragma unroll
    for (int k = 0; k < n; ++k)
      v[k] = z[lineAt<kRows, n * n>(line, k)] - other.of[k];
    float most = v[0];
#pragma unroll
    for (int k = 1; k < n; ++k)
      most = maximumOf(most, v[k]);
#pragma unroll
    for (int k = 0; k < n; ++k)
      sum += expf(v[k] - most);
    mine.of[line] = most + logf(sum);
  }
}

template <bool kRows, int n>
__device__ __forceinline__ void reversePotentials(float (&g)[n * n], const float (&z)[n * n], LineRecord<n> &mine,
                                                  const LineRecord<n> &other, const LineRecord<n> *record) {
#pragma unroll
  for (int line = 0; line < n; ++line) {
    const float sum = lineSum<kRows>(g, line);
#pragma unroll
    for (int k = 0; k < n; ++k) {
      const int at = lineAt<kRows, n * n>(line, k);
      g[at] = fmaf(-expf(z[at] - mine.of[line] - other.of[k]), sum, g[at]);
    }
  }
  mine = *record;
}

/// The step that is reversed first, one of columns, as above.
template <int n>
__device__ __forceinline__ void reverseLastPotentials(float (&g)[n * n], const float (&z)[n * n],
                                                      LineRecord<n> &columns, const LineRecord<n> &rows,
                                                      const LineRecord<n> *record) {
#pragma unroll
  for (int line = 0; line < n; ++line) {
    float mix[n];
#pragma unroll
    for (int k = 0; k < n; ++k)
      mix[k] = expf(z[lineAt<false, n * n>(line, k)] - columns.of[line] - rows.of[k]);
    reverseLastLine<false, n * n>(g, line, mix, true);
  }
  columns = *record;
}

/// Factors of lines, and the gradients of their logarithms.
template <int n>
struct Factors {
  LineRecord<n> values;
  float grads[n];

  __device__ __forceinline__ Factors() : grads{} {
#pragma unroll
    for (int k = 0; k < n; ++k)
      values.of[k] = 1.0f;
  }
};

template <bool kRows, int n>
__device__ __forceinline__ void recordFactors(const float (&m)[n * n], Factors<n> &mine, const Factors<n> &others,
                                              float eps, LineRecord<n> *record) {
  *record = mine.values;
  scaleLines<kRows, n>(m, mine.values.of, others.values.of, eps);
}

/// g: of the start m.
template <bool kRows, int n>
__device__ __forceinline__ void reverseFactors(float (&g)[n * n], const float (&m)[n * n], Factors<n> &mine,
                                               Factors<n> &others, const LineRecord<n> *record) {
#pragma unroll
  for (int line = 0; line < n; ++line) {
    const float scale = mine.values.of[line] * mine.grads[line];
#pragma unroll
    for (int k = 0; k < n; ++k) {
      const int at = lineAt<kRows, n * n>(line, k);
      const float passed = scale * others.values.of[k];
      g[at] -= passed;
      others.grads[k] = fmaf(-m[at], passed, others.grads[k]);
    }
    mine.grads[line] = 0.0f;
  }
  mine.values = *record;
}

/// In place: the gradient of the mix becomes that of the logarithm of the start m. Both begin with rows.
template <int kCells, int n = kSideOf<kCells>>
__device__ __forceinline__ void reverseScaling(float (&g)[kCells], const float (&m)[kCells],
                                               const SinkhornOptions &options, LineRecord<n> *history, int stride) {
  const int steps = static_cast<int>(options.steps());
  Factors<n> rows, columns;
#pragma unroll 1
  for (int step = 0; step < steps; step += 2) {
    recordFactors<true, n>(m, rows, columns, options.eps, history + step * stride);
    if (step + 1 < steps)
      recordFactors<false, n>(m, columns, rows, options.eps, history + (step + 1) * stride);
  }
#pragma unroll
  for (int k = 0; k < kCells; ++k) {
    g[k] *= rows.values.of[k / n] * columns.values.of[k % n];
    rows.grads[k / n] = fmaf(g[k], m[k], rows.grads[k / n]);
    columns.grads[k % n] = fmaf(g[k], m[k], columns.grads[k % n]);
  }
#pragma unroll 1
  for (int step = (steps - 1) & ~1; step >= 0; step -= 2) {
    if (step + 1 < steps)
      reverseFactors<false, n>(g, m, columns, rows, history + (step + 1) * stride);
    reverseFactors<true, n>(g, m, rows, columns, history + step * stride);
  }
  multiply(g, m);
}

/// In place: the gradient of the mix becomes that of the logarithm of the start m. Both begin with rows.
template <int kCells, int n = kSideOf<kCells>>
__device__ __forceinline__ void reverseDivisions(float (&g)[kCells], float (&m)[kCells], const SinkhornOptions &options,
                                                 LineRecord<n> *history, int stride) {
  const int steps = static_cast<int>(options.steps());
  const Divisor rule(options, options.eps);
#pragma unroll 1
  for (int pair = 0; pair < steps / 2; ++pair, history += 2 * stride) {
    divideLines<true>(m, rule, history);
    divideLines<false>(m, rule, history + stride);
  }
  if (steps == 0)
    return multiply(g, m);
  const bool isOdd = steps % 2;
  if (isOdd) {
    divideLines<true>(m, rule, history);
    reverseLastLines<true>(g, m, rule, history);
  }
#pragma unroll 1
  for (int pair = 0; pair < steps / 2; ++pair) {
    history -= 2 * stride;
    if (pair > 0 || isOdd)
      reverseLines<false>(g, m, rule, history + stride);
    else
      reverseLastLines<false>(g, m, rule, history + stride);
    reverseLines<true>(g, m, rule, history);
  }
}

/// In place: the gradient of the mix becomes that of the logits. Step s of the lane has its record at history + s *
/// stride. `load` makes the logits; called twice, so that they need no registers in between.
template <int kCells, class Load, int n = kSideOf<kCells>>
__device__ __forceinline__ void sinkhornBwdLinear(float (&g)[kCells], Load load, const SinkhornOptions &options,
                                                  LineRecord<n> *history, int stride) {
  float m[kCells];
  load(m);
  sinkhornStart(m, options);
  if (options.addsEps())
    addToAll(m, options.eps, KeepF32());
  if (columnsFirst(options)) {
    transpose(m);
    transpose(g);
  }
  if (options.hasPotentials())
    reverseScaling(g, m, options, history, stride);
  else
    reverseDivisions(g, m, options, history, stride);
  if (columnsFirst(options))
    transpose(g);
  load(m);
  reverseStart(g, m, options);
}

/// The same in log space; value (r, c) of the matrix is exp(z - rows[r] - columns[c]). The number of steps is even.
template <int kCells, class Load, int n = kSideOf<kCells>>
__device__ __forceinline__ void sinkhornBwdLog(float (&g)[kCells], Load load, const SinkhornOptions &options,
                                               LineRecord<n> *history, int stride) {
  const int pairs = static_cast<int>(options.steps()) / 2;
  float z[kCells];
  LineRecord<n> rows = {}, columns = {};
  load(z);
  if (columnsFirst(options)) {
    transpose(z);
    transpose(g);
  }
#pragma unroll 1
  for (int pair = 0; pair < pairs; ++pair, history += 2 * stride) {
    potentialStep<true, n>(z, rows, columns, history);
    potentialStep<false, n>(z, columns, rows, history + stride);
  }
  if (pairs == 0) {
#pragma unroll
    for (int k = 0; k < kCells; ++k)
      g[k] *= expf(z[k]);
  }
#pragma unroll 1
  for (int pair = 0; pair < pairs; ++pair) {
    history -= 2 * stride;
    if (pair > 0)
      reversePotentials<false, n>(g, z, columns, rows, history + stride);
    else
      reverseLastPotentials(g, z, columns, rows, history + stride);
    reversePotentials<true, n>(g, z, rows, columns, history);
  }
  if (columnsFirst(options))
    transpose(g);
}

} // namespace mhcrt

#endif // MHCRT_CUDA_ALGEBRA_SINKHORNTHREADBWD_CUH
