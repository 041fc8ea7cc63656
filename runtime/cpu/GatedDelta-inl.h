//===- GatedDelta-inl.h - Rows and gates of a gated delta net ---*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokens are counted batch first, in the order of the results: token n is m = n % M of row n / M of the batch.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_GATEDDELTA_H
#define MHCRT_CPU_GATEDDELTA_H
#include "mhcrt/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace mhcrt {

/// The sequence that a token belongs to; none sees another's tokens.
template <typename Args>
void findSequence(const Args &a, int64_t n, int64_t &begin, int64_t &end) {
  if (!a.cu_seqlens) {
    begin = n / a.M * a.M;
    end = begin + a.M;
    return;
  }
  const int32_t *cuts = static_cast<const int32_t *>(a.cu_seqlens), *next = std::upper_bound(cuts, cuts + a.s, n);
  begin = next[-1];
  end = *next;
}

/// The row of token n in qkvzba and in its gradient.
template <typename Args>
int64_t rowOf(const Args &a, int64_t n) {
  return a.seq_layout == MHCRT_SEQ_LAYOUT_MBD ? n % a.M * a.b + n / a.M : n;
}

/// The row of left_boundary and of its gradient that is token `before` (negative) of row i of the batch.
template <typename Args>
int64_t boundaryRowOf(const Args &a, int64_t i, int64_t before) {
  const int64_t at = before + a.p;
  return a.seq_layout == MHCRT_SEQ_LAYOUT_MBD ? at * a.b + i : i * a.p + at;
}

} // namespace mhcrt
#endif // MHCRT_CPU_GATEDDELTA_H

#if defined(MHCRT_CPU_GATEDDELTA_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_GATEDDELTA_INL_H
#undef MHCRT_CPU_GATEDDELTA_INL_H
#else
#define MHCRT_CPU_GATEDDELTA_INL_H
#endif

#include "cpu/Simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

HWY_INLINE float sigmoidOf(float x) { return 1.0f / (1.0f + std::exp(-x)); }

HWY_INLINE float softplusOf(float p, float threshold) {
  return p > threshold ? p : std::max(p, 0.0f) + std::log1p(std::exp(-std::fabs(p)));
}

/// Rounds `count` values to `type`; `room` takes as many of them.
HWY_INLINE void roundAny(float *values, int64_t count, int32_t type, void *room) {
  if (type == MHCRT_F32)
    return;
  narrowAny(values, count, room, type, 0);
  widenAny(room, type, 0, count, values);
}

/// The E convolved channels of token n and of the k - 1 before it to taps[j][c]; null where there is none.
template <typename Args>
HWY_INLINE void readTaps(const Args &a, int64_t n, float *room, const float **taps) {
  int64_t begin, end;
  findSequence(a, n, begin, end);
  for (int64_t j = 0; j < a.k; ++j) {
    const int64_t from = n - (a.k - 1) + j;
    float *to = room + j * a.E;
    taps[j] = to;
    if (from >= begin)
      widenAny(a.qkvzba, a.qkvzba_type, rowOf(a, from) * a.D, a.E, to);
    else if (a.left_boundary)
      widenAny(a.left_boundary, a.qkvzba_type, boundaryRowOf(a, n / a.M, from - begin) * a.E, a.E, to);
    else
      taps[j] = nullptr;
  }
}

/// The weights as f32: weight[c][j], then bias[c], which is 0 where there is none.
template <typename Args>
void readWeights(const Args &a, float *weight) {
  widenAny(a.conv_weight, a.conv_weight_type, 0, a.E * a.k, weight);
  float *bias = weight + a.E * a.k;
  std::fill_n(bias, a.E, 0.0f);
  if (a.conv_bias)
    widenAny(a.conv_bias, a.conv_bias_type, 0, a.E, bias);
}

/// The convolution of one token, rounded.
template <typename Args>
HWY_INLINE void convolve(const Args &a, const float *const *taps, const float *weight, float *out, void *room) {
  for (int64_t c = 0; c < a.E; ++c) {
    float sum = weight[a.E * a.k + c];
    for (int64_t j = 0; j < a.k; ++j)
      if (taps[j])
        sum = std::fma(weight[c * a.k + j], taps[j][c], sum);
    out[c] = sum;
  }
  roundAny(out, a.E, a.qkvzba_type, room);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_GATEDDELTA_INL_H
