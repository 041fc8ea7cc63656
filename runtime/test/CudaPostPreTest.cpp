//===- CudaPostPreTest.cpp - post_pre, post_head in one launch and in two -===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "CudaPostPre.h"
#include "Call.h"
#include "Resident.h"

using namespace mhcrt::test;

namespace {

constexpr int kAgain = 10; ///< runs of all tokens that must have the same bits

/// Part of a tile, a tile, some, and more than all slots of all clusters take at once.
void expectBitsOfTwo(const std::vector<Case> &cases) {
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

TEST(CudaPostPre, OneLaunchHasTheBitsOfTwo) {
  const std::vector<Case> cases = {{6001, 768, 1, MHCRT_NONE, F, 0, false, false, false},
                                   {3001, 1280, 0, MHCRT_NONE, F, 0, false, false, false},
                                   {3001, 2048, 1, F, F, 1, true, false, false},
                                   {3001, 2560, 0, B, B, 0, false, true, false},
                                   {1501, 4096, 0, MHCRT_NONE, F, 0, false, false, false},
                                   {1501, 4096, 1, B, F, 0, true, false, true},
                                   {1501, 5120, 1, MHCRT_NONE, B, 1, true, false, true},
                                   {1001, 6144, 1, F, F, 0, false, false, false},
                                   {1001, 7168, 0, MHCRT_NONE, F, 1, false, true, false},
                                   {1001, 7168, 1, B, F, 0, true, false, true},
                                   {3001, 1024, 0, B, F, 0, true, false, true},
                                   {3001, 1536, 1, MHCRT_NONE, F, 1, false, true, false},
                                   {1501, 3072, 1, F, F, 1, true, false, false},
                                   {1501, 3584, 0, MHCRT_NONE, B, 0, false, true, false}};
  expectBitsOfTwo(cases);
}

/// A padded ring, and gangs of blocks.
TEST(CudaPostPre, OneLaunchOfWideTokensHasTheBitsOfTwo) {
  const std::vector<Case> cases = {{1001, 6656, 0, B, F, 0, true, false, true},
                                   {1001, 6656, 1, MHCRT_NONE, B, 1, false, true, false},
                                   {1001, 8192, 0, MHCRT_NONE, F, 0, false, false, false},
                                   {1001, 8192, 1, B, F, 0, true, false, true},
                                   {601, 12288, 0, F, F, 1, true, false, false},
                                   {601, 12288, 1, MHCRT_NONE, F, 0, false, false, true},
                                   {601, 16384, 1, B, B, 0, false, false, false},
                                   {601, 16384, 0, MHCRT_NONE, F, 1, true, true, false}};
  expectBitsOfTwo(cases);
}

/// y, out, h_pre, proj, stat; without y, that and all behind out stay zero.
std::vector<Buffer> runHead(mhcrt_context *context, const Case &c, Operands &in, int64_t tokens, bool givesY) {
  std::vector<Buffer> out;
  for (const auto &[type, width] : {std::pair{B, 4 * c.C}, {B, c.C}, {F, 4}, {F, 4}, {F, 1}})
    out.emplace_back(type, tokens * width);
  const auto wanted = [&](int i) { return givesY ? out[i].data() : nullptr; };
  const auto typeOf = [&](int32_t type) { return givesY ? type : MHCRT_NONE; };
  EXPECT_EQ(call(mhcrt_post_head, context, in.f.data(), B, c.biasType == MHCRT_NONE ? nullptr : in.bias.data(),
                 c.biasType, in.hPost.data(), F, in.x.data(), B, in.hRes.data(), F, nullptr, MHCRT_NONE, in.phi.data(),
                 c.phiType, c.weighs ? in.weight.data() : nullptr, c.weighs ? B : MHCRT_NONE, in.alpha.data(), F,
                 in.beta.data(), F, wanted(0), typeOf(B), out[1].data(), B, wanted(2), typeOf(F), wanted(3), typeOf(F),
                 wanted(4), typeOf(F), tokens, c.C, 4, 0, 4 * c.C, 1, MHCRT_LAYOUT_NC, c.orient, 0.0, 0, c.phiLayout, 0,
                 1e-6, 1e-6, MHCRT_PRECISION_BF16X3),
            MHCRT_OK)
      << mhcrt_last_error(context);
  for (const Buffer &buffer : out)
    EXPECT_TRUE(buffer.guardIntact());
  return out;
}

/// One launch of each kind of kernel: warps that multiply mix, others do, padding, gangs.
TEST(CudaPostHead, OneLaunchHasTheBitsOfTwoWithYAndWithout) {
  const Case cases[] = {
      {3001, 768, 1, MHCRT_NONE, F, 0, false, false, false}, {3001, 2560, 0, B, B, 0, true, false, false},
      {1501, 4096, 1, F, F, 1, false, false, false},         {1001, 6656, 0, MHCRT_NONE, F, 0, false, false, false},
      {1001, 7168, 1, B, F, 0, true, false, false},          {601, 8192, 0, MHCRT_NONE, F, 0, false, false, false},
      {301, 16384, 1, F, B, 1, false, false, false}};
  Context one, two;
  ASSERT_EQ(mhcrt_cuda_pin(two, "post_head=separate"), MHCRT_OK);
  for (const Case &c : cases) {
    Operands in(c, 7);
    for (int64_t tokens : {int64_t{1}, int64_t{8}, int64_t{77}, c.M})
      for (bool givesY : {true, false}) {
        SCOPED_TRACE("C=" + std::to_string(c.C) + ", " + std::to_string(tokens) + " tokens" + (givesY ? ", y" : ""));
        const std::vector<Buffer> got = runHead(one, c, in, tokens, givesY);
        const std::vector<Buffer> want = runHead(two, c, in, tokens, givesY);
        if (std::string(mhcrt_cuda_chosen(one, "post_head")) == "separate")
          GTEST_SKIP() << "no faster variant for this GPU";
        for (size_t i = 0; i < got.size(); ++i)
          EXPECT_TRUE(got[i] == want[i]) << "result " << i;
        for (int again = 0; again < kAgain && tokens == c.M; ++again)
          ASSERT_TRUE(runHead(one, c, in, tokens, givesY) == got) << "run " << again;
      }
  }
}

/// Forms of pre that no row of post_pre has, and widths of gangs: what a token gets does not depend on which slot or
/// block it is in.
TEST(CudaPre, FormsGiveATokenTheSameBits) {
  constexpr int32_t nC = MHCRT_LAYOUT_NC, Cn = MHCRT_LAYOUT_CN;
  const Case cases[] = {
      {1201, 8192, 0, MHCRT_NONE, F, 0, false, false, false},
      {601, 12288, 0, MHCRT_NONE, F, 1, true, true, false},
      {601, 16384, 0, MHCRT_NONE, B, 0, false, false, true},
      {2201, 768, 0, MHCRT_NONE, F, 1, false, true, false, 20, F, nC},
      {1201, 2560, 0, MHCRT_NONE, F, 1, false, false, true, 20, F, Cn},
      {1201, 4096, 0, MHCRT_NONE, F, 0, false, false, false, 20, F, nC},
      {601, 8192, 0, MHCRT_NONE, F, 0, false, false, false, 20, F, nC},
      {1201, 1280, 0, MHCRT_NONE, F, 0, true, true, false, 20, B, Cn},
      {1201, 4096, 0, MHCRT_NONE, B, 1, true, false, false, 20, B, Cn},
      {601, 8192, 0, MHCRT_NONE, F, 0, false, false, true, 20, B, Cn},
  };
  Context one, two;
  ASSERT_EQ(mhcrt_cuda_pin(one, "post_pre=separate"), MHCRT_OK);
  ASSERT_EQ(mhcrt_cuda_pin(two, "post_pre=separate"), MHCRT_OK);
  ASSERT_EQ(mhcrt_cuda_pin(two, "pre=tf32x3"), MHCRT_OK);
  for (const Case &c : cases) {
    Operands in(c, 5, c.type);
    const std::vector<Buffer> all = run(one, c, in, c.M), other = run(two, c, in, c.M);
    if (std::string(mhcrt_cuda_chosen(one, "pre")) != "sm90")
      GTEST_SKIP() << "no faster variant for this GPU";
    for (size_t i = 0; i < all.size(); ++i)
      EXPECT_LE(relativeError(all[i], other[i]), i < 2 ? 2e-3 : 2e-5) << "C=" << c.C << ", result " << i;
    for (int again = 0; again < kAgain; ++again)
      ASSERT_TRUE(run(one, c, in, c.M) == all) << "C=" << c.C << ", run " << again;
    for (int64_t tokens : {1, 8, 77, 130}) {
      const std::vector<Buffer> some = run(one, c, in, tokens);
      for (size_t i = 0; i < all.size(); ++i)
        EXPECT_TRUE(some[i] == all[i].slice(0, some[i].size()))
            << "C=" << c.C << ", " << tokens << " tokens, result " << i;
    }
  }
}

/// Blocks of clusters of 16 have tiles in turn. One that waits for its residual maps is passed by the others' tiles.
TEST(CudaPre, TilesOfOthersPassWhereABlockWaits) {
  Context context;
  ASSERT_EQ(mhcrt_cuda_pin(context, "post_pre=separate"), MHCRT_OK);
  for (int64_t C : {5120, 6144, 7168}) {
    SCOPED_TRACE("C=" + std::to_string(C));
    Case c = {4095, C, 0, MHCRT_NONE, F, 0, false, false, false};
    Operands in(c, 47);
    const std::vector<Buffer> want = run(context, c, in, c.M);
    if (std::string(mhcrt_cuda_chosen(context, "pre")) != "sm90")
      GTEST_SKIP() << "no faster variant for this GPU";
    c.iters = 1000;
    const std::vector<Buffer> got = run(context, c, in, c.M);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(i == 4 || got[i] == want[i]) << "result " << i; // all but the map
  }
}

// The norm of u

/// u by its formula, from y and from what it is mixed by as the call has left them. In one launch it is rounded once,
/// and the mean square comes from sums of products, whose roundings are those of sums of absolute values. In two it is
/// rounded before and behind the norm, which is that of the rounded u.
void expectNormed(const std::vector<Buffer> &out, const Case &c, const Operands &in, const Buffer &weight,
                  bool isOneLaunch) {
  const Doubles y = out[0].values(), h = (c.given ? in.hIn : out[2]).values(), w = weight.values();
  const int64_t tokens = out[1].size() / c.C;
  const double unit = 0x1p-23, roundings = 32, ofStores = (isOneLaunch ? 1 : 3) * roundoff(out[1].type());
  Doubles want(tokens * c.C), tolerance(tokens * c.C);
  for (int64_t m = 0; m < tokens; ++m) {
    Doubles sums(c.C), absolutes(c.C);
    double square = 0, absoluteSquare = 0;
    for (int64_t k = 0; k < c.C; ++k) {
      for (int64_t i = 0; i < 4; ++i) {
        const double term = h[m * 4 + i] * y[(m * 4 + i) * c.C + k];
        sums[k] += term, absolutes[k] += std::abs(term);
      }
      square += sums[k] * sums[k] / c.C, absoluteSquare += absolutes[k] * absolutes[k] / c.C;
    }
    const double r = 1 / std::sqrt(square + kNormOfUEps);
    const double ofSquare = roundings * unit * (isOneLaunch ? absoluteSquare : square) * r * r;
    for (int64_t k = 0; k < c.C; ++k) {
      want[m * c.C + k] = r * sums[k] * w[k];
      tolerance[m * c.C + k] =
          std::abs(want[m * c.C + k]) * (ofStores + ofSquare) + 8 * unit * r * absolutes[k] * std::abs(w[k]);
    }
  }
  expectClose(out[1], want, tolerance, isOneLaunch ? "u" : "u of more launches");
}

TEST(CudaPostPre, OneLaunchNormalisesU) {
  const Case cases[] = {
      {3001, 768, 1, MHCRT_NONE, F, 0, false, false, false}, {2001, 1024, 0, B, F, 0, true, false, true},
      {2001, 1280, 0, MHCRT_NONE, F, 0, false, true, false}, {2001, 1536, 1, MHCRT_NONE, F, 1, false, true, false},
      {1501, 2048, 1, F, F, 1, true, false, false},          {1501, 2560, 0, B, B, 0, false, false, false},
      {1001, 3072, 1, F, F, 1, true, false, false},          {1001, 3584, 0, MHCRT_NONE, B, 0, false, true, false},
      {1501, 4096, 1, B, F, 0, true, false, true},           {1001, 4096, 0, MHCRT_NONE, F, 0, false, true, false},
      {1001, 5120, 1, MHCRT_NONE, B, 1, true, false, true},  {1001, 6144, 1, F, F, 0, false, false, false},
      {1001, 6656, 0, B, F, 0, true, false, true},           {1001, 7168, 0, MHCRT_NONE, F, 1, false, true, false}};
  Context one, two;
  ASSERT_EQ(mhcrt_cuda_pin(two, "post_pre=separate"), MHCRT_OK);
  for (const Case &c : cases) {
    Operands in(c, 17);
    Buffer weight = Random(19).buffer(c.weighs ? B : F, c.C);
    const std::vector<Buffer> all = run(one, c, in, c.M, &weight);
    if (std::string(mhcrt_cuda_chosen(one, "post_pre")) == "separate")
      GTEST_SKIP() << "no faster variant for this GPU";
    for (int64_t tokens : {int64_t{1}, int64_t{8}, int64_t{77}, c.M}) {
      SCOPED_TRACE("C=" + std::to_string(c.C) + ", " + std::to_string(tokens) + " tokens");
      const std::vector<Buffer> got = run(one, c, in, tokens, &weight);
      const std::vector<Buffer> want = run(two, c, in, tokens, &weight);
      expectNormed(got, c, in, weight, true), expectNormed(want, c, in, weight, false);
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_TRUE(got[i] == all[i].slice(0, got[i].size())) << "result " << i;
        if (i == 1)
          continue;
        // y and proj have the same bits; the sum of squares has another order, and what follows from it.
        EXPECT_LE(relativeError(got[i], want[i]), i == 0 || i == 5 ? 0 : 2e-6) << "result " << i;
      }
    }
    for (int again = 0; again < kAgain; ++again)
      ASSERT_TRUE(run(one, c, in, c.M, &weight) == all) << "C=" << c.C << ", run " << again;
  }
}

/// y is x, whose streams differ by `apart` and are weighed by opposite numbers: rounding may leave less than zero of
/// the mean square of nothing.
TEST(CudaPostPre, StreamsThatCancelEachOtherOutAreNormalised) {
  Context one;
  for (int64_t C : {768, 1280, 2048, 4096, 5120, 6656, 7168})
    for (double apart : {0x1p-4, 0.0}) {
      SCOPED_TRACE("C=" + std::to_string(C) + ", " + std::to_string(apart) + " apart");
      const Case c = {77, C, 0, MHCRT_NONE, F, 0, false, true, false};
      Operands in(c, 23);
      Doubles x = in.x.values(), mix(c.M * 16), given(c.M * 4);
      for (int64_t m = 0; m < c.M; ++m)
        for (int64_t i = 0; i < 4; ++i) {
          mix[m * 16 + i * 5] = 1, given[m * 4 + i] = (i % 2 ? -1.0 : 1.0) / (1 + i / 2);
          for (int64_t k = 0; k < C && i % 2; ++k) {
            double &value = x[(m * 4 + i) * C + k];
            value = x[(m * 4 + i - 1) * C + k] + apart * value;
          }
        }
      in.x = Buffer(B, x), in.hRes = Buffer(F, mix), in.hIn = Buffer(F, given), in.hPost = Buffer(F, Doubles(c.M * 4));
      Buffer weight = Random(29).buffer(F, C);
      const std::vector<Buffer> got = run(one, c, in, c.M, &weight);
      if (std::string(mhcrt_cuda_chosen(one, "post_pre")) == "separate")
        GTEST_SKIP() << "no faster variant for this GPU";
      expectNormed(got, c, in, weight, true);
    }
}

/// Calls that have a launch of the norm alone: other types, channels that are no multiple of 16 bytes, and gangs of
/// blocks.
TEST(CudaPostPre, MoreLaunchesNormaliseU) {
  Context context, apart;
  ASSERT_EQ(mhcrt_cuda_pin(apart, "post_pre=separate"), MHCRT_OK);
  for (const auto &[type, weightType, C] : {std::tuple{F, F, int64_t{100}},
                                            {F, F, 131},
                                            {B, B, 100},
                                            {B, F, 131},
                                            {MHCRT_F16, MHCRT_F16, 1000},
                                            {MHCRT_F16, F, 131},
                                            {B, B, 8192},
                                            {B, F, 8192}}) {
    SCOPED_TRACE("type " + std::to_string(type) + ", C=" + std::to_string(C));
    const Case c = {33, C, 1, MHCRT_NONE, F, 0, false, false, false, 20, type};
    Operands in(c, 31, type);
    Buffer weight = Random(37).buffer(weightType, C);
    const std::vector<Buffer> got = run(context, c, in, c.M, &weight);
    EXPECT_TRUE(C == 8192 || std::string(mhcrt_cuda_chosen(context, "post_pre")) == "separate");
    expectNormed(got, c, in, weight, false);
    ASSERT_TRUE(run(context, c, in, c.M, &weight) == got);
    EXPECT_TRUE(run(apart, c, in, c.M, &weight) == got);
  }
}

/// A residual map of so many iterations that the blocks which own every other tile wait for it, while the tiles of the
/// others pass. A cluster has tiles enough for a third batch of gates, for which a block waits first.
TEST(CudaPostPre, TilesOfOthersPassWhereABlockWaits) {
  Context context;
  for (int64_t C : {4096, 6144}) {
    SCOPED_TRACE("C=" + std::to_string(C));
    Case c = {8191, C, 0, MHCRT_NONE, F, 0, false, false, false};
    Operands in(c, 41);
    Buffer weight = Random(43).buffer(F, C);
    const std::vector<Buffer> want = run(context, c, in, c.M, &weight);
    if (std::string(mhcrt_cuda_chosen(context, "post_pre")) == "separate")
      GTEST_SKIP() << "no faster variant for this GPU";
    c.iters = 1000;
    const std::vector<Buffer> got = run(context, c, in, c.M, &weight);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(i == 4 || got[i] == want[i]) << "result " << i; // all but the map
  }
}

/// Waves of clusters one after the other, as beside the collectives of a training step, and clusters that find no tile
/// left when they come.
TEST(CudaPostPre, HasTheSameBitsBesideAnotherKernel) {
  const int most = Resident::most();
  if (most == 0)
    GTEST_SKIP() << "no clusters of 16 blocks on this GPU";
  const Case cases[] = {{2001, 4096, 0, MHCRT_NONE, F, 0, false, false, false},
                        {2001, 5120, 1, MHCRT_NONE, F, 0, false, false, false},
                        {2001, 2560, 1, F, F, 0, true, false, false},
                        {2001, 6656, 0, F, F, 0, false, false, false}};
  Context context, sharing;
  ASSERT_EQ(mhcrt_cuda_set_multiprocessors(sharing, 100), MHCRT_OK) << sharing.error();
  for (const Case &c : cases) {
    Operands in(c, 13);
    std::vector<Buffer> forward = run(context, c, in, c.M);
    BwdOperands of(c.M, c.C, forward);
    const std::vector<Buffer> backward = runBwd(context, c, in, of, c.M);
    EXPECT_TRUE(run(sharing, c, in, c.M) == forward); // loads the kernel, for which it would wait for the other
    for (int room : {1, 3, 6}) {
      if (room >= most)
        continue;
      SCOPED_TRACE("C=" + std::to_string(c.C) + ", room for " + std::to_string(room) + " clusters");
      std::vector<Buffer> got, shared, gradients; // give memory back when the other has ended, for which that waits
      {
        const Resident other(most - room);
        got = run(context, c, in, c.M), gradients = runBwd(context, c, in, of, c.M);
        shared = run(sharing, c, in, c.M);
        EXPECT_TRUE(other.runs());
      }
      EXPECT_TRUE(got == forward);
      EXPECT_TRUE(shared == forward);
      EXPECT_TRUE(gradients == backward);
    }
  }
}

} // namespace
