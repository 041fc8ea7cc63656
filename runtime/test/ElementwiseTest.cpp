//===- ElementwiseTest.cpp - expand, contract, aggregate, post ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Reference.h"

using namespace mhcrt::test;

namespace {

/// One random case: sizes around the vector widths and the block of 256 channels, odd ones too.
struct Case {
  Random random;
  int64_t M, n, C;
  int32_t type, layout;

  explicit Case(uint64_t seed)
      : random(seed), M(random.pick<int64_t>({0, 1, 13})), n(random.pick<int64_t>({1, 2, 3, 4, 4, 8, 16})),
        C(random.pick<int64_t>({1, 7, 16, 33, 64, 129, 256, 300})),
        type(random.pick<int32_t>({MHCRT_F32, MHCRT_BF16, MHCRT_F16})), layout(static_cast<int32_t>(seed % 2)) {}

  std::string name() const {
    return "M=" + std::to_string(M) + " n=" + std::to_string(n) + " C=" + std::to_string(C) + " " +
           mhcrt_dtype_name(type) + " layout=" + std::to_string(layout);
  }

  /// A sum of n+1 products in f32, one of them of a factor of a dropout too: each of its n+3 roundings is at most 2^-24
  /// of the terms' magnitudes; then one rounding at the store. 2^-25 is half the spacing of subnormal f16.
  Doubles tolerance(const Sums &sums) const {
    Doubles result;
    for (size_t i = 0; i < sums.values.size(); ++i)
      result.push_back(1.01 *
                       ((n + 3) * std::ldexp(1.0, -24) * sums.magnitudes[i] +
                        roundoff(type) * std::fabs(sums.values[i]) + (type == MHCRT_F16 ? std::ldexp(1.0, -25) : 0)));
    return result;
  }
};

constexpr uint64_t kCases = 60;

TEST(Expand, CopiesEveryStream) {
  Context context;
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    Case c(seed);
    Buffer x = c.random.buffer(c.type, c.M * c.C), streams(c.type, c.M * c.n * c.C);
    ASSERT_EQ(call(mhcrt_expand, context, x.data(), c.type, streams.data(), c.type, c.M, c.C, c.n, c.layout), MHCRT_OK)
        << context.error();
    Doubles want(c.M * c.n * c.C), in = x.values();
    for (int64_t m = 0; m < c.M; ++m)
      for (int64_t i = 0; i < c.n; ++i)
        for (int64_t k = 0; k < c.C; ++k)
          want[m * c.n * c.C + at(c.layout, c.n, c.C, i, k)] = in[m * c.C + k];
    expectClose(streams, want, Doubles(want.size()), c.name());
  }
}

TEST(Contract, SumsStreams) {
  Context context;
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    Case c(seed);
    const int32_t mode = static_cast<int32_t>(c.random.integer(0, 1));
    Buffer x = c.random.buffer(c.type, c.M * c.n * c.C), out(c.type, c.M * c.C);
    ASSERT_EQ(call(mhcrt_contract, context, x.data(), c.type, out.data(), c.type, c.M, c.n, c.C, c.layout, mode),
              MHCRT_OK)
        << context.error();
    const double weight = mode == MHCRT_CONTRACT_MODE_MEAN ? 1.0 / static_cast<double>(c.n) : 1.0;
    const Sums want = aggregate(x.values(), Doubles(c.M * c.n, weight), c.M, c.n, c.C, c.layout);
    expectClose(out, want.values, c.tolerance(want), c.name());
  }
}

TEST(Aggregate, WeighsStreams) {
  Context context;
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    Case c(seed);
    Buffer x = c.random.buffer(c.type, c.M * c.n * c.C), h = c.random.buffer(MHCRT_F32, c.M * c.n);
    Buffer u(c.type, c.M * c.C);
    ASSERT_EQ(call(mhcrt_aggregate, context, x.data(), c.type, h.data(), MHCRT_F32, u.data(), c.type, c.M, c.n, c.C,
                   c.layout),
              MHCRT_OK)
        << context.error();
    const Sums want = aggregate(x.values(), h.values(), c.M, c.n, c.C, c.layout);
    expectClose(u, want.values, c.tolerance(want), c.name());
  }
}

