//===- NeedsTest.cpp - Why a variant does not take a call -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Choice.h"

using namespace mhcrt::test;

namespace {

TEST_F(CudaChoice, TwoOrEightStreamsInWords) {
  mhcrt_cuda_pin(context, "expand=n2n8");
  call(mhcrt_expand, context, t, B, t, B, 100, 64, 4, MHCRT_LAYOUT_NC);
  EXPECT_STREQ(mhcrt_last_error(context),
               "mhcrt_expand: the pinned variant 'n2n8' does not take this call: needed 2 or 8 streams");
  mhcrt_clear_error(context);
  mhcrt_cuda_pin(context, "aggregate=n2n8");
  call(mhcrt_aggregate, context, t, B, odd, F, t, B, 100, 2, 64, MHCRT_LAYOUT_NC);
  EXPECT_STREQ(mhcrt_last_error(context), "mhcrt_aggregate: the pinned variant 'n2n8' does not take this call: needed "
                                          "an address that is a multiple of 8");
  mhcrt_clear_error(context);
  call(mhcrt_aggregate, context, t, B, memory + 8, F, t, B, 100, 2, 64, MHCRT_LAYOUT_NC);
  EXPECT_EQ(chosen("aggregate"), "n2n8");
}

/// Its parts have rows of their own, which strict mode asks: the reasons of all are told.
TEST_F(CudaChoice, SeparateLaunchesAreNotGeneric) {
  mhcrt_cuda_set_strict(context, 1);
  EXPECT_EQ(postPre(B, 4096, t), "separate"); // a dropout
  EXPECT_EQ(postPreBwd(B, 4096, t, nullptr, t), "separate");
  const auto refusal = [&](int64_t C) {
    callPostPre(B, C);
    const std::string text = mhcrt_last_error(context);
    mhcrt_clear_error(context);
    return text;
  };
  const std::string widths = "needed C = 768, 1024, 1280, 1536, 2048, 2560, 3072, 3584, 4096, 5120, 6144, 6656, 7168, "
                             "8192, 12288 or 16384";
  EXPECT_EQ(refusal(33), "mhcrt_post_pre: no variant that is faster than 'generic' takes its part 'post', and strict "
                         "mode refuses that one. sm90: " +
                             widths +
                             ". n4 of post: 'C' is 33; needed a multiple of 8. n2n8 of post: needed 2 or 8 streams. "
                             "cn4 of post: needed the layout [M,C,n]");
  precision = MHCRT_PRECISION_IEEE;
  EXPECT_EQ(refusal(4096), "mhcrt_post_pre: no variant that is faster than 'generic' takes its part 'pre', and strict "
                           "mode refuses that one. sm90: 'precision' is ieee; needed at most bf16x3. sm90 of pre: "
                           "'precision' is ieee; needed at most bf16x3. n8 of pre: 'precision' is ieee; needed at most "
                           "bf16x3. tf32x3 of pre: 'precision' is ieee; needed at most tf32x3");
  // The reasons are those of one call.
  call(mhcrt_aggregate, context, t, B, t, F, t, B, 100, 4, 33, MHCRT_LAYOUT_NC);
  EXPECT_STREQ(mhcrt_last_error(context), "mhcrt_aggregate: no variant that is faster than 'generic' takes this call, "
                                          "and strict mode refuses that one. n4: 'C' is 33; needed a multiple of 8. "
                                          "n2n8: needed 2 or 8 streams. cn4: needed the layout [M,C,n]");
  mhcrt_clear_error(context);
}

TEST_F(CudaChoice, WidthsInWords) {
  EXPECT_EQ(pre(B, 8256), "tf32x3");
  mhcrt_cuda_choice choice;
  mhcrt_cuda_choice_at(context, 0, &choice);
  EXPECT_STREQ(choice.fallback, "sm90: needed C = 768, 1024, 1280, 1536, 2048, 2560, 3072, 3584, 4096, 5120, 6144, "
                                "6656, 7168, 8192, 12288 or 16384. n8: needed more than 4 streams");
  EXPECT_EQ(pre(B, 4098, MHCRT_RES_MAP_SINKHORN, 2), "generic"); // half a vector
  mhcrt_cuda_choice_at(context, 1, &choice);
  EXPECT_STREQ(choice.fallback, "sm90: needed C = 1536, 2048, 2560, 3072, 4096, 5120, 6144, 8192, 10240 or 12288. "
                                "n8: needed more than 4 streams. tf32x3: 'K' is 8196; needed a multiple of 32");
}

TEST_F(CudaChoice, NeedsOfBoundariesInWords) {
  EXPECT_EQ(postPre(B, 8256), "separate");
  mhcrt_cuda_choice choice;
  mhcrt_cuda_choice_at(context, 0, &choice);
  EXPECT_STREQ(choice.fallback, "sm90: needed C = 768, 1024, 1280, 1536, 2048, 2560, 3072, 3584, 4096, 5120, 6144, "
                                "6656, 7168, 8192, 12288 or 16384");
  mhcrt_cuda_pin(context, "post_pre=sm90");
  callPostPre(B, 4096, t);
  EXPECT_STREQ(mhcrt_last_error(context),
               "mhcrt_post_pre: the pinned variant 'sm90' does not take this call: 'seed' is "
               "given; needed none");
  mhcrt_clear_error(context);
  mhcrt_cuda_pin(context, "post_pre_bwd=sm90");
  call(mhcrt_post_pre_bwd, context, nullptr, none, nullptr, none, t, F, t, F, nullptr, none, nullptr, none, nullptr,
       none, nullptr, none, t, B, nullptr, none, t, F, t, B, t, F, nullptr, none, t, F, nullptr, none, t, F, t, F, t, F,
       t, F, nullptr, none, nullptr, none, nullptr, none, nullptr, none, nullptr, none, t, B, nullptr, none, nullptr,
       none, t, B, nullptr, none, nullptr, none, nullptr, none, nullptr, none, nullptr, none, 100, 4096, 4, 0, 24,
       4 * 4096, 3, 0, 0, 0.0, 0, 0, 0, 1e-6, 1e-6, 2, 0, 0, 0, 0, 1e-6, 20, 0, 0, precision);
  EXPECT_STREQ(mhcrt_last_error(context),
               "mhcrt_post_pre_bwd: the pinned variant 'sm90' does not take this call: 'd_u' is absent; needed it");
  mhcrt_clear_error(context);
}

TEST_F(CudaChoice, NeedsOfInterleavedStreamsInWords) {
  mhcrt_cuda_pin(context, "expand=cn4");
  call(mhcrt_expand, context, t, B, t, B, 100, 64, 4, MHCRT_LAYOUT_NC);
  EXPECT_STREQ(mhcrt_last_error(context),
               "mhcrt_expand: the pinned variant 'cn4' does not take this call: needed the layout [M,C,n]");
  mhcrt_clear_error(context);
  call(mhcrt_expand, context, t, B, t, B, 100, 33, 4, MHCRT_LAYOUT_CN);
  EXPECT_STREQ(mhcrt_last_error(context),
               "mhcrt_expand: the pinned variant 'cn4' does not take this call: 'C' is 33; needed a multiple of 2");
  mhcrt_clear_error(context);
}

TEST_F(CudaChoice, NeedsOfTilesInWords) {
  mhcrt_cuda_pin(context, "projection_bwd=tf32x3");
  call(mhcrt_projection_bwd, context, t, F, t, F, t, F, t, F, nullptr, none, t, F, nullptr, none, nullptr, none,
       nullptr, none, nullptr, none, nullptr, none, nullptr, none, 100, 24, 4, 64, 256, 0, 0, 0, 1e-6,
       MHCRT_STAT_INV_RMS, precision);
  EXPECT_STREQ(mhcrt_last_error(context),
               "mhcrt_projection_bwd: the pinned variant 'tf32x3' does not take this call: needed a gradient");
  mhcrt_clear_error(context);
}

/// Parts of a GPU have no room for 16 blocks that need a multiprocessor each. Of widths that no other test has: a
/// kernel asks once.
TEST_F(CudaChoice, NoRoomForAClusterOfBlocks) {
  driver().clusters = 0;
  EXPECT_EQ(pre(B, 5120), "tf32x3");
  EXPECT_EQ(projection(B, 5120, 24), "tf32x3");
  EXPECT_EQ(head(B, 5120), "tf32x3");
  ASSERT_EQ(mhcrt_cuda_choices(context), 3);
  for (int32_t index = 0; index < 3; ++index) {
    mhcrt_cuda_choice choice;
    mhcrt_cuda_choice_at(context, index, &choice);
    const char *const others = index < 2 ? ". n8: needed more than 4 streams" : "";
    EXPECT_EQ(choice.fallback, std::string("sm90: the GPU has room for 0 clusters of 16 blocks; needed 1") + others)
        << choice.op;
  }
  mhcrt_cuda_pin(context, "pre=sm90");
  call(mhcrt_pre, context, t, B, t, F, t, F, t, F, t, F, t, B, t, F, t, F, t, F, t, F, t, F, 100, 4, 5120, 24, 20480, 3,
       0, 0, 0, 1e-6, 1e-6, 2, 0, 0, 0, 0, 1e-6, 20, 0, precision);
  EXPECT_STREQ(mhcrt_last_error(context), "mhcrt_pre: the pinned variant 'sm90' does not take this call: the GPU has "
                                          "room for 0 clusters of 16 blocks; needed 1");
  mhcrt_clear_error(context);
  EXPECT_EQ(preBwd(B, 5120), "sm90"); // has no clusters
  mhcrt_cuda_pin(context, "pre=");
  EXPECT_EQ(postPre(B, 6144), "separate");
}

/// Blocks that wait for each other without a cluster: 64, of which this GPU has room for 60.
TEST_F(CudaChoice, NoRoomForAGangOfBlocks) {
  driver().multiprocessors = 30;
  EXPECT_EQ(projection(B, 12288, 24), "tf32x3");
  mhcrt_cuda_choice choice;
  mhcrt_cuda_choice_at(context, 0, &choice);
  EXPECT_STREQ(choice.fallback, "sm90: the GPU has room for 0 clusters of 64 blocks; needed 1. "
                                "n8: needed more than 4 streams");
  EXPECT_EQ(postPre(B, 12288), "separate");
  mhcrt_cuda_choice_at(context, 1, &choice);
  EXPECT_STREQ(choice.fallback, "sm90: the GPU has room for 0 clusters of 64 blocks; needed 1");
}

TEST_F(CudaChoice, ADriverThatKnowsNoSuchClusters) {
  driver().clustersError = cudaErrorInvalidClusterSize;
  EXPECT_EQ(pre(B, 2560), "tf32x3");
  EXPECT_EQ(projection(B, 2560, 24), "tf32x3");
  EXPECT_EQ(head(B, 2560), "tf32x3");
}

/// A call that asks for another variant anyway reports nothing, and needs no answer of the driver.
TEST_F(CudaChoice, RoomIsTheLastNeed) {
  driver().clusters = 0;
  EXPECT_EQ(pre(H, 2048), "tf32x3");
  mhcrt_cuda_choice choice;
  mhcrt_cuda_choice_at(context, 0, &choice);
  EXPECT_STREQ(choice.fallback, "sm90: 'x' has dtype f16; needed bf16. n8: needed more than 4 streams");
  driver().clusters = 7;
  EXPECT_EQ(pre(B, 2048), "sm90");
}

} // namespace
