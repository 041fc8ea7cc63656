//===- BackwardTest.cpp - Gradients over many tokens ----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over tokens, accumulation, threads and errors of the gradient kernels. The gradient of one token is covered by
// the compiler's kernel tests, which compare it with the chain of each op.
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Reference.h"

#include <algorithm>
#include <functional>
#include <limits>

using namespace mhcrt::test;

namespace {

/// Calls of post_bwd, projection_bwd, gates_bwd, pre_bwd and head_bwd with all gradients, on M tokens.
struct Case {
  Random random;
  int64_t M, n, C, K, N;
  int32_t type, layout, phiLayout;
  Buffer dOut, f, hPost, x, hRes, dProj, dStat, stat, phi, weight, alpha, beta, dhPre, dhPost, dLogits;
  Buffer df, dhPostOut, dhRes, dx, dBias, dxProjection, dPhi, dWeight, dProjOut, dStatOut, dAlpha, dBeta;
  Buffer dxPre, dPhiPre, dWeightPre, dAlphaPre, dBetaPre;
  Buffer dxHead, dPhiHead, dWeightHead, dAlphaHead, dBetaHead;

  Case(uint64_t seed, int64_t M)
      : random(seed), M(M), n(random.pick<int64_t>({3, 4, 4})), C(random.pick<int64_t>({7, 129, 300})), K(n * C),
        N(2 * n + n * n), type(random.pick<int32_t>({MHCRT_F32, MHCRT_BF16, MHCRT_F16})),
        layout(static_cast<int32_t>(seed % 2)), phiLayout(static_cast<int32_t>(seed / 2 % 2)) {
    auto inputs = [&](int64_t count) { return random.buffer(type, count); };
    auto floats = [&](int64_t count) { return random.buffer(MHCRT_F32, count); };
    dOut = inputs(M * K), f = inputs(M * C), hPost = floats(M * n), x = inputs(M * K), hRes = floats(M * n * n);
    dProj = floats(M * N), dStat = floats(M), stat = Buffer(MHCRT_F32, Doubles(M, 0.8)), phi = floats(N * K);
    weight = floats(K), alpha = floats(3), beta = floats(N), dhPre = floats(M * n), dhPost = floats(M * n);
    dLogits = floats(M * n * n);
    df = Buffer(type, M * C), dx = dxProjection = Buffer(type, M * K);
    dhPostOut = Buffer(MHCRT_F32, M * n), dhRes = Buffer(MHCRT_F32, M * n * n), dBias = Buffer(MHCRT_F32, C);
    dPhi = Buffer(MHCRT_F32, N * K), dWeight = Buffer(MHCRT_F32, K), dProjOut = Buffer(MHCRT_F32, M * N);
    dxPre = Buffer(type, M * K), dPhiPre = Buffer(MHCRT_F32, N * K), dWeightPre = Buffer(MHCRT_F32, K);
    dAlphaPre = Buffer(MHCRT_F32, 3), dBetaPre = Buffer(MHCRT_F32, N);
    dxHead = Buffer(type, M * K), dPhiHead = Buffer(MHCRT_F32, n * K), dWeightHead = Buffer(MHCRT_F32, K);
    dAlphaHead = Buffer(MHCRT_F32, 1), dBetaHead = Buffer(MHCRT_F32, n);
    dStatOut = Buffer(MHCRT_F32, M), dAlpha = Buffer(MHCRT_F32, 3), dBeta = Buffer(MHCRT_F32, N);
  }

