//===- Reference.cpp - The kernels as plain loops in f64 ------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Reference.h"
#include "Call.h"

#include <algorithm>
#include <numeric>

using namespace mhcrt::test;

static double sigmoid(double z) { return z >= 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z)); }

Sums mhcrt::test::aggregate(const Doubles &x, const Doubles &h, int64_t M, int64_t n, int64_t C, int32_t layout) {
  Sums sums{Doubles(M * C), Doubles(M * C)};
  for (int64_t m = 0; m < M; ++m)
    for (int64_t c = 0; c < C; ++c)
      for (int64_t i = 0; i < n; ++i) {
        const double term = h[m * n + i] * x[m * n * C + at(layout, n, C, i, c)];
        sums.values[m * C + c] += term;
        sums.magnitudes[m * C + c] += std::fabs(term);
      }
  return sums;
}

Sums mhcrt::test::post(const Doubles &f, const Doubles *bias, const Doubles &hPost, const Doubles &x,
                       const Doubles &hRes, int64_t M, int64_t n, int64_t C, int32_t layout, int32_t orient,
                       const Doubles *factors) {
  Sums sums{Doubles(M * n * C), Doubles(M * n * C)};
  for (int64_t m = 0; m < M; ++m)
    for (int64_t o = 0; o < n; ++o)
      for (int64_t c = 0; c < C; ++c) {
        const int64_t to = m * n * C + at(layout, n, C, o, c);
        const double gate = hPost[m * n + o] * (factors ? (*factors)[to] : 1);
        sums.values[to] = gate * (f[m * C + c] + (bias ? (*bias)[c] : 0));
        sums.magnitudes[to] = std::fabs(gate) * (std::fabs(f[m * C + c]) + (bias ? std::fabs((*bias)[c]) : 0));
        for (int64_t i = 0; i < n; ++i) {
          const double a = hRes[m * n * n + (orient == MHCRT_ORIENT_OI ? o * n + i : i * n + o)];
          const double term = a * x[m * n * C + at(layout, n, C, i, c)];
          sums.values[to] += term;
          sums.magnitudes[to] += std::fabs(term);
        }
      }
  return sums;
}

PostDropout::PostDropout(mhcrt_context *context, Random &random, int64_t elements)
    : rate(random.pick({0.0, 0.0, 0.1, 0.5, 0.9})) {
  if (rate == 0 && random.integer(0, 1) == 0)
    return;
  type = MHCRT_I64;
  size = 2;
  stream = random.integer(0, UINT32_MAX);
  seed = Buffer(std::vector<int64_t>{random.integer(INT64_MIN, INT64_MAX), random.integer(0, 1000)});
  Buffer ones(MHCRT_F32, Doubles(elements, 1.0)), kept(MHCRT_F32, elements);
  EXPECT_EQ(call(mhcrt_dropout, context, ones.data(), MHCRT_F32, seed.data(), type, kept.data(), MHCRT_F32, elements, 1,
                 size, rate, stream),
            MHCRT_OK)
      << mhcrt_last_error(context);
  factors = kept.values();
}

Projection mhcrt::test::project(const Doubles &x, const Doubles &phi, const Doubles *weight, int64_t M, int64_t N,
                                int64_t K, int32_t phiLayout, int32_t norm, double eps) {
  Projection result{{Doubles(M * N), Doubles(M * N)}, Doubles(M), Doubles(M)};
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t j = 0; j < N; ++j)
      for (int64_t k = 0; k < K; ++k) {
        const double w = phi[phiLayout == MHCRT_PHI_LAYOUT_OUT_IN ? j * K + k : k * N + j];
        const double term = x[m * K + k] * w * (weight ? (*weight)[k] : 1);
        result.proj.values[m * N + j] += term;
        result.proj.magnitudes[m * N + j] += std::fabs(term);
      }
    double square = 0;
    for (int64_t k = 0; k < K; ++k)
      square += x[m * K + k] * x[m * K + k];
    square /= static_cast<double>(K);
    result.meanSquare[m] = square;
    result.multiplier[m] = norm == MHCRT_NORM_INSIDE    ? 1 / std::sqrt(square + eps)
                           : norm == MHCRT_NORM_OUTSIDE ? 1 / (std::sqrt(square) + eps)
                           : norm == MHCRT_NORM_CLAMP   ? 1 / std::max(std::sqrt(square), eps)
                                                        : 1;
  }
  return result;
}

