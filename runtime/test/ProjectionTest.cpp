//===- ProjectionTest.cpp - projection, pre, head -------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "PreCase.h"

using namespace mhcrt::test;

namespace {

constexpr uint64_t kCases = 60;

/// An f32 sum whose partial sums are short chains: its rounding errors, of random signs, stay far below 16 * 2^-24
/// (1e-6) of the magnitudes of its terms.
Doubles sumTolerance(const Doubles &magnitudes, double scale = 1.0) {
  Doubles result;
  for (double magnitude : magnitudes)
    result.push_back(scale * 16 * std::ldexp(1.0, -24) * magnitude + 1e-37);
  return result;
}

TEST(Projection, MultipliesAndMeasures) {
  for (bool amx : variants()) {
    Context context(2, amx);
    for (uint64_t seed = 0; seed < kCases; ++seed) {
      PreCase c(seed);
      const int64_t N = c.random.pick<int64_t>({1, 6, 7, c.N});
      c.phi = c.random.buffer(c.phiType, N * c.K, 0.1);
      const int32_t statForm = static_cast<int32_t>(c.random.integer(0, 2));
      const bool applied = statForm == MHCRT_STAT_APPLIED;
      Buffer proj(MHCRT_F32, c.M * N), stat(MHCRT_F32, c.M);
      ASSERT_EQ(call(mhcrt_projection, context, c.x.data(), c.type, c.phi.data(), c.phiType, c.weightData(),
                     c.weightType, proj.data(), MHCRT_F32, applied ? nullptr : stat.data(),
                     applied ? MHCRT_NONE : MHCRT_F32, c.M, c.n, c.C, N, c.K, c.layout, c.phiLayout, c.norm, c.normEps,
                     statForm, MHCRT_PRECISION_BF16X3),
                MHCRT_OK)
          << context.error();
      const Doubles weight = c.weight.values();
      Projection want = project(c.x.values(), c.phi.values(), c.weightData() ? &weight : nullptr, c.M, N, c.K,
                                c.phiLayout, c.norm, c.normEps);
      if (applied)
        for (int64_t i = 0; i < c.M * N; ++i) {
          want.proj.values[i] *= want.multiplier[i / N];
          want.proj.magnitudes[i] *= want.multiplier[i / N];
        }
      expectClose(proj, want.proj.values, sumTolerance(want.proj.magnitudes), c.name());
      const Doubles &wantStat = statForm == MHCRT_STAT_INV_RMS ? want.multiplier : want.meanSquare;
      if (!applied)
        expectClose(stat, wantStat, sumTolerance(wantStat), c.name());
    }
  }
}

TEST(Projection, ZeroTokensStayFinite) {
  const int64_t M = 3, n = 4, C = 33, K = n * C, N = 24;
  Random random(7);
  Buffer x(MHCRT_F32, Doubles(M * K)), phi = random.buffer(MHCRT_F32, N * K), proj(MHCRT_F32, M * N),
                                       stat(MHCRT_F32, M);
  for (bool amx : variants())
    for (int32_t norm : {MHCRT_NORM_INSIDE, MHCRT_NORM_OUTSIDE, MHCRT_NORM_CLAMP}) {
      Context context(2, amx);
      const double eps = 1e-6;
      ASSERT_EQ(call(mhcrt_projection, context, x.data(), MHCRT_F32, phi.data(), MHCRT_F32, nullptr, MHCRT_NONE,
                     proj.data(), MHCRT_F32, stat.data(), MHCRT_F32, M, n, C, N, K, MHCRT_LAYOUT_NC,
                     MHCRT_PHI_LAYOUT_OUT_IN, norm, eps, MHCRT_STAT_INV_RMS, MHCRT_PRECISION_BF16X3),
                MHCRT_OK);
      const double want = norm == MHCRT_NORM_INSIDE ? 1 / std::sqrt(eps) : 1 / eps;
      expectClose(stat, Doubles(M, want), Doubles(M, want * 4 * std::ldexp(1.0, -24)), "s of zeros");
      expectClose(proj, Doubles(M * N), Doubles(M * N), "projection of zeros");
    }
}

/// A norm that is clamped stands still: nothing of its gradient is in d_x. Above eps it is the root mean square.
TEST(Projection, ClampedTokensHaveNoGradientOfTheNorm) {
  Context context;
  constexpr int64_t n = 4, N = 24, C = 768, K = n * C, M = 64;
  constexpr double eps = 0.3;
  const Buffer zeros(MHCRT_F32, Doubles(std::max(M, K) * N));
  Buffer phi = zeros, dProj = zeros;
  for (const int32_t type : {MHCRT_F32, MHCRT_BF16}) {
    Doubles values(M * K, 0.25), multipliers(M, 1 / eps);
    for (int64_t m = 0; m < M; m += 2) {
      std::fill_n(values.begin() + m * K, K, 0.5);
      multipliers[m] = 2;
    }
    Buffer x(type, values), dx(type, M * K), stat(MHCRT_F32, multipliers), dStat(MHCRT_F32, Doubles(M, 1));
    ASSERT_EQ(call(mhcrt_projection_bwd, context, dProj.data(), MHCRT_F32, dStat.data(), MHCRT_F32, x.data(), type,
                   phi.data(), MHCRT_F32, nullptr, MHCRT_NONE, stat.data(), MHCRT_F32, nullptr, MHCRT_NONE, nullptr,
                   MHCRT_NONE, nullptr, MHCRT_NONE, dx.data(), type, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, M, N, n,
                   C, K, MHCRT_LAYOUT_NC, MHCRT_PHI_LAYOUT_OUT_IN, MHCRT_NORM_CLAMP, eps, MHCRT_STAT_INV_RMS,
                   MHCRT_PRECISION_BF16X3),
              MHCRT_OK)
        << context.error();
    const Doubles got = dx.values();
    const double moving = -8.0 / K * 0.5; // -s^3/K * x
    for (int64_t m = 0; m < M; ++m)
      EXPECT_NEAR(got[m * K + m % K], m % 2 ? 0 : moving, -moving * 0x1p-7) << m << " " << mhcrt_dtype_name(type);
  }
}

/// The chain in f64 on the same inputs.
TEST(Pre, IsTheChain) {
  for (bool amx : variants()) {
    Context context(2, amx);
    for (uint64_t seed = 0; seed < 2 * kCases; ++seed) {
      PreCase c(seed);
      PreOutputs out(c);
      ASSERT_EQ(c.run(context, out), MHCRT_OK) << context.error();
      const PreReference want = c.reference();
      // The coefficients carry the error of the projection, 16 * 2^-24 of its magnitudes times s and alpha, through a
      // sigmoid (slope 1/4 at most) and the residual map, whose sensitivity to its logits stays below 2 per step kind;
      // 2^-19 covers the roundings behind it.
      const double error = want.logitMagnitude * 16 * std::ldexp(1.0, -24) + std::ldexp(1.0, -19);
      auto tolerance = [&](const Doubles &values, double scale) {
        Doubles result;
        for (double value : values)
          result.push_back(scale * error * (std::fabs(value) + 1));
        return result;
      };
      expectClose(out.hPre, want.hPre, tolerance(want.hPre, 1), c.name() + " h_pre");
      expectClose(out.hPost, want.hPost, tolerance(want.hPost, c.postMult), c.name() + " h_post");
      expectClose(out.hRes, want.hRes, tolerance(want.hRes, 4 + 2 * c.postMult), c.name() + " h_res");
      // u is computed from the coefficients that were stored.
      const Sums u = aggregate(c.x.values(), out.hPre.values(), c.M, c.n, c.C, c.layout);
      Doubles uTolerance;
      for (size_t i = 0; i < u.values.size(); ++i)
        uTolerance.push_back(1.01 * ((c.n + 2) * std::ldexp(1.0, -24) * u.magnitudes[i] +
                                     roundoff(c.type) * std::fabs(u.values[i]) + std::ldexp(1.0, -25)));
      expectClose(out.u, u.values, uTolerance, c.name() + " u");
    }
  }
}

/// The fused kernel is the name of a chain of kernels: bit for bit.
TEST(Pre, EqualsTheSeparateKernels) {
  for (bool amx : variants()) {
    Context context(2, amx);
    for (uint64_t seed = 0; seed < kCases; ++seed) {
      PreCase c(seed);
      c.foldPre = 0;
      PreOutputs fused(c);
      ASSERT_EQ(c.run(context, fused), MHCRT_OK) << context.error();

      const int64_t R = c.N - 2 * c.n;
      Buffer proj(MHCRT_F32, c.M * c.N), stat(MHCRT_F32, c.M), logits(MHCRT_F32, c.M * R);
      PreOutputs chain(c);
      ASSERT_EQ(call(mhcrt_projection, context, c.x.data(), c.type, c.phi.data(), c.phiType, c.weightData(),
                     c.weightType, proj.data(), MHCRT_F32, stat.data(), MHCRT_F32, c.M, c.n, c.C, c.N, c.K, c.layout,
                     c.phiLayout, c.norm, c.normEps, MHCRT_STAT_INV_RMS, MHCRT_PRECISION_BF16X3),
                MHCRT_OK);
      ASSERT_EQ(call(mhcrt_gates, context, proj.data(), MHCRT_F32, stat.data(), MHCRT_F32, c.alpha.data(), MHCRT_F32,
                     c.beta.data(), MHCRT_F32, chain.hPre.data(), MHCRT_F32, chain.hPost.data(), MHCRT_F32,
                     logits.data(), MHCRT_F32, c.M, c.N, 3, c.n, R, MHCRT_STAT_INV_RMS, 0, c.preEps, c.postMult),
                MHCRT_OK)
          << context.error();
      if (c.resMap == MHCRT_RES_MAP_SINKHORN)
        call(mhcrt_sinkhorn, context, logits.data(), MHCRT_F32, chain.hRes.data(), MHCRT_F32, c.M, c.n, c.init, c.order,
             c.denom, c.skEps, c.iters, MHCRT_FORMAT_F32, c.solver);
      else if (c.resMap == MHCRT_RES_MAP_PERMUTATION)
        call(mhcrt_permutation_mix, context, logits.data(), MHCRT_F32, chain.hRes.data(), MHCRT_F32, c.M, R, c.n);
      else
        chain.hRes = logits;
      ASSERT_EQ(call(mhcrt_aggregate, context, c.x.data(), c.type, chain.hPre.data(), MHCRT_F32, chain.u.data(), c.type,
                     c.M, c.n, c.C, c.layout),
                MHCRT_OK)
          << context.error();
      EXPECT_TRUE(fused == chain) << c.name();
    }
  }
}

TEST(Head, GatesAndContracts) {
  for (bool amx : variants()) {
    Context context(2, amx);
    for (uint64_t seed = 0; seed < kCases; ++seed) {
      PreCase c(seed);
      c.phi = c.random.buffer(c.phiType, c.n * c.K, 0.1);
      Buffer out(c.type, c.M * c.C), hPre(MHCRT_F32, c.M * c.n);
      ASSERT_EQ(call(mhcrt_head, context, c.x.data(), c.type, c.phi.data(), c.phiType, c.weightData(), c.weightType,
                     c.alpha.data(), MHCRT_F32, c.beta.data(), MHCRT_F32, out.data(), c.type, hPre.data(), MHCRT_F32,
                     nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, c.M, c.n, c.C, c.K, 1, c.layout, c.phiLayout, c.norm,
                     c.normEps, c.preEps, MHCRT_PRECISION_BF16X3),
                MHCRT_OK)
          << context.error();
      const Doubles weight = c.weight.values(), alpha = c.alpha.values(), beta = c.beta.values();
      const Projection p = project(c.x.values(), c.phi.values(), c.weightData() ? &weight : nullptr, c.M, c.n, c.K,
                                   c.phiLayout, c.norm, c.normEps);
      Doubles want, tolerance;
      for (int64_t i = 0; i < c.M * c.n; ++i) {
        const double s = p.multiplier[i / c.n];
        const double z = alpha[0] * s * p.proj.values[i] + beta[i % c.n];
        want.push_back(1 / (1 + std::exp(-z)) + c.preEps);
        tolerance.push_back(16 * std::ldexp(1.0, -24) * (1 + std::fabs(alpha[0]) * s * p.proj.magnitudes[i]));
      }
      expectClose(hPre, want, tolerance, c.name());
      const Sums y = aggregate(c.x.values(), hPre.values(), c.M, c.n, c.C, c.layout);
      Doubles yTolerance;
      for (size_t i = 0; i < y.values.size(); ++i)
        yTolerance.push_back(1.01 * ((c.n + 2) * std::ldexp(1.0, -24) * y.magnitudes[i] +
                                     roundoff(c.type) * std::fabs(y.values[i]) + std::ldexp(1.0, -25)));
      expectClose(out, y.values, yTolerance, c.name());
    }
  }
}

} // namespace