  /// With `start`, sums over tokens begin with what their buffers hold.
  mhcrt_status run(mhcrt_context *context, bool start = false) {
    auto in = [&](Buffer &buffer) { return start ? buffer.data() : nullptr; };
    const int32_t inType = start ? MHCRT_F32 : MHCRT_NONE;
    call(mhcrt_post_bwd, context, dOut.data(), type, f.data(), type, nullptr, MHCRT_NONE, hPost.data(), MHCRT_F32,
         x.data(), type, hRes.data(), MHCRT_F32, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, in(dBias), inType, df.data(),
         type, dhPostOut.data(), MHCRT_F32, dhRes.data(), MHCRT_F32, dx.data(), type, dBias.data(), MHCRT_F32, M, n, C,
         0, layout, MHCRT_ORIENT_IO, 0, 0);
    call(mhcrt_projection_bwd, context, dProj.data(), MHCRT_F32, dStat.data(), MHCRT_F32, x.data(), type, phi.data(),
         MHCRT_F32, weight.data(), MHCRT_F32, stat.data(), MHCRT_F32, nullptr, MHCRT_NONE, in(dPhi), inType,
         in(dWeight), inType, dxProjection.data(), type, dPhi.data(), MHCRT_F32, dWeight.data(), MHCRT_F32, M, N, n, C,
         K, layout, phiLayout, MHCRT_NORM_INSIDE, 1e-6, MHCRT_STAT_INV_RMS, MHCRT_PRECISION_BF16X3);
    call(mhcrt_pre_bwd, context, f.data(), type, dhPre.data(), MHCRT_F32, dhPost.data(), MHCRT_F32, dLogits.data(),
         MHCRT_F32, x.data(), type, phi.data(), MHCRT_F32, weight.data(), MHCRT_F32, alpha.data(), MHCRT_F32,
         beta.data(), MHCRT_F32, dProj.data(), MHCRT_F32, stat.data(), MHCRT_F32, dOut.data(), type, hRes.data(),
         MHCRT_F32, nullptr, MHCRT_NONE, in(dPhiPre), inType, in(dWeightPre), inType, in(dAlphaPre), inType,
         in(dBetaPre), inType, dxPre.data(), type, dPhiPre.data(), MHCRT_F32, dWeightPre.data(), MHCRT_F32,
         dAlphaPre.data(), MHCRT_F32, dBetaPre.data(), MHCRT_F32, M, C, n, N, K, 3, layout, phiLayout,
         MHCRT_NORM_INSIDE, 1e-6, 1e-6, 2.0, MHCRT_RES_MAP_SINKHORN, MHCRT_INIT_SOFTMAX_EPS, MHCRT_ORDER_ROW_COL,
         MHCRT_DENOM_ADD, 1e-6, 20, 1, MHCRT_ORIENT_OI, MHCRT_PRECISION_BF16X3);
    // The first n rows, and the first gate, of what pre_bwd reads.
    call(mhcrt_head_bwd, context, f.data(), type, dhPre.data(), MHCRT_F32, x.data(), type, phi.data(), MHCRT_F32,
         weight.data(), MHCRT_F32, alpha.data(), MHCRT_F32, beta.data(), MHCRT_F32, dhPost.data(), MHCRT_F32,
         stat.data(), MHCRT_F32, nullptr, MHCRT_NONE, in(dPhiHead), inType, in(dWeightHead), inType, in(dAlphaHead),
         inType, in(dBetaHead), inType, dxHead.data(), type, dPhiHead.data(), MHCRT_F32, dWeightHead.data(), MHCRT_F32,
         dAlphaHead.data(), MHCRT_F32, dBetaHead.data(), MHCRT_F32, M, C, n, K, 1, layout, phiLayout, MHCRT_NORM_INSIDE,
         1e-6, 1e-6, MHCRT_PRECISION_BF16X3);
    if (mhcrt_last_error(context)[0])
      return MHCRT_INVALID_ARGUMENT;
    return call(mhcrt_gates_bwd, context, dhPre.data(), MHCRT_F32, dhPost.data(), MHCRT_F32, dLogits.data(), MHCRT_F32,
                dProj.data(), MHCRT_F32, stat.data(), MHCRT_F32, alpha.data(), MHCRT_F32, beta.data(), MHCRT_F32,
                in(dAlpha), inType, in(dBeta), inType, dProjOut.data(), MHCRT_F32, dStatOut.data(), MHCRT_F32,
                dAlpha.data(), MHCRT_F32, dBeta.data(), MHCRT_F32, M, n, n * n, N, 3, MHCRT_STAT_INV_RMS, 0.0, 2.0);
  }

