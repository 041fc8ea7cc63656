//===- CoefficientTest.cpp - gates, sinkhorn, permutation_mix -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Reference.h"

#include <algorithm>

using namespace mhcrt::test;

namespace {

const double kUlp = std::ldexp(1.0, -24);

TEST(Gates, MatchTheFormula) {
  Context context;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const int64_t M = random.pick<int64_t>({0, 1, 13, 300}), n = random.pick<int64_t>({1, 2, 3, 4, 8, 16});
    const int64_t R = random.pick<int64_t>({n * n, 0, 5}), N = 2 * n + R;
    const int32_t form = static_cast<int32_t>(random.integer(0, 2));
    // Logits up to some hundreds: past both ends of the f32 exponential.
    const double scale = random.pick({1.0, 300.0}), eps = 1e-6, preEps = 1e-2, postMult = 2;
    Buffer proj = random.buffer(MHCRT_F32, M * N, scale), alpha = random.buffer(MHCRT_F32, 3);
    Buffer beta = random.buffer(MHCRT_F32, N);
    Doubles statValues = random.buffer(MHCRT_F32, M).values();
    for (double &value : statValues)
      value = std::fabs(value);
    Buffer stat(MHCRT_F32, statValues);
    statValues = stat.values();
    Buffer hPre(MHCRT_F32, M * n), hPost(MHCRT_F32, M * n), logits(MHCRT_F32, M * R);
    const bool applied = form == MHCRT_STAT_APPLIED;
    if (M > 0 && seed % 2) { // what is not finite stays where it is
      Doubles values = proj.values();
      for (double special : {NAN, INFINITY, -INFINITY})
        values[random.integer(0, M * N - 1)] = special;
      proj = Buffer(MHCRT_F32, values);
    }
    ASSERT_EQ(call(mhcrt_gates, context, proj.data(), MHCRT_F32, applied ? nullptr : stat.data(),
                   applied ? MHCRT_NONE : MHCRT_F32, alpha.data(), MHCRT_F32, beta.data(), MHCRT_F32, hPre.data(),
                   MHCRT_F32, hPost.data(), MHCRT_F32, logits.data(), MHCRT_F32, M, N, 3, n, R, form, eps, preEps,
                   postMult),
              MHCRT_OK)
        << context.error();
    Doubles z = proj.values();
    for (int64_t i = 0; i < M * N; ++i)
      z[i] *= form == MHCRT_STAT_MEAN_SQUARE ? 1 / std::sqrt(statValues[i / N] + eps)
              : form == MHCRT_STAT_INV_RMS   ? statValues[i / N]
                                             : 1;
    const Gates want = gates(z, alpha.values(), beta.values(), M, n, R, preEps, postMult);
    // z is off by 6 roundings of its terms; the sigmoid turns that into as much relative error at most, and adds the
    // 2 ulp of the exponential and two roundings.
    Doubles preTolerance, postTolerance, logitTolerance;
    const Doubles alphas = alpha.values(), betas = beta.values();
    for (int64_t m = 0; m < M; ++m)
      for (int64_t j = 0; j < N; ++j) {
        const int group = j < n ? 0 : j < 2 * n ? 1 : 2;
        const double size = std::fabs(z[m * N + j] * alphas[group]) + std::fabs(betas[j]);
        const double zError = std::isfinite(size) ? 6 * kUlp * size : 0;
        if (group == 0)
          preTolerance.push_back((zError + 6 * kUlp) * want.hPre[m * n + j] + 1e-37);
        else if (group == 1)
          postTolerance.push_back((zError + 6 * kUlp) * want.hPost[m * n + j - n] + 1e-37);
        else
          logitTolerance.push_back(zError);
      }
    expectClose(hPre, want.hPre, preTolerance, "h_pre");
    expectClose(hPost, want.hPost, postTolerance, "h_post");
    expectClose(logits, want.logits, logitTolerance, "logits");
  }
}

void checkSinkhorn(const Doubles &logits, int64_t M, int64_t n, int32_t init, int32_t order, int32_t denom, double eps,
                   int64_t iters) {
  Context context;
  Buffer in(MHCRT_F32, logits), mix(MHCRT_F32, M * n * n);
  ASSERT_EQ(
      call(mhcrt_sinkhorn, context, in.data(), MHCRT_F32, mix.data(), MHCRT_F32, M, n, init, order, denom, eps, iters),
      MHCRT_OK)
      << context.error();
  double most = 0;
  for (double value : in.values())
    most = std::isfinite(value) ? std::max(most, std::fabs(value)) : most;
  const Doubles want = sinkhorn(in.values(), M, n, init, order, denom, eps, iters);
  // The start: exp of a difference that is off by its rounding, 2 * most * 2^-24. Each of the 2*iters steps rounds a
  // sum of n terms, a reciprocal and a product: 4 roundings on average. In log space every step rounds values up to
  // twice the logits' size, and 3 ulp of the logarithm.
  const double steps = 2.0 * static_cast<double>(iters);
  const double relative = kUlp * (8 + 2 * most + steps * (init == MHCRT_INIT_LOG ? 8 + 2 * most : 4));
  Doubles tolerance;
  for (double value : want)
    tolerance.push_back(relative * value + 1e-37);
  expectClose(mix, want, tolerance,
              "n=" + std::to_string(n) + " init=" + std::to_string(init) + " order=" + std::to_string(order) +
                  " denom=" + std::to_string(denom) + " iters=" + std::to_string(iters));
}

