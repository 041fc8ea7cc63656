//===- SinkhornThread.cuh - Sinkhorn's iteration in a thread ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matrix of a token with two, four or eight streams in the registers of one thread. Reciprocals are those of
// ptx/Float.cuh: an iteration chains 2*iters of them, and the correctly rounded ones branch, so that the lines of a
// matrix would wait for each other.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_ALGEBRA_SINKHORNTHREAD_CUH
#define MHCRT_CUDA_ALGEBRA_SINKHORNTHREAD_CUH

#include "cuda/algebra/Divisor.cuh"
#include "cuda/algebra/Format.cuh"
#include "cuda/algebra/Gate.cuh"

#include <type_traits>

namespace mhcrt {

/// Rows of a matrix of kCells elements.
template <int kCells>
constexpr int kSideOf = kCells == 64   ? 8
                        : kCells == 16 ? 4
                                       : 2;

/// Element k of a line, a row or a column.
template <bool kRows, int kCells>
__device__ constexpr int lineAt(int line, int k) {
  return kRows ? line * kSideOf<kCells> + k : k * kSideOf<kCells> + line;
}

/// All of a line by `both` of two, neighbours first.
template <bool kRows, int kCells, typename Both>
__device__ __forceinline__ float foldLine(const float (&m)[kCells], int line, Both both) {
  constexpr int n = kSideOf<kCells>;
  float v[n];
#pragma unroll
  for (int k = 0; k < n; ++k)
    v[k] = m[lineAt<kRows, kCells>(line, k)];
#pragma unroll
  for (int left = n / 2; left > 0; left /= 2)
#pragma unroll
    for (int k = 0; k < left; ++k)
      v[k] = both(v[2 * k], v[2 * k + 1]);
  return v[0];
}

template <bool kRows, int kCells>
__device__ __forceinline__ float lineSum(const float (&m)[kCells], int line) {
  return foldLine<kRows>(m, line, [](float a, float b) { return a + b; });
}

template <bool kRows, int kCells>
__device__ __forceinline__ float lineMax(const float (&m)[kCells], int line) {
  return foldLine<kRows>(m, line, [](float a, float b) { return maximumOf(a, b); });
}

/// reciprocalOf(d), where nothing waits for the test whether its step has a meaning: d and 1/d are normal numbers.
__device__ __forceinline__ float lineReciprocal(float d) {
  const bool isNormal = fabsf(d) >= 0x1p-126f && fabsf(d) <= 0x1p126f;
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(d));
  const float rest = fmaf(-d, r, 1.0f);
  return isNormal ? fmaf(r, rest, r) : r;
}

/// The product with a reciprocal rounds to 16 bits as the quotient of 16-bit numbers would.
template <bool kRows, int kCells, typename Round>
__device__ __forceinline__ void normalizeLines(float (&m)[kCells], Divisor divisor, Round round) {
#pragma unroll
  for (int line = 0; line < kSideOf<kCells>; ++line) {
    const float scale = lineReciprocal(divisor.of(lineSum<kRows>(m, line), round));
#pragma unroll
    for (int k = 0; k < kSideOf<kCells>; ++k) {
      float &value = m[lineAt<kRows, kCells>(line, k)];
      value = round(value * scale);
    }
  }
}

template <bool kRows, int kCells, typename Round>
__device__ __forceinline__ void subtractLogSumExp(float (&m)[kCells], Round round) {
#pragma unroll
  for (int line = 0; line < kSideOf<kCells>; ++line) {
    const float most = lineMax<kRows>(m, line);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < kSideOf<kCells>; ++k)
      sum += round(expf(round(m[lineAt<kRows, kCells>(line, k)] - most)));
    const float shift = round(most + round(logf(round(sum))));
#pragma unroll
    for (int k = 0; k < kSideOf<kCells>; ++k) {
      float &value = m[lineAt<kRows, kCells>(line, k)];
      value = round(value - shift);
    }
  }
}

template <int kCells>
__device__ __forceinline__ float largestOf(const float (&m)[kCells]) {
  float most = lineMax<true>(m, 0);
#pragma unroll
  for (int line = 1; line < kSideOf<kCells>; ++line)
    most = maximumOf(most, lineMax<true>(m, line));
  return most;
}

/// Values that exp is shifted by.
enum class Shift { none, rows, columns, all };

/// exp(Z), shifted by the largest value of each line, or of all.
template <Shift kShift, int kCells, typename Round>
__device__ __forceinline__ void expLines(float (&m)[kCells], Round round) {
  const float most = kShift == Shift::all ? largestOf(m) : 0.0f;
#pragma unroll
  for (int line = 0; line < kSideOf<kCells>; ++line) {
    const bool isLine = kShift == Shift::rows || kShift == Shift::columns;
    const float shift = isLine ? lineMax<kShift == Shift::rows>(m, line) : most;
#pragma unroll
    for (int k = 0; k < kSideOf<kCells>; ++k) {
      float &value = m[lineAt<kShift != Shift::columns, kCells>(line, k)];
      value = round(expf(round(value - shift)));
    }
  }
}

