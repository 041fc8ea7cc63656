//===- RandomTest.cpp - random, dropout -----------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Support.h"
#include "src/Philox.h"

using namespace mhcrt;
using namespace mhcrt::test;

namespace {

/// Known answers of Random123 (kat_vectors).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0, 0), (Words{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
  constexpr uint32_t kOnes = 0xFFFFFFFF;
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, kOnes, kOnes),
            (Words{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
  EXPECT_EQ(philox({0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}, 0xA4093822, 0x299F31D0),
            (Words{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}));
}

TEST(Philox, CounterIsBlockStreamAndOffset) {
  const int64_t seed[] = {0x299F31D0A4093822, 0x0370734413198A2E};
  const PhiloxStream stream = {seed, 0x85A308D3};
  EXPECT_EQ(stream(0x243F6A88), (Words{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}));
}

TEST(Random, NormalNumbersAreNormal) {
  Context context;
  const int64_t count = 1 << 16;
  Buffer seed(std::vector<int64_t>{1, 2}), out(MHCRT_F32, count);
  ASSERT_EQ(call(mhcrt_random, context, seed.data(), MHCRT_I64, out.data(), MHCRT_F32, 2, count,
                 MHCRT_DISTRIBUTION_NORMAL, 3),
            MHCRT_OK);
  double sum = 0, squares = 0, within = 0;
  for (double value : out.values()) {
    sum += value;
    squares += value * value;
    within += std::fabs(value) < 1;
  }
  // Five standard deviations of each estimate.
  EXPECT_NEAR(sum / count, 0, 5 / 256.0);
  EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(2.0) / 256);
  EXPECT_NEAR(within / count, 0.6826895, 5 * 0.4654 / 256);
}

/// Uniform numbers and dropped elements are the same bits on every backend: those of the formula.
TEST(Random, UniformNumbersAreTheWordsOfPhilox) {
  Context context;
  const int64_t count = 1027, stream = 7;
  const std::vector<int64_t> words = {0x1234567890, -5};
  Buffer seed(words), out(MHCRT_F32, count), x(MHCRT_F32, Doubles(count, 1.0)), kept(MHCRT_F32, count);
  ASSERT_EQ(call(mhcrt_random, context, seed.data(), MHCRT_I64, out.data(), MHCRT_F32, 2, count,
                 MHCRT_DISTRIBUTION_UNIFORM, stream),
            MHCRT_OK);
  ASSERT_EQ(call(mhcrt_dropout, context, x.data(), MHCRT_F32, seed.data(), MHCRT_I64, kept.data(), MHCRT_F32, 1, count,
                 2, 0.3, stream),
            MHCRT_OK);
  const PhiloxStream philox = {words.data(), stream};
  const Doubles numbers = out.values(), rest = kept.values();
  for (int64_t e = 0; e < count; ++e) {
    const double want = std::ldexp(philox(e / 4)[e % 4] >> 8, -24);
    ASSERT_EQ(numbers[e], want) << e;
    ASSERT_EQ(rest[e] != 0, want >= 0.3) << e;
  }
}

TEST(Dropout, KeepsTheRateAndDoesNotDependOnThreads) {
  Context one(1), three(3);
  const int64_t M = 300, C = 257;
  Buffer seed(std::vector<int64_t>{5, 6});
  Buffer x(MHCRT_BF16, Doubles(M * C, 3.0)), a(MHCRT_BF16, M * C), b(MHCRT_BF16, M * C), other(MHCRT_BF16, M * C);
  auto drop = [&](mhcrt_context *context, Buffer &out, int64_t stream) {
    return call(mhcrt_dropout, context, x.data(), MHCRT_BF16, seed.data(), MHCRT_I64, out.data(), MHCRT_BF16, M, C, 2,
                0.25, stream);
  };
  ASSERT_EQ(drop(one, a, 0), MHCRT_OK);
  ASSERT_EQ(drop(three, b, 0), MHCRT_OK);
  ASSERT_EQ(drop(three, other, 1), MHCRT_OK);
  EXPECT_TRUE(a == b);
  EXPECT_FALSE(a == other);
  double kept = 0;
  for (double value : a.values()) {
    ASSERT_TRUE(value == 0 || value == 4) << value;
    kept += value == 4;
  }
  const double count = M * C;
  EXPECT_NEAR(kept / count, 0.75, 5 * std::sqrt(0.25 * 0.75 / count));
}

} // namespace
