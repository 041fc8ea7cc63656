//===- NewtonTest.cpp - The doubly stochastic limit by Newton's steps -----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of random logits are in GradientTest.cpp, against differences.
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Reference.h"

#include <algorithm>

using namespace mhcrt::test;

namespace {

mhcrt_status limit(Context &context, Buffer &logits, Buffer &mix, int64_t M, int64_t n, int64_t iters) {
  return call(mhcrt_sinkhorn, context, logits.data(), MHCRT_F32, mix.data(), MHCRT_F32, M, n, MHCRT_INIT_LOG,
              MHCRT_ORDER_ROW_COL, MHCRT_DENOM_NONE, 0, iters, MHCRT_FORMAT_F32, MHCRT_SOLVER_NEWTON);
}

mhcrt_status gradient(Context &context, Buffer &dMix, Buffer &logits, Buffer &out, int64_t M, int64_t n,
                      int64_t iters) {
  return call(mhcrt_sinkhorn_bwd, context, dMix.data(), MHCRT_F32, logits.data(), MHCRT_F32, out.data(), MHCRT_F32, M,
              n, MHCRT_INIT_LOG, MHCRT_ORDER_ROW_COL, MHCRT_DENOM_NONE, 0, iters, MHCRT_SOLVER_NEWTON);
}

/// The largest distance of the sum of a row or of a column from `wanted`; infinite where one is NaN.
double worstSum(const double *m, int64_t n, double wanted) {
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) {
    double row = 0, column = 0;
    for (int64_t j = 0; j < n; ++j)
      row += m[i * n + j], column += m[j * n + i];
    for (double sum : {row, column})
      worst = std::isnan(sum) ? INFINITY : std::max(worst, std::fabs(sum - wanted));
  }
  return worst;
}

struct Kind {
  const char *name;
  double deviation; ///< 0 for +-200
  int64_t iters;
};
constexpr Kind kKinds[] = {{"0.1", 0.1, 20}, {"1", 1, 20},   {"3", 3, 20},
                           {"8", 8, 20},     {"30", 30, 60}, {"+-200", 0, 100}};

Doubles logitsOf(const Kind &kind, Random &random, int64_t count) {
  if (kind.deviation != 0)
    return random.buffer(MHCRT_F32, count, kind.deviation).values();
  Doubles logits;
  for (int64_t i = 0; i < count; ++i)
    logits.push_back(random.pick({-200.0, 200.0}));
  return logits;
}

TEST(Newton, RowsAndColumnsSumToOne) {
  Context context;
  constexpr int64_t M = 300;
  for (int64_t n : {1, 2, 3, 4, 5, 7, 8, 16})
    for (const Kind &kind : kKinds) {
      Random random(n);
      Buffer logits(MHCRT_F32, logitsOf(kind, random, M * n * n)), mix(MHCRT_F32, M * n * n);
      ASSERT_EQ(limit(context, logits, mix, M, n, kind.iters), MHCRT_OK) << context.error();
      const Doubles p = mix.values();
      for (int64_t m = 0; m < M; ++m)
        ASSERT_LE(worstSum(&p[m * n * n], n, 1), 1e-6) << "n=" << n << " logits " << kind.name << " token " << m;
    }
}

/// Only the limit has these sums and diag(e^u) exp(Z) diag(e^v). Of the latter speak the logarithms' differences along
/// rows and columns, as far as f32 has the logits' digits; cells that are far below the sums' errors may be any.
TEST(Newton, ScalesRowsAndColumnsOnly) {
  Context context;
  constexpr int64_t M = 100;
  for (int64_t n : {2, 3, 4, 8, 16})
    for (const Kind &kind : kKinds) {
      Random random(10 + n);
      Buffer logits(MHCRT_F32, logitsOf(kind, random, M * n * n)), mix(MHCRT_F32, M * n * n);
      ASSERT_EQ(limit(context, logits, mix, M, n, kind.iters), MHCRT_OK) << context.error();
      const Doubles all = logits.values(), p = mix.values();
      double most = 1;
      for (double logit : all)
        most = std::max(most, std::fabs(logit));
      for (int64_t m = 0; m < M; ++m)
        for (int64_t i = 1; i < n; ++i)
          for (int64_t j = 1; j < n; ++j) {
            const auto cross = [&](auto value) { return value(0, 0) + value(i, j) - value(0, j) - value(i, 0); };
            const double z = cross([&](int64_t r, int64_t c) { return all[(m * n + r) * n + c]; });
            double least = 1;
            const double log = cross([&](int64_t r, int64_t c) {
              least = std::min(least, p[(m * n + r) * n + c]);
              return std::log(p[(m * n + r) * n + c]);
            });
            if (least > 1e-5) {
              ASSERT_NEAR(log, z, 4e-6 * most + 2e-5 + 2e-6 / least)
                  << "n=" << n << " logits " << kind.name << " token " << m;
            }
          }
    }
}

