//===- TokenSumsTest.cpp - Sums over a million tokens ----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients that are sums over tokens keep their accuracy whatever the number of tokens. All tokens are equal but for
// signs in one test, and all terms positive: nothing cancels, and where an addition rounds or cuts off to one side,
// those after it do so, too. The exact sums are products. Thousands of different ones: some meet the worst case.
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Support.h"

#include <algorithm>

using namespace mhcrt::test;

namespace {

constexpr int32_t F = MHCRT_F32, kNoType = MHCRT_NONE;
constexpr int64_t kStreams = 4, kColumns = 24;
constexpr double kBound = 2e-5, kStat = 0.75, kPostMult = 2;

/// Numbers of 24 bits from a half to one.
Doubles positive(Random &random, int64_t count) {
  Doubles values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(std::ldexp(static_cast<double>(random.integer(1 << 23, (1 << 24) - 1)), -24));
  return values;
}

/// A token's row, and the tensor of M such tokens.
struct Tokens {
  Doubles row;
  Buffer all;

  Tokens(int32_t type, const Doubles &values, int64_t M) : all(type, M * static_cast<int64_t>(values.size())) {
    Buffer one(type, values);
    row = one.values();
    const size_t bytes = values.size() * mhcrt_dtype_bytes(type);
    auto *to = reinterpret_cast<unsigned char *>(all.floats());
    for (int64_t m = 0; m < M; ++m)
      std::memcpy(to + m * bytes, one.floats(), bytes);
  }
  void *data() { return all.data(); }
};

/// Errors are relative to `least` of a sum, where that is more than 1.
void expectSums(const Buffer &got, const Doubles &want, const std::string &what, double least = 1) {
  EXPECT_TRUE(got.guardIntact()) << what;
  const Doubles values = got.values();
  ASSERT_EQ(values.size(), want.size()) << what;
  double most = 0;
  for (size_t k = 0; k < want.size(); ++k)
    most = std::max(most, values[k] == values[k] ? std::fabs(values[k] / want[k] - 1) / least : INFINITY);
  EXPECT_LE(most, kBound) << what;
  testing::Test::RecordProperty(what, std::to_string(most * 1e6) + "e-6");
}

Doubles scaled(Doubles values, double factor) {
  for (double &value : values)
    value *= factor;
  return values;
}

/// The gates of pre, or of head with N = 4: what goes in, and a token's gradients.
struct Gates {
  int64_t N;
  Doubles dz, dProj, dAlpha;
  Tokens dPre, dPost, dRes, proj, stat;
  Buffer alpha, beta;

  Gates(Random &random, int64_t M, int64_t N)
      : N(N), dPre(F, positive(random, kStreams), M), dPost(F, positive(random, kStreams), M),
        dRes(F, positive(random, kStreams * kStreams), M), proj(F, positive(random, N), M), stat(F, {kStat}, M),
        alpha(F, positive(random, N == kStreams ? 1 : 3)), beta(F, positive(random, N)) {
    const Doubles weights = alpha.values(), biases = beta.values();
    dAlpha.assign(weights.size(), 0.0);
    for (int64_t j = 0; j < N; ++j) {
      const int64_t group = std::min<int64_t>(j / kStreams, 2);
      const double gate = 1 / (1 + std::exp(-(kStat * proj.row[j] * weights[group] + biases[j])));
      dz.push_back(group == 0   ? dPre.row[j] * gate * (1 - gate)
                   : group == 1 ? dPost.row[j - kStreams] * kPostMult * gate * (1 - gate)
                                : dRes.row[j - 2 * kStreams]);
      dProj.push_back(dz.back() * weights[group] * kStat);
      dAlpha[group] += dz.back() * kStat * proj.row[j];
    }
  }
};

/// Whose d_x the kernel starts from.
enum class Start { none, dxIn, post };

struct Streams {
  int64_t M, C, K = kStreams * C;
  int32_t type;
  Tokens x;
  Buffer dx, df, weight, zeros, mix;
  Tokens post, identity; ///< coefficients of the post that makes x of itself
  double sum;            ///< of tokens, in units of x.row