TEST(Post, MixesStreamsAndAddsOutput) {
  Context context;
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    Case c(seed);
    const int32_t orient = static_cast<int32_t>(c.random.integer(0, 1));
    const int32_t biasType = c.random.pick<int32_t>({MHCRT_NONE, MHCRT_F32, c.type});
    Buffer f = c.random.buffer(c.type, c.M * c.C), x = c.random.buffer(c.type, c.M * c.n * c.C);
    Buffer bias = biasType == MHCRT_NONE ? Buffer() : c.random.buffer(biasType, c.C);
    Buffer hPost = c.random.buffer(MHCRT_F32, c.M * c.n), hRes = c.random.buffer(MHCRT_F32, c.M * c.n * c.n);
    Buffer out(c.type, c.M * c.n * c.C);
    PostDropout dropout(context, c.random, c.M * c.n * c.C);
    void *biasData = biasType == MHCRT_NONE ? nullptr : bias.data();
    ASSERT_EQ(call(mhcrt_post, context, f.data(), c.type, biasData, biasType, hPost.data(), MHCRT_F32, x.data(), c.type,
                   hRes.data(), MHCRT_F32, dropout.data(), dropout.type, out.data(), c.type, c.M, c.C, c.n,
                   dropout.size, c.layout, orient, dropout.rate, dropout.stream),
              MHCRT_OK)
        << context.error();
    const Doubles biasValues = bias.values();
    const Sums want = post(f.values(), biasData ? &biasValues : nullptr, hPost.values(), x.values(), hRes.values(), c.M,
                           c.n, c.C, c.layout, orient, dropout.mask());
    expectClose(out, want.values, c.tolerance(want), c.name() + " orient=" + std::to_string(orient) + dropout.name());

    // A compiled model may give x as the output.
    ASSERT_EQ(call(mhcrt_post, context, f.data(), c.type, biasData, biasType, hPost.data(), MHCRT_F32, x.data(), c.type,
                   hRes.data(), MHCRT_F32, dropout.data(), dropout.type, x.data(), c.type, c.M, c.C, c.n, dropout.size,
                   c.layout, orient, dropout.rate, dropout.stream),
              MHCRT_OK);
    EXPECT_TRUE(x == out) << c.name() << ": in place differs";
  }
}

/// Bit for bit the elements that mhc.dropout drops.
TEST(Post, DropsWhatDropoutDrops) {
  Context context;
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    Case c(seed);
    const int64_t count = c.M * c.n * c.C;
    PostDropout dropout(context, c.random, count);
    if (!dropout.mask())
      continue;
    Buffer ones(c.type, Doubles(c.M * c.C, 1.0)), gate(MHCRT_F32, Doubles(c.M * c.n, 1.0)), zeros(c.type, count);
    Buffer mix(MHCRT_F32, Doubles(c.M * c.n * c.n)), out(c.type, count);
    ASSERT_EQ(call(mhcrt_post, context, ones.data(), c.type, nullptr, MHCRT_NONE, gate.data(), MHCRT_F32, zeros.data(),
                   c.type, mix.data(), MHCRT_F32, dropout.data(), dropout.type, out.data(), c.type, c.M, c.C, c.n,
                   dropout.size, c.layout, MHCRT_ORIENT_OI, dropout.rate, dropout.stream),
              MHCRT_OK)
        << context.error();
    EXPECT_TRUE(out == Buffer(c.type, *dropout.mask())) << c.name() << dropout.name();
  }
}

