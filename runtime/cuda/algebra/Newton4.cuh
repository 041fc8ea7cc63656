//===- Newton4.cuh - Doubly stochastic limits, a 4x4 per thread -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Newton's steps to the limit of Sinkhorn's iterations, and its gradient (math.md 3.4), for a token with four streams
// in the registers of one thread. A thread ends when its matrix is there.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_ALGEBRA_NEWTON4_CUH
#define MHCRT_CUDA_ALGEBRA_NEWTON4_CUH

#include "cuda/algebra/SinkhornThread.cuh"
#include "src/NewtonRule.h"

namespace mhcrt {

/// A NaN stays.
__device__ __forceinline__ float atLeast(float v, float least) { return v < least ? least : v; }

/// The share of a step that is taken where it changes u by `spread`, after `steps` steps at one scale.
__device__ __forceinline__ float newtonDamping(float spread, float steps) {
  if (!(spread > kFullStep))
    return 1.0f;
  return steps < kTrustedSteps ? fminf(1.0f, kLongestStep * reciprocalOf(spread))
                               : logf(1.0f + spread) * reciprocalOf(spread);
}

/// The power of two that makes logits differ by kWidestRange at most.
__device__ __forceinline__ float newtonScale(float range, int64_t iters) {
  float scale = 1.0f;
  for (int64_t k = 0; k < mostHalvings(iters) && range * scale > kWidestRange; ++k)
    scale *= 0.5f;
  return scale;
}

/// The place of the link between two of four rows, the first before the second.
__device__ constexpr int linkAt(int i, int j) { return i * (7 - i) / 2 + j - i - 1; }

/// The reciprocal of what row k shares with the rows behind it.
__device__ __forceinline__ float inverseDegree(const float (&w)[6], int k) {
  float degree = w[linkAt(k, k + 1)];
#pragma unroll
  for (int j = k + 2; j < 4; ++j)
    degree += w[linkAt(k, j)];
  return reciprocalOf(atLeast(degree, kLeastDegree));
}

/// Solves sum_j w[i,j] (x[i] - x[j]) = x[i] in place; the last x is 0.
__device__ __forceinline__ void solveShares(float (&w)[6], float (&x)[4]) {
  float inverse[3];
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    inverse[k] = inverseDegree(w, k);
#pragma unroll
    for (int i = k + 1; i < 4; ++i) {
      const float share = w[linkAt(k, i)] * inverse[k];
      x[i] = fmaf(share, x[k], x[i]);
#pragma unroll
      for (int j = i + 1; j < 4; ++j)
        w[linkAt(i, j)] = fmaf(share, w[linkAt(k, j)], w[linkAt(i, j)]);
    }
  }
  x[3] = 0.0f;
#pragma unroll
  for (int k = 2; k >= 0; --k) {
#pragma unroll
    for (int j = k + 1; j < 3; ++j)
      x[k] = fmaf(w[linkAt(k, j)], x[j], x[k]);
    x[k] *= inverse[k];
  }
}

__device__ __forceinline__ void normalizeColumns(float (&m)[16]) {
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    const float scale = reciprocalOf(lineSum<false>(m, c));
#pragma unroll
    for (int r = 0; r < 4; ++r)
      m[4 * r + c] = atLeast(m[4 * r + c] * scale, kLeastCell);
  }
}

