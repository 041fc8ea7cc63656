//===- Sinkhorn4Bwd.cuh - Sinkhorn backwards, a 4x4 per lane ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The iterations run again and leave a float4 a step: the lines' divisors, or the potentials that the step replaced,
// which in log space are logarithms. The steps then run backwards, each making the matrix, or the potentials, before it
// from those after.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_ALGEBRA_SINKHORN4BWD_CUH
#define MHCRT_CUDA_ALGEBRA_SINKHORN4BWD_CUH

#include "cuda/algebra/Sinkhorn4.cuh"

namespace mhcrt {

/// In place: logits become the exponentials, the sigmoids or the softmax that the steps start from, before eps.
__device__ __forceinline__ void sinkhornStart(float (&m)[16], const SinkhornOptions &options) {
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
  for (int line = 0; line < 4; ++line) {
    const float scale = 1.0f / lineSum<true>(m, line);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      m[lineAt<true>(line, k)] *= scale;
  }
}

template <bool kRows>
__device__ __forceinline__ void divideLines(float (&m)[16], const Divisor &rule, float4 *record) {
  float divisor[4];
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    divisor[line] = rule.of(lineSum<kRows>(m, line), KeepF32());
    const float scale = finiteReciprocalOf(divisor[line]);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      m[lineAt<kRows>(line, k)] *= scale;
  }
  *record = make_float4(divisor[0], divisor[1], divisor[2], divisor[3]);
}

template <bool kRows>
__device__ __forceinline__ void reverseLines(float (&g)[16], float (&m)[16], const Divisor &rule,
                                             const float4 *record) {
  const float divisor[4] = {record->x, record->y, record->z, record->w};
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const float scale = finiteReciprocalOf(divisor[line]);
    float even = g[lineAt<kRows>(line, 0)] * m[lineAt<kRows>(line, 0)];
    float odd = g[lineAt<kRows>(line, 1)] * m[lineAt<kRows>(line, 1)];
    even = fmaf(g[lineAt<kRows>(line, 2)], m[lineAt<kRows>(line, 2)], even);
    odd = fmaf(g[lineAt<kRows>(line, 3)], m[lineAt<kRows>(line, 3)], odd);
    const float sum = rule.isFree(divisor[line]) ? even + odd : 0.0f;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int at = lineAt<kRows>(line, k);
      g[at] = (g[at] - sum) * scale;
      m[at] *= divisor[line];
    }
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

/// The same of the maximum of all.
__device__ __forceinline__ void reverseMaximum(float (&g)[16], const float (&logits)[16]) {
  const float most = largestOf(logits);
  float sum = 0.0f, count = 0.0f;
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    sum += g[k];
    count += logits[k] == most ? 1.0f : 0.0f;
  }
#pragma unroll
  for (int k = 0; k < 16; ++k)
    if (logits[k] == most)
      g[k] -= sum / count;
}

/// g: of the start matrix; becomes that of the logits.
__device__ __forceinline__ void reverseStart(float (&g)[16], const float (&logits)[16],
                                             const SinkhornOptions &options) {
  float start[16];
#pragma unroll
  for (int k = 0; k < 16; ++k)
    start[k] = logits[k];
  sinkhornStart(start, options);
#pragma unroll
  for (int k = 0; k < 16; ++k)
    g[k] *= start[k];
  if (options.init == MHCRT_INIT_EXP_ROWMAX)
    reverseMaximum<true>(g, logits);
  if (options.init == MHCRT_INIT_EXP_COLMAX)
    reverseMaximum<false>(g, logits);
  if (options.init == MHCRT_INIT_EXP_MAX)
    reverseMaximum(g, logits);
  if (options.isSigmoid())
#pragma unroll
    for (int k = 0; k < 16; ++k)
      g[k] *= 1.0f - start[k];
  if (options.init != MHCRT_INIT_SOFTMAX_EPS)
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

/// Factors of lines, and the gradients of their logarithms.
struct Factors {
  float values[4], grads[4];
};

template <bool kRows>
__device__ __forceinline__ void recordFactors(const float (&m)[16], float (&mine)[4], const float (&others)[4],
                                              float eps, float4 *record) {
  *record = make_float4(mine[0], mine[1], mine[2], mine[3]);
  scaleLines<kRows>(m, mine, others, eps);
}

/// g: of the start m.
template <bool kRows>
__device__ __forceinline__ void reverseFactors(float (&g)[16], const float (&m)[16], Factors &mine, Factors &others,
                                               const float4 *record) {
#pragma unroll
  for (int line = 0; line < 4; ++line) {
    const float scale = mine.values[line] * mine.grads[line];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int at = lineAt<kRows>(line, k);
      const float passed = scale * others.values[k];
      g[at] -= passed;
      others.grads[k] = fmaf(-m[at], passed, others.grads[k]);
    }
    mine.grads[line] = 0.0f;
  }
  mine.values[0] = record->x, mine.values[1] = record->y, mine.values[2] = record->z, mine.values[3] = record->w;
}

/// In place: the gradient of the mix becomes that of the start m. Both begin with rows.
__device__ __forceinline__ void reverseScaling(float (&g)[16], const float (&m)[16], const SinkhornOptions &options,
                                               float4 *history, int stride) {
  const int steps = static_cast<int>(options.steps());
  Factors rows = {{1, 1, 1, 1}, {}}, columns = rows;
#pragma unroll 1
  for (int step = 0; step < steps; step += 2) {
    recordFactors<true>(m, rows.values, columns.values, options.eps, history + step * stride);
    if (step + 1 < steps)
      recordFactors<false>(m, columns.values, rows.values, options.eps, history + (step + 1) * stride);
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    g[k] *= rows.values[k / 4] * columns.values[k % 4];
    rows.grads[k / 4] = fmaf(g[k], m[k], rows.grads[k / 4]);
    columns.grads[k % 4] = fmaf(g[k], m[k], columns.grads[k % 4]);
  }
#pragma unroll 1
  for (int step = (steps - 1) & ~1; step >= 0; step -= 2) {
    if (step + 1 < steps)
      reverseFactors<false>(g, m, columns, rows, history + (step + 1) * stride);
    reverseFactors<true>(g, m, rows, columns, history + step * stride);
  }
}

/// In place: the gradient of the mix becomes that of the start m. Both begin with rows.
__device__ __forceinline__ void reverseDivisions(float (&g)[16], float (&m)[16], const SinkhornOptions &options,
                                                 float4 *history, int stride) {
  const int steps = static_cast<int>(options.steps());
  const Divisor rule(options, options.eps);
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
}

/// In place: the gradient of the mix becomes that of the logits. Step s of the lane has a float4 at history + s *
/// stride. `load` makes the logits; called twice, so that they need no registers in between.
template <class Load>
__device__ __forceinline__ void sinkhorn4BwdLinear(float (&g)[16], Load load, const SinkhornOptions &options,
                                                   float4 *history, int stride) {
  float m[16];
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
template <class Load>
__device__ __forceinline__ void sinkhorn4BwdLog(float (&g)[16], Load load, const SinkhornOptions &options,
                                                float4 *history, int stride) {
  const int pairs = static_cast<int>(options.steps()) / 2;
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

#endif // MHCRT_CUDA_ALGEBRA_SINKHORN4BWD_CUH