TEST(Newton, MatchesTheLimitInF64) {
  Context context;
  for (int64_t n : {1, 2, 3, 4, 8, 16})
    for (double deviation : {0.1, 1.0, 2.0}) {
      Random random(20 + n);
      const int64_t M = 37;
      Buffer logits = random.buffer(MHCRT_F32, M * n * n, deviation), mix(MHCRT_F32, M * n * n);
      ASSERT_EQ(limit(context, logits, mix, M, n, 20), MHCRT_OK) << context.error();
      expectClose(mix, sinkhornLimit(logits.values(), M, n), Doubles(M * n * n, 1e-6), "n=" + std::to_string(n));
    }
}

/// Rows that are equal, one cell far above the others, and logits that no f32 exponential has.
TEST(Newton, LimitsThatAreKnown) {
  Context context;
  for (int64_t n : {1, 2, 4, 5, 16}) {
    for (double logit : {0.0, -200.0, 1e6}) {
      Buffer logits(MHCRT_F32, Doubles(n * n, logit)), mix(MHCRT_F32, n * n);
      ASSERT_EQ(limit(context, logits, mix, 1, n, 20), MHCRT_OK);
      expectClose(mix, Doubles(n * n, 1.0 / static_cast<double>(n)), Doubles(n * n, 1e-7), "equal");
    }
    Doubles one(n * n, 0.0), wanted(n * n, n > 1 ? 1.0 / static_cast<double>(n - 1) : 1);
    one[0] = 300;
    for (int64_t k = 0; k < n && n > 1; ++k)
      wanted[k] = wanted[k * n] = k == 0;
    Buffer logits(MHCRT_F32, one), mix(MHCRT_F32, n * n);
    ASSERT_EQ(limit(context, logits, mix, 1, n, 60), MHCRT_OK);
    expectClose(mix, wanted, Doubles(n * n, 1e-6), "one dominates, n=" + std::to_string(n));
  }
}

/// The gradient's rows and columns sum to zero, since the limit's sums are constants, and it stays in proportion where
/// blocks of rows share next to nothing.
TEST(Newton, GradientsOfAnyLogits) {
  Context context;
  constexpr int64_t M = 100;
  for (int64_t n : {2, 3, 4, 8, 16})
    for (const Kind &kind : kKinds) {
      Random random(30 + n);
      Buffer logits(MHCRT_F32, logitsOf(kind, random, M * n * n)), dMix = random.buffer(MHCRT_F32, M * n * n);
      Buffer out(MHCRT_F32, M * n * n);
      ASSERT_EQ(gradient(context, dMix, logits, out, M, n, kind.iters), MHCRT_OK) << context.error();
      const Doubles g = out.values();
      for (int64_t m = 0; m < M; ++m)
        ASSERT_LE(worstSum(&g[m * n * n], n, 0), 1e-5) << "n=" << n << " logits " << kind.name << " token " << m;
      for (double value : g)
        ASSERT_LE(std::fabs(value), 10) << "n=" << n << " logits " << kind.name;
    }
}

/// A matrix has the bits that it would have alone, whatever its neighbours are; NaN and infinity show in their own.
TEST(Newton, MatricesDoNotMeet) {
  Context context;
  for (int64_t n : {1, 2, 4, 6, 16})
    for (double special : {double(NAN), double(INFINITY), 40.0}) {
      Random random(40 + n);
      const int64_t M = 41, bad = 17, cells = n * n;
      Buffer plain = random.buffer(MHCRT_F32, M * cells, 3), mix(MHCRT_F32, M * cells), got(MHCRT_F32, M * cells);
      Doubles values = plain.values();
      values[bad * cells] = special;
      Buffer changed(MHCRT_F32, values);
      ASSERT_EQ(limit(context, plain, mix, M, n, 20), MHCRT_OK);
      ASSERT_EQ(limit(context, changed, got, M, n, 20), MHCRT_OK);
      const Doubles a = mix.values(), b = got.values();
      for (int64_t k = 0; k < M * cells; ++k)
        if (k / cells != bad) {
          ASSERT_EQ(a[k], b[k]) << "n=" << n << " element " << k;
        } else if (special != 40) {
          ASSERT_TRUE(std::isnan(b[k])) << "n=" << n << " element " << k;
        }
    }
}

} // namespace
