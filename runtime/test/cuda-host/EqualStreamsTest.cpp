//===- EqualStreamsTest.cpp - Which variant takes one row for all streams -===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "../Call.h"
#include "FakeDriver.h"

#include "mhcrt/cuda.h"

#include <gtest/gtest.h>

using namespace mhcrt::test;

namespace {

constexpr int32_t F = MHCRT_F32, B = MHCRT_BF16, none = MHCRT_NONE;

/// Nothing reads it.
alignas(256) char memory[256];
void *const t = memory;

class CudaEqualStreams : public testing::Test {
protected:
  CudaEqualStreams() {
    driver() = FakeDriver();
    EXPECT_EQ(mhcrt_context_create(0, &context), MHCRT_OK);
  }
  ~CudaEqualStreams() override { mhcrt_context_destroy(context); }

  /// Launches of pre by this variant.
  size_t launchesOfPre(const char *variant, int32_t type, bool equal) {
    const size_t before = driver().launches.size();
    EXPECT_EQ(call(mhcrt_pre, context, t, type, t, F, t, F, t, F, t, F, t, type, t, F, t, F, t, F, t, F, t, F, 100, 4,
                   4096, 24, 4 * 4096, 3, 0, 0, 0, 1e-6, 1e-6, 2, 0, 0, 0, 0, 1e-6, 20, 0, MHCRT_PRECISION_BF16X3, 0, 0,
                   0, 0, nullptr, none, 0, equal),
              MHCRT_OK)
        << mhcrt_last_error(context);
    EXPECT_STREQ(mhcrt_cuda_chosen(context, "pre"), variant);
    return driver().launches.size() - before;
  }

  mhcrt_context *context = nullptr;
};

/// The fast row for interleaved streams reads vectors of them.
TEST_F(CudaEqualStreams, PostOfInterleavedOnesIsGeneric) {
  const auto post = [&](int32_t layout, int64_t equal, int64_t contracted) {
    call(mhcrt_post, context, t, B, nullptr, none, t, F, t, B, t, F, nullptr, none, t, B, 100, 4096, 4, 0, layout, 0, 0,
         0, equal, contracted);
    return mhcrt_cuda_chosen(context, "post");
  };
  EXPECT_STREQ(post(MHCRT_LAYOUT_NC, 1, MHCRT_CONTRACTED_NONE), "n4");
  EXPECT_STREQ(post(MHCRT_LAYOUT_NC, 0, MHCRT_CONTRACTED_SUM), "n4");
  EXPECT_STREQ(post(MHCRT_LAYOUT_CN, 0, MHCRT_CONTRACTED_SUM), "generic");
  EXPECT_STREQ(post(MHCRT_LAYOUT_CN, 1, MHCRT_CONTRACTED_NONE), "generic");
  mhcrt_cuda_choice choice;
  mhcrt_cuda_choice_at(context, 1, &choice);
  EXPECT_NE(std::string(choice.fallback).find("cn4: needed streams that are not one row"), std::string::npos)
      << choice.fallback;
}

/// In as many launches as on streams.
TEST_F(CudaEqualStreams, BoundariesTakeThemInOneLaunch) {
  for (int64_t equal : {0, 1}) {
    const size_t before = driver().launches.size();
    EXPECT_EQ(call(mhcrt_post_pre, context, t, B, nullptr, none, t, F, t, B, t, F, nullptr, none, t, F, nullptr, none,
                   t, F, t, F, nullptr, none, t, B, t, B, t, F, t, F, t, F, t, F, t, F, 100, 4096, 4, 0, 24, 4 * 4096,
                   3, MHCRT_LAYOUT_NC, 0, 0.0, 0, 0, 0, 1e-6, 1e-6, 2, MHCRT_RES_MAP_SINKHORN, 0, 0, 0, 1e-6, 20, 0,
                   MHCRT_PRECISION_BF16X3, 0, 0, 0, 0, 0, equal),
              MHCRT_OK)
        << mhcrt_last_error(context);
    EXPECT_STREQ(mhcrt_cuda_chosen(context, "post_pre"), "sm90");
    EXPECT_EQ(driver().launches.size() - before, 1u);
  }
}

TEST_F(CudaEqualStreams, PreMakesThemWhereItsRowNeedsThem) {
  for (int32_t type : {B, F})
    EXPECT_EQ(launchesOfPre("sm90", type, true), launchesOfPre("sm90", type, false));
  EXPECT_EQ(launchesOfPre("tf32x3", MHCRT_F16, true), launchesOfPre("tf32x3", MHCRT_F16, false) + 1);
}

} // namespace
