//===- GatedDeltaRoundingTest.cpp - Single numbers through SiLU -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "GatedDeltaCase.h"

using namespace mhcrt::test;

namespace {

using Case = GatedDeltaCase;

/// A convolution of one tap that adds `bias` to the input, which is values[channel].
Case shifted(int32_t type, double bias, const Doubles &values) {
  Random random(5);
  Case c(9, 1, 1, 1, 40, 72, 1, type, MHCRT_SEQ_LAYOUT_MBD, true);
  c.fill(random, {}, true, false, MHCRT_F32);
  c.weight = Buffer(MHCRT_F32, Doubles(c.E, 1.0));
  c.bias = Buffer(MHCRT_F32, Doubles(c.E, bias));
  Doubles x = c.x.values();
  for (int64_t i = 0; i < c.M * c.D; ++i)
    x[i] = values[i % c.D % values.size()];
  c.x = Buffer(type, x);
  return c;
}

/// Expects SiLU of sums[channel], near 1, in the heads of v. A neighbour of the sum gives one 0.68 units away or more.
void expectSiLU(Case c, const Doubles &sums, double unit) {
  Context context;
  ASSERT_EQ(c.forward(context), MHCRT_OK) << context.error();
  const Doubles value = c.value.values();
  for (int64_t i = 0; i < c.M * c.dv; ++i) {
    const double a = sums[(2 * c.dk + i % c.dv) % sums.size()];
    EXPECT_NEAR(value[i], a / (1 + std::exp(-a)), 0.6 * unit) << i;
  }
}

/// Sums of the convolution that are half way between two numbers, and next to a power of two.
TEST(GatedDelta, RoundsToEvenBeforeSiLU) {
  forEachInstructionSet([](const std::string &set) {
    for (int32_t type : {MHCRT_BF16, MHCRT_F16}) {
      SCOPED_TRACE(set + ", type " + std::to_string(type));
      const double unit = std::ldexp(1.0, type == MHCRT_BF16 ? -7 : -10);
      expectSiLU(shifted(type, unit / 2, {1, 1 + unit, 1 + 2 * unit, 1 + 3 * unit}),
                 {1, 1 + 2 * unit, 1 + 2 * unit, 1 + 4 * unit}, unit);
      for (double last : {1, 3, 31, 63}) // places of f32
        expectSiLU(shifted(type, unit - std::ldexp(last, -23), {2 - unit}), {2}, unit);
    }
  });
}

/// Far from zero SiLU is its argument, or nothing; the same for its slope.
TEST(GatedDelta, LargeNumbersStay) {
  forEachInstructionSet([](const std::string &set) {
    Context context;
    for (int32_t type : {MHCRT_F32, MHCRT_BF16, MHCRT_F16}) {
      SCOPED_TRACE(set + ", type " + std::to_string(type));
      const double huge = type == MHCRT_F16 ? 60000 : 3e38;
      Case c = shifted(type, 0, {86, 87, 88, 300, huge, -88, -300, -huge});
      ASSERT_EQ(c.both(context), MHCRT_OK) << context.error();
      const Doubles x = c.x.values(), value = c.value.values(), dValue = c.dValue.values(), dx = c.dx.values();
      for (int64_t n = 0; n < c.M; ++n)
        for (int64_t e = 0; e < c.dv; ++e) {
          const double in = x[n * c.D + 2 * c.dk + e], grad = dValue[n * c.dv + e];
          EXPECT_NEAR(value[n * c.dv + e], in > 0 ? in : 0, in > 0 ? 1e-6 * in : 1e-30) << in;
          EXPECT_NEAR(dx[n * c.D + 2 * c.dk + e], in > 0 ? grad : 0, 1e-6 * std::fabs(grad) + 1e-30) << in;
        }
      Case infinite = shifted(type, 0, {INFINITY});
      ASSERT_EQ(infinite.forward(context), MHCRT_OK) << context.error();
      for (double v : infinite.value.values())
        EXPECT_EQ(v, INFINITY);
    }
  });
}

} // namespace