  Streams(Random &random, int64_t M, int64_t C, int32_t type)
      : M(M), C(C), type(type), x(type, positive(random, K), M), dx(type, M * K), df(type, M * C),
        weight(F, positive(random, K)), zeros(type, M * C), mix(F, M * kStreams * kStreams),
        post(F, Doubles(kStreams), M), identity(F, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, M),
        sum(static_cast<double>(M)) {
    std::memset(zeros.floats(), 0, M * C * mhcrt_dtype_bytes(type));
  }
  int32_t typeIf(bool isThere) const { return isThere ? type : kNoType; }

  /// Gives tokens of bf16 random signs.
  void flip(Random &random) {
    uint16_t *to = x.all.halves();
    for (int64_t m = 0; m < M; ++m)
      if (random.integer(0, 1)) {
        sum -= 2;
        for (int64_t k = 0; k < K; ++k)
          to[m * K + k] ^= 0x8000;
      }
  }
  /// How far a sum of random signs goes, in units of `sum`: its roundings are of numbers as large.
  double least() const { return std::max(1.0, std::sqrt(static_cast<double>(M)) / std::fabs(sum)); }
};

struct Weights {
  int64_t N, K;
  Buffer phi, dPhi, dWeight, dAlpha, dBeta;

  Weights(Random &random, int64_t N, int64_t K)
      : N(N), K(K), phi(F, positive(random, N * K)), dPhi(F, N * K), dWeight(F, K), dAlpha(F, N == kStreams ? 1 : 3),
        dBeta(F, N) {}

