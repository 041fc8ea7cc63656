//===- EntryTest.cpp - Launches of every entry of the CUDA backend --------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "../Call.h"
#include "Entries.h"
#include "FakeDriver.h"

#include "mhcrt/cuda.h"

#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <tuple>

using namespace mhcrt::test;

namespace {

constexpr int32_t F = MHCRT_F32, none = MHCRT_NONE;

/// Any address that all rows take: nothing reads it.
alignas(16) void *t = &t;

class CudaEntries : public testing::Test {
protected:
  CudaEntries() {
    driver() = FakeDriver();
    EXPECT_EQ(mhcrt_context_create(0, &context), MHCRT_OK);
  }
  ~CudaEntries() override { mhcrt_context_destroy(context); }

  mhcrt_context *context = nullptr;
};

TEST_F(CudaEntries, NoneIsMissing) {
  std::ifstream header(MHCRT_TEST_KERNELS);
  const std::regex prototype("^mhcrt_status mhcrt_(\\w+)\\(mhcrt_context.*");
  std::set<std::string> declared, called;
  std::smatch match;
  for (std::string line; std::getline(header, line);)
    if (std::regex_match(line, match, prototype))
      declared.insert(match[1]);
  for (const Entry &entry : entries())
    called.insert(entry.name);
  EXPECT_FALSE(declared.empty());
  EXPECT_EQ(called, declared);
}

/// The struct of arguments is read as on the CPU (ErrorTest.cpp).
TEST_F(CudaEntries, SizeOfArguments) {
  const mhcrt_expand_args args = {};
  EXPECT_EQ(mhcrt_expand(context, &args), MHCRT_INVALID_ARGUMENT);
  EXPECT_STREQ(mhcrt_last_error(context), "mhcrt_expand: 'size' is 0; needed sizeof(mhcrt_expand_args) = 72");
  EXPECT_TRUE(driver().launches.empty());
}

/// From no token to 2^33 of them, the grids are such as every GPU takes.
TEST_F(CudaEntries, GridsAreLegal) {
  for (const Entry &entry : entries())
    for (int64_t M : {int64_t{0}, int64_t{1}, int64_t{4097}, int64_t{1} << 33})
      for (int64_t n : {1, 4, 16}) {
        SCOPED_TRACE(std::string(entry.name) + " M=" + std::to_string(M) + " n=" + std::to_string(n));
        driver().launches.clear();
        ASSERT_EQ(entry.call(context, M, n, 33), MHCRT_OK) << mhcrt_last_error(context);
        EXPECT_TRUE(M == 0 || !driver().launches.empty());
        for (const Launch &launch : driver().launches) {
          EXPECT_GE(launch.grid.x, 1u) << launch.kernel;
          EXPECT_LE(launch.grid.x, unsigned{INT32_MAX}) << launch.kernel;
          EXPECT_TRUE(launch.grid.y == 1 && launch.grid.z == 1) << launch.kernel;
          EXPECT_TRUE(launch.block.x >= 32 && launch.block.x <= 1024) << launch.kernel;
          EXPECT_LE(launch.sharedBytes, size_t{227 << 10}) << launch.kernel;
        }
      }
}

/// The second call of every entry neither allocates nor waits, and launches the same: what a CUDA graph needs. The
/// third is recorded into one.
TEST_F(CudaEntries, SteadyState) {
  for (const std::vector<Entry> *list : {&entries(), &ringEntries()})
    for (const Entry &entry : *list) {
      SCOPED_TRACE(entry.name + std::string(" C=") + std::to_string(entry.C));
      ASSERT_EQ(entry.call(context, 1000, 4, entry.C), MHCRT_OK) << mhcrt_last_error(context);
      const size_t launches = driver().launches.size();
      driver().launches.clear();
      driver().calls.clear();
      ASSERT_EQ(entry.call(context, 1000, 4, entry.C), MHCRT_OK);
      EXPECT_EQ(driver().launches.size(), launches);
      mhcrt_cuda_graph *graph = nullptr;
      mhcrt_cuda_record_begin(context);
      entry.call(context, 1000, 4, entry.C);
      EXPECT_EQ(mhcrt_cuda_record_end(context, &graph), MHCRT_OK) << mhcrt_last_error(context);
      mhcrt_cuda_graph_destroy(graph);
      for (const char *call : {"malloc", "free", "synchronize", "memset"})
        EXPECT_EQ(driver().count(call), 0) << call;
      if (list == &ringEntries()) {
        EXPECT_STREQ(mhcrt_cuda_chosen(context, entry.name), "sm90");
      }
      driver().launches.clear();
    }
}

/// The scratch memory that an op takes per token does not grow with what is replayed or reduced.
TEST_F(CudaEntries, ScratchOfAMillionTokens) {
  const std::map<std::string, int64_t> most = {
      {"sinkhorn_bwd", 64 << 20}, {"post_bwd", 1 << 20}, {"gates_bwd", 1 << 20}};
  for (const Entry &entry : entries())
    if (most.count(entry.name)) {
      mhcrt_context_destroy(context);
      ASSERT_EQ(mhcrt_context_create(0, &context), MHCRT_OK);
      ASSERT_EQ(entry.call(context, 1 << 20, 4, 33), MHCRT_OK) << mhcrt_last_error(context);
      EXPECT_LE(mhcrt_context_bytes(context), most.at(entry.name)) << entry.name;
    }
}

/// The same of a sublayer's forward and backward pass in their fast variants, n = 4, 8192 tokens of 4096 channels,
/// bf16: sums over tokens, and d_phi of each group of blocks.
TEST_F(CudaEntries, ScratchOfASublayer) {
  constexpr int32_t H = MHCRT_BF16;
  constexpr int64_t M = 8192, n = 4, C = 4096, N = 24, K = n * C;
  mhcrt_cuda_set_strict(context, 1);
  call(mhcrt_pre, context, t, H, t, F, nullptr, none, t, F, t, F, t, H, t, F, t, F, t, F, t, F, t, F, M, n, C, N, K, 3,
       0, 0, 0, 1e-6, 1e-6, 2, 0, 0, 0, 0, 1e-6, 20, 0, MHCRT_PRECISION_BF16X3);
  call(mhcrt_post, context, t, H, nullptr, none, t, F, t, H, t, F, nullptr, none, t, H, M, C, n, 0, 0, 0, 0, 0);
  call(mhcrt_post_bwd, context, t, H, t, H, nullptr, none, t, F, t, H, t, F, nullptr, none, nullptr, none, nullptr,
       none, t, H, t, F, t, F, nullptr, none, nullptr, none, M, n, C, 0, 0, 0, 0, 0);
  call(mhcrt_pre_bwd, context, t, H, nullptr, none, t, F, t, F, t, H, t, F, nullptr, none, t, F, t, F, t, F, t, F, t, H,
       t, F, nullptr, none, nullptr, none, nullptr, none, nullptr, none, nullptr, none, t, H, t, F, nullptr, none, t, F,
       t, F, M, C, n, N, K, 3, 0, 0, 0, 1e-6, 1e-6, 2, 0, 0, 0, 0, 1e-6, 20, 0, 0, MHCRT_PRECISION_BF16X3);
  ASSERT_EQ(mhcrt_last_status(context), MHCRT_OK) << mhcrt_last_error(context);
  EXPECT_LE(mhcrt_context_bytes(context), 8 << 20);
}

/// The front end of a gated delta net: one launch forward and two backward, or one a branch, in fast variants and for
/// heads that only the generic one takes.
TEST_F(CudaEntries, LaunchesOfGatedDelta) {
  constexpr int32_t H = MHCRT_BF16;
  constexpr int64_t M = 8192, b = 1, k = 4, keyHeads = 16, hv = 32;
  for (int64_t width : {128, 100})
    for (const auto &[impl, forward, backward] :
         {std::tuple{MHCRT_GDN_IMPL_FUSED, 1, 2}, {MHCRT_GDN_IMPL_STREAMED, 4, 5}}) {
      SCOPED_TRACE("impl=" + std::to_string(impl) + " width=" + std::to_string(width));
      const int64_t E = (2 * keyHeads + hv) * width, D = E + hv * width + 2 * hv;
      driver().launches.clear();
      ASSERT_EQ(call(mhcrt_pre_gated_delta_rule, context, t, H, t, H, nullptr, none, t, F, t, F, t, MHCRT_I32, nullptr,
                     none, t, H, t, H, t, H, t, H, t, H, t, F, t, H, M, b, D, E, k, hv, 9, 0, width, width,
                     2 * 16 * width, keyHeads, 1, 1e-6, 20.0, 0, impl),
                MHCRT_OK)
          << mhcrt_last_error(context);
      EXPECT_EQ(driver().launches.size(), size_t(forward));
      driver().launches.clear();
      ASSERT_EQ(call(mhcrt_pre_gated_delta_rule_bwd, context, t, H, t, H, t, H, t, H, t, H, t, F, t, H, t, H, nullptr,
                     none, t, F, t, F, t, MHCRT_I32, nullptr, none, t, H, t, F, nullptr, none, t, F, t, F, nullptr,
                     none, b, M, hv, width, width, D, E, k, 9, 0, keyHeads, 1, 1e-6, 20.0, 0, impl),
                MHCRT_OK)
          << mhcrt_last_error(context);
      EXPECT_EQ(driver().launches.size(), size_t(backward));
      driver().launches.clear();
      ASSERT_EQ(call(mhcrt_pre_gated_delta_rule, context, t, H, t, H, nullptr, none, t, F, t, F, t, MHCRT_I32, nullptr,
                     none, t, H, t, H, t, H, nullptr, none, t, H, t, F, nullptr, none, M, b, D, E, k, hv, 9, 0, width,
                     width, 0, keyHeads, 1, 1e-6, 20.0, 0, impl),
                MHCRT_OK)
          << mhcrt_last_error(context);
      EXPECT_STREQ(mhcrt_cuda_chosen(context, "pre_gated_delta_rule"), width == 128 ? "runs" : "generic");
      EXPECT_EQ(driver().launches.size(), size_t(impl == MHCRT_GDN_IMPL_STREAMED ? 3 : 1)) << "without a gate";
    }
}

/// A d_x that grows, from a start of x's type or f32, to either, and a d_bias where its sums have room.
TEST_F(CudaEntries, FastRowsOfGradientsThatGrow) {
  constexpr int32_t B = MHCRT_BF16;
  for (auto [layout, C] : {std::pair(MHCRT_LAYOUT_NC, 16384),
                           {MHCRT_LAYOUT_NC, 16392},
                           {MHCRT_LAYOUT_CN, 11776},
                           {MHCRT_LAYOUT_CN, 11778}})
    for (int32_t start : {none, B, F})
      for (int32_t dx : {B, F})
        for (void *dBias : {(void *)nullptr, t}) {
          call(mhcrt_post_bwd, context, t, B, t, B, nullptr, none, t, F, t, B, t, F, nullptr, none,
               start == none ? nullptr : t, start, nullptr, none, t, B, t, F, t, F, t, dx, dBias, dBias ? F : none, 100,
               4, C, 0, layout, 0, 0, 0);
          const char *fast = layout == MHCRT_LAYOUT_NC ? "sm90" : "cn4";
          const bool hasRoom = !dBias || C == 16384 || C == 11776;
          EXPECT_STREQ(mhcrt_cuda_chosen(context, "post_bwd"), hasRoom ? fast : "generic")
              << mhcrt_last_error(context) << " C=" << C;
        }
}

} // namespace