  bool sameResults(const Case &other) const {
    return df == other.df && dhPostOut == other.dhPostOut && dhRes == other.dhRes && dx == other.dx &&
           dBias == other.dBias && dxProjection == other.dxProjection && dPhi == other.dPhi &&
           dWeight == other.dWeight && dProjOut == other.dProjOut && dStatOut == other.dStatOut &&
           dAlpha == other.dAlpha && dBeta == other.dBeta && dxPre == other.dxPre && dPhiPre == other.dPhiPre &&
           dWeightPre == other.dWeightPre && dAlphaPre == other.dAlphaPre && dBetaPre == other.dBetaPre &&
           dxHead == other.dxHead && dPhiHead == other.dPhiHead && dWeightHead == other.dWeightHead &&
           dAlphaHead == other.dAlphaHead && dBetaHead == other.dBetaHead;
  }
};

TEST(Backward, DoesNotDependOnThreads) {
  for (bool amx : variants()) {
    Context one(1, amx), two(2, amx), five(5, amx);
    for (uint64_t seed = 0; seed < (kInstrumented ? 2 : 8); ++seed) {
      Case a(seed, 700), b = a, c = a;
      ASSERT_EQ(a.run(one), MHCRT_OK) << one.error();
      ASSERT_EQ(b.run(two), MHCRT_OK);
      ASSERT_EQ(c.run(five), MHCRT_OK);
      EXPECT_TRUE(a.sameResults(b) && a.sameResults(c)) << seed;
    }
  }
}

/// The gradients of one token each have no sums over tokens, but tiles of several.
TEST(Backward, TokenwiseDoNotDependOnThreads) {
  const int64_t M = 1501, n = 4, C = 129, R = 24;
  Random random(7);
  Buffer du = random.buffer(MHCRT_BF16, M * C), x = random.buffer(MHCRT_BF16, M * n * C);
  Buffer h = random.buffer(MHCRT_F32, M * n), dMix = random.buffer(MHCRT_F32, M * n * n);
  Buffer logits = random.buffer(MHCRT_F32, M * n * n), cells = random.buffer(MHCRT_F32, M * R);
  auto run = [&](int threads) {
    Context context(threads);
    std::vector<Buffer> out = {Buffer(MHCRT_BF16, M * n * C), Buffer(MHCRT_F32, M * n), Buffer(MHCRT_F32, M * n * n),
                               Buffer(MHCRT_F32, M * R)};
    EXPECT_EQ(call(mhcrt_aggregate_bwd, context, du.data(), MHCRT_BF16, x.data(), MHCRT_BF16, h.data(), MHCRT_F32,
                   nullptr, MHCRT_NONE, out[0].data(), MHCRT_BF16, out[1].data(), MHCRT_F32, M, C, n, 0),
              MHCRT_OK);
    EXPECT_EQ(call(mhcrt_sinkhorn_bwd, context, dMix.data(), MHCRT_F32, logits.data(), MHCRT_F32, out[2].data(),
                   MHCRT_F32, M, n, MHCRT_INIT_LOG, MHCRT_ORDER_COL_ROW, MHCRT_DENOM_NONE, 0, 20),
              MHCRT_OK);
    EXPECT_EQ(call(mhcrt_permutation_mix_bwd, context, dMix.data(), MHCRT_F32, cells.data(), MHCRT_F32, out[3].data(),
                   MHCRT_F32, M, n, R),
              MHCRT_OK);
    return out;
  };
  const std::vector<Buffer> one = run(1);
  for (int threads : {2, 5}) {
    const std::vector<Buffer> many = run(threads);
    for (size_t i = 0; i < one.size(); ++i)
      EXPECT_TRUE(one[i] == many[i]) << i << " with " << threads << " threads";
  }
}

/// |got - want| within `terms` roundings of the sum of the magnitudes.
void expectSum(const Buffer &got, const Doubles &want, const Doubles &magnitudes, double terms, const char *what) {
  Doubles tolerance;
  for (double magnitude : magnitudes)
    tolerance.push_back(terms * std::ldexp(1.0, -24) * magnitude + 1e-30);
  expectClose(got, want, tolerance, what);
}

/// The sums over tokens of one case against f64 loops.
void checkSums(Case &c, const std::function<double(const Buffer &, int64_t)> &start) {
  const Doubles dOut = c.dOut.values(), hPost = c.hPost.values(), x = c.x.values(), dProj = c.dProj.values();
  const Doubles phi = c.phi.values(), weight = c.weight.values();
  // Roundings along one sum: a group of 16 tokens, the groups of a run, the runs.
  const double terms = 16 + static_cast<double>(c.M) / 4;
  Doubles want(c.C), size(c.C);
  for (int64_t m = 0; m < c.M; ++m)
    for (int64_t o = 0; o < c.n; ++o)
      for (int64_t k = 0; k < c.C; ++k) {
        const double term = hPost[m * c.n + o] * dOut[m * c.K + at(c.layout, c.n, c.C, o, k)];
        want[k] += term;
        size[k] += std::fabs(term);
      }
  for (int64_t k = 0; k < c.C; ++k)
    want[k] += start(c.dBias, k), size[k] += std::fabs(start(c.dBias, k));
  expectSum(c.dBias, want, size, terms, "d_bias");

  Doubles product(c.N * c.K), magnitude(c.N * c.K), dPhi(c.N * c.K), phiSize(c.N * c.K), dWeight(c.K), weightSize(c.K);
  for (int64_t m = 0; m < c.M; ++m)
    for (int64_t j = 0; j < c.N; ++j)
      for (int64_t k = 0; k < c.K; ++k) {
        const double term = dProj[m * c.N + j] * x[m * c.K + k];
        product[j * c.K + k] += term;
        magnitude[j * c.K + k] += std::fabs(term);
      }
  for (int64_t j = 0; j < c.N; ++j)
    for (int64_t k = 0; k < c.K; ++k) {
      const int64_t stored = c.phiLayout == MHCRT_PHI_LAYOUT_OUT_IN ? j * c.K + k : k * c.N + j;
      dPhi[stored] = product[j * c.K + k] * weight[k] + start(c.dPhi, stored);
      phiSize[stored] = magnitude[j * c.K + k] * std::fabs(weight[k]) + std::fabs(start(c.dPhi, stored));
      dWeight[k] += product[j * c.K + k] * phi[stored];
      weightSize[k] += magnitude[j * c.K + k] * std::fabs(phi[stored]);
    }
  for (int64_t k = 0; k < c.K; ++k)
    dWeight[k] += start(c.dWeight, k), weightSize[k] += std::fabs(start(c.dWeight, k));
  expectSum(c.dPhi, dPhi, phiSize, terms, "d_phi");
  expectSum(c.dWeight, dWeight, weightSize, terms + static_cast<double>(c.N), "d_norm_weight");
}

TEST(Backward, SumsOverTokens) {
  for (bool amx : variants()) {
    Context context(0, amx);
    for (uint64_t seed = 0; seed < 12; ++seed) {
      Case c(seed, seed % 4 == 0 ? 0 : 37 * static_cast<int64_t>(seed));
      ASSERT_EQ(c.run(context), MHCRT_OK) << context.error();
      checkSums(c, [](const Buffer &, int64_t) { return 0.0; });
    }
  }
}

/// Gradient d_x of a projection, for every type of x: the sums over rows are f32 sums, in matrix tiles too.
TEST(Backward, StreamsOfProjections) {
  for (bool amx : variants()) {
    Context context(0, amx);
    for (uint64_t seed = 0; seed < 12; ++seed) {
      Case c(seed, 70);
      ASSERT_EQ(c.run(context), MHCRT_OK) << context.error();
      const Doubles x = c.x.values(), dProj = c.dProj.values(), dStat = c.dStat.values(), stat = c.stat.values();
      const Doubles phi = c.phi.values(), weight = c.weight.values();
      Doubles want(c.M * c.K), tolerance(c.M * c.K);
      for (int64_t m = 0; m < c.M; ++m)
        for (int64_t k = 0; k < c.K; ++k) {
          double sum = -std::pow(stat[m], 3) / c.K * dStat[m] * x[m * c.K + k], size = std::fabs(sum);
          for (int64_t j = 0; j < c.N; ++j) {
            const int64_t stored = c.phiLayout == MHCRT_PHI_LAYOUT_OUT_IN ? j * c.K + k : k * c.N + j;
            const double term = dProj[m * c.N + j] * phi[stored] * weight[k];
            sum += term, size += std::fabs(term);
          }
          want[m * c.K + k] = sum;
          tolerance[m * c.K + k] =
              std::ldexp(32.0, -24) * size + roundoff(c.type) * std::fabs(sum) * 1.01 + std::ldexp(1.0, -25);
        }
      expectClose(c.dxProjection, want, tolerance, "d_x");
    }
  }
}

/// A special number in x concerns its token's d_x alone, and the sums over tokens as in f32.
TEST(Backward, SpecialNumbersAreThoseOfMultiplyAdds) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (uint64_t seed = 0; seed < 6; ++seed)
    for (double special : {infinity, std::nan("")}) {
      Case tiles(seed, 90);
      Doubles x = tiles.x.values();
      x[5 * tiles.K + 3] = special;
      Case before = tiles;
      tiles.x = Buffer(tiles.type, x);
      Case multiplyAdds = tiles;
      Context context(2), portable(2, false);
      ASSERT_EQ(before.run(context), MHCRT_OK);
      ASSERT_EQ(tiles.run(context), MHCRT_OK);
      ASSERT_EQ(multiplyAdds.run(portable), MHCRT_OK);
      for (int64_t m = 0; m < tiles.M; ++m)
        EXPECT_TRUE(m == 5 ||
                    tiles.dxProjection.slice(m * tiles.K, tiles.K) == before.dxProjection.slice(m * tiles.K, tiles.K))
            << m;
      const Doubles got = tiles.dPhi.values(), want = multiplyAdds.dPhi.values();
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(std::isnan(got[i]), std::isnan(want[i])) << i;
        EXPECT_EQ(std::isinf(got[i]), std::isinf(want[i])) << i;
      }
      // One in d_proj: every element of its token, by the register tiles.
      Doubles dProj = tiles.dProj.values();
      dProj[7 * tiles.N + 2] = infinity;
      tiles = before;
      tiles.dProj = Buffer(MHCRT_F32, dProj);
      multiplyAdds = tiles;
      ASSERT_EQ(tiles.run(context), MHCRT_OK);
      ASSERT_EQ(multiplyAdds.run(portable), MHCRT_OK);
      EXPECT_TRUE(tiles.dxProjection.slice(7 * tiles.K, tiles.K) ==
                  multiplyAdds.dxProjection.slice(7 * tiles.K, tiles.K));
      EXPECT_TRUE(tiles.dxProjection.slice(8 * tiles.K, tiles.K) == before.dxProjection.slice(8 * tiles.K, tiles.K));
    }
}

