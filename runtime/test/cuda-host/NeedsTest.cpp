//===- NeedsTest.cpp - Why a variant does not take a call -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Choice.h"

#include "cuda/host/Context.h"

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

/// A change of a call that its row takes, and what the row says of it.
template <typename Args>
using Need = std::pair<void (*)(Args &), const char *>;

class CudaNeeds : public CudaChoice {
protected:
  /// Those of `row` alone, behind those that both directions have.
  template <typename Args>
  void expectNeeds(const Row<Args> &row, const Args &good, std::vector<Need<Args>> needs) {
    needs.insert(
        needs.begin(),
        {{[](Args &) {}, ""},
         {[](Args &a) { a.phi_type = B, a.norm_weight = t, a.norm_weight_type = B; }, ""},
         {[](Args &a) { a.seed = t, a.seed_type = MHCRT_I64, a.S = 2; }, "'seed' is given; needed none"},
         {[](Args &a) { a.n = 2, a.N = 8, a.K = 2 * a.C; }, "'n' is 2; needed 4"},
         {[](Args &a) { a.res_map = MHCRT_RES_MAP_PERMUTATION, a.N = 32; },
          "needed another residual map than permutations"},
         {[](Args &a) { a.layout = MHCRT_LAYOUT_CN; }, "needed the layout [M,n,C]"},
         {[](Args &a) { a.precision = MHCRT_PRECISION_TF32X3; }, "'precision' is tf32x3; needed at most bf16x3"}});
    for (const auto &[change, text] : needs) {
      Args args = good;
      change(args);
      EXPECT_EQ(miss(row, args), text);
    }
  }
  template <typename Args, typename Tensor>
  void expectAligned(const Row<Args> &row, const Args &good, std::initializer_list<Tensor Args::*> tensors) {
    for (const auto &tensor : tensors) {
      Args args = good;
      args.*tensor = odd;
      EXPECT_EQ(miss(row, args), "a tensor's address is no multiple of 16") << "number " << &tensor - tensors.begin();
    }
  }
};

TEST_F(CudaNeeds, PostPre) {
  using Args = mhcrt_post_pre_args;
  const Row<Args> row = {"post_pre", "sm90", mhcrt_post_pre};
  Args good = postPreArgs(B, 4096);
  expectNeeds(
      row, good,
      {{[](Args &a) { a.f_type = a.x_type = a.y_type = a.u_type = F; }, "'x' has dtype f32; needed bf16"},
       {[](Args &a) { a.f_type = a.x_type = a.y_type = a.u_type = a.phi_type = H; }, "'x' has dtype f16; needed bf16"},
       {[](Args &a) { a.M = int64_t{1} << 30; }, "'M' is 1073741824; needed at most 1073741823"},
       {[](Args &a) { a.C = 8256, a.K = 4 * a.C; },
        "needed C = 768, 1024, 1280, 1536, 2048, 2560, 3072, 3584, 4096, 5120, 6144, 6656, 7168, 8192, 12288 or 16384"},
       {[](Args &a) { a.C = 8192, a.K = 4 * a.C, a.u_norm_weight = t, a.u_norm_weight_type = F, a.u_norm_eps = 1; },
        ""}});
  good.bias = good.norm_weight = good.h_in = t, good.bias_type = good.norm_weight_type = good.h_in_type = F;
  expectAligned(
      row, good,
      {&Args::f, &Args::bias, &Args::h_post, &Args::x, &Args::h_res, &Args::phi, &Args::norm_weight, &Args::h_in});
  expectAligned(row, good, {&Args::y, &Args::u, &Args::h_pre, &Args::next_h_post, &Args::next_h_res});
}

TEST_F(CudaNeeds, PostPreBwd) {
  using Args = mhcrt_post_pre_bwd_args;
  const Row<Args> row = {"post_pre_bwd", "sm90", mhcrt_post_pre_bwd};
  Args good = postPreBwdArgs(B, 4096);
  expectNeeds(row, good,
              {{[](Args &a) { a.d_u = nullptr, a.d_u_type = none; }, "'d_u' is absent; needed it"},
               {[](Args &a) { a.d_x = nullptr, a.d_x_type = none; }, "'d_x' is absent; needed it"},
               {[](Args &a) { a.d_f = nullptr, a.d_f_type = none; }, "'d_f' is absent; needed it"},
               {[](Args &a) { a.d_bias = t, a.d_bias_type = F; }, "needed a bias beside its gradient"},
               {[](Args &a) { a.d_y_type = F; }, "'d_y' has dtype f32; needed bf16"},
               {[](Args &a) { a.d_x_type = F; }, "'d_x' has dtype f32; needed bf16"},
               {[](Args &a) { a.iters = 65; }, "'iters' is 65; needed at most 64"},
               {[](Args &a) { a.M = 0; }, "needed tokens"},
               {[](Args &a) { a.M = INT32_MAX; }, "'M' is 2147483647; needed at most 2147483615"},
               {[](Args &a) { a.C = 4160, a.K = 4 * a.C; }, "'C' is 4160; needed a multiple of 128"},
               {[](Args &a) { a.C = 16512, a.K = 4 * a.C; }, "'C' is 16512; needed at most 16384"}});
  expectAligned(row, good,
                {&Args::d_u, &Args::d_next_h_post, &Args::d_next_h_res, &Args::y, &Args::d_y, &Args::f, &Args::h_post,
                 &Args::x, &Args::h_res, &Args::proj, &Args::d_h_pre});
  expectAligned(row, good, {&Args::d_f, &Args::d_x});
  good.d_out = good.next_h_res = t, good.d_out_type = B, good.next_h_res_type = F;
  good.d_y = nullptr, good.d_y_type = none;
  EXPECT_EQ(miss(row, good), "");
  expectAligned(row, good, {&Args::d_out, &Args::next_h_res});
}

TEST_F(CudaNeeds, ArchitecturesOfBoundaries) {
  for (int arch : {80, 90, 100, 120}) {
    context->arch = arch;
    const std::string text = arch == 90 ? "" : "the GPU is sm_" + std::to_string(arch) + "; needed sm_90";
    EXPECT_EQ(miss<mhcrt_post_pre_args>({"post_pre", "sm90", mhcrt_post_pre}, postPreArgs(B, 4096)), text);
    EXPECT_EQ(miss<mhcrt_post_pre_bwd_args>({"post_pre_bwd", "sm90", mhcrt_post_pre_bwd}, postPreBwdArgs(B, 4096)),
              text);
  }
}

TEST_F(CudaChoice, NeedsOfResidualMapsInWords) {
  EXPECT_EQ(pre(B, 4096, MHCRT_RES_MAP_PERMUTATION), "tf32x3");
  EXPECT_EQ(fallback("pre"), "sm90: needed another residual map than permutations. n8: needed more than 4 streams");
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
  EXPECT_EQ(fallback("post_pre"), "sm90: the GPU has room for 0 clusters of 16 blocks; needed 1");
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
  EXPECT_EQ(fallback("post_pre"), "sm90: the GPU has room for 0 clusters of 64 blocks; needed 1");
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