TEST(Sinkhorn, MatchesTheReferenceForAllOptions) {
  uint64_t seed = 0;
  for (int64_t n : {1, 2, 3, 4, 8, 16})
    for (int32_t init = 0; init <= MHCRT_INIT_SIGMOID_EPS; ++init)
      for (int32_t order = 0; order < 2; ++order)
        for (int32_t denom = 0; denom <= MHCRT_DENOM_POTENTIALS; ++denom) {
          Random random(++seed);
          const int64_t M = random.pick<int64_t>({0, 1, 13, 300});
          const int64_t iters = random.pick<int64_t>({init == MHCRT_INIT_SOFTMAX_EPS, 1, 2, 20});
          checkSinkhorn(random.buffer(MHCRT_F32, M * n * n).values(), M, n, init, order, denom,
                        random.pick({1e-6, 1e-2}), iters);
        }
}

/// exp(200) and exp(-200) are no numbers of f32: only what subtracts a maximum first, or adds eps to a sigmoid,
/// computes these. Far below the maximum of the whole matrix a row is zero in f32, and iterates back to a number in
/// f64.
TEST(Sinkhorn, ExtremeLogits) {
  for (int64_t n : {2, 3, 4, 8, 16})
    for (int32_t init : {MHCRT_INIT_SOFTMAX_EPS, MHCRT_INIT_EXP_ROWMAX, MHCRT_INIT_EXP_COLMAX, MHCRT_INIT_LOG,
                         MHCRT_INIT_EXP_MAX, MHCRT_INIT_SIGMOID_EPS})
      for (int32_t denom : {MHCRT_DENOM_ADD, MHCRT_DENOM_CLAMP, MHCRT_DENOM_POTENTIALS}) {
        Random random(n);
        const int64_t M = 20;
        Doubles logits;
        for (int64_t i = 0; i < M * n * n; ++i)
          logits.push_back(random.pick({-200.0, 200.0}));
        if (init != MHCRT_INIT_EXP_MAX)
          checkSinkhorn(logits, M, n, init, MHCRT_ORDER_ROW_COL, denom, 1e-6, 20);
        for (double offset : {-200.0, 200.0}) {
          logits = random.buffer(MHCRT_F32, M * n * n).values();
          for (double &logit : logits)
            logit += offset;
          checkSinkhorn(logits, M, n, init, MHCRT_ORDER_ROW_COL, denom, 1e-6, 20);
        }
      }
  // One stream: 1/(1+eps)-like for add, exactly 1 in log space.
  Context context;
  Buffer logit(MHCRT_F32, Doubles{3.0}), mix(MHCRT_F32, 1);
  call(mhcrt_sinkhorn, context, logit.data(), MHCRT_F32, mix.data(), MHCRT_F32, 1, 1, MHCRT_INIT_LOG, 0, 0, 1e-6, 20);
  EXPECT_EQ(mix.values(), Doubles{1.0});
}

/// A logit that is not finite shows in its own matrix, as in f64, and in no other.
TEST(Sinkhorn, LogitsThatAreNotFinite) {
  uint64_t seed = 0;
  for (int64_t n : {1, 2, 3, 4, 8, 16})
    for (int32_t init = 0; init <= MHCRT_INIT_SIGMOID_EPS; ++init)
      for (int32_t order = 0; order < 2; ++order)
        for (int32_t denom = 0; denom <= MHCRT_DENOM_POTENTIALS; ++denom)
          for (double special : {NAN, INFINITY, -INFINITY}) {
            Random random(++seed);
            const int64_t M = 19, iters = random.pick<int64_t>({init == MHCRT_INIT_SOFTMAX_EPS, 1, 2, 20});
            Doubles logits = random.buffer(MHCRT_F32, M * n * n).values();
            logits[random.integer(0, M * n * n - 1)] = special;
            checkSinkhorn(logits, M, n, init, order, denom, 1e-6, iters);
          }
}