/// The second call adds to the first one's buffers: a bf16 sum would stay at 256.
TEST(Backward, WeightGradientsAccumulateInF32) {
  Context context;
  for (double value : {256.0, 1.0}) {
    static Buffer dPhi(MHCRT_F32, 1), dWeight(MHCRT_F32, 1);
    Buffer x(MHCRT_BF16, Doubles{value}), one(MHCRT_F32, Doubles{1.0});
    ASSERT_EQ(call(mhcrt_projection_bwd, context, one.data(), MHCRT_F32, nullptr, MHCRT_NONE, x.data(), MHCRT_BF16,
                   one.data(), MHCRT_F32, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE,
                   value == 1.0 ? dPhi.data() : nullptr, value == 1.0 ? MHCRT_F32 : MHCRT_NONE, nullptr, MHCRT_NONE,
                   nullptr, MHCRT_NONE, dPhi.data(), MHCRT_F32, nullptr, MHCRT_NONE, 1, 1, 1, 1, 1, 0, 0, 0, 1e-6, 0,
                   MHCRT_PRECISION_BF16X3),
              MHCRT_OK)
        << context.error();
    EXPECT_EQ(dPhi.floats()[0], value == 1.0 ? 257.0f : 256.0f);
  }
}

/// The statistic's factor of a token far below eps is beyond f32, but not its product with x. What comes of an infinite
/// gradient is not finite.
TEST(Backward, TinyTokensHaveFiniteGradients) {
  Context context;
  constexpr int64_t n = 4, N = 24, C = 768, K = n * C, M = 64;
  const Buffer zeros(MHCRT_F32, Doubles(std::max(M, K) * N));
  Buffer phi = zeros, dProj = zeros;
  for (const int32_t type : {MHCRT_F32, MHCRT_BF16})
    for (const int32_t norm : {MHCRT_NORM_INSIDE, MHCRT_NORM_OUTSIDE}) {
      const double eps = norm == MHCRT_NORM_INSIDE ? 1e-36 : 1e-6, tiny = norm == MHCRT_NORM_INSIDE ? 1e-22 : 1e-30;
      Doubles values(M * K, tiny);
      std::fill_n(values.begin() + K, K, 1.0);
      Buffer x(type, values), dx(type, M * K), stat(MHCRT_F32, M), dStat(MHCRT_F32, M);
      const double value = x.values()[0], ms = value * value;
      const double s = norm == MHCRT_NORM_INSIDE ? 1 / std::sqrt(ms + eps) : 1 / (std::sqrt(ms) + eps);
      std::fill_n(stat.floats(), M, static_cast<float>(s));
      std::fill_n(dStat.floats(), M, 1.0f);
      stat.floats()[1] = 1.0f;
      dStat.floats()[1] = INFINITY;
      ASSERT_EQ(call(mhcrt_projection_bwd, context, dProj.data(), MHCRT_F32, dStat.data(), MHCRT_F32, x.data(), type,
                     phi.data(), MHCRT_F32, nullptr, MHCRT_NONE, stat.data(), MHCRT_F32, nullptr, MHCRT_NONE, nullptr,
                     MHCRT_NONE, nullptr, MHCRT_NONE, dx.data(), type, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, M, N,
                     n, C, K, MHCRT_LAYOUT_NC, MHCRT_PHI_LAYOUT_OUT_IN, norm, eps, MHCRT_STAT_INV_RMS,
                     MHCRT_PRECISION_BF16X3),
                MHCRT_OK)
          << context.error();
      const double exact = -s * s / K * value * (norm == MHCRT_NORM_INSIDE ? s : 1 / std::sqrt(ms));
      const Doubles got = dx.values();
      for (const int64_t at : {int64_t{0}, 2 * K + 5, M * K - 1})
        EXPECT_TRUE(got[at] <= 0 && got[at] >= 1.01 * exact) << got[at] << " for " << exact << " with norm " << norm;
      EXPECT_FALSE(std::isfinite(got[K])) << "norm " << norm << " " << mhcrt_dtype_name(type);
    }
}

