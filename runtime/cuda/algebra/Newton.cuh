//===- Newton.cuh - Doubly stochastic limits in a group of lanes -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Newton4.cuh for any number of streams: kWidth lanes of a warp hold an n x n matrix, a row each. All groups of a warp
// run as many steps as the one that needs most; a matrix that is there changes no more.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_ALGEBRA_NEWTON_CUH
#define MHCRT_CUDA_ALGEBRA_NEWTON_CUH

#include "cuda/algebra/Newton4.cuh"
#include "cuda/algebra/Sinkhorn.cuh"

namespace mhcrt {

template <int kWidth>
struct NewtonGroup : SinkhornGroup<kWidth> {
  using Group = SinkhornGroup<kWidth>;
  using Group::n, Group::row;

  __device__ explicit NewtonGroup(int64_t n) : Group(n) {}

  __device__ static float from(float value, int lane) { return __shfl_sync(~0u, value, lane, kWidth); }

  __device__ float largestOfRows(float mine) const {
    mine = row < n ? mine : -INFINITY;
    for (int offset = kWidth / 2; offset > 0; offset /= 2)
      mine = maximumOf(mine, __shfl_xor_sync(~0u, mine, offset, kWidth));
    return mine;
  }

  __device__ float sumOfRow(const float (&m)[kWidth]) const {
    float sum[4] = {};
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      sum[c % 4] += c < n ? m[c] : 0.0f;
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }

  __device__ void normalizeColumns(float (&m)[kWidth], bool isActive) const {
    float sum[kWidth];
    Group::template sums<false>(m, sum);
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      m[c] = atLeast(isActive ? m[c] * (1.0f / sum[c]) : m[c], kLeastCell);
  }

  /// Products with row j, summed over the columns; 0 for a row behind the last.
  __device__ float shareWith(const float (&m)[kWidth], int j) const {
    float sum = 0.0f;
#pragma unroll
    for (int c = 0; c < kWidth; ++c) {
      const float other = from(m[c], j);
      sum = c < n ? fmaf(m[c], other, sum) : sum;
    }
    return row < n && j < n ? sum : 0.0f;
  }

  /// The reciprocal of what row k, whose links all lanes have, shares with the rows behind it.
  __device__ float inverseDegree(const float (&links)[kWidth], int k) const {
    float degree = 0.0f;
#pragma unroll
    for (int j = 1; j < kWidth; ++j)
      degree += j > k ? links[j] : 0.0f;
    return 1.0f / atLeast(degree, kLeastDegree);
  }