Gates mhcrt::test::gates(const Doubles &z, const Doubles &alpha, const Doubles &beta, int64_t M, int64_t n, int64_t R,
                         double preEps, double postMult) {
  const int64_t N = 2 * n + R;
  Gates result;
  for (int64_t m = 0; m < M; ++m)
    for (int64_t j = 0; j < N; ++j) {
      const double value = z[m * N + j] * alpha[j < n ? 0 : j < 2 * n ? 1 : 2] + beta[j];
      if (j < n)
        result.hPre.push_back(sigmoid(value) + preEps);
      else if (j < 2 * n)
        result.hPost.push_back(postMult * sigmoid(value));
      else
        result.logits.push_back(value);
    }
  return result;
}

/// NaN where one of them is.
static double larger(double a, double b) { return std::isnan(b) || b > a ? b : a; }

/// One step on the matrix at m: every row (column) divided by its sum.
static void step(double *m, int64_t n, bool rows, int32_t init, int32_t denom, double eps) {
  for (int64_t line = 0; line < n; ++line) {
    auto cell = [&](int64_t k) -> double & { return m[rows ? line * n + k : k * n + line]; };
    double sum = 0, most = cell(0);
    for (int64_t k = 0; k < n; ++k)
      most = larger(most, cell(k));
    for (int64_t k = 0; k < n; ++k)
      sum += init == MHCRT_INIT_LOG ? std::exp(cell(k) - most) : cell(k);
    for (int64_t k = 0; k < n; ++k) {
      if (init == MHCRT_INIT_LOG)
        cell(k) -= most + std::log(sum);
      else
        cell(k) /= denom == MHCRT_DENOM_ADD ? sum + eps : denom == MHCRT_DENOM_CLAMP ? std::max(sum, eps) : sum;
    }
  }
}

/// The matrix at m scaled by factors of rows and columns, which the steps set.
static void scaleByPotentials(double *m, int64_t n, int64_t steps, bool rowsFirst, double eps) {
  Doubles factors[2] = {Doubles(n, 1.0), Doubles(n, 1.0)}; // of columns, of rows
  for (int64_t step = 0; step < steps; ++step) {
    const bool rows = (step % 2 == 0) == rowsFirst;
    for (int64_t line = 0; line < n; ++line) {
      double sum = 0;
      for (int64_t k = 0; k < n; ++k)
        sum += m[rows ? line * n + k : k * n + line] * factors[!rows][k];
      factors[rows][line] = 1 / (sum + eps);
    }
  }
  for (int64_t k = 0; k < n * n; ++k)
    m[k] *= factors[1][k / n] * factors[0][k % n];
}

Doubles mhcrt::test::sinkhorn(Doubles all, int64_t M, int64_t n, int32_t init, int32_t order, int32_t denom, double eps,
                              int64_t iters) {
  for (int64_t matrix = 0; matrix < M; ++matrix) {
    double *m = all.data() + matrix * n * n;
    const bool isSigmoid = init == MHCRT_INIT_SIGMOID || init == MHCRT_INIT_SIGMOID_EPS;
    if (isSigmoid)
      for (int64_t k = 0; k < n * n; ++k)
        m[k] = sigmoid(m[k]) + (init == MHCRT_INIT_SIGMOID_EPS ? eps : 0);
    if (init == MHCRT_INIT_EXP_MAX) {
      double most = m[0];
      for (int64_t k = 1; k < n * n; ++k)
        most = larger(most, m[k]);
      for (int64_t k = 0; k < n * n; ++k)
        m[k] = std::exp(m[k] - most);
    } else if (init != MHCRT_INIT_LOG && !isSigmoid) {
      const bool rows = init != MHCRT_INIT_EXP_COLMAX;
      for (int64_t line = 0; line < n; ++line) {
        auto cell = [&](int64_t k) -> double & { return m[rows ? line * n + k : k * n + line]; };
        double most = cell(0);
        for (int64_t k = 0; k < n; ++k)
          most = larger(most, cell(k));
        for (int64_t k = 0; k < n; ++k)
          cell(k) = std::exp(cell(k) - (init == MHCRT_INIT_EXP ? 0 : most));
      }
    }
    const bool isSoftmax = init == MHCRT_INIT_SOFTMAX_EPS, rowsFirst = !isSoftmax && order == MHCRT_ORDER_ROW_COL;
    const int64_t steps = 2 * iters - isSoftmax; // the softmax is the first one
    if (isSoftmax) {
      step(m, n, true, init, MHCRT_DENOM_NONE, 0);
      for (int64_t k = 0; k < n * n; ++k)
        m[k] += eps;
    }
    if (denom == MHCRT_DENOM_POTENTIALS && init != MHCRT_INIT_LOG)
      scaleByPotentials(m, n, steps, rowsFirst, eps);
    else
      for (int64_t t = 0; t < steps; ++t)
        step(m, n, (t % 2 == 0) == rowsFirst, init, denom, eps);
    if (init == MHCRT_INIT_LOG)
      for (int64_t k = 0; k < n * n; ++k)
        m[k] = std::exp(m[k]);
  }
  return all;
}