TEST(Backward, StartsFromWhatIsThere) {
  Context context;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Case c(seed, 50), before = c;
    for (Buffer *buffer : {&c.dBias, &c.dPhi, &c.dWeight, &c.dAlpha, &c.dBeta})
      *buffer = c.random.buffer(MHCRT_F32, buffer->size());
    before = c;
    ASSERT_EQ(c.run(context, /*start=*/true), MHCRT_OK) << context.error();
    const Doubles bias = before.dBias.values(), phi = before.dPhi.values(), weight = before.dWeight.values();
    checkSums(c, [&](const Buffer &of, int64_t k) {
      return &of == &c.dBias ? bias[k] : &of == &c.dPhi ? phi[k] : weight[k];
    });
  }
}

/// Sums over tokens of one pre_bwd are those of its runs of tokens, added to each other.
TEST(Backward, PreAccumulatesParts) {
  Context context;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Case whole(seed, 150), part = whole;
    ASSERT_EQ(whole.run(context), MHCRT_OK) << context.error();
    for (int64_t first : {0, 60}) {
      part.M = first ? 90 : 60;
      for (auto [to, from, width] : {std::tuple(&part.f, &whole.f, part.C),
                                     {&part.x, &whole.x, part.K},
                                     {&part.dhPre, &whole.dhPre, part.n},
                                     {&part.dhPost, &whole.dhPost, part.n},
                                     {&part.dLogits, &whole.dLogits, part.n * part.n},
                                     {&part.dProj, &whole.dProj, part.N},
                                     {&part.dOut, &whole.dOut, part.K},
                                     {&part.hRes, &whole.hRes, part.n * part.n},
                                     {&part.stat, &whole.stat, int64_t{1}}})
        *to = from->slice(first * width, part.M * width);
      ASSERT_EQ(part.run(context, /*start=*/first > 0), MHCRT_OK) << context.error();
      EXPECT_TRUE(part.dxPre.slice(0, part.M * part.K) == whole.dxPre.slice(first * part.K, part.M * part.K));
    }
    for (auto [got, want] : {std::pair(&part.dPhiPre, &whole.dPhiPre),
                             {&part.dWeightPre, &whole.dWeightPre},
                             {&part.dAlphaPre, &whole.dAlphaPre},
                             {&part.dBetaPre, &whole.dBetaPre}}) {
      const Doubles values = want->values();
      double most = 0;
      for (double value : values)
        most = std::max(most, std::fabs(value));
      expectClose(*got, values, Doubles(values.size(), 1e-5 * (1 + most)), "sum over tokens");
    }
  }
}

