//===- CudaContextTest.cpp - Contexts of the CUDA backend -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Support.h"

#include "mhcrt/cuda.h"

using namespace mhcrt::test;

void mhcrt::test::forEachInstructionSet(const std::function<void(const std::string &name)> &body) { body("GPU"); }

void mhcrt::test::forEachDivision(const std::function<void(mhcrt_context *)> &body) {
  for (int count : {0, 20, 78, 114, 264}) {
    SCOPED_TRACE(std::to_string(count) + " multiprocessors");
    Context context;
    ASSERT_EQ(mhcrt_cuda_set_multiprocessors(context, count), MHCRT_OK) << context.error();
    body(context);
  }
}

/// The fast rows of bf16 take multiples of 128 channels; those from 4096 on let few blocks share the tokens.
std::vector<std::tuple<int64_t, int64_t, int32_t>> mhcrt::test::manyTokens() {
  return {{1000000, 8, MHCRT_F16},
          {1000000, 128, MHCRT_F32},
          {1000000, 128, MHCRT_BF16},
          {1000000, 768, MHCRT_BF16},
          {131072, 4096, MHCRT_BF16}};
}

namespace {

TEST(CudaContext, ReportsAndPinsVariants) {
  Context context;
  Buffer x(MHCRT_F32, Doubles{1, 2}), h(MHCRT_F32, Doubles{3, 4}), u(MHCRT_F32, 1);
  const auto run = [&] {
    return call(mhcrt_aggregate, context, x.data(), MHCRT_F32, h.data(), MHCRT_F32, u.data(), MHCRT_F32, 1, 2, 1, 0);
  };
  EXPECT_EQ(mhcrt_cuda_chosen(context, "aggregate"), nullptr);
  ASSERT_EQ(run(), MHCRT_OK) << context.error();
  EXPECT_STREQ(mhcrt_cuda_chosen(context, "aggregate"), "generic"); // no other takes C = 1
  EXPECT_EQ(u.values(), Doubles{11});
  ASSERT_EQ(mhcrt_cuda_pin(context, "aggregate=fastest"), MHCRT_OK);
  EXPECT_EQ(run(), MHCRT_NOT_FOUND);
  EXPECT_EQ(context.error(),
            "mhcrt_aggregate: no variant is called 'fastest'; there are 'n4', 'n2n8', 'cn4', 'generic'");
}

TEST(CudaContext, PrecisionDecidesTheVariant) {
  Context context;
  const int64_t M = 8, n = 4, C = 768, K = n * C, N = 24;
  Random random(2);
  Buffer x = random.buffer(MHCRT_BF16, M * K), phi = random.buffer(MHCRT_F32, N * K);
  Buffer proj(MHCRT_F32, M * N), stat(MHCRT_F32, M);
  const auto run = [&](int32_t precision) {
    return call(mhcrt_projection, context, x.data(), MHCRT_BF16, phi.data(), MHCRT_F32, nullptr, MHCRT_NONE,
                proj.data(), MHCRT_F32, stat.data(), MHCRT_F32, M, n, C, N, K, 0, 0, 0, 1e-6, 0, precision);
  };
  ASSERT_EQ(run(MHCRT_PRECISION_BF16X3), MHCRT_OK) << context.error();
  const std::string fast = mhcrt_cuda_chosen(context, "projection");
  if (fast == "generic")
    GTEST_SKIP() << "no faster variant for this GPU";
  ASSERT_EQ(run(MHCRT_PRECISION_IEEE), MHCRT_OK) << context.error();
  EXPECT_STREQ(mhcrt_cuda_chosen(context, "projection"), "generic");
  ASSERT_EQ(mhcrt_cuda_pin(context, ("projection=" + fast).c_str()), MHCRT_OK);
  EXPECT_EQ(run(MHCRT_PRECISION_IEEE), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(context.error(), "mhcrt_projection: the pinned variant '" + fast +
                                 "' does not take this call: 'precision' is ieee; needed at most bf16x3");
}

TEST(CudaContext, ErrorsOfTheDevice) {
  Context context;
  EXPECT_EQ(mhcrt_workspace(context, int64_t{1} << 50), nullptr);
  EXPECT_EQ(mhcrt_last_status(context), MHCRT_OUT_OF_MEMORY);
  EXPECT_NE(context.error().find("mhcrt_workspace: no memory for 1125899906842624 bytes on the GPU, which has "),
            std::string::npos)
      << context.error();
  mhcrt_clear_error(context);
  EXPECT_NE(mhcrt_workspace(context, 1000), nullptr);
}

/// The report is of the first bad number, whatever tables came behind.
TEST(CudaContext, ABadRowNumberIsReportedWithItsTable) {
  Context context;
  Buffer few(MHCRT_F32, Doubles(5)), many(MHCRT_F32, Doubles(9)), out(MHCRT_F32, 4);
  Buffer first(std::vector<int32_t>{0, 7}), second(std::vector<int32_t>{0, 8, 0, 12});
  call(mhcrt_take, context, few.data(), MHCRT_F32, first.data(), MHCRT_I32, out.data(), MHCRT_F32, 5, 1, 2);
  call(mhcrt_take, context, many.data(), MHCRT_F32, second.data(), MHCRT_I32, out.data(), MHCRT_F32, 9, 1, 4);
  EXPECT_EQ(mhcrt_synchronize(context), MHCRT_INVALID_ARGUMENT);
  // The second call has the error where the first has run by then, and says so.
  EXPECT_EQ(std::string(context.error()).rfind("mhcrt_take: 'ids' has 7 at 1; needed 0 to 4", 0), 0u)
      << context.error();
  mhcrt_clear_error(context);
}

/// Memory of the device alone, for tensors that the host need not hold.
class DeviceFloats {
public:
  DeviceFloats(mhcrt_context *context, int64_t count, uint64_t seed) : context(context) {
    data = static_cast<float *>(mhcrt_buffer_create(context, count * 4));
    Buffer words(std::vector<int64_t>{static_cast<int64_t>(seed), 0});
    EXPECT_EQ(
        call(mhcrt_random, context, words.data(), MHCRT_I64, data, MHCRT_F32, 2, count, MHCRT_DISTRIBUTION_UNIFORM, 0),
        MHCRT_OK);
    EXPECT_EQ(mhcrt_synchronize(context), MHCRT_OK) << mhcrt_last_error(context);
  }
  ~DeviceFloats() { mhcrt_buffer_destroy(context, data); }
  DeviceFloats(const DeviceFloats &) = delete;
  DeviceFloats &operator=(const DeviceFloats &) = delete;

  float *at(int64_t element) const { return data + element; }
  std::vector<float> read(int64_t first, int64_t count) const {
    std::vector<float> values(count);
    EXPECT_EQ(mhcrt_copy(context, values.data(), data + first, count * 4), MHCRT_OK);
    EXPECT_EQ(mhcrt_synchronize(context), MHCRT_OK) << mhcrt_last_error(context);
    return values;
  }

private:
  mhcrt_context *context;
  float *data;
};

/// Streams of more than 2^31 elements: the last tokens are what they are alone.
TEST(CudaContext, OffsetsBeyond32Bits) {
  const int64_t M = 131100, n = 4, C = 4099, K = n * C, N = 3, few = 2, first = M - few;
  ASSERT_GT(M * K, int64_t{1} << 31);
  Context context;
  DeviceFloats x(context, M * K, 1), out(context, M * K, 2), f(context, M * C, 3), u(context, M * C, 4);
  DeviceFloats h(context, M * n, 5), mix(context, M * n * n, 6), phi(context, N * K, 7), proj(context, M * N, 8);
  DeviceFloats stat(context, M, 9), dh(context, M * n, 10), dMix(context, M * n * n, 11);
  const auto run = [&](int64_t m, int64_t tokens) {
    call(mhcrt_aggregate, context, x.at(m * K), MHCRT_F32, h.at(m * n), MHCRT_F32, u.at(m * C), MHCRT_F32, tokens, n, C,
         0);
    call(mhcrt_post, context, f.at(m * C), MHCRT_F32, nullptr, MHCRT_NONE, h.at(m * n), MHCRT_F32, x.at(m * K),
         MHCRT_F32, mix.at(m * n * n), MHCRT_F32, nullptr, MHCRT_NONE, out.at(m * K), MHCRT_F32, tokens, C, n, 0, 0, 0,
         0, 0);
    call(mhcrt_projection, context, x.at(m * K), MHCRT_F32, phi.at(0), MHCRT_F32, nullptr, MHCRT_NONE, proj.at(m * N),
         MHCRT_F32, stat.at(m), MHCRT_F32, tokens, n, C, N, K, 0, 0, 0, 1e-6, 0, MHCRT_PRECISION_BF16X3);
    call(mhcrt_post_bwd, context, x.at(m * K), MHCRT_F32, f.at(m * C), MHCRT_F32, nullptr, MHCRT_NONE, h.at(m * n),
         MHCRT_F32, x.at(m * K), MHCRT_F32, mix.at(m * n * n), MHCRT_F32, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE,
         nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, dh.at(m * n), MHCRT_F32, dMix.at(m * n * n), MHCRT_F32, nullptr,
         MHCRT_NONE, nullptr, MHCRT_NONE, tokens, n, C, 0, 0, 0, 0, 0);
    EXPECT_EQ(mhcrt_synchronize(context), MHCRT_OK) << context.error();
    return std::vector<std::vector<float>>{u.read(first * C, few * C),    out.read(first * K, few * K),
                                           proj.read(first * N, few * N), stat.read(first, few),
                                           dh.read(first * n, few * n),   dMix.read(first * n * n, few * n * n)};
  };
  const auto whole = run(0, M);
  const auto alone = run(first, few);
  for (size_t i = 0; i < whole.size(); ++i)
    EXPECT_EQ(whole[i], alone[i]) << i;
}

} // namespace
