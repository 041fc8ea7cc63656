//===- Sinkhorn4.cuh - Sinkhorn's iteration, a 4x4 per thread ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A token with four streams in the registers of one thread. Reciprocals are those of ptx/Float.cuh: an iteration chains
// 2*iters of them, and the correctly rounded ones branch, so that the lines of a matrix would wait for each other.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_ALGEBRA_SINKHORN4_CUH
#define MHCRT_CUDA_ALGEBRA_SINKHORN4_CUH

#include "cuda/algebra/Divisor.cuh"
#include "cuda/algebra/Format.cuh"
#include "cuda/algebra/Gate.cuh"

#include <type_traits>

namespace mhcrt {

/// Element k of a line, a row or a column.
template <bool kRows>
__device__ constexpr int lineAt(int line, int k) {
  return kRows ? line * 4 + k : k * 4 + line;
}

template <bool kRows>
__device__ __forceinline__ float lineSum(const float (&m)[16], int line) {
  return (m[lineAt<kRows>(line, 0)] + m[lineAt<kRows>(line, 1)]) +
         (m[lineAt<kRows>(line, 2)] + m[lineAt<kRows>(line, 3)]);
}

template <bool kRows>
__device__ __forceinline__ float lineMax(const float (&m)[16], int line) {
  return maximumOf(maximumOf(m[lineAt<kRows>(line, 0)], m[lineAt<kRows>(line, 1)]),
                   maximumOf(m[lineAt<kRows>(line, 2)], m[lineAt<kRows>(line, 3)]));
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
template <bool kRows, typename Round>
__device__ __forceinline__ void normalizeLines(float (&m)[16], Divisor divisor, Round round) {
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const float scale = lineReciprocal(divisor.of(lineSum<kRows>(m, line), round));
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      float &value = m[lineAt<kRows>(line, k)];
      value = round(value * scale);
    }
  }
}

template <bool kRows, typename Round>
__device__ __forceinline__ void subtractLogSumExp(float (&m)[16], Round round) {
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const float most = lineMax<kRows>(m, line);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      sum += round(expf(round(m[lineAt<kRows>(line, k)] - most)));
    const float shift = round(most + round(logf(round(sum))));
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      float &value = m[lineAt<kRows>(line, k)];
      value = round(value - shift);
    }
  }
}

__device__ __forceinline__ float largestOf(const float (&m)[16]) {
  return maximumOf(maximumOf(lineMax<true>(m, 0), lineMax<true>(m, 1)),
                   maximumOf(lineMax<true>(m, 2), lineMax<true>(m, 3)));
}

/// Values that exp is shifted by.
enum class Shift { none, rows, columns, all };

/// exp(Z), shifted by the largest value of each line, or of all.
template <Shift kShift, typename Round>
__device__ __forceinline__ void expLines(float (&m)[16], Round round) {
  const float most = kShift == Shift::all ? largestOf(m) : 0.0f;
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const bool isLine = kShift == Shift::rows || kShift == Shift::columns;
    const float shift = isLine ? lineMax<kShift == Shift::rows>(m, line) : most;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      float &value = m[lineAt<kShift != Shift::columns>(line, k)];
      value = round(expf(round(value - shift)));
    }
  }
}

template <typename Round>
__device__ __forceinline__ void sigmoids(float (&m)[16], Round round) {
#pragma unroll
  for (int k = 0; k < 16; ++k)
    m[k] = round(fastSigmoid(m[k]));
}

template <typename Round>
__device__ __forceinline__ void addToAll(float (&m)[16], float eps, Round round) {
#pragma unroll
  for (int k = 0; k < 16; ++k)
    m[k] = round(m[k] + eps);
}

__device__ __forceinline__ void transpose(float (&m)[16]) {
#pragma unroll
  for (int r = 0; r < 4; ++r)
#pragma unroll
    for (int c = 0; c < r; ++c) {
      const float v = m[r * 4 + c];
      m[r * 4 + c] = m[c * 4 + r];
      m[c * 4 + r] = v;
    }
}

/// Where the first step is one of columns, matrices are transposed, so that loops begin with rows.
__device__ __forceinline__ bool columnsFirst(const SinkhornOptions &options) { return !options.rowsAt(0); }