TEST(Backward, InstructionSets) {
  forEachInstructionSet([](const std::string &set) {
    SCOPED_TRACE(set);
    Context context;
    for (uint64_t seed = 0; seed < 6; ++seed) {
      Case c(seed, 50);
      ASSERT_EQ(c.run(context), MHCRT_OK) << context.error();
      checkSums(c, [](const Buffer &, int64_t) { return 0.0; });
    }
  });
}

TEST(Backward, Errors) {
  Context context;
  float values[64] = {};
  auto expectError = [&](mhcrt_status status, const char *message) {
    EXPECT_EQ(status, MHCRT_INVALID_ARGUMENT);
    EXPECT_EQ(context.error(), message);
    mhcrt_clear_error(context);
  };
  expectError(call(mhcrt_aggregate_bwd, context, values, MHCRT_F32, values, MHCRT_F32, values, MHCRT_F32, values,
                   MHCRT_F32, nullptr, MHCRT_NONE, values, MHCRT_F32, 1, 1, 1, 0),
              "mhcrt_aggregate_bwd: 'd_x_in' has dtype f32; needed none without 'd_x'");
  expectError(call(mhcrt_gates_bwd, context, values, MHCRT_F32, values, MHCRT_F32, nullptr, MHCRT_NONE, values,
                   MHCRT_F32, nullptr, MHCRT_NONE, values, MHCRT_F32, values, MHCRT_F32, nullptr, MHCRT_NONE, nullptr,
                   MHCRT_NONE, values, MHCRT_F32, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, 1, 4,
                   0, 4, 1, MHCRT_STAT_APPLIED, 0, 2),
              "mhcrt_gates_bwd: 'd_h_post' has dtype f32; needed none with one gate");
  expectError(call(mhcrt_projection_bwd, context, values, MHCRT_F32, nullptr, MHCRT_NONE, values, MHCRT_F32, values,
                   MHCRT_F32, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE,
                   nullptr, MHCRT_NONE, values, MHCRT_F32, nullptr, MHCRT_NONE, values, MHCRT_F32, 1, 2, 1, 1, 1, 0, 0,
                   0, 1e-6, MHCRT_STAT_INV_RMS, MHCRT_PRECISION_BF16X3),
              "mhcrt_projection_bwd: 'd_norm_weight' has dtype f32; needed none with absent norm_weight");
  expectError(call(mhcrt_sinkhorn_bwd, context, values, MHCRT_F32, values, MHCRT_F32, values, MHCRT_F32, 1, 4,
                   MHCRT_INIT_SOFTMAX_EPS, 0, 0, 1e-6, 0),
              "mhcrt_sinkhorn_bwd: 'iters' is 0; needed 1 to 1000");
  expectError(call(mhcrt_sinkhorn_bwd, context, values, MHCRT_F32, values, MHCRT_F32, values, MHCRT_F32, 1, 1,
                   MHCRT_INIT_EXP, 0, 0, 1e-6, INT64_MAX),
              "mhcrt_sinkhorn_bwd: 'iters' is 9223372036854775807; needed 0 to 1000");
  expectError(call(mhcrt_head_bwd, context, values, MHCRT_F32, nullptr, MHCRT_NONE, values, MHCRT_F32, values,
                   MHCRT_F32, nullptr, MHCRT_NONE, values, MHCRT_F32, values, MHCRT_F32, values, MHCRT_F32, values,
                   MHCRT_F32, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, values, MHCRT_F32, nullptr,
                   MHCRT_NONE, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE,
                   values, MHCRT_F32, 1, 2, 2, 4, 1, 0, 0, 0, 1e-6, 1e-6, MHCRT_PRECISION_BF16X3),
              "mhcrt_head_bwd: 'd_alpha_in' has dtype f32; needed none without 'd_alpha'");
}

