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
#include "cuda/algebra/Gate.cuh"

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

  /// The sum of what the rows have.
  __device__ float sumOfRows(float mine) const {
    mine = row < n ? mine : 0.0f;
    for (int offset = kWidth / 2; offset > 0; offset /= 2)
      mine += __shfl_xor_sync(~0u, mine, offset, kWidth);
    return mine;
  }

  /// Maxima of rows, of columns or of the matrix, as the start wants them; sums likewise.
  __device__ void maximaOfStart(const float (&m)[kWidth], int32_t init, float (&out)[kWidth]) const {
    if (init == MHCRT_INIT_EXP_COLMAX || init == MHCRT_INIT_EXP_MAX)
      maxima<false>(m, out);
    else
      maxima<true>(m, out);
    if (init == MHCRT_INIT_EXP_MAX)
      maxima<true>(out, out);
  }
  __device__ void sumsOfStart(const float (&m)[kWidth], int32_t init, float (&out)[kWidth]) const {
    if (init == MHCRT_INIT_EXP_COLMAX || init == MHCRT_INIT_EXP_MAX)
      sums<false>(m, out);
    else
      sums<true>(m, out);
    if (init == MHCRT_INIT_EXP_MAX)
      sums<true>(out, out);
  }

  /// exp(Z), shifted by the largest value of each line where the option says so; for softmax_eps the softmax; the
  /// sigmoid; Z for log. All before eps.
  template <typename Round = KeepF32>
  __device__ void start(float (&m)[kWidth], const SinkhornOptions &options, Round round = {}) const {
    float shift[kWidth] = {};
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      m[c] = round(m[c]);
    if (options.init == MHCRT_INIT_LOG)
      return;
    if (options.isSigmoid()) {
#pragma unroll
      for (int c = 0; c < kWidth; ++c)
        m[c] = round(sigmoid(m[c]));
      return;
    }
    if (options.init != MHCRT_INIT_EXP)
      maximaOfStart(m, options.init, shift);
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

  /// The product with a reciprocal rounds to 16 bits as the quotient of 16-bit numbers would.
  template <bool kRows, typename Round>
  __device__ void step(float (&m)[kWidth], const SinkhornOptions &options, Round round) const {
    float line[kWidth];
    if (options.init == MHCRT_INIT_LOG) {
      float most[kWidth], values[kWidth];
      maxima<kRows>(m, most);
#pragma unroll
      for (int c = 0; c < kWidth; ++c)
        values[c] = round(expf(round(m[c] - most[c])));
      sums<kRows>(values, line);
#pragma unroll
      for (int c = 0; c < kWidth; ++c)
        m[c] = round(m[c] - round(most[c] + round(logf(round(line[c])))));
      return;
    }
    sums<kRows>(m, line);
    const Divisor divisor(options, round(options.eps));
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      m[c] = round(m[c] * (1.0f / divisor.of(line[c], round)));
  }

  /// State that a step keeps for its reverse: its result (in logs: the softmax along the line), and 1, or 0 where a
  /// clamp made the divisor a constant.
  struct Record {
    float value[kWidth], isFree[kWidth];
  };

  /// A step again, in f32. Values are quotients: where a sum is 1 but for a rounding in every step, beside the
  /// identity, products with reciprocals would add up their roundings.
  template <bool kRows>
  __device__ void replay(float (&m)[kWidth], const SinkhornOptions &options, Record &record) const {
    float line[kWidth];
    if (options.init == MHCRT_INIT_LOG) {
      float most[kWidth];
      maxima<kRows>(m, most);
#pragma unroll
      for (int c = 0; c < kWidth; ++c)
        record.value[c] = expf(m[c] - most[c]);
      sums<kRows>(record.value, line);
#pragma unroll
      for (int c = 0; c < kWidth; ++c) {
        m[c] -= most[c] + logf(line[c]);
        record.value[c] *= 1.0f / line[c];
        record.isFree[c] = 1.0f;
      }
      return;
    }
    sums<kRows>(m, line);
    const Divisor divisor(options, options.eps);
#pragma unroll
    for (int c = 0; c < kWidth; ++c) {
      line[c] = divisor.of(line[c], KeepF32());
      record.isFree[c] = divisor.isFree(line[c]) ? 1.0f : 0.0f;
      m[c] /= line[c];
      record.value[c] = m[c];
    }
  }

  /// A step backwards: lines of the gradient of logarithms lose their sums, by the values.
  template <bool kRows>
  __device__ void reverse(float (&grad)[kWidth], const Record &record) const {
    float line[kWidth];
    sums<kRows>(grad, line);
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      grad[c] = fmaf(-record.value[c], line[c] * record.isFree[c], grad[c]);
  }

  /// The step that is reversed first, of which the record's values are the mix, and grad is the mix's own gradient. The
  /// sum is subtracted before the product, as in SinkhornThreadBwd.cuh.
  template <bool kRows>
  __device__ void reverseLast(float (&grad)[kWidth], const Record &record) const {
    float products[kWidth], line[kWidth];
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      products[c] = grad[c] * record.value[c];
    sums<kRows>(products, line);
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      grad[c] = fmaf(-line[c], record.isFree[c], grad[c]) * record.value[c];
  }

  /// Factors of this row and of all columns.
  struct Factors {
    float row, columns[kWidth];
  };

  __device__ Factors ones() const {
    Factors factors;
    factors.row = 1.0f;
    fill(factors.columns, 1.0f);
    return factors;
  }

  /// The value of the column that has this row's number.
  __device__ float ofMyColumn(const float (&columns)[kWidth]) const {
    float mine = 0.0f;
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      mine = c == row ? columns[c] : mine;
    return mine;
  }

  /// A step of potentials: the factors of the lines are one over the scaled sums of m and eps.
  __device__ void scale(const float (&m)[kWidth], Factors &factors, bool rows, float eps) const {
    if (rows) {
      float sum = m[0] * factors.columns[0];
#pragma unroll
      for (int c = 1; c < kWidth; ++c)
        sum = c < n ? fmaf(m[c], factors.columns[c], sum) : sum;
      factors.row = 1.0f / (sum + eps);
    } else {
#pragma unroll
      for (int c = 0; c < kWidth; ++c)
        factors.columns[c] = 1.0f / (sumOfRows(m[c] * factors.row) + eps);
    }
  }

  __device__ void scaleByPotentials(float (&m)[kWidth], const SinkhornOptions &options) const {
    Factors factors = ones();
    for (int64_t step = 0; step < options.steps(); ++step)
      scale(m, factors, options.rowsAt(step), options.eps);
#pragma unroll
    for (int c = 0; c < kWidth; ++c)
      m[c] = m[c] * factors.row * factors.columns[c];
  }

  /// A step of potentials backwards: `grad` is that of m, `grads` those of the factors' logarithms.
  template <bool kRows>
  __device__ void reverseScale(float (&grad)[kWidth], const float (&m)[kWidth], const Factors &factors,
                               Factors &grads) const {
    float sum = 0.0f;
#pragma unroll
    for (int c = 0; c < kWidth; ++c) {
      const float passed = factors.row * factors.columns[c] * (kRows ? grads.row : grads.columns[c]);
      grad[c] -= passed;
      if (kRows)
        grads.columns[c] -= sumOfRows(m[c] * passed);
      else
        sum = c < n ? fmaf(m[c], passed, sum) : sum;
      grads.columns[c] = kRows ? grads.columns[c] : 0.0f;
    }
    grads.row = kRows ? 0.0f : grads.row - sum;
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
