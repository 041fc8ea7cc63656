//===- EntryTest.cpp - Launches of every entry of the CUDA backend --------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "FakeDriver.h"

#include "mhcrt/cuda.h"
#include "mhcrt/kernels.h"

#include <functional>
#include <gtest/gtest.h>

using namespace mhcrt::test;

namespace {

constexpr int32_t F = MHCRT_F32, none = MHCRT_NONE;

struct Entry {
  const char *name;
  std::function<mhcrt_status(mhcrt_context *, int64_t M, int64_t n, int64_t C)> call;
};

/// Any address that all rows take: nothing reads it.
alignas(16) void *t = &t;
const void *const list[] = {t, t};
void *const results[] = {t, t};

/// Every entry with all results, in f32. The order of arguments is that of mhcrt/kernels.h.
const Entry entries[] = {
    {"aggregate",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) { return mhcrt_aggregate(ctx, t, F, t, F, t, F, M, n, C, 0); }},
    {"aggregate_bwd",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return mhcrt_aggregate_bwd(ctx, t, F, t, F, t, F, t, F, t, F, t, F, M, C, n, 0);
     }},
    {"contract",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) { return mhcrt_contract(ctx, t, F, t, F, M, n, C, 1, 0); }},
    {"expand", [](auto *ctx, int64_t M, int64_t n, int64_t C) { return mhcrt_expand(ctx, t, F, t, F, M, C, n, 1); }},
    {"post",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return mhcrt_post(ctx, t, F, t, F, t, F, t, F, t, F, nullptr, none, t, F, M, C, n, 0, 0, 0, 0, 0);
     }},
    {"post_bwd",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return mhcrt_post_bwd(ctx, t, F, t, F, t, F, t, F, t, F, t, F, nullptr, none, t, F, t, F, t, F, t, F, t, F, t, F,
                             t, F, M, n, C, 0, 0, 0, 0, 0);
     }},
    {"rebuild",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return mhcrt_rebuild(ctx, t, F, list, F, 2, list, F, 1, nullptr, none, 0, list, F, 1, list, F, 1, nullptr, none,
                            0, results, F, 2, results, F, 1, M, n, C, 0, 0, 0, 0, 0, 0);
     }},
    {"gates",
     [](auto *ctx, int64_t M, int64_t n, int64_t) {
       return mhcrt_gates(ctx, t, F, t, F, t, F, t, F, t, F, t, F, t, F, M, 2 * n + n * n, 3, n, n * n, 0, 1e-6, 0, 2);
     }},
    {"gates_bwd",
     [](auto *ctx, int64_t M, int64_t n, int64_t) {
       return mhcrt_gates_bwd(ctx, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, M, n,
                              n * n, 2 * n + n * n, 3, 0, 1e-6, 2);
     }},
    {"sinkhorn",
     [](auto *ctx, int64_t M, int64_t n, int64_t) { return mhcrt_sinkhorn(ctx, t, F, t, F, M, n, 0, 0, 0, 1e-6, 20); }},
    {"sinkhorn_bwd", [](auto *ctx, int64_t M, int64_t n,
                        int64_t) { return mhcrt_sinkhorn_bwd(ctx, t, F, t, F, t, F, M, n, 0, 0, 0, 1e-6, 20); }},
    {"permutation_mix",
     [](auto *ctx, int64_t M, int64_t, int64_t) { return mhcrt_permutation_mix(ctx, t, F, t, F, M, 24, 4); }},
    {"permutation_mix_bwd",
     [](auto *ctx, int64_t M, int64_t, int64_t) { return mhcrt_permutation_mix_bwd(ctx, t, F, t, F, t, F, M, 4, 24); }},
    {"projection",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return mhcrt_projection(ctx, t, F, t, F, t, F, t, F, t, F, M, n, C, 24, n * C, 0, 0, 0, 1e-6, 0, 2);
     }},
    {"projection_bwd",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return mhcrt_projection_bwd(ctx, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, M, 24,
                                   n, C, n * C, 0, 0, 0, 1e-6, 0, 2);
     }},
    {"pre",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return mhcrt_pre(ctx, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, M, n, C, 2 * n + n * n,
                        n * C, 3, 0, 0, 0, 1e-6, 1e-6, 2, 0, 0, 0, 0, 1e-6, 20, 1, 2);
     }},
    {"pre_bwd",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return mhcrt_pre_bwd(ctx, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, nullptr, 0, nullptr,
                            0, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, M, C, n, 2 * n + n * n,
                            n * C, 3, 0, 0, 0, 1e-6, 1e-6, 2, 0, 0, 0, 0, 1e-6, 20, 1, 0, 2);
     }},
    {"head",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return mhcrt_head(ctx, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, M, n, C, n * C, 1, 0, 0, 0, 1e-6,
                         1e-6, 2);
     }},
    {"head_bwd",
     [](auto *ctx, int64_t M, int64_t n, int64_t C) {
       return mhcrt_head_bwd(ctx, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t, F, t,
                             F, t, F, t, F, t, F, t, F, M, C, n, n * C, 1, 0, 0, 0, 1e-6, 1e-6, 2);
     }},
    {"take",
     [](auto *ctx, int64_t M, int64_t, int64_t C) { return mhcrt_take(ctx, t, F, t, MHCRT_I32, t, F, 50257, C, M); }},
    {"take_bwd", [](auto *ctx, int64_t M, int64_t,
                    int64_t C) { return mhcrt_take_bwd(ctx, t, F, t, MHCRT_I32, t, F, t, F, M, C, 50257); }},
    {"random",
     [](auto *ctx, int64_t M, int64_t, int64_t) { return mhcrt_random(ctx, t, MHCRT_I64, t, F, 2, M, 1, 0); }},
    {"dropout", [](auto *ctx, int64_t M, int64_t,
                   int64_t) { return mhcrt_dropout(ctx, t, F, t, MHCRT_I64, t, F, M, 1, 2, 0.1, 0); }},
};