/// A call of post_bwd whose d_x and d_bias start from tensors, or are wider than the streams, and what it has to be.
struct Growing {
  Random random;
  int64_t M, n = 4, C;
  int32_t type, layout, orient, startType, dxType;
  bool hasBias;
  Buffer dOut, f, hPost, x, hRes, start, biasStart, df, dhPost, dhRes, dx, dBias;

  explicit Growing(uint64_t seed)
      : random(seed), M(random.pick<int64_t>({1, 5, 37, 300})), C(random.pick<int64_t>({64, 200, 1024})),
        type(random.pick<int32_t>({MHCRT_F32, MHCRT_BF16, MHCRT_BF16, MHCRT_F16})),
        layout(static_cast<int32_t>(seed % 2)), orient(static_cast<int32_t>(seed / 2 % 2)),
        startType(random.pick<int32_t>({MHCRT_NONE, type, MHCRT_F32})), dxType(random.pick<int32_t>({type, MHCRT_F32})),
        hasBias(random.integer(0, 2) > 0), dOut(random.buffer(type, M * n * C)), f(random.buffer(type, M * C)),
        hPost(random.buffer(MHCRT_F32, M * n)), x(random.buffer(type, M * n * C)),
        hRes(random.buffer(MHCRT_F32, M * n * n)) {
    if (startType != MHCRT_NONE)
      start = random.buffer(startType, M * n * C);
    if (hasBias && random.integer(0, 1))
      biasStart = random.buffer(MHCRT_F32, C);
    df = Buffer(type, M * C), dx = Buffer(dxType, M * n * C), dhPost = Buffer(MHCRT_F32, M * n);
    dhRes = Buffer(MHCRT_F32, M * n * n);
    if (hasBias)
      dBias = Buffer(MHCRT_F32, C);
  }