namespace {
/// Solves a x = b in place, b becoming x; rows are exchanged.
void solve(std::vector<Doubles> &a, Doubles &b) {
  const size_t size = b.size();
  for (size_t k = 0; k < size; ++k) {
    size_t most = k;
    for (size_t i = k + 1; i < size; ++i)
      most = std::fabs(a[i][k]) > std::fabs(a[most][k]) ? i : most;
    std::swap(a[k], a[most]), std::swap(b[k], b[most]);
    for (size_t i = 0; i < size; ++i) {
      const double factor = i == k ? 0 : a[i][k] / a[k][k];
      for (size_t j = k; j < size && factor != 0; ++j)
        a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (size_t k = 0; k < size; ++k)
    b[k] /= a[k][k];
}

/// A Newton step on the logarithms of the factors of n rows and of n - 1 columns.
void newtonStep(double *m, int64_t n) {
  const int64_t size = 2 * n - 1;
  std::vector<Doubles> a(size, Doubles(size, 0.0));
  Doubles missing(size, 1.0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const double cell = m[i * n + j];
      a[i][i] += cell, missing[i] -= cell;
      if (j + 1 < n)
        a[n + j][n + j] += cell, missing[n + j] -= cell, a[i][n + j] = a[n + j][i] = cell;
    }
  solve(a, missing);
  for (int64_t k = 0; k < n * n; ++k)
    m[k] *= std::exp(missing[k / n] + (k % n + 1 < n ? missing[n + k % n] : 0));
}
} // namespace

Doubles mhcrt::test::sinkhornLimit(Doubles logits, int64_t M, int64_t n) {
  logits = sinkhorn(logits, M, n, MHCRT_INIT_LOG, MHCRT_ORDER_ROW_COL, MHCRT_DENOM_NONE, 0, 200);
  for (int64_t matrix = 0; matrix < M; ++matrix)
    for (int turn = 0; turn < 8; ++turn)
      newtonStep(logits.data() + matrix * n * n, n);
  return logits;
}

Doubles mhcrt::test::permutationMix(const Doubles &logits, int64_t M, int64_t n) {
  const int64_t R = static_cast<int64_t>(logits.size()) / std::max<int64_t>(M, 1);
  Doubles mix(M * n * n);
  for (int64_t m = 0; m < M; ++m) {
    const double *row = logits.data() + m * R;
    const double most = *std::max_element(row, row + R);
    double sum = 0;
    for (int64_t p = 0; p < R; ++p)
      sum += std::exp(row[p] - most);
    std::vector<int> permutation(n);
    std::iota(permutation.begin(), permutation.end(), 0);
    for (int64_t p = 0; p < R; ++p) {
      for (int64_t r = 0; r < n; ++r)
        mix[m * n * n + r * n + permutation[r]] += std::exp(row[p] - most) / sum;
      std::next_permutation(permutation.begin(), permutation.end());
    }
  }
  return mix;
}
