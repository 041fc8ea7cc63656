//===- ChoiceTest.cpp - Which variant takes which call --------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Choice.h"

#include "cuda/host/Context.h"
#include "cuda/stream/StreamTiles.h"

using namespace mhcrt::test;

namespace {

TEST_F(CudaChoice, ResidualMaps) {
  EXPECT_EQ(sinkhorn(4), "n4");
  EXPECT_EQ(sinkhorn(3), "generic");
  EXPECT_EQ(sinkhorn(4, odd), "generic");
  EXPECT_EQ(sinkhornBwd(4, 20), "n4");
  EXPECT_EQ(sinkhornBwd(4, 48), "n4");
  EXPECT_EQ(driver().launches.back().sharedBytes, size_t{48 << 10});
  EXPECT_EQ(sinkhornBwd(4, 49), "generic");
  EXPECT_EQ(sinkhornBwd(5, 20), "generic");
  for (int64_t n : {2, 8}) {
    EXPECT_EQ(sinkhorn(n), "n2n8");
    EXPECT_EQ(sinkhorn(n, odd), "generic");
    EXPECT_EQ(sinkhornBwd(n, 24), "n2n8");
  }
  EXPECT_EQ(sinkhornBwd(8, 25), "generic");
}

TEST_F(CudaChoice, Rebuild) {
  for (int32_t type : {F, B, H})
    EXPECT_EQ(rebuild(type, 4, 64), "n4");
  EXPECT_EQ(rebuild(F, 4, 66), "generic");
  EXPECT_EQ(rebuild(B, 4, 68), "generic");
  EXPECT_EQ(rebuild(B, 3, 64), "generic");
  EXPECT_EQ(rebuild(B, 4, 64, MHCRT_LAYOUT_CN), "generic");
  EXPECT_EQ(rebuild(B, 4, 64, MHCRT_LAYOUT_NC, 2, odd), "generic");
}

TEST_F(CudaChoice, SixteenLayersOfRebuildAreALaunch) {
  for (const auto &[layers, launches] : {std::pair{1, 1}, {16, 1}, {17, 2}, {33, 3}}) {
    driver().launches.clear();
    EXPECT_EQ(rebuild(B, 4, 64, MHCRT_LAYOUT_NC, layers), "n4");
    EXPECT_EQ(driver().launches.size(), static_cast<size_t>(launches)) << layers;
  }
}

TEST_F(CudaChoice, Streams) {
  for (int32_t type : {F, B, H}) {
    EXPECT_EQ(streams(type, 64, MHCRT_LAYOUT_NC), "n4 n4 n4 n4 n4");
    EXPECT_EQ(streams(type, 66, MHCRT_LAYOUT_CN), "cn4 cn4 cn4 cn4 cn4");
    EXPECT_EQ(streams(type, 66, MHCRT_LAYOUT_NC), "generic generic generic generic generic");
  }
  EXPECT_EQ(streams(F, 33, MHCRT_LAYOUT_CN), "cn4 cn4 cn4 cn4 cn4");
  EXPECT_EQ(streams(B, 33, MHCRT_LAYOUT_CN), "generic generic generic generic generic");
  EXPECT_EQ(postBwd(B, 64, MHCRT_LAYOUT_CN, nullptr), "cn4");
  EXPECT_EQ(postBwd(B, 64, MHCRT_LAYOUT_CN, t), "cn4");        // d_bias
  EXPECT_EQ(postBwd(B, 64, MHCRT_LAYOUT_CN, t, t), "generic"); // and a dropout
  EXPECT_EQ(postBwd(B, 64, MHCRT_LAYOUT_NC, nullptr), "sm90");
  EXPECT_EQ(postBwd(B, 64, MHCRT_LAYOUT_NC, t), "sm90");
  EXPECT_EQ(postBwd(B, 64, MHCRT_LAYOUT_NC, nullptr, t), "n4"); // a dropout
  EXPECT_EQ(postBwd(B, 64, MHCRT_LAYOUT_CN, nullptr, t), "cn4");
}

TEST_F(CudaChoice, TwoOrEightStreams) {
  for (int64_t n : {2, 8}) {
    for (int32_t type : {F, B, H}) {
      EXPECT_EQ(streams(type, 64, MHCRT_LAYOUT_NC, n), "n2n8 n2n8 n2n8 n2n8 n2n8");
      EXPECT_EQ(streams(type, 66, MHCRT_LAYOUT_NC, n), "generic generic generic generic generic");
      EXPECT_EQ(postBwd(type, 64, MHCRT_LAYOUT_NC, nullptr, nullptr, n), "n2n8");
    }
    EXPECT_EQ(streams(B, 64, MHCRT_LAYOUT_CN, n), "generic generic generic generic generic");
    EXPECT_EQ(postBwd(B, 64, MHCRT_LAYOUT_NC, t, nullptr, n), "generic"); // d_bias
    EXPECT_EQ(postBwd(B, 64, MHCRT_LAYOUT_NC, nullptr, t, n), "generic"); // a dropout
  }
  EXPECT_EQ(streams(B, 64, MHCRT_LAYOUT_NC, 6), "generic generic generic generic generic");
  EXPECT_EQ(pre(B, 4096, MHCRT_RES_MAP_SINKHORN, 2), "sm90");
  EXPECT_EQ(pre(B, 64, MHCRT_RES_MAP_SINKHORN, 2), "tf32x3");
  EXPECT_EQ(pre(B, 7168, MHCRT_RES_MAP_SINKHORN, 2), "tf32x3");  // would have too few registers
  EXPECT_EQ(pre(B, 16384, MHCRT_RES_MAP_SINKHORN, 2), "tf32x3"); // would need a gang
  EXPECT_EQ(projection(B, 4096, 8, 2), "sm90");
  EXPECT_EQ(projection(B, 4096, 7, 2), "tf32x3");
  EXPECT_EQ(projectionBwd(B, 4096, 8, B, 2), "sm90");
  EXPECT_EQ(projectionBwd(B, 128, 8, B, 2), "tf32x3");
  EXPECT_EQ(pre(B, 4096, MHCRT_RES_MAP_SINKHORN, 8), "n8");
  EXPECT_EQ(pre(F, 4096, MHCRT_RES_MAP_SINKHORN, 8), "tf32x3");
  EXPECT_EQ(projection(B, 64, 80, 8), "n8");
  EXPECT_EQ(projection(B, 64, 81, 8), "tf32x3");
  EXPECT_EQ(preBwd(B, 4096, 2), "sm90");
  EXPECT_EQ(preBwd(B, 64, 2), "tf32x3");
  EXPECT_EQ(preBwd(B, 72, 2), "generic"); // half of 72 channels are not whole vectors
  EXPECT_EQ(preBwd(B, 64, 8), "n8");
  EXPECT_EQ(preBwd(F, 4, 8), "n8");
  EXPECT_EQ(preBwd(B, 4, 8), "generic");
  EXPECT_EQ(preBwd(B, 64, 7), "generic");
  precision = MHCRT_PRECISION_TF32X3;
  EXPECT_EQ(preBwd(B, 64, 8), "generic");
  EXPECT_EQ(pre(B, 4096, MHCRT_RES_MAP_SINKHORN, 8), "tf32x3");
  precision = MHCRT_PRECISION_BF16X3;
  context->arch = 120; // too little shared memory
  EXPECT_EQ(preBwd(B, 64, 8), "generic");
}

/// Hopper's own kernels of the row n8 are for bf16: one makes d_x and dW for whole boxes of 32 channels.
TEST_F(CudaChoice, GradientsOfEightStreamsOnHopper) {
  const auto kernels = [&](int arch, int32_t type, int64_t C) {
    context->arch = arch;
    driver().launches.clear();
    EXPECT_EQ(projectionBwd(type, C, 80, type, 8), "n8");
    std::string found;
    for (const char *kernel :
         {"streamEightSm90Kernel", "streamEightKernel", "weightEightSm90Kernel", "weightEightKernel"})
      for (const Launch &launch : driver().launches)
        if (launch.kernel.find(kernel) != std::string::npos)
          found += std::string(found.empty() ? "" : " ") + kernel;
    return found;
  };
  EXPECT_EQ(kernels(90, B, 96), "streamEightSm90Kernel");
  EXPECT_EQ(kernels(90, B, 72), "streamEightKernel weightEightSm90Kernel");
  EXPECT_EQ(kernels(90, H, 128), "streamEightKernel weightEightKernel");
  EXPECT_EQ(kernels(90, F, 128), "streamEightKernel weightEightKernel");
  EXPECT_EQ(kernels(100, B, 128), "streamEightKernel weightEightKernel");
}

/// The row of up to 24 columns needs as much of eight streams as of four that are as long.
TEST_F(CudaChoice, ScratchOfAFewColumnsOfEightStreams) {
  EXPECT_EQ(projectionBwd(F, 2048, 24, F, 8), "tf32x3");
  const int mallocs = driver().count("malloc");
  EXPECT_EQ(projectionBwd(F, 4096, 24, F, 4), "tf32x3");
  EXPECT_EQ(driver().count("malloc"), mallocs);
}

TEST_F(CudaChoice, Projections) {
  EXPECT_EQ(projection(B, 4096, 24), "sm90");
  EXPECT_EQ(projection(B, 4096, 4), "tf32x3");
  EXPECT_EQ(projection(B, 96, 24), "tf32x3");
  EXPECT_EQ(projection(B, 4096, 24, 4, MHCRT_LAYOUT_CN), "sm90");
  EXPECT_EQ(projection(B, 96, 24, 4, MHCRT_LAYOUT_CN), "tf32x3");
  EXPECT_EQ(projection(F, 4096, 24), "tf32x3");
  EXPECT_EQ(projection(H, 4096, 24), "tf32x3");
  EXPECT_EQ(projection(F, 12, 24), "tf32x3");
  EXPECT_EQ(projection(F, 12, 24, 3), "generic"); // K = 36 is no multiple of 16
  EXPECT_EQ(projection(H, 12, 24), "generic");
  EXPECT_EQ(projection(F, 4096, 25), "tf32x3");
  EXPECT_EQ(projection(B, 4096, 288, 16), "tf32x3");
  EXPECT_EQ(projection(B, 4096, 289, 16), "generic");
  EXPECT_EQ(projectionBwd(B, 4096, 24, B), "sm90");
  EXPECT_EQ(projectionBwd(F, 4096, 24, F), "tf32x3");
  EXPECT_EQ(projectionBwd(H, 12, 6, H), "tf32x3");
  EXPECT_EQ(projectionBwd(H, 7, 6, H), "generic"); // 56 bytes a token
  EXPECT_EQ(projectionBwd(H, 4096, 24, F), "generic");
  EXPECT_EQ(projectionBwd(F, 4096, 25, F), "generic");
  EXPECT_EQ(projectionBwd(F, 4096, 80, F, 8), "n8");
  EXPECT_EQ(projectionBwd(F, 4096, 81, F, 8), "generic");
  EXPECT_EQ(projectionBwd(F, 4096, 24, F, 8), "tf32x3");
}

TEST_F(CudaChoice, PreAndHead) {
  EXPECT_EQ(pre(B, 4096), "sm90");
  EXPECT_EQ(pre(F, 4096), "sm90");
  EXPECT_EQ(pre(F, 7168), "tf32x3"); // would have two slots
  EXPECT_EQ(pre(F, 4096, MHCRT_RES_MAP_SINKHORN, 2), "tf32x3");
  for (int32_t type : {F, B})
    EXPECT_EQ(pre(type, 4096, MHCRT_RES_MAP_SINKHORN, 4, MHCRT_LAYOUT_CN), "sm90");
  EXPECT_EQ(pre(B, 4096, MHCRT_RES_MAP_SINKHORN, 2, MHCRT_LAYOUT_CN), "tf32x3");
  EXPECT_EQ(pre(H, 4096), "tf32x3");
  EXPECT_EQ(pre(B, 4096, MHCRT_RES_MAP_PERMUTATION), "tf32x3");
  EXPECT_EQ(pre(B, 33), "generic");
  EXPECT_EQ(preBwd(B, 4096), "sm90");
  EXPECT_EQ(preBwd(F, 4096), "tf32x3");
  EXPECT_EQ(preBwd(H, 4096), "tf32x3");
  EXPECT_EQ(preBwd(F, 33), "generic");
  EXPECT_EQ(head(B, 4096), "sm90");
  EXPECT_EQ(headBwd(B, 4096), "sm90");
  EXPECT_EQ(head(F, 4096), "sm90");
  EXPECT_EQ(head(H, 4096), "tf32x3");
  for (int32_t type : {F, H})
    EXPECT_EQ(headBwd(type, 4096), "tf32x3");
  for (int64_t C : {6656, 8192, 16384}) {
    EXPECT_EQ(pre(B, C), "sm90");
    EXPECT_EQ(projection(B, C, 24), "sm90");
    EXPECT_EQ(head(B, C), "sm90");
  }
  EXPECT_EQ(head(B, 96), "tf32x3");
  EXPECT_EQ(postHead(B, 4096), "sm90");
  EXPECT_EQ(postHead(B, 2560, nullptr), "sm90");
  EXPECT_EQ(postHead(B, 8192, nullptr), "sm90");
  EXPECT_EQ(postHead(B, 4096, t, t), "separate"); // a dropout
  EXPECT_EQ(postHead(B, 96, nullptr), "separate");
  EXPECT_EQ(postHead(F, 4096), "separate");
  EXPECT_EQ(headBwd(B, 96), "tf32x3");
  EXPECT_EQ(head(F, 33), "generic");
  EXPECT_EQ(headBwd(F, 33), "generic");
}

TEST_F(CudaChoice, PostPre) {
  EXPECT_EQ(postPre(B, 4096), "sm90");
  EXPECT_EQ(driver().launches.size(), size_t{1});
  EXPECT_EQ(postPre(B, 4096, t), "separate"); // a dropout
  mhcrt_cuda_choice choice;
  mhcrt_cuda_choice_at(context, 1, &choice);
  EXPECT_STREQ(choice.fallback, "sm90: 'seed' is given; needed none");
  EXPECT_EQ(postPre(F, 4096), "separate");
  EXPECT_EQ(postPre(B, 512), "separate");
  EXPECT_EQ(postPre(B, 6656), "sm90");
  for (int64_t C : {8192, 16384}) {
    const size_t before = driver().launches.size();
    EXPECT_EQ(postPre(B, C), "sm90");
    EXPECT_EQ(driver().launches.size() - before, size_t{2}) << "that of a gang's messages, too";
  }
  precision = MHCRT_PRECISION_TF32X3;
  EXPECT_EQ(postPre(B, 4096), "separate");
}

/// Gangs make no norm, nor do launches of the parts: behind them it has a launch of its own.
TEST_F(CudaChoice, NormsOfUAreMadeByClusters) {
  for (int64_t C : {768, 1024, 1280, 1536, 2048, 2560, 3072, 3584, 4096, 5120, 6144, 6656, 7168}) {
    const size_t before = driver().launches.size();
    EXPECT_EQ(postPreNormed(C, C % 1024 ? F : B), "sm90") << C;
    EXPECT_EQ(driver().launches.size() - before, size_t{1}) << C;
  }
  for (int64_t C : {512, 8192}) {
    const size_t before = driver().launches.size();
    const std::string row = C == 512 ? "separate" : "sm90";
    EXPECT_EQ(postPre(B, C), row);
    const size_t without = driver().launches.size();
    EXPECT_EQ(postPreNormed(C, F), row) << C;
    EXPECT_EQ(driver().launches.size() - without, without - before + 1) << C;
  }
}

TEST_F(CudaChoice, Boundaries) {
  EXPECT_EQ(postPreBwd(B, 4096), "sm90");
  EXPECT_EQ(postPreBwd(B, 128), "sm90");
  EXPECT_EQ(postPreBwd(B, 64), "separate");
  EXPECT_EQ(postPreBwd(F, 4096), "separate");
  EXPECT_EQ(postPreBwd(B, 4096, nullptr), "sm90"); // y is made first
  EXPECT_EQ(postPreBwd(B, 4096, t, t), "sm90");    // a bias
  EXPECT_EQ(postPreBwd(B, 4096, t, t, nullptr, t), "sm90");
  EXPECT_EQ(postPreBwd(B, 4096, t, nullptr, nullptr, t), "separate"); // the gradient of a bias that is not read
  EXPECT_EQ(postPreBwd(B, 4096, t, nullptr, t), "separate");
  EXPECT_EQ(postPreBwd(B, 4096, odd), "separate");
  mhcrt_post_pre_bwd_args args = postPreBwdArgs(B, 4096);
  args.d_x_type = F; // the sm90 row writes bf16
  mhcrt_post_pre_bwd(context, &args);
  EXPECT_EQ(chosen("post_pre_bwd"), "separate");
  precision = MHCRT_PRECISION_TF32X3;
  EXPECT_EQ(postPreBwd(B, 4096), "separate");
}

TEST_F(CudaChoice, Precisions) {
  precision = MHCRT_PRECISION_TF32X3;
  EXPECT_EQ(projection(B, 4096, 24), "tf32x3");
  EXPECT_EQ(projectionBwd(B, 4096, 24, B), "tf32x3");
  EXPECT_EQ(pre(B, 4096), "tf32x3");
  EXPECT_EQ(preBwd(B, 4096), "tf32x3");
  EXPECT_EQ(head(B, 4096), "tf32x3");
  EXPECT_EQ(headBwd(B, 4096), "tf32x3");
  precision = MHCRT_PRECISION_IEEE;
  EXPECT_EQ(projection(B, 4096, 24), "generic");
  EXPECT_EQ(headBwd(B, 4096), "generic");
}

/// A slice of phi needs more shared memory than some GPUs have.
TEST_F(CudaChoice, Architectures) {
  context->arch = 80;
  EXPECT_EQ(projection(F, 4096, 24), "generic");
  EXPECT_EQ(sinkhorn(4), "n4");
  for (int32_t layout : {MHCRT_LAYOUT_NC, MHCRT_LAYOUT_CN}) {
    const std::string row = layout == MHCRT_LAYOUT_NC ? "n4" : "cn4";
    EXPECT_EQ(streams(B, 4096, layout), row + " " + row + " " + row + " " + row + " " + row);
    EXPECT_EQ(postBwd(B, 4096, layout, nullptr), row);
  }
  EXPECT_EQ(rebuild(B, 4, 64), "n4");
  context->arch = 100;
  EXPECT_EQ(projection(B, 4096, 24), "tf32x3");
  EXPECT_EQ(preBwd(B, 4096), "tf32x3");
  context->arch = 120;
  EXPECT_EQ(projection(B, 4096, 24), "generic");
  EXPECT_EQ(projectionBwd(B, 4096, 24, B), "tf32x3");
}

/// Partial sums over tokens are as many on every GPU.
TEST_F(CudaChoice, PartialSumsFollowFromTheShape) {
  const auto blocks = [&](int32_t count) {
    EXPECT_EQ(mhcrt_cuda_set_multiprocessors(context, count), MHCRT_OK) << mhcrt_last_error(context);
    driver().launches.clear();
    EXPECT_EQ(preBwd(B, 768), "sm90");
    EXPECT_EQ(postPreBwd(B, 768), "sm90");
    EXPECT_EQ(projectionBwd(B, 768, 24, B), "sm90");
    std::vector<unsigned> grids;
    for (const Launch &launch : driver().launches)
      grids.push_back(launch.grid.x);
    return grids;
  };
  const std::vector<unsigned> want = blocks(0);
  EXPECT_FALSE(want.empty());
  for (int32_t count : {20, 78, 114, 264})
    EXPECT_EQ(blocks(count), want) << count;
  EXPECT_EQ(mhcrt_cuda_set_multiprocessors(context, -1), MHCRT_INVALID_ARGUMENT);
  EXPECT_STREQ(mhcrt_last_error(context), "mhcrt_cuda_set_multiprocessors: 'count' is -1; needed at least 0");
}

/// Clusters take their tiles from a counter where other kernels have a part of the GPU.
TEST_F(CudaChoice, TilesAreCountedOnASharedGpu) {
  const auto isCounted = [&](int32_t count) {
    EXPECT_EQ(mhcrt_cuda_set_multiprocessors(context, count), MHCRT_OK) << mhcrt_last_error(context);
    driver().launches.clear();
    EXPECT_EQ(pre(B, 4096), "sm90");
    EXPECT_EQ(postPre(B, 4096), "sm90");
    std::vector<bool> counted;
    for (const Launch &launch : driver().launches)
      counted.push_back(launch.kernel.find("CountedShape") != std::string::npos);
    return counted;
  };
  EXPECT_EQ(isCounted(0), std::vector<bool>({false, false}));
  EXPECT_EQ(isCounted(100), std::vector<bool>({true, true}));
  EXPECT_EQ(isCounted(264), std::vector<bool>({false, false}));
}

/// GPUs before 9.0 have no kernels that wait for others by themselves.
TEST_F(CudaChoice, KernelsOverlapFromHopperOn) {
  const auto overlapping = [&] {
    driver().launches.clear();
    streams(B, 4096, MHCRT_LAYOUT_NC);
    return std::count_if(driver().launches.begin(), driver().launches.end(),
                         [](const Launch &launch) { return launch.overlaps; });
  };
  EXPECT_EQ(overlapping(), 5);
  driver().major = 8;
  EXPECT_EQ(overlapping(), 0);
  EXPECT_EQ(driver().launches.size(), 5u);
}

/// A run adds what 64 tokens give at a time: 256 of those at most, so that their sum is as exact as a short one.
TEST(CudaTiles, RunsOfTokensStayShort) {
  for (int64_t C : {8, 128, 4096, 16384})
    for (int64_t M : {1, 64, 8192, 1000000}) {
      mhcrt::ProjectionBwdArgs args = {};
      args.M = M, args.C = C, args.n = 4, args.K = 4 * C, args.N = 24;
      const mhcrt::generic::TokenRuns runs = mhcrt::streamTilesRuns(args);
      EXPECT_LE(runs.length, 256 * 64) << M << "x" << C;
      EXPECT_EQ(runs.length % 64, 0) << M << "x" << C;
      EXPECT_GE(runs.length * runs.count, M) << M << "x" << C;
      EXPECT_LT(runs.length * (runs.count - 1), M) << M << "x" << C;
    }
}

} // namespace