/// Large enough for streaming stores: the values must be those of the small call.
static void expectSameStreamed(int64_t M, int64_t n, int64_t contracted) {
  Context context;
  Random random(1);
  const int64_t C = 3584, few = 8, width = contracted ? C : n * C;
  for (int32_t type : {MHCRT_F32, MHCRT_BF16, MHCRT_F16}) {
    Buffer f = random.buffer(type, M * C), x = random.buffer(type, M * n * C);
    Buffer h = random.buffer(MHCRT_F32, M * n), mix = random.buffer(MHCRT_F32, M * n * n);
    const auto post = [&](void *out, int64_t tokens) {
      return call(mhcrt_post, context, f.data(), type, nullptr, MHCRT_NONE, h.data(), MHCRT_F32, x.data(), type,
                  mix.data(), MHCRT_F32, nullptr, MHCRT_NONE, out, type, tokens, C, n, 0, MHCRT_LAYOUT_NC,
                  MHCRT_ORIENT_OI, 0, 0, /*equal_x=*/0, contracted);
    };
    // Streaming needs a 64-byte aligned output, which a buffer's memory need not be.
    Buffer room(type, M * width + 32);
    const int64_t skip = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(room.data()) % 64) / mhcrt_dtype_bytes(type);
    ASSERT_EQ(post(static_cast<unsigned char *>(room.data()) + skip * mhcrt_dtype_bytes(type), M), MHCRT_OK);
    Buffer small(type, few * width);
    ASSERT_EQ(post(small.data(), few), MHCRT_OK);
    EXPECT_TRUE(room.slice(skip, few * width) == small) << mhcrt_dtype_name(type);
  }
}

TEST(Post, StreamingStoresChangeNothing) { expectSameStreamed(/*M=*/300, /*n=*/4, MHCRT_CONTRACTED_NONE); }

TEST(Post, StreamingStoresOfASumChangeNothing) { expectSameStreamed(/*M=*/1200, /*n=*/1, MHCRT_CONTRACTED_SUM); }

/// Every f32 exponent, ties, subnormals, infinities and NaN through the stores; every f16 and bf16 through the loads.
TEST(Conversions, AreExactAndRoundToNearestEven) {
  Context context;
  Doubles inputs;
  for (int exponent = -150; exponent <= 127; ++exponent)
    for (double mantissa :
         {1.0, 1.25, 1.5, 1.00390625, 1.01171875, 1.00048828125, 1.00146484375, 1.9999999, 1.99951171875})
      for (double sign : {1.0, -1.0})
        inputs.push_back(sign * std::ldexp(mantissa, exponent));
  inputs.insert(inputs.end(), {0.0, INFINITY, -INFINITY, NAN});
  const int64_t count = static_cast<int64_t>(inputs.size());
  Buffer f(MHCRT_F32, inputs), one(MHCRT_F32, Doubles{1.0});
  for (int32_t type : {MHCRT_BF16, MHCRT_F16}) {
    // The bias may be f32 while f and out are 16 bits wide: 1 * (0 + bias) + 0 * 0 is one rounding of the bias.
    Buffer zeros(type, Doubles(count)), out(type, count), zero(MHCRT_F32, Doubles{0.0});
    ASSERT_EQ(call(mhcrt_post, context, zeros.data(), type, f.data(), MHCRT_F32, one.data(), MHCRT_F32, zeros.data(),
                   type, zero.data(), MHCRT_F32, nullptr, MHCRT_NONE, out.data(), type, 1, count, 1, 0, MHCRT_LAYOUT_NC,
                   MHCRT_ORIENT_OI, 0, 0),
              MHCRT_OK)
        << context.error();
    const Doubles got = out.values(), want = Buffer(type, inputs).values();
    for (int64_t i = 0; i < count; ++i)
      EXPECT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])))
          << mhcrt_dtype_name(type) << " of " << inputs[i] << ": " << got[i] << ", wanted " << want[i];

    Buffer all(type, 65536), back(type, 65536);
    for (int i = 0; i < 65536; ++i)
      all.halves()[i] = static_cast<uint16_t>(i);
    ASSERT_EQ(call(mhcrt_contract, context, all.data(), type, back.data(), type, 1, 1, 65536, MHCRT_LAYOUT_NC,
                   MHCRT_CONTRACT_MODE_SUM),
              MHCRT_OK);
    for (int i = 0; i < 65536; ++i) {
      const uint16_t bits = static_cast<uint16_t>(i);
      const float in = type == MHCRT_BF16 ? fromBf16(bits) : fromF16(bits);
      if (!std::isnan(in)) {
        ASSERT_EQ(bits, back.halves()[i]) << mhcrt_dtype_name(type) << " bits of " << in;
      }
    }
  }
}

} // namespace
