//===- CudaPostPreTest.cpp - post_pre in one launch and in two ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Support.h"

#include "mhcrt/cuda.h"

using namespace mhcrt::test;

namespace {

constexpr int32_t F = MHCRT_F32, B = MHCRT_BF16;

/// A call whose tokens are the first of all.
struct Case {
  int64_t M, C;
  int32_t orient, biasType, phiType, phiLayout;
  bool weighs, given, folds; ///< whether there are norm_weight, h_in and fold_pre
};

struct Operands {
  Buffer f, bias, hPost, x, hRes, phi, weight, alpha, beta, hIn;

  Operands(const Case &c, uint64_t seed) {
    Random random(seed);
    f = random.buffer(B, c.M * c.C);
    bias = random.buffer(c.biasType == MHCRT_NONE ? F : c.biasType, c.C);
    hPost = random.buffer(F, c.M * 4), x = random.buffer(B, c.M * 4 * c.C), hRes = random.buffer(F, c.M * 16);
    phi = random.buffer(c.phiType, 24 * 4 * c.C, 0.5 / std::sqrt(static_cast<double>(c.C)));
    weight = random.buffer(B, 4 * c.C);
    alpha = random.buffer(F, 3), beta = random.buffer(F, 24), hIn = random.buffer(F, c.M * 4);
  }
};

/// y, u, h_pre, next_h_post, next_h_res, proj, stat.
std::vector<Buffer> run(mhcrt_context *context, const Case &c, Operands &in, int64_t tokens) {
  std::vector<Buffer> out;
  for (const auto &[type, width] : {std::pair{B, 4 * c.C}, {B, c.C}, {F, 4}, {F, 4}, {F, 16}, {F, 24}, {F, 1}})
    out.emplace_back(type, tokens * width);
  EXPECT_EQ(call(mhcrt_post_pre, context, in.f.data(), B, c.biasType == MHCRT_NONE ? nullptr : in.bias.data(),
                 c.biasType, in.hPost.data(), F, in.x.data(), B, in.hRes.data(), F, nullptr, MHCRT_NONE, in.phi.data(),
                 c.phiType, c.weighs ? in.weight.data() : nullptr, c.weighs ? B : MHCRT_NONE, in.alpha.data(), F,
                 in.beta.data(), F, c.given ? in.hIn.data() : nullptr, c.given ? F : MHCRT_NONE, out[0].data(), B,
                 out[1].data(), B, out[2].data(), F, out[3].data(), F, out[4].data(), F, out[5].data(), F,
                 out[6].data(), F, tokens, c.C, 4, 0, 24, 4 * c.C, 3, MHCRT_LAYOUT_NC, c.orient, 0.0, 0, c.phiLayout, 0,
                 1e-6, 0, 2, MHCRT_RES_MAP_SINKHORN, MHCRT_INIT_SOFTMAX_EPS, 0, 0, 1e-6, 20, c.folds,
                 MHCRT_PRECISION_BF16X3),
            MHCRT_OK)
      << mhcrt_last_error(context);
  for (const Buffer &buffer : out)
    EXPECT_TRUE(buffer.guardIntact());
  return out;
}

constexpr int kAgain = 10; ///< runs of all tokens that must have the same bits

/// Part of a tile, a tile, some, and more than all slots of all clusters take at once.
TEST(CudaPostPre, OneLaunchHasTheBitsOfTwo) {
  const Case cases[] = {
      {6001, 768, 1, MHCRT_NONE, F, 0, false, false, false},  {3001, 1280, 0, MHCRT_NONE, F, 0, false, false, false},
      {3001, 2048, 1, F, F, 1, true, false, false},           {3001, 2560, 0, B, B, 0, false, true, false},
      {1501, 4096, 0, MHCRT_NONE, F, 0, false, false, false}, {1501, 4096, 1, B, F, 0, true, false, true},
      {1501, 5120, 1, MHCRT_NONE, B, 1, true, false, true},   {1001, 6144, 1, F, F, 0, false, false, false},
      {1001, 7168, 0, MHCRT_NONE, F, 1, false, true, false},  {1001, 7168, 1, B, F, 0, true, false, true}};
  Context one, two;
  ASSERT_EQ(mhcrt_cuda_pin(two, "post_pre=separate"), MHCRT_OK);
  for (const Case &c : cases) {
    Operands in(c, 7);
    for (int64_t tokens : {int64_t{1}, int64_t{8}, int64_t{77}, c.M}) {
      SCOPED_TRACE("C=" + std::to_string(c.C) + ", " + std::to_string(tokens) + " tokens");
      const std::vector<Buffer> got = run(one, c, in, tokens), want = run(two, c, in, tokens);
      if (std::string(mhcrt_cuda_chosen(one, "post_pre")) == "separate")
        GTEST_SKIP() << "no faster variant for this GPU";
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_TRUE(got[i] == want[i]) << "result " << i;
      for (int again = 0; again < kAgain && tokens == c.M; ++again)
        ASSERT_TRUE(run(one, c, in, tokens) == got) << "run " << again;
    }
  }
}

} // namespace