template <int kCells, typename Round>
__device__ __forceinline__ void sigmoids(float (&m)[kCells], Round round) {
#pragma unroll
  for (int k = 0; k < kCells; ++k)
    m[k] = round(fastSigmoid(m[k]));
}

template <int kCells, typename Round>
__device__ __forceinline__ void addToAll(float (&m)[kCells], float eps, Round round) {
#pragma unroll
  for (int k = 0; k < kCells; ++k)
    m[k] = round(m[k] + eps);
}

template <int kCells>
__device__ __forceinline__ void transpose(float (&m)[kCells]) {
#pragma unroll
  for (int r = 0; r < kSideOf<kCells>; ++r)
#pragma unroll
    for (int c = 0; c < r; ++c) {
      float &lower = m[lineAt<true, kCells>(r, c)], &upper = m[lineAt<true, kCells>(c, r)];
      const float v = lower;
      lower = upper;
      upper = v;
    }
}

/// Where the first step is one of columns, matrices are transposed, so that loops begin with rows.
__device__ __forceinline__ bool columnsFirst(const SinkhornOptions &options) { return !options.rowsAt(0); }

/// Factors of lines, of which `others` are those of the other lines: one over the scaled sum and eps.
template <bool kRows, int n>
__device__ __forceinline__ void scaleLines(const float (&m)[n * n], float (&mine)[n], const float (&others)[n],
                                           float eps) {
#pragma unroll
  for (int line = 0; line < n; ++line) {
    float even = m[lineAt<kRows, n * n>(line, 0)] * others[0], odd = m[lineAt<kRows, n * n>(line, 1)] * others[1];
#pragma unroll
    for (int k = 2; k < n; k += 2) {
      even = fmaf(m[lineAt<kRows, n * n>(line, k)], others[k], even);
      odd = fmaf(m[lineAt<kRows, n * n>(line, k + 1)], others[k + 1], odd);
    }
    mine[line] = lineReciprocal((even + odd) + eps);
  }
}

template <int kCells>
__device__ __forceinline__ void scaleByPotentials(float (&m)[kCells], const SinkhornOptions &options) {
  constexpr int n = kSideOf<kCells>;
  const int steps = static_cast<int>(options.steps());
  float rows[n], columns[n];
#pragma unroll
  for (int k = 0; k < n; ++k)
    rows[k] = columns[k] = 1.0f;
#pragma unroll 1
  for (int step = 0; step < steps; step += 2) {
    scaleLines<true, n>(m, rows, columns, options.eps);
    if (step + 1 < steps)
      scaleLines<false, n>(m, columns, rows, options.eps);
  }
#pragma unroll
  for (int k = 0; k < kCells; ++k)
    m[k] = m[k] * rows[k / n] * columns[k % n];
}

/// Factors of a matrix's lines, each one over its divisor.
template <int n>
struct LineFactors {
  float divisors[n], factors[n];

  __device__ __forceinline__ LineFactors() {
#pragma unroll
    for (int k = 0; k < n; ++k)
      divisors[k] = factors[k] = 1.0f;
  }

  /// A line f * v with f = 1/d is divided by its sum and eps: f / (f * sum(v) + eps) = 1 / (sum(v) + eps * d). `least`
  /// is added to that.
  template <bool kRows>
  __device__ __forceinline__ void divide(const float (&m)[n * n], const LineFactors &others, float eps, float least) {
#pragma unroll
    for (int line = 0; line < n; ++line) {
      float sum = fmaf(eps, divisors[line], least);
#pragma unroll
      for (int k = 0; k < n; ++k) // the factor that is made last comes last
        sum = fmaf(m[lineAt<kRows, n * n>(line, k)], others.factors[k], sum);
      divisors[line] = sum;
    }
#pragma unroll
    for (int line = 0; line < n; ++line)
      asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(factors[line]) : "f"(divisors[line]));
  }
};

/// Steps until the elements are multiplied by the factors. Where each has an eps in it, a line's are no further apart
/// than that, and so are the factors: never. Else the first iteration brings them to at most 1; then a line whose
/// elements are far below eps has a divisor that each iteration multiplies by eps, a usual one, 1e-6, six times.
__device__ __forceinline__ int stepsOfFactors(const SinkhornOptions &options, int step) {
  return options.addsEps() && options.eps >= 0x1p-40f ? static_cast<int>(options.steps()) : step == 0 ? 2 : 12;
}