  mhcrt_status run(mhcrt_context *context) {
    return call(mhcrt_post_bwd, context, dOut.data(), type, f.data(), type, nullptr, MHCRT_NONE, hPost.data(),
                MHCRT_F32, x.data(), type, hRes.data(), MHCRT_F32, nullptr, MHCRT_NONE, start.data(), startType,
                biasStart.data(), biasStart.type(), df.data(), type, dhPost.data(), MHCRT_F32, dhRes.data(), MHCRT_F32,
                dx.data(), dxType, dBias.data(), dBias.type(), M, n, C, 0, layout, orient, 0, 0);
  }

  /// Element by element, each with the sum of its terms' sizes.
  void expect() const {
    const Doubles g = dOut.values(), h = hPost.values(), mix = hRes.values(), before = start.values(),
                  gotDx = dx.values(), gotBias = dBias.values();
    Doubles bias = biasStart.values(), sizes(C);
    bias.resize(C);
    const auto at = [&](int64_t m, int64_t i, int64_t c) {
      return m * n * C + (layout == MHCRT_LAYOUT_NC ? i * C + c : c * n + i);
    };
    for (int64_t m = 0; m < M; ++m)
      for (int64_t c = 0; c < C; ++c)
        for (int64_t i = 0; i < n; ++i) {
          bias[c] += h[m * n + i] * g[at(m, i, c)];
          sizes[c] += std::fabs(h[m * n + i] * g[at(m, i, c)]);
          double sum = before.empty() ? 0 : before[at(m, i, c)], size = std::fabs(sum);
          for (int64_t o = 0; o < n; ++o) {
            const double term = mix[m * n * n + (orient == MHCRT_ORIENT_OI ? o * n + i : i * n + o)] * g[at(m, o, c)];
            sum += term, size += std::fabs(term);
          }
          ASSERT_NEAR(gotDx[at(m, i, c)], sum, 1e-6 * size + roundoff(dxType) * std::fabs(sum) + 1e-7)
              << "token " << m << " stream " << i << " channel " << c;
        }
    for (int64_t c = 0; hasBias && c < C; ++c)
      ASSERT_NEAR(gotBias[c], bias[c], 2e-6 * sizes[c] + 1e-6) << "channel " << c;
    for (const Buffer *result : {&df, &dhPost, &dhRes, &dx, &dBias})
      EXPECT_TRUE(result->guardIntact());
  }
};

TEST(Backward, PostGrowsInAnyDivision) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Growing first(seed);
    bool isFirst = true;
    forEachDivision([&](mhcrt_context *context) {
      Growing other(seed);
      Growing &c = isFirst ? first : other;
      ASSERT_EQ(c.run(context), MHCRT_OK) << mhcrt_last_error(context);
      ASSERT_EQ(mhcrt_synchronize(context), MHCRT_OK) << mhcrt_last_error(context);
      if (isFirst)
        first.expect();
      isFirst = false;
      for (auto [a, b] : {std::pair(&first.dx, &c.dx), {&first.dBias, &c.dBias}, {&first.df, &c.df}})
        EXPECT_TRUE(*a == *b);
    });
  }
}

} // namespace
