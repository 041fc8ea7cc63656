//===- Sinkhorn4Bwd.cuh - Sinkhorn backwards, a 4x4 per lane ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The iterations run again and leave a float4 a step: the lines' divisors, or in log space the potentials that the step
// replaced. The steps then run backwards, each making the matrix before it from the one after.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_PRIM_SINKHORN4BWD_CUH
#define MHCRT_CUDA_PRIM_SINKHORN4BWD_CUH

#include "cuda/PreBwd.h"
#include "cuda/prim/maximum.cuh"
#include "mhcrt/kernels.h"

namespace mhcrt {

/// 1 / v to half a unit in the last place, without the branches of a division: they would end its overlap with others.
__device__ __forceinline__ float reciprocal(float v) {
  float r;
  asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
  return fmaf(r, fmaf(-v, r, 1.0f), r);
}

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

/// exp(m - the line's maximum), divided by the line's sum when `divide` is set.
template <bool kRows>
__device__ __forceinline__ void shiftedExp(float (&m)[16], bool divide) {
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const float most = lineMax<kRows>(m, line);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      m[lineAt<kRows>(line, k)] = expf(m[lineAt<kRows>(line, k)] - most);
    const float scale = divide ? 1.0f / lineSum<kRows>(m, line) : 1.0f;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      m[lineAt<kRows>(line, k)] *= scale;
  }
}

/// In place: logits become the exponentials or the softmax that the steps start from.
__device__ __forceinline__ void sinkhornStart(float (&m)[16], int32_t init) {
  if (init == MHCRT_INIT_EXP) {
#pragma unroll
    for (int k = 0; k < 16; ++k)
      m[k] = expf(m[k]);
  } else if (init == MHCRT_INIT_EXP_COLMAX) {
    shiftedExp<false>(m, false);
  } else {
    shiftedExp<true>(m, init == MHCRT_INIT_SOFTMAX_EPS);
  }
}

/// What a step adds to a sum, and the least that it divides by: 0 is no limit, sums are not negative.
struct DivisorRule {
  float add, least;
  __device__ __forceinline__ explicit DivisorRule(const SinkhornOptions &options)
      : add(options.denom == MHCRT_DENOM_ADD ? options.eps : 0.0f),
        least(options.denom == MHCRT_DENOM_CLAMP ? options.eps : 0.0f) {}
};

template <bool kRows>
__device__ __forceinline__ void divideLines(float (&m)[16], const DivisorRule &rule, float4 *record) {
  float divisor[4];
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    divisor[line] = maximumOf(lineSum<kRows>(m, line) + rule.add, rule.least);
    const float scale = reciprocal(divisor[line]);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      m[lineAt<kRows>(line, k)] *= scale;
  }
  *record = make_float4(divisor[0], divisor[1], divisor[2], divisor[3]);
}

/// A divisor that the limit set is a constant.
template <bool kRows>
__device__ __forceinline__ void reverseLines(float (&g)[16], float (&m)[16], const DivisorRule &rule,
                                             const float4 *record) {
  const float divisor[4] = {record->x, record->y, record->z, record->w};
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const float scale = reciprocal(divisor[line]);
    float even = g[lineAt<kRows>(line, 0)] * m[lineAt<kRows>(line, 0)];
    float odd = g[lineAt<kRows>(line, 1)] * m[lineAt<kRows>(line, 1)];
    even = fmaf(g[lineAt<kRows>(line, 2)], m[lineAt<kRows>(line, 2)], even);
    odd = fmaf(g[lineAt<kRows>(line, 3)], m[lineAt<kRows>(line, 3)], odd);
    const float sum = divisor[line] > rule.least ? even + odd : 0.0f;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int at = lineAt<kRows>(line, k);
      g[at] = (g[at] - sum) * scale;
      m[at] *= divisor[line];
    }
  }
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

/// The gradient of a maximum goes to the largest values, in equal parts.
template <bool kRows>
__device__ __forceinline__ void reverseMaximum(float (&g)[16], const float (&logits)[16]) {
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const float most = lineMax<kRows>(logits, line), sum = lineSum<kRows>(g, line);
    float count = 0.0f;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      count += logits[lineAt<kRows>(line, k)] == most ? 1.0f : 0.0f;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (logits[lineAt<kRows>(line, k)] == most)
        g[lineAt<kRows>(line, k)] -= sum / count;
  }
}

/// g: of the start matrix; becomes that of the logits.
__device__ __forceinline__ void reverseStart(float (&g)[16], const float (&logits)[16], int32_t init) {
  float start[16];
#pragma unroll
  for (int k = 0; k < 16; ++k)
    start[k] = logits[k];
  sinkhornStart(start, init);
#pragma unroll
  for (int k = 0; k < 16; ++k)
    g[k] *= start[k];
  if (init == MHCRT_INIT_EXP_ROWMAX)
    reverseMaximum<true>(g, logits);
  if (init == MHCRT_INIT_EXP_COLMAX)
    reverseMaximum<false>(g, logits);
  if (init != MHCRT_INIT_SOFTMAX_EPS)
    return;
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const float sum = lineSum<true>(g, line);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      g[line * 4 + k] = fmaf(-start[line * 4 + k], sum, g[line * 4 + k]);
  }
}