  /// d_phi and d_norm_weight, where a token's d_proj is `dProj`.
  void check(const Streams &s, const Doubles &dProj, const std::string &what) const {
    const Doubles rows = phi.values(), scales = s.weight.values();
    Doubles wantPhi, wantWeight(K);
    for (int64_t j = 0; j < N; ++j)
      for (int64_t k = 0; k < K; ++k) {
        const double product = s.sum * dProj[j] * s.x.row[k];
        wantPhi.push_back(product * scales[k]);
        wantWeight[k] += product * rows[j * K + k];
      }
    expectSums(dPhi, wantPhi, "d_phi of " + what, s.least());
    expectSums(dWeight, wantWeight, "d_norm_weight of " + what, s.least());
  }
  void checkGates(const Streams &s, const Gates &gates, const std::string &what) const {
    check(s, gates.dProj, what);
    expectSums(dAlpha, scaled(gates.dAlpha, static_cast<double>(s.M)), "d_alpha of " + what);
    expectSums(dBeta, scaled(gates.dz, static_cast<double>(s.M)), "d_beta of " + what);
  }
};

void projectionBwd(mhcrt_context *context, Random &random, Streams &s, Start start, int32_t precision,
                   const std::string &what) {
  Tokens dProj(F, positive(random, kColumns), s.M);
  Weights w(random, kColumns, s.K);
  const bool adds = start != Start::none;
  ASSERT_EQ(call(mhcrt_projection_bwd, context, dProj.data(), F, nullptr, kNoType, s.x.data(), s.type, w.phi.data(), F,
                 s.weight.data(), F, nullptr, kNoType, adds ? s.x.data() : nullptr, s.typeIf(adds), nullptr, kNoType,
                 nullptr, kNoType, s.dx.data(), s.type, w.dPhi.data(), F, w.dWeight.data(), F, s.M, kColumns, kStreams,
                 s.C, s.K, MHCRT_LAYOUT_NC, MHCRT_PHI_LAYOUT_OUT_IN, MHCRT_NORM_NONE, 0, MHCRT_STAT_INV_RMS, precision),
            MHCRT_OK)
      << mhcrt_last_error(context);
  w.check(s, dProj.row, "projection_bwd " + what);
}

void preBwd(mhcrt_context *context, Random &random, Streams &s, Start start, int32_t precision,
            const std::string &what) {
  Gates g(random, s.M, kColumns);
  Weights w(random, kColumns, s.K);
  const bool adds = start == Start::dxIn, mixes = start == Start::post;
  ASSERT_EQ(call(mhcrt_pre_bwd, context, s.zeros.data(), s.type, g.dPre.data(), F, g.dPost.data(), F, g.dRes.data(), F,
                 s.x.data(), s.type, w.phi.data(), F, s.weight.data(), F, g.alpha.data(), F, g.beta.data(), F,
                 g.proj.data(), F, g.stat.data(), F, mixes ? s.x.data() : nullptr, s.typeIf(mixes),
                 mixes ? s.mix.data() : nullptr, mixes ? F : kNoType, adds ? s.x.data() : nullptr, s.typeIf(adds),
                 nullptr, kNoType, nullptr, kNoType, nullptr, kNoType, nullptr, kNoType, s.dx.data(), s.type,
                 w.dPhi.data(), F, w.dWeight.data(), F, w.dAlpha.data(), F, w.dBeta.data(), F, s.M, s.C, kStreams,
                 kColumns, s.K, 3, MHCRT_LAYOUT_NC, MHCRT_PHI_LAYOUT_OUT_IN, MHCRT_NORM_NONE, 0, 0, kPostMult,
                 MHCRT_RES_MAP_IDENTITY, MHCRT_INIT_EXP, 0, 0, 0, 0, 0, MHCRT_ORIENT_OI, precision),
            MHCRT_OK)
      << mhcrt_last_error(context);
  w.checkGates(s, g, "pre_bwd " + what);
}

/// As pre_bwd, behind a post that changes nothing.
void postPreBwd(mhcrt_context *context, Random &random, Streams &s, Start start, int32_t precision,
                const std::string &what) {
  Gates g(random, s.M, kColumns);
  Weights w(random, kColumns, s.K);
  const bool adds = start == Start::dxIn, mixes = start == Start::post;
  ASSERT_EQ(call(mhcrt_post_pre_bwd, context, s.zeros.data(), s.type, g.dPre.data(), F, g.dPost.data(), F,
                 g.dRes.data(), F, s.x.data(), s.type, adds ? s.x.data() : nullptr, s.typeIf(adds),
                 mixes ? s.x.data() : nullptr, s.typeIf(mixes), mixes ? s.mix.data() : nullptr, mixes ? F : kNoType,
                 s.zeros.data(), s.type, nullptr, kNoType, s.post.data(), F, s.x.data(), s.type, s.identity.data(), F,
                 nullptr, kNoType, w.phi.data(), F, s.weight.data(), F, g.alpha.data(), F, g.beta.data(), F,
                 g.proj.data(), F, g.stat.data(), F, nullptr, kNoType, nullptr, kNoType, nullptr, kNoType, nullptr,
                 kNoType, nullptr, kNoType, s.df.data(), s.type, nullptr, kNoType, nullptr, kNoType, s.dx.data(),
                 s.type, nullptr, kNoType, w.dPhi.data(), F, w.dWeight.data(), F, w.dAlpha.data(), F, w.dBeta.data(), F,
                 s.M, s.C, kStreams, 0, kColumns, s.K, 3, MHCRT_LAYOUT_NC, MHCRT_ORIENT_OI, 0.0, 0,
                 MHCRT_PHI_LAYOUT_OUT_IN, MHCRT_NORM_NONE, 0, 0, kPostMult, MHCRT_RES_MAP_IDENTITY, MHCRT_INIT_EXP, 0,
                 0, 0, 0, 0, MHCRT_ORIENT_OI, precision),
            MHCRT_OK)
      << mhcrt_last_error(context);
  w.checkGates(s, g, "post_pre_bwd " + what);
}

void headBwd(mhcrt_context *context, Random &random, Streams &s, Start start, int32_t precision,
             const std::string &what) {
  Gates g(random, s.M, kStreams);
  Weights w(random, kStreams, s.K);
  const bool adds = start != Start::none;
  ASSERT_EQ(call(mhcrt_head_bwd, context, s.zeros.data(), s.type, g.dPre.data(), F, s.x.data(), s.type, w.phi.data(), F,
                 s.weight.data(), F, g.alpha.data(), F, g.beta.data(), F, g.proj.data(), F, g.stat.data(), F,
                 adds ? s.x.data() : nullptr, s.typeIf(adds), nullptr, kNoType, nullptr, kNoType, nullptr, kNoType,
                 nullptr, kNoType, s.dx.data(), s.type, w.dPhi.data(), F, w.dWeight.data(), F, w.dAlpha.data(), F,
                 w.dBeta.data(), F, s.M, s.C, kStreams, s.K, 1, MHCRT_LAYOUT_NC, MHCRT_PHI_LAYOUT_OUT_IN,
                 MHCRT_NORM_NONE, 0, 0, precision),
            MHCRT_OK)
      << mhcrt_last_error(context);
  w.checkGates(s, g, "head_bwd " + what);
}

constexpr const char *kPrecisions[] = {"ieee", "tf32x3", "bf16x3"};

/// Every op at every precision. Rows of a GPU for whole groups of 128 channels have a kernel for each start of d_x.
void checkStreams(int64_t M, int64_t C, int32_t type, bool amx) {
  Context context(2, amx);
  Random random(C);
  Streams s(random, M, C, type);
  const std::string shape =
      std::to_string(M) + "x" + std::to_string(C) + " " + mhcrt_dtype_name(type) + (amx ? " amx " : " ");
  for (int32_t precision : {MHCRT_PRECISION_IEEE, MHCRT_PRECISION_TF32X3, MHCRT_PRECISION_BF16X3}) {
    if (amx && precision == MHCRT_PRECISION_IEEE)
      continue; // made without
    for (Start start : {Start::none, Start::dxIn, Start::post}) {
      if (start != Start::none && (precision != MHCRT_PRECISION_BF16X3 || C % 128 != 0))
        continue;
      const std::string what = shape + kPrecisions[precision] + " start " + std::to_string(static_cast<int>(start));
      if (start != Start::post)
        projectionBwd(context, random, s, start, precision, what);
      if (start != Start::post && type == MHCRT_BF16)
        headBwd(context, random, s, start, precision, what);
      if (type == MHCRT_BF16)
        preBwd(context, random, s, start, precision, what);
      if (type == MHCRT_BF16 && precision == MHCRT_PRECISION_BF16X3)
        postPreBwd(context, random, s, start, precision, what);
    }
  }
}

TEST(TokenSums, Weights) {
  for (auto [M, C, type] : manyTokens())
    for (bool amx : variants())
      checkStreams(M, C, type, amx);
}

/// Terms that nearly cancel each other out.
TEST(TokenSums, RandomSigns) {
  Context context;
  for (auto [M, C, type] : manyTokens()) {
    if (type != MHCRT_BF16)
      continue;
    Random random(C + 1);
    Streams s(random, M, C, type);
    s.flip(random);
    ASSERT_NE(s.sum, 0);
    const std::string what = std::to_string(M) + "x" + std::to_string(C) + " of random signs";
    preBwd(context, random, s, Start::none, MHCRT_PRECISION_BF16X3, what);
    postPreBwd(context, random, s, Start::none, MHCRT_PRECISION_BF16X3, what);
  }
}

/// Those of four streams of twice the channels, as they lie in memory.
TEST(TokenSums, EightStreams) {
  constexpr int64_t M = 1 << 17, kC = 64, kN = 80;
  Context context;
  Random random(6);
  Streams s(random, M, 2 * kC, MHCRT_BF16);
  Tokens dProj(F, positive(random, kN), M);
  Weights w(random, kN, s.K);
  ASSERT_EQ(call(mhcrt_projection_bwd, context, dProj.data(), F, nullptr, kNoType, s.x.data(), s.type, w.phi.data(), F,
                 s.weight.data(), F, nullptr, kNoType, nullptr, kNoType, nullptr, kNoType, nullptr, kNoType,
                 s.dx.data(), s.type, w.dPhi.data(), F, w.dWeight.data(), F, M, kN, 8, kC, s.K, MHCRT_LAYOUT_NC,
                 MHCRT_PHI_LAYOUT_OUT_IN, MHCRT_NORM_NONE, 0, MHCRT_STAT_INV_RMS, MHCRT_PRECISION_BF16X3),
            MHCRT_OK)
      << context.error();
  w.check(s, dProj.row, "projection_bwd of eight streams");
}

TEST(TokenSums, Gates) {
  const int64_t M = std::get<0>(manyTokens()[0]);
  Context context;
  Random random(3);
  Gates g(random, M, kColumns);
  Buffer dAlpha(F, 3), dBeta(F, kColumns);
  ASSERT_EQ(call(mhcrt_gates_bwd, context, g.dPre.data(), F, g.dPost.data(), F, g.dRes.data(), F, g.proj.data(), F,
                 g.stat.data(), F, g.alpha.data(), F, g.beta.data(), F, nullptr, kNoType, nullptr, kNoType, nullptr,
                 kNoType, nullptr, kNoType, dAlpha.data(), F, dBeta.data(), F, M, kStreams, kStreams * kStreams,
                 kColumns, 3, MHCRT_STAT_INV_RMS, 0, kPostMult),
            MHCRT_OK)
      << context.error();
  expectSums(dAlpha, scaled(g.dAlpha, static_cast<double>(M)), "d_alpha of gates_bwd");
  expectSums(dBeta, scaled(g.dz, static_cast<double>(M)), "d_beta of gates_bwd");
}

TEST(TokenSums, Bias) {
  const int64_t M = std::get<0>(manyTokens()[0]);
  Context context;
  Random random(4);
  for (auto [type, C, layout] : {std::tuple(F, int64_t{21}, MHCRT_LAYOUT_NC),
                                 {MHCRT_BF16, 24, MHCRT_LAYOUT_NC},
                                 {MHCRT_BF16, 24, MHCRT_LAYOUT_CN}}) {
    Tokens dOut(type, positive(random, kStreams * C), M), hPost(F, positive(random, kStreams), M);
    Buffer rows(type, M * C), df(type, M * C), mix(F, M * kStreams * kStreams), dBias(F, C);
    ASSERT_EQ(call(mhcrt_post_bwd, context, dOut.data(), type, rows.data(), type, nullptr, kNoType, hPost.data(), F,
                   dOut.data(), type, mix.data(), F, nullptr, kNoType, nullptr, kNoType, nullptr, kNoType, df.data(),
                   type, nullptr, kNoType, nullptr, kNoType, nullptr, kNoType, dBias.data(), F, M, kStreams, C, 0,
                   layout, MHCRT_ORIENT_OI, 0, 0),
              MHCRT_OK)
        << context.error();
    Doubles want(C);
    for (int64_t o = 0; o < kStreams; ++o)
      for (int64_t c = 0; c < C; ++c)
        want[c] +=
            static_cast<double>(M) * hPost.row[o] * dOut.row[layout == MHCRT_LAYOUT_NC ? o * C + c : c * kStreams + o];
    expectSums(dBias, want, std::string("d_bias of post_bwd ") + mhcrt_dtype_name(type));
  }
}

TEST(TokenSums, Table) {
  const int64_t M = std::get<0>(manyTokens()[0]), C = 70, V = 3;
  Context context;
  Random random(5);
  Tokens dOut(MHCRT_BF16, positive(random, C), M);
  std::vector<int32_t> ids;
  for (int64_t m = 0; m < M; ++m)
    ids.push_back(m % 8 == 0 ? 0 : 2);
  const auto first = static_cast<double>((M + 7) / 8);
  Buffer rows(ids), start(F, positive(random, V * C)), table(F, V * C);
  ASSERT_EQ(call(mhcrt_take_bwd, context, dOut.data(), MHCRT_BF16, rows.data(), MHCRT_I32, start.data(), F,
                 table.data(), F, M, C, V),
            MHCRT_OK)
      << context.error();
  Doubles want = start.values();
  for (int64_t c = 0; c < C; ++c) {
    want[c] += first * dOut.row[c];
    want[2 * C + c] += (static_cast<double>(M) - first) * dOut.row[c];
  }
  expectSums(table, want, "d_table of take_bwd");
}

} // namespace