/// Without a shift f32 overflows. That is NaN, not a number, and in that matrix alone.
TEST(Sinkhorn, ExponentialsThatOverflow) {
  Context context;
  for (int64_t n : {2, 4, 16}) {
    Random random(n);
    const int64_t M = 19, bad = 7;
    const Buffer small = random.buffer(MHCRT_F32, M * n * n);
    Doubles logits = small.values();
    logits[bad * n * n + 1] = 200;
    Buffer in = small, large(MHCRT_F32, logits), want(MHCRT_F32, M * n * n), got = want;
    for (auto [from, to] : {std::pair(&in, &want), std::pair(&large, &got)})
      ASSERT_EQ(call(mhcrt_sinkhorn, context, from->data(), MHCRT_F32, to->data(), MHCRT_F32, M, n, MHCRT_INIT_EXP,
                     MHCRT_ORDER_ROW_COL, MHCRT_DENOM_ADD, 1e-6, 20),
                MHCRT_OK);
    Doubles values = want.values();
    std::fill_n(values.begin() + bad * n * n, n * n, NAN);
    expectClose(got, values, Doubles(values.size()), "n=" + std::to_string(n));
  }
}

/// The largest sum of two logits of a matrix less the two across: the diameter of exp(Z) in Hilbert's metric.
double diameterOf(const double *z, int64_t n) {
  double most = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t k = 0; k < n; ++k)
        for (int64_t l = 0; l < n; ++l)
          most = std::max(most, z[i * n + k] + z[j * n + l] - z[i * n + l] - z[j * n + k]);
  return most;
}

/// Sums of the last step are one but for their rounding. The factors of both sides contract towards those of the
/// limit by q = tanh(diameter/4) a step (Birkhoff), from at most the diameter behind the first step. The other sums are
/// the ratio of two steps' factors, with a mean of one: each is within expm1(2 q^(2 iters - 2) diameter) of it, and of
/// the roundings of all steps, which contract likewise.
TEST(Sinkhorn, RowsAndColumnsSumToOne) {
  constexpr int64_t M = 300;
  Context context;
  for (int64_t n : {2, 3, 4, 8})
    for (int32_t order : {MHCRT_ORDER_ROW_COL, MHCRT_ORDER_COL_ROW})
      for (int64_t iters : {1, 5, 20, 100}) {
        Random random(n * 1000 + iters);
        Buffer logits = random.buffer(MHCRT_F32, M * n * n), mix(MHCRT_F32, M * n * n);
        ASSERT_EQ(call(mhcrt_sinkhorn, context, logits.data(), MHCRT_F32, mix.data(), MHCRT_F32, M, n,
                       MHCRT_INIT_EXP_ROWMAX, order, MHCRT_DENOM_NONE, 0, iters),
                  MHCRT_OK)
            << context.error();
        const Doubles z = logits.values(), p = mix.values();
        const double rounding = static_cast<double>(n + 3) * kUlp;
        for (int64_t m = 0; m < M; ++m) {
          const double diameter = diameterOf(&z[m * n * n], n), q = std::tanh(diameter / 4);
          const double distance = 2 * std::pow(q, 2 * iters - 2) * diameter + 2 * rounding / (1 - q);
          for (int64_t i = 0; i < n; ++i) {
            double row = 0, column = 0;
            for (int64_t j = 0; j < n; ++j)
              row += p[(m * n + i) * n + j], column += p[(m * n + j) * n + i];
            const double last = order == MHCRT_ORDER_ROW_COL ? column : row;
            ASSERT_NEAR(last, 1, rounding) << "n=" << n << " iters=" << iters << " token=" << m;
            ASSERT_NEAR(row + column - last, 1, std::expm1(distance))
                << "n=" << n << " iters=" << iters << " token=" << m;
          }
        }
      }
}

TEST(PermutationMix, IsTheWeightedSumOfPermutations) {
  Context context;
  for (int64_t n : {1, 2, 3, 4, 5, 6})
    for (int64_t M : {0, 1, 13, 40})
      for (double scale : {1.0, 200.0}) {
        Random random(n * 100 + M);
        int64_t R = 1;
        for (int64_t k = 2; k <= n; ++k)
          R *= k;
        Doubles values = random.buffer(MHCRT_F32, M * R, scale).values();
        if (M == 40) // what is not finite stays in its token
          for (auto [token, special] : {std::pair(7, NAN), {13, INFINITY}, {39, -INFINITY}})
            values[token * R + random.integer(0, R - 1)] = special;
        Buffer logits(MHCRT_F32, values), mix(MHCRT_F32, M * n * n);
        ASSERT_EQ(call(mhcrt_permutation_mix, context, logits.data(), MHCRT_F32, mix.data(), MHCRT_F32, M, R, n),
                  MHCRT_OK)
            << context.error();
        const Doubles want = permutationMix(logits.values(), M, n);
        double most = 0;
        for (double value : logits.values())
          most = std::isfinite(value) ? std::max(most, std::fabs(value)) : most;
        // exp of a difference rounded at the logits' size, then positive sums of (n-1)! and n! terms whose errors
        // grow like the root of their number.
        const double relative = kUlp * (8 + 2 * most + 4 * std::sqrt(static_cast<double>(R)));
        Doubles tolerance;
        for (double value : want)
          tolerance.push_back(relative * value + 1e-37);
        expectClose(mix, want, tolerance, "n=" + std::to_string(n));
      }
}

} // namespace