  /// The steps to the limit of logits.
  __device__ void limit(float (&m)[kWidth], int64_t iters) const;
  /// The gradient of the logits, in place of that of the limit m.
  __device__ void gradient(float (&g)[kWidth], const float (&m)[kWidth]) const;

private:
  __device__ float start(float (&m)[kWidth], int64_t iters) const;
  __device__ float solve(float (&w)[kWidth], float x) const;
};

/// Returns the scale.
template <int kWidth>
__device__ float NewtonGroup<kWidth>::start(float (&m)[kWidth], int64_t iters) const {
  float most = m[0], least = m[0];
#pragma unroll
  for (int c = 1; c < kWidth; ++c) {
    most = c < n ? maximumOf(most, m[c]) : most;
    least = c < n ? fminf(least, m[c]) : least;
  }
  const float scale = newtonScale(largestOfRows(most) + largestOfRows(-least), iters);
#pragma unroll
  for (int c = 0; c < kWidth; ++c)
    m[c] = c < n ? expf((m[c] - most) * scale) : 0.0f;
  const float inverse = 1.0f / sumOfRow(m);
#pragma unroll
  for (int c = 0; c < kWidth; ++c)
    m[c] *= inverse;
  normalizeColumns(m, true);
  return scale;
}

/// This row's x of sum_j w[i,j] (x[i] - x[j]) = x[i]; the last is 0.
template <int kWidth>
__device__ float NewtonGroup<kWidth>::solve(float (&w)[kWidth], float x) const {
  float mine = 0.0f;
#pragma unroll
  for (int k = 0; k < kWidth; ++k) {
    if (k + 1 >= n)
      break;
    float links[kWidth];
#pragma unroll
    for (int j = 0; j < kWidth; ++j)
      links[j] = j > k ? from(w[j], k) : 0.0f;
    const float inverse = inverseDegree(links, k), flow = from(x, k), share = row > k ? w[k] * inverse : 0.0f;
    mine = row == k ? inverse : mine;
    x = fmaf(share, flow, x);
#pragma unroll
    for (int j = 0; j < kWidth; ++j)
      w[j] = fmaf(share, links[j], w[j]);
  }
  x = row + 1 >= n ? 0.0f : x;
#pragma unroll
  for (int k = kWidth - 2; k >= 0; --k) {
    if (k + 1 >= n)
      continue;
    x = row == k ? x * mine : x;
    const float found = from(x, k);
    x = row < k ? fmaf(w[k], found, x) : x;
  }
  return x;
}

template <int kWidth>
__device__ void NewtonGroup<kWidth>::limit(float (&m)[kWidth], int64_t iters) const {
  float scale = start(m, iters), steps = 0.0f;
  bool isActive = n > 1;
#pragma unroll 1
  for (int64_t left = iters; left > 0; --left) {
    float missing = 1.0f - sumOfRow(m);
    const float worst = largestOfRows(fabsf(missing));            // all lanes take part
    missing -= Group::sumOfRows(missing) / static_cast<float>(n); // the last row would have the roundings of all
    const bool isLast = scale >= 1.0f;
    isActive = isActive && !(isLast && worst <= kSumTolerance);
    if (!__any_sync(~0u, isActive))
      return;
    float w[kWidth];
#pragma unroll
    for (int j = 0; j < kWidth; ++j)
      w[j] = shareWith(m, j);
    const float x = solve(w, missing);
    const float most = largestOfRows(x), least = -largestOfRows(-x);
    const float spread = most - least, middle = 0.5f * (most + least);
    const bool grows = isActive && !isLast && (spread <= kLongestStep || scale <= leastScale(left));
    const float factor = isActive ? expf((x - middle) * newtonDamping(spread, steps)) : 1.0f;
#pragma unroll
    for (int c = 0; c < kWidth; ++c) {
      m[c] *= factor;
      m[c] = grows ? m[c] * m[c] : m[c];
    }
    normalizeColumns(m, isActive);
    isActive = isActive && !(isLast && spread <= kLastStep);
    scale = grows ? 2.0f * scale : scale;
    steps = grows ? 0.0f : steps + 1.0f;
  }
}

template <int kWidth>
__device__ void NewtonGroup<kWidth>::gradient(float (&g)[kWidth], const float (&m)[kWidth]) const {
  float w[kWidth], pull[kWidth], mine = 0.0f;
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    w[j] = shareWith(m, j), pull[j] = 0.0f;
#pragma unroll
    for (int c = 0; c < kWidth; ++c) {
      const float share = m[c] * from(m[c], j), other = from(g[c], j);
      pull[j] = c < n && j < n && row < n ? fmaf(share, g[c] - other, pull[j]) : pull[j];
    }
  }
#pragma unroll
  for (int k = 0; k < kWidth; ++k) {
    if (k + 1 >= n)
      break;
    float links[kWidth];
#pragma unroll
    for (int j = 0; j < kWidth; ++j)
      links[j] = j > k ? from(w[j], k) : 0.0f;
    const float inverse = inverseDegree(links, k);
    const float share = row > k ? w[k] * inverse : 0.0f, pulled = row > k ? pull[k] * inverse : 0.0f;
    mine = row == k ? inverse : mine;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      const float sent = from(pull[j], k); // from j to k
      pull[j] = j > k ? fmaf(share, sent, fmaf(pulled, links[j], pull[j])) : pull[j];
      w[j] = fmaf(share, links[j], w[j]);
    }
  }
  float a = 0.0f;
#pragma unroll
  for (int j = 1; j < kWidth; ++j)
    a += j > row ? pull[j] : 0.0f;
#pragma unroll
  for (int k = kWidth - 2; k >= 0; --k) {
    if (k + 1 >= n)
      continue;
    a = row == k ? a * mine : a;
    const float found = from(a, k);
    a = row < k ? fmaf(w[k], found, a) : a;
  }
#pragma unroll
  for (int c = 0; c < kWidth; ++c) {
    g[c] -= a;
    const float sum = Group::sumOfRows(m[c] * g[c]);
    g[c] = m[c] * (g[c] - sum);
  }
}

} // namespace mhcrt

#endif // MHCRT_CUDA_ALGEBRA_NEWTON_CUH