/// Factors of lines, of which `others` are those of the other lines: one over the scaled sum and eps.
template <bool kRows>
__device__ __forceinline__ void scaleLines(const float (&m)[16], float (&mine)[4], const float (&others)[4],
                                           float eps) {
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    float even = m[lineAt<kRows>(line, 0)] * others[0], odd = m[lineAt<kRows>(line, 1)] * others[1];
    even = fmaf(m[lineAt<kRows>(line, 2)], others[2], even);
    odd = fmaf(m[lineAt<kRows>(line, 3)], others[3], odd);
    mine[line] = lineReciprocal((even + odd) + eps);
  }
}

__device__ __forceinline__ void scaleByPotentials(float (&m)[16], const SinkhornOptions &options) {
  const int steps = static_cast<int>(options.steps());
  float rows[4] = {1, 1, 1, 1}, columns[4] = {1, 1, 1, 1};
  if (columnsFirst(options))
    transpose(m);
#pragma unroll 1
  for (int step = 0; step < steps; step += 2) {
    scaleLines<true>(m, rows, columns, options.eps);
    if (step + 1 < steps)
      scaleLines<false>(m, columns, rows, options.eps);
  }
#pragma unroll
  for (int k = 0; k < 16; ++k)
    m[k] = m[k] * rows[k / 4] * columns[k % 4];
  if (columnsFirst(options))
    transpose(m);
}

/// `steps` half iterations, of rows and columns in turn.
template <bool kLog, bool kRowsFirst, typename Round>
__device__ __forceinline__ void alternate(float (&m)[16], int steps, Divisor divisor, Round round) {
#pragma unroll 1
  for (int step = 0; step < steps; step += 2) {
    if constexpr (kLog) {
      subtractLogSumExp<kRowsFirst>(m, round);
      subtractLogSumExp<!kRowsFirst>(m, round);
    } else {
      normalizeLines<kRowsFirst>(m, divisor, round);
      if (step + 1 < steps)
        normalizeLines<!kRowsFirst>(m, divisor, round);
    }
  }
}

/// The softmax is the first row step, and one op; its sum has no eps.
template <typename Round>
__device__ __forceinline__ void softmaxStart(float (&m)[16], float eps, Round round) {
  expLines<Shift::rows>(m, KeepF32());
  normalizeLines<true>(m, Divisor::sum(), KeepF32());
#pragma unroll
  for (int k = 0; k < 16; ++k)
    m[k] = round(round(m[k]) + eps);
}

/// The matrix that the steps start from.
template <typename Round>
__device__ __forceinline__ void startMix(float (&m)[16], const SinkhornOptions &options, float eps, Round round) {
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

template <typename Round>
__device__ __forceinline__ void sinkhornMix(float (&m)[16], const SinkhornOptions &options, Round round) {
  const int steps = static_cast<int>(options.steps());
  const float eps = round(options.eps);
  const Divisor divisor(options, eps);
#pragma unroll
  for (int k = 0; k < 16; ++k)
    m[k] = round(m[k]);
  if (options.init == MHCRT_INIT_LOG) {
    if (columnsFirst(options))
      alternate<true, false>(m, steps, divisor, round);
    else
      alternate<true, true>(m, steps, divisor, round);
    return expLines<Shift::none>(m, round);
  }
  startMix(m, options, eps, round);
  if constexpr (std::is_same_v<Round, KeepF32>)
    if (options.hasPotentials())
      return scaleByPotentials(m, options);
  if (columnsFirst(options))
    alternate<false, false>(m, steps, divisor, round);
  else
    alternate<false, true>(m, steps, divisor, round);
}

/// The iteration with every result rounded to the format that the options name.
__device__ __forceinline__ void sinkhornMix(float (&m)[16], const SinkhornOptions &options) {
  if (options.format == MHCRT_FORMAT_F32)
    sinkhornMix(m, options, KeepF32());
  else
    sinkhornMix(m, options, RoundTo{static_cast<int32_t>(options.format)});
}

} // namespace mhcrt

#endif // MHCRT_CUDA_ALGEBRA_SINKHORN4_CUH
