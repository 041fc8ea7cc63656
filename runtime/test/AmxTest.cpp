//===- AmxTest.cpp - Projections in matrix tiles --------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Properties of the matrix tiles beyond the tests of ProjectionTest.cpp, which run on both variants.
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Reference.h"

#include <limits>

using namespace mhcrt::test;

namespace {

class Amx : public testing::Test {
protected:
  void SetUp() override {
    if (variants().size() < 2)
      GTEST_SKIP() << "this machine has no AMX";
  }
};

/// A projection without norm. K is above two runs and no multiple of a step; M is above a group of tokens.
struct Case {
  int64_t M = 19, n = 1, K = 8221, N = 24;
  int32_t type, phiType, phiLayout = MHCRT_PHI_LAYOUT_OUT_IN;
  Buffer x, phi;

  Buffer run(bool amx) {
    Context context(2, amx);
    Buffer proj(MHCRT_F32, M * N), stat(MHCRT_F32, M);
    EXPECT_EQ(call(mhcrt_projection, context, x.data(), type, phi.data(), phiType, nullptr, MHCRT_NONE, proj.data(),
                   MHCRT_F32, stat.data(), MHCRT_F32, M, n, K, N, K, MHCRT_LAYOUT_NC, phiLayout, MHCRT_NORM_NONE, 0.0,
                   MHCRT_STAT_MEAN_SQUARE, MHCRT_PRECISION_BF16X3),
              MHCRT_OK)
        << context.error();
    EXPECT_TRUE(stat.guardIntact());
    return proj;
  }
  Sums want() const {
    return project(x.values(), phi.values(), nullptr, M, N, K, phiLayout, MHCRT_NORM_NONE, 0.0).proj;
  }
};

/// The bound of ProjectionAmx-inl.h, for numbers whose magnitudes are at most `largest`.
Doubles bound(const Case &c, const Doubles &magnitudes, double largest) {
  const double terms = c.type == MHCRT_F32 ? 3 : c.type == MHCRT_F16 ? 2 : 1;
  const double products = c.type == MHCRT_F32 ? 3 : c.type == MHCRT_F16 ? 1 : 0;
  const double sums = 17 + 128 * terms + static_cast<double>(c.K) / 4096 + 2;
  const double denormals = c.K * std::ldexp(2 * largest + 1, -124);
  Doubles result;
  for (double magnitude : magnitudes)
    result.push_back(std::ldexp(sums + products, -24) * magnitude + denormals);
  return result;
}

Doubles allOfOneSign(Random &random, int64_t count) {
  Doubles values(count);
  for (double &value : values)
    value = 1 + static_cast<double>(random.integer(0, 1 << 24)) / (1 << 24);
  return values;
}

TEST_F(Amx, StaysInItsBound) {
  Random random(1);
  for (int32_t type : {MHCRT_F32, MHCRT_BF16, MHCRT_F16})
    for (int32_t phiType : {static_cast<int32_t>(MHCRT_F32), type})
      for (int32_t phiLayout : {MHCRT_PHI_LAYOUT_OUT_IN, MHCRT_PHI_LAYOUT_IN_OUT}) {
        Case c;
        c.type = type, c.phiType = phiType, c.phiLayout = phiLayout;
        // Terms of one sign let every rounding add up.
        c.x = Buffer(type, allOfOneSign(random, c.M * c.K));
        c.phi = Buffer(phiType, allOfOneSign(random, c.N * c.K));
        const Sums want = c.want();
        expectClose(c.run(true), want.values, bound(c, want.magnitudes, 2), mhcrt_dtype_name(type));
      }
}

/// Without the smaller terms, a product would have the 2^-9 of bf16.
TEST_F(Amx, KeepsAllTermsOfAProduct) {
  for (int32_t type : {MHCRT_F32, MHCRT_BF16, MHCRT_F16}) {
    Case c;
    c.type = type, c.phiType = MHCRT_F32, c.M = c.N = c.K = 1;
    Random random(2);
    for (int i = 0; i < 1000; ++i) {
      c.x = Buffer(type, allOfOneSign(random, 1));
      c.phi = Buffer(MHCRT_F32, allOfOneSign(random, 1));
      // The products left out, and the roundings of 3 terms of x and 3 of phi.
      const double want = c.x.values()[0] * c.phi.values()[0];
      expectClose(c.run(true), {want}, {want * std::ldexp(3 + 6, -24)}, mhcrt_dtype_name(type));
    }
  }
}

TEST_F(Amx, CountsDenormalNumbersAsZero) {
  Case c;
  c.type = c.phiType = MHCRT_F32;
  Random random(3);
  for (double scale : {1e-45, 1e-40, 1e-36}) {
    c.x = random.buffer(MHCRT_F32, c.M * c.K, scale);
    c.phi = random.buffer(MHCRT_F32, c.N * c.K);
    const Sums want = c.want();
    expectClose(c.run(true), want.values, bound(c, want.magnitudes, 8), "x of " + std::to_string(scale));
  }
}

/// One special number in x concerns its token alone, one in phi all tokens.
TEST_F(Amx, LeavesWhatIsNotFiniteToTheMultiplyAdds) {
  const double infinity = std::numeric_limits<double>::infinity();
  Random random(4);
  for (int32_t type : {MHCRT_F32, MHCRT_BF16})
    for (double special : {infinity, -infinity, std::nan("")}) {
      Case c;
      c.type = type, c.phiType = MHCRT_F32;
      Doubles x = random.buffer(type, c.M * c.K).values(), phi = random.buffer(MHCRT_F32, c.N * c.K).values();
      c.x = Buffer(type, x), c.phi = Buffer(MHCRT_F32, phi);
      const Buffer before = c.run(true);
      x[5 * c.K + 1] = special; // a whole step of token 4 would reach it
      c.x = Buffer(type, x);
      const Buffer tiles = c.run(true), multiplyAdds = c.run(false);
      for (int64_t token = 0; token < c.M; ++token) {
        const Buffer got = tiles.slice(token * c.N, c.N);
        const Buffer &want = token == 5 ? multiplyAdds : before;
        EXPECT_TRUE(got == want.slice(token * c.N, c.N)) << "token " << token << " with " << special << " in token 5";
      }
      phi[5 * c.K + 1] = special;
      c.phi = Buffer(MHCRT_F32, phi);
      EXPECT_TRUE(c.run(true) == c.run(false)) << special << " in phi";
    }
}

/// Largest numbers: rounding them to bf16 makes infinity.
TEST_F(Amx, MultipliesTheLargestNumbers) {
  Case c;
  c.type = c.phiType = MHCRT_F32;
  c.x = Buffer(MHCRT_F32, Doubles(c.M * c.K, std::ldexp(1.0, -20)));
  c.phi = Buffer(MHCRT_F32, Doubles(c.N * c.K, static_cast<double>(std::numeric_limits<float>::max())));
  EXPECT_TRUE(c.run(true) == c.run(false));
}

TEST_F(Amx, IsTheContextsChoice) {
  Case c;
  c.type = c.phiType = MHCRT_F32;
  Random random(5);
  c.x = random.buffer(MHCRT_F32, c.M * c.K);
  c.phi = random.buffer(MHCRT_F32, c.N * c.K);
  EXPECT_FALSE(c.run(true) == c.run(false)) << "one variant ran twice";
}

TEST(AmxAbsent, IsReported) {
  Context context(1);
  if (mhcrt_context_amx(context)) {
    EXPECT_EQ(mhcrt_context_set_amx(context, 0), MHCRT_OK);
    EXPECT_FALSE(mhcrt_context_amx(context));
    EXPECT_EQ(mhcrt_context_set_amx(context, 1), MHCRT_OK);
  } else {
    EXPECT_EQ(mhcrt_context_set_amx(context, 1), MHCRT_UNAVAILABLE);
  }
}

} // namespace