class CudaEntries : public testing::Test {
protected:
  CudaEntries() {
    driver() = FakeDriver();
    EXPECT_EQ(mhcrt_context_create(0, &context), MHCRT_OK);
  }
  ~CudaEntries() override { mhcrt_context_destroy(context); }

  mhcrt_context *context = nullptr;
};

/// From no token to 2^33 of them, the grids are such as every GPU takes.
TEST_F(CudaEntries, GridsAreLegal) {
  for (const Entry &entry : entries)
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

/// The second call of every entry neither allocates nor waits, and launches the same: what a CUDA graph needs.
TEST_F(CudaEntries, SteadyState) {
  for (const Entry &entry : entries) {
    SCOPED_TRACE(entry.name);
    ASSERT_EQ(entry.call(context, 1000, 4, 33), MHCRT_OK) << mhcrt_last_error(context);
    const size_t launches = driver().launches.size();
    driver().launches.clear();
    driver().calls.clear();
    ASSERT_EQ(entry.call(context, 1000, 4, 33), MHCRT_OK);
    EXPECT_EQ(driver().launches.size(), launches);
    for (const char *call : {"malloc", "free", "synchronize", "memset"})
      EXPECT_EQ(driver().count(call), 0) << call;
    driver().launches.clear();
  }
}

/// The scratch memory that an op takes per token does not grow with what is replayed or reduced.
TEST_F(CudaEntries, ScratchOfAMillionTokens) {
  const std::map<std::string, int64_t> most = {
      {"sinkhorn_bwd", 64 << 20}, {"post_bwd", 1 << 20}, {"gates_bwd", 1 << 20}};
  for (const Entry &entry : entries)
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
  mhcrt_pre(context, t, H, t, F, nullptr, none, t, F, t, F, t, H, t, F, t, F, t, F, t, F, t, F, M, n, C, N, K, 3, 0, 0,
            0, 1e-6, 1e-6, 2, 0, 0, 0, 0, 1e-6, 20, 0, MHCRT_PRECISION_BF16X3);
  mhcrt_post(context, t, H, nullptr, none, t, F, t, H, t, F, nullptr, none, t, H, M, C, n, 0, 0, 0, 0, 0);
  mhcrt_post_bwd(context, t, H, t, H, nullptr, none, t, F, t, H, t, F, nullptr, none, nullptr, none, nullptr, none, t,
                 H, t, F, t, F, nullptr, none, nullptr, none, M, n, C, 0, 0, 0, 0, 0);
  mhcrt_pre_bwd(context, t, H, nullptr, none, t, F, t, F, t, H, t, F, nullptr, none, t, F, t, F, t, F, t, F, t, H, t, F,
                nullptr, none, nullptr, none, nullptr, none, nullptr, none, nullptr, none, t, H, t, F, nullptr, none, t,
                F, t, F, M, C, n, N, K, 3, 0, 0, 0, 1e-6, 1e-6, 2, 0, 0, 0, 0, 1e-6, 20, 0, 0, MHCRT_PRECISION_BF16X3);
  ASSERT_EQ(mhcrt_last_status(context), MHCRT_OK) << mhcrt_last_error(context);
  EXPECT_LE(mhcrt_context_bytes(context), 8 << 20);
}

} // namespace