/// The steps of alternate(), where a divisor is a sum and eps or nothing. Most change factors alone and leave the
/// elements as they are: half of the instructions, and the reciprocals' errors do not add up. A line of zeros stays
/// zero where there is an eps, as it does there: its divisor is no less than the least one with a reciprocal.
template <int kCells>
__device__ __forceinline__ void divideByFactors(float (&m)[kCells], const SinkhornOptions &options, float eps) {
  constexpr int n = kSideOf<kCells>;
  const int steps = static_cast<int>(options.steps());
  const float least = eps > 0 ? 0x1p-126f : 0.0f;
#pragma unroll 1
  for (int step = 0; step < steps;) {
    const int end = min(steps, step + stepsOfFactors(options, step));
    LineFactors<n> rows, columns;
#pragma unroll 1
    for (; step < end; step += 2) {
      rows.template divide<true>(m, columns, eps, least);
      if (step + 1 < end)
        columns.template divide<false>(m, rows, eps, least);
    }
#pragma unroll
    for (int k = 0; k < kCells; ++k)
      m[k] = m[k] * rows.factors[k / n] * columns.factors[k % n];
  }
}

/// `steps` half iterations, of rows and columns in turn.
template <bool kLog, int kCells, typename Round>
__device__ __forceinline__ void alternate(float (&m)[kCells], int steps, Divisor divisor, Round round) {
#pragma unroll 1
  for (int step = 0; step < steps; step += 2) {
    if constexpr (kLog) {
      subtractLogSumExp<true>(m, round);
      subtractLogSumExp<false>(m, round);
    } else {
      normalizeLines<true>(m, divisor, round);
      if (step + 1 < steps)
        normalizeLines<false>(m, divisor, round);
    }
  }
}

/// The softmax is the first row step, and one op; its sum has no eps.
template <int kCells, typename Round>
__device__ __forceinline__ void softmaxStart(float (&m)[kCells], float eps, Round round) {
  expLines<Shift::rows>(m, KeepF32());
  normalizeLines<true>(m, Divisor::sum(), KeepF32());
#pragma unroll
  for (int k = 0; k < kCells; ++k)
    m[k] = round(round(m[k]) + eps);
}

/// The matrix that the steps start from.
template <int kCells, typename Round>
__device__ __forceinline__ void startMix(float (&m)[kCells], const SinkhornOptions &options, float eps, Round round) {
  if (options.init == MHCRT_INIT_SOFTMAX_EPS)
    return softmaxStart(m, eps, round);
  if (options.init == MHCRT_INIT_EXP_ROWMAX)
    return expLines<Shift::rows>(m, round);
  if (options.init == MHCRT_INIT_EXP_COLMAX)
    return expLines<Shift::columns>(m, round);
  if (options.init == MHCRT_INIT_EXP_MAX)
    return expLines<Shift::all>(m, round);
  if (options.init == MHCRT_INIT_EXP)
    return expLines<Shift::none>(m, round);
  sigmoids(m, round);
  if (options.addsEps())
    addToAll(m, eps, round);
}

/// All half iterations, of which the first is one of rows.
template <int kCells, typename Round>
__device__ __forceinline__ void alternate(float (&m)[kCells], const SinkhornOptions &options, float eps, Round round) {
  const int steps = static_cast<int>(options.steps());
  const Divisor divisor(options, eps);
  if (options.init == MHCRT_INIT_LOG)
    return alternate<true>(m, steps, divisor, round);
  if constexpr (std::is_same_v<Round, KeepF32>) {
    if (options.hasPotentials())
      return scaleByPotentials(m, options);
    if (options.denom != MHCRT_DENOM_CLAMP)
      return divideByFactors(m, options, options.denom == MHCRT_DENOM_ADD ? eps : 0.0f);
  }
  alternate<false>(m, steps, divisor, round);
}

template <int kCells, typename Round>
__device__ __forceinline__ void sinkhornMix(float (&m)[kCells], const SinkhornOptions &options, Round round) {
  const float eps = round(options.eps);
#pragma unroll
  for (int k = 0; k < kCells; ++k)
    m[k] = round(m[k]);
  if (options.init != MHCRT_INIT_LOG)
    startMix(m, options, eps, round);
  if (columnsFirst(options))
    transpose(m);
  alternate(m, options, eps, round);
  if (columnsFirst(options))
    transpose(m);
  if (options.init == MHCRT_INIT_LOG)
    expLines<Shift::none>(m, round);
}

/// The iteration with every result rounded to the format that the options name.
template <int kCells>
__device__ __forceinline__ void sinkhornMix(float (&m)[kCells], const SinkhornOptions &options) {
  if (options.format == MHCRT_FORMAT_F32)
    sinkhornMix(m, options, KeepF32());
  else
    sinkhornMix(m, options, RoundTo{static_cast<int32_t>(options.format)});
}

} // namespace mhcrt

#endif // MHCRT_CUDA_ALGEBRA_SINKHORNTHREAD_CUH
