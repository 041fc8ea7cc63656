//===- coefficients.cuh - Gates and residual maps in one thread -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The small maths behind the projection for one token with four streams. Reciprocals and roots are the hardware's
// approximations after a Newton step, within one unit in the last place: a Sinkhorn iteration chains 2*iters of them,
// and the correctly rounded ones branch, so that the lines of a matrix would wait for each other.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PRIM_COEFFICIENTS_CUH
#define MHCRT_CUDA_PRIM_COEFFICIENTS_CUH

#include "cuda/prim/maximum.cuh"
#include "mhcrt/kernels.h"

#include <math.h>

namespace mhcrt {

/// Attributes of mhc.sinkhorn, in front of it the choice of the map.
struct MixOptions {
  int32_t map, init, order, denom;
  float eps;
  int32_t iters;
};

__device__ __forceinline__ float reciprocalOf(float d) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(d));
  const float rest = fmaf(-d, r, 1.0f); // not finite where d is 0 or infinite, and r exact
  return fabsf(rest) < 1 ? fmaf(r, rest, r) : r;
}

/// 1 / sqrt(v), infinite for 0.
__device__ __forceinline__ float reciprocalRootOf(float v) {
  float r;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
  const float rest = fmaf(-v * r, r, 1.0f);
  return fabsf(rest) < 1 ? fmaf(0.5f * r, rest, r) : r;
}

/// 1 / (1 + exp(-z)) without overflow for either sign.
__device__ __forceinline__ float sigmoidOf(float z) {
  const float e = expf(-fabsf(z));
  return (z < 0 ? e : 1.0f) * reciprocalOf(1.0f + e);
}

/// The multiplier of a token from its mean square.
__device__ __forceinline__ float normMultiplierOf(float meanSquare, int32_t norm, float eps) {
  if (norm == MHCRT_NORM_INSIDE)
    return reciprocalRootOf(meanSquare + eps);
  if (norm == MHCRT_NORM_OUTSIDE)
    return reciprocalOf((meanSquare == 0 ? 0.0f : meanSquare * reciprocalRootOf(meanSquare)) + eps);
  return 1.0f;
}

/// Element `k` of line `line`, a row or a column.
__device__ __forceinline__ float &lineAt(float (&m)[16], bool rows, int line, int k) {
  return rows ? m[4 * line + k] : m[4 * k + line];
}

__device__ __forceinline__ float lineMax(float (&m)[16], bool rows, int line) {
  return maximumOf(maximumOf(lineAt(m, rows, line, 0), lineAt(m, rows, line, 1)),
                   maximumOf(lineAt(m, rows, line, 2), lineAt(m, rows, line, 3)));
}

/// max(sum + add, least): every kind of divisor without a branch, which would make the lines wait for each other.
struct Divisor {
  float add, least;

  __device__ __forceinline__ explicit Divisor(const MixOptions &options)
      : add(options.denom == MHCRT_DENOM_ADD ? options.eps : 0.0f),
        least(options.denom == MHCRT_DENOM_CLAMP ? options.eps : -INFINITY) {}
  /// The sum itself.
  __device__ __forceinline__ Divisor() : add(0), least(-INFINITY) {}
  __device__ __forceinline__ float of(float sum) const { return maximumOf(sum + add, least); }
};

template <bool kRows>
__device__ __forceinline__ void normalizeLines(float (&m)[16], Divisor divisor) {
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const float sum = (lineAt(m, kRows, line, 0) + lineAt(m, kRows, line, 1)) +
                      (lineAt(m, kRows, line, 2) + lineAt(m, kRows, line, 3));
    const float scale = reciprocalOf(divisor.of(sum));
#pragma unroll
    for (int k = 0; k < 4; ++k)
      lineAt(m, kRows, line, k) *= scale;
  }
}

template <bool kRows>
__device__ __forceinline__ void subtractLogSumExp(float (&m)[16]) {
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const float most = lineMax(m, kRows, line);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      sum += expf(lineAt(m, kRows, line, k) - most);
    const float shift = most + logf(sum);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      lineAt(m, kRows, line, k) -= shift;
  }
}

/// exp(Z), shifted by the largest value of each line; kShift 0: not at all, 1: of rows, 2: of columns.
template <int kShift>
__device__ __forceinline__ void expLines(float (&m)[16]) {
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const float shift = kShift == 0 ? 0.0f : lineMax(m, kShift == 1, line);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      float &value = lineAt(m, kShift != 2, line, k);
      value = expf(value - shift);
    }
  }
}

/// `steps` half iterations, of rows and columns in turn.
template <bool kLog, bool kRowsFirst>
__device__ __forceinline__ void alternate(float (&m)[16], int steps, Divisor divisor) {
#pragma unroll 1
  for (int step = 0; step < steps; step += 2) {
    if constexpr (kLog) {
      subtractLogSumExp<kRowsFirst>(m);
      subtractLogSumExp<!kRowsFirst>(m);
    } else {
      normalizeLines<kRowsFirst>(m, divisor);
      if (step + 1 < steps)
        normalizeLines<!kRowsFirst>(m, divisor);
    }
  }
}

/// The softmax is the first row step; its sum has no eps.
__device__ __forceinline__ void softmaxStart(float (&m)[16], float eps) {
  expLines<1>(m);
  normalizeLines<true>(m, Divisor());
#pragma unroll
  for (int k = 0; k < 16; ++k)
    m[k] += eps;
}

/// Replaces the logits by their residual matrix.
__device__ __forceinline__ void residualMix(float (&m)[16], const MixOptions &options) {
  if (options.map == MHCRT_RES_MAP_IDENTITY)
    return;
  const bool rowsFirst = options.order == MHCRT_ORDER_ROW_COL;
  const int steps = 2 * options.iters;
  const Divisor divisor(options);
  if (options.init == MHCRT_INIT_LOG) {
    if (rowsFirst)
      alternate<true, true>(m, steps, divisor);
    else
      alternate<true, false>(m, steps, divisor);
    return expLines<0>(m);
  }
  if (options.init == MHCRT_INIT_SOFTMAX_EPS) {
    softmaxStart(m, options.eps);
    return alternate<false, false>(m, steps - 1, divisor);
  }
  if (options.init == MHCRT_INIT_EXP_ROWMAX)
    expLines<1>(m);
  else if (options.init == MHCRT_INIT_EXP_COLMAX)
    expLines<2>(m);
  else
    expLines<0>(m);
  if (rowsFirst)
    alternate<false, true>(m, steps, divisor);
  else
    alternate<false, false>(m, steps, divisor);
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PRIM_COEFFICIENTS_CUH