/// One step in log space: the lines' potentials become the log-sum-exp of what the other lines' leave.
template <bool kRows>
__device__ __forceinline__ void potentialStep(const float (&z)[16], float (&mine)[4], const float (&other)[4],
                                              float4 *record) {
  *record = make_float4(mine[0], mine[1], mine[2], mine[3]);
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    float v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      v[k] = z[lineAt<kRows>(line, k)] - other[k];
    const float most = maximumOf(maximumOf(v[0], v[1]), maximumOf(v[2], v[3]));
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      sum += expf(v[k] - most);
    mine[line] = most + logf(sum);
  }
}

template <bool kRows>
__device__ __forceinline__ void reversePotentials(float (&g)[16], const float (&z)[16], float (&mine)[4],
                                                  const float (&other)[4], const float4 *record) {
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const float sum = lineSum<kRows>(g, line);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int at = lineAt<kRows>(line, k);
      g[at] = fmaf(-expf(z[at] - mine[line] - other[k]), sum, g[at]);
    }
  }
  mine[0] = record->x, mine[1] = record->y, mine[2] = record->z, mine[3] = record->w;
}

/// Steps after the start.
__device__ __forceinline__ int sinkhornSteps(const SinkhornOptions &options) {
  return static_cast<int>(2 * options.iters) - (options.init == MHCRT_INIT_SOFTMAX_EPS ? 1 : 0);
}

/// Where the first step is one of columns, the matrices are transposed, so that the loops begin with rows.
__device__ __forceinline__ bool columnsFirst(const SinkhornOptions &options) {
  return options.init == MHCRT_INIT_SOFTMAX_EPS || options.order == MHCRT_ORDER_COL_ROW;
}

/// In place: the gradient of the mix becomes that of the logits. Step s of the lane has a float4 at history + s *
/// stride. `load` makes the logits; called twice, so that they need no registers in between.
template <class Load>
__device__ __forceinline__ void sinkhorn4BwdLinear(float (&g)[16], Load load, const SinkhornOptions &options,
                                                   float4 *history, int stride) {
  const int steps = sinkhornSteps(options);
  const DivisorRule rule(options);
  float m[16];
  load(m);
  sinkhornStart(m, options.init);
  if (options.init == MHCRT_INIT_SOFTMAX_EPS)
#pragma unroll
    for (int k = 0; k < 16; ++k)
      m[k] += options.eps;
  if (columnsFirst(options)) {
    transpose(m);
    transpose(g);
  }
#pragma unroll 1
  for (int pair = 0; pair < steps / 2; ++pair, history += 2 * stride) {
    divideLines<true>(m, rule, history);
    divideLines<false>(m, rule, history + stride);
  }
  if (steps % 2) {
    divideLines<true>(m, rule, history);
    reverseLines<true>(g, m, rule, history);
  }
#pragma unroll 1
  for (int pair = 0; pair < steps / 2; ++pair) {
    history -= 2 * stride;
    reverseLines<false>(g, m, rule, history + stride);
    reverseLines<true>(g, m, rule, history);
  }
  if (columnsFirst(options))
    transpose(g);
  load(m);
  reverseStart(g, m, options.init);
}

/// The same in log space; value (r, c) of the matrix is exp(z - rows[r] - columns[c]). The number of steps is even.
template <class Load>
__device__ __forceinline__ void sinkhorn4BwdLog(float (&g)[16], Load load, const SinkhornOptions &options,
                                                float4 *history, int stride) {
  const int pairs = sinkhornSteps(options) / 2;
  float z[16], rows[4] = {}, columns[4] = {};
  load(z);
  if (columnsFirst(options)) {
    transpose(z);
    transpose(g);
  }
#pragma unroll 1
  for (int pair = 0; pair < pairs; ++pair, history += 2 * stride) {
    potentialStep<true>(z, rows, columns, history);
    potentialStep<false>(z, columns, rows, history + stride);
  }
#pragma unroll
  for (int k = 0; k < 16; ++k)
    g[k] *= expf(z[k] - rows[k / 4] - columns[k % 4]);
#pragma unroll 1
  for (int pair = 0; pair < pairs; ++pair) {
    history -= 2 * stride;
    reversePotentials<false>(g, z, columns, rows, history + stride);
    reversePotentials<true>(g, z, rows, columns, history);
  }
  if (columnsFirst(options))
    transpose(g);
}

} // namespace mhcrt

#endif // MHCRT_CUDA_PRIM_SINKHORN4BWD_CUH
