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

/// The product with a reciprocal rounds to 16 bits as the quotient of 16-bit numbers would.
template <bool kRows, typename Round>
__device__ __forceinline__ void normalizeLines(float (&m)[16], Divisor divisor, Round round) {
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const float scale = reciprocalOf(divisor.of(lineSum<kRows>(m, line), round));
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

/// exp(Z), shifted by the largest value of each line; kShift 0: not at all, 1: of rows, 2: of columns.
template <int kShift, typename Round>
__device__ __forceinline__ void expLines(float (&m)[16], Round round) {
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const float shift = kShift == 0 ? 0.0f : lineMax<kShift == 1>(m, line);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      float &value = m[lineAt<kShift != 2>(line, k)];
      value = round(expf(round(value - shift)));
    }
  }
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
  expLines<1>(m, KeepF32());
  normalizeLines<true>(m, Divisor::sum(), KeepF32());
#pragma unroll
  for (int k = 0; k < 16; ++k)
    m[k] = round(round(m[k]) + eps);
}

template <typename Round>
__device__ __forceinline__ void sinkhornMix(float (&m)[16], const SinkhornOptions &options, Round round) {
  const bool rowsFirst = options.order == MHCRT_ORDER_ROW_COL;
  const int steps = 2 * static_cast<int>(options.iters);
  const float eps = round(options.eps);
  const Divisor divisor(options, eps);
#pragma unroll
  for (int k = 0; k < 16; ++k)
    m[k] = round(m[k]);
  if (options.init == MHCRT_INIT_LOG) {
    if (rowsFirst)
      alternate<true, true>(m, steps, divisor, round);
    else
      alternate<true, false>(m, steps, divisor, round);
    return expLines<0>(m, round);
  }
  if (options.init == MHCRT_INIT_SOFTMAX_EPS) {
    softmaxStart(m, eps, round);
    return alternate<false, false>(m, steps - 1, divisor, round);
  }
  if (options.init == MHCRT_INIT_EXP_ROWMAX)
    expLines<1>(m, round);
  else if (options.init == MHCRT_INIT_EXP_COLMAX)
    expLines<2>(m, round);
  else
    expLines<0>(m, round);
  if (rowsFirst)
    alternate<false, true>(m, steps, divisor, round);
  else
    alternate<false, false>(m, steps, divisor, round);
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