/// The steps from a start whose columns sum to one.
__device__ __forceinline__ void newtonSteps(float (&m)[16], float scale, int left) {
  float steps = 0.0f;
#pragma unroll 1
  for (; left > 0; --left) {
    float x[4], w[6], worst = 0.0f;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      x[r] = 1.0f - lineSum<true>(m, r);
      worst = maximumOf(worst, fabsf(x[r]));
    }
    const bool isLast = scale >= 1.0f;
    if (isLast && worst <= kSumTolerance)
      return;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = i + 1; j < 4; ++j)
        w[linkAt(i, j)] = fmaf(m[4 * i], m[4 * j], m[4 * i + 1] * m[4 * j + 1]) +
                          fmaf(m[4 * i + 2], m[4 * j + 2], m[4 * i + 3] * m[4 * j + 3]);
    solveShares(w, x);
    const float most = fmaxf(fmaxf(x[0], x[1]), fmaxf(x[2], x[3]));
    const float least = fminf(fminf(x[0], x[1]), fminf(x[2], x[3]));
    const float spread = most - least, damping = newtonDamping(spread, steps), middle = 0.5f * (most + least);
    const bool grows = !isLast && (spread <= kLongestStep || scale <= leastScale(left));
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const float factor = expf((x[r] - middle) * damping);
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        float &cell = m[4 * r + c];
        cell *= factor;
        cell = grows ? cell * cell : cell;
      }
    }
    normalizeColumns(m);
    if (isLast && spread <= kLastStep)
      return;
    scale = grows ? 2.0f * scale : scale;
    steps = grows ? 0.0f : steps + 1.0f;
  }
}

/// The limit of the logits m, in place.
__device__ __forceinline__ void newtonLimit(float (&m)[16], int64_t iters) {
  float most = largestOf(m), least = m[0];
#pragma unroll
  for (int k = 1; k < 16; ++k)
    least = fminf(least, m[k]);
  const float scale = newtonScale(most - least, iters);
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const float shift = lineMax<true>(m, r);
#pragma unroll
    for (int c = 0; c < 4; ++c)
      m[4 * r + c] = expf((m[4 * r + c] - shift) * scale);
    const float inverse = reciprocalOf(lineSum<true>(m, r));
#pragma unroll
    for (int c = 0; c < 4; ++c)
      m[4 * r + c] *= inverse;
  }
  normalizeColumns(m);
  newtonSteps(m, scale, static_cast<int>(iters));
}

/// The gradient of the logits, in place of that of the limit m. What one row pulls at another is kept for each pair:
/// sums of a row have too few digits where groups of rows share next to nothing.
__device__ __forceinline__ void newtonGradient(float (&g)[16], const float (&m)[16]) {
  float w[6], pull[6], inverse[3], a[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = i + 1; j < 4; ++j) {
      float share = 0.0f, sum = 0.0f;
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const float both = m[4 * i + c] * m[4 * j + c];
        share += both;
        sum = fmaf(both, g[4 * i + c] - g[4 * j + c], sum);
      }
      w[linkAt(i, j)] = share;
      pull[linkAt(i, j)] = sum;
    }
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    inverse[k] = inverseDegree(w, k);
#pragma unroll
    for (int i = k + 1; i < 4; ++i) {
      const float share = w[linkAt(k, i)] * inverse[k], pulled = pull[linkAt(k, i)] * inverse[k];
#pragma unroll
      for (int j = i + 1; j < 4; ++j) {
        float &link = pull[linkAt(i, j)];
        link = fmaf(share, pull[linkAt(k, j)], fmaf(-pulled, w[linkAt(k, j)], link));
        w[linkAt(i, j)] = fmaf(share, w[linkAt(k, j)], w[linkAt(i, j)]);
      }
    }
  }
  a[3] = 0.0f;
#pragma unroll
  for (int k = 2; k >= 0; --k) {
    a[k] = 0.0f;
#pragma unroll
    for (int j = k + 1; j < 4; ++j)
      a[k] += fmaf(w[linkAt(k, j)], a[j], pull[linkAt(k, j)]);
    a[k] *= inverse[k];
  }
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    float sum = 0.0f;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      g[4 * r + c] -= a[r];
      sum = fmaf(m[4 * r + c], g[4 * r + c], sum);
    }
#pragma unroll
    for (int r = 0; r < 4; ++r)
      g[4 * r + c] = m[4 * r + c] * (g[4 * r + c] - sum);
  }
}

} // namespace mhcrt

#endif // MHCRT_CUDA_ALGEBRA_NEWTON4_CUH
