//===- Sinkhorn.cuh - Sinkhorn's iteration in a group of lanes --*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kWidth lanes of a warp hold an n x n matrix, n <= kWidth, a row each. Sums along a row stay in the lane; those along
// a column are a tree over the lanes. Lanes and columns behind n compute, and nothing reads what they have.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_ALGEBRA_SINKHORN_CUH
#define MHCRT_CUDA_ALGEBRA_SINKHORN_CUH

#include "cuda/algebra/Divisor.cuh"
#include "cuda/algebra/Format.cuh"

namespace mhcrt {

template <int kWidth>
struct SinkhornGroup {
  int n, row;

  __device__ explicit SinkhornGroup(int64_t n) : n(static_cast<int>(n)), row(threadIdx.x % kWidth) {}

  /// Sum of the line of each column: where kRows, all are that of the row.
  template <bool kRows>
  __device__ void sums(const float (&m)[kWidth], float (&out)[kWidth]) const {
    if constexpr (kRows) {
      float sum = m[0];
#pragma unroll
      for (int c = 1; c < kWidth; ++c)
        sum = c < n ? sum + m[c] : sum;
      fill(out, sum);
    } else {
#pragma unroll
      for (int c = 0; c < kWidth; ++c) {
        out[c] = row < n ? m[c] : 0.0f;
        for (int offset = kWidth / 2; offset > 0; offset /= 2)
          out[c] += __shfl_xor_sync(~0u, out[c], offset, kWidth);
      }
    }
  }

  template <bool kRows>
  __device__ void maxima(const float (&m)[kWidth], float (&out)[kWidth]) const {
    if constexpr (kRows) {
      float most = m[0];
#pragma unroll
      for (int c = 1; c < kWidth; ++c)
        most = c < n ? maximumOf(most, m[c]) : most;
      fill(out, most);
    } else {
#pragma unroll
      for (int c = 0; c < kWidth; ++c) {
        out[c] = row < n ? m[c] : -INFINITY;
        for (int offset = kWidth / 2; offset > 0; offset /= 2)
          out[c] = maximumOf(out[c], __shfl_xor_sync(~0u, out[c], offset, kWidth));
      }
    }
  }

  /// exp(Z), shifted by the largest value of each line where the option says so; for softmax_eps the softmax; Z for
  /// log.
  template <typename Round = KeepF32>
  __device__ void start(float (&m)[kWidth], const SinkhornOptions &options, Round round = {}) const {
    float shift[kWidth] = {};
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      m[c] = round(m[c]);
    if (options.init == MHCRT_INIT_LOG)
      return;
    if (options.init == MHCRT_INIT_EXP_COLMAX)
      maxima<false>(m, shift);
    else if (options.init != MHCRT_INIT_EXP)
      maxima<true>(m, shift);
    if (options.init != MHCRT_INIT_SOFTMAX_EPS) {
#pragma unroll
      for (int c = 0; c < kWidth; ++c)
        m[c] = round(expf(round(m[c] - shift[c])));
      return;
    }
#pragma unroll
    for (int c = 0; c < kWidth; ++c) // the softmax is one op
      m[c] = expf(m[c] - shift[c]);
    float sum[kWidth];
    sums<true>(m, sum);
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      m[c] = round(m[c] * (1.0f / sum[c]));
  }

  /// State that a step keeps for its reverse: its result (in logs: the softmax along the line), the reciprocal of its
  /// divisor, and 1, or 0 where a clamp made the divisor a constant.
  struct Record {
    float value[kWidth], scale[kWidth], isFree[kWidth];
  };

  /// The product with a reciprocal rounds to 16 bits as the quotient of 16-bit numbers would.
  template <bool kRows, typename Round = KeepF32>
  __device__ void step(float (&m)[kWidth], const SinkhornOptions &options, Record &record, Round round = {}) const {
    float line[kWidth];
    if (options.init == MHCRT_INIT_LOG) {
      float most[kWidth];
      maxima<kRows>(m, most);
#pragma unroll
      for (int c = 0; c < kWidth; ++c)
        record.value[c] = round(expf(round(m[c] - most[c])));
      sums<kRows>(record.value, line);
#pragma unroll
      for (int c = 0; c < kWidth; ++c) {
        m[c] = round(m[c] - round(most[c] + round(logf(round(line[c])))));
        record.value[c] *= 1.0f / line[c];
        record.scale[c] = record.isFree[c] = 1.0f;
      }
      return;
    }
    sums<kRows>(m, line);
    const Divisor divisor(options, round(options.eps));
#pragma unroll
    for (int c = 0; c < kWidth; ++c) {
      line[c] = divisor.of(line[c], round);
      record.isFree[c] = divisor.isFree(line[c]) ? 1.0f : 0.0f;
      record.scale[c] = 1.0f / line[c];
      m[c] = round(m[c] * record.scale[c]);
      record.value[c] = m[c];
    }
  }

  template <bool kRows>
  __device__ void reverse(float (&grad)[kWidth], bool inLogs, const Record &record) const {
    float line[kWidth], products[kWidth];
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      products[c] = inLogs ? grad[c] : grad[c] * record.value[c];
    sums<kRows>(products, line);
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      grad[c] =
          inLogs ? fmaf(-record.value[c], line[c], grad[c]) : (grad[c] - line[c] * record.isFree[c]) * record.scale[c];
  }

private:
  __device__ static void fill(float (&out)[kWidth], float value) {
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      out[c] = value;
  }
};

} // namespace mhcrt

#endif // MHCRT_CUDA_ALGEBRA_SINKHORN_CUH
