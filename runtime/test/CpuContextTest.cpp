//===- CpuContextTest.cpp - Threads and memory of the CPU backend ---------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "PreCase.h"
#include "Support.h"

#include "hwy/targets.h"

#include <atomic>
#include <cfenv>
#include <cstring>

using namespace mhcrt::test;

void mhcrt::test::forEachInstructionSet(const std::function<void(const std::string &name)> &body) {
  for (int64_t set : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(set);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body(hwy::TargetName(set));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

void mhcrt::test::forEachDivision(const std::function<void(mhcrt_context *)> &body) {
  for (int threads : {1, 2, 7}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    body(Context(threads));
  }
}

/// Runs of tokens are the longest where K is small.
std::vector<std::tuple<int64_t, int64_t, int32_t>> mhcrt::test::manyTokens() {
  const int64_t M = kInstrumented ? 10000 : 1000000;
  return {{M, 8, MHCRT_BF16}, {M, 8, MHCRT_F32}};
}

namespace {

float values[64];

TEST(CpuContext, OutOfMemorySaysHowMuch) {
  Context context;
  EXPECT_EQ(mhcrt_workspace(context, INT64_MAX), nullptr);
  EXPECT_EQ(mhcrt_last_status(context), MHCRT_OUT_OF_MEMORY);
  EXPECT_EQ(context.error(), "mhcrt_workspace: no memory for 9223372036854775807 bytes of workspace");
  mhcrt_clear_error(context);
  EXPECT_NE(mhcrt_workspace(context, 0), nullptr);
  EXPECT_EQ(mhcrt_workspace(context, -1), nullptr);
  EXPECT_EQ(context.error(), "mhcrt_workspace: 'bytes' is -1; needed at least 0");
  mhcrt_clear_error(context);
  // A list of a table's rows that does not fit any memory.
  const int32_t ids[] = {0};
  EXPECT_EQ(call(mhcrt_take_bwd, context, values, MHCRT_F32, ids, MHCRT_I32, values, MHCRT_F32, values, MHCRT_F32, 1, 1,
                 int64_t{1} << 58),
            MHCRT_OUT_OF_MEMORY);
  EXPECT_NE(context.error().find("mhcrt_take_bwd: no memory for "), std::string::npos) << context.error();
}

TEST(CpuContext, ContextCreation) {
  mhcrt_context *context = nullptr;
  EXPECT_EQ(mhcrt_context_create(-1, &context), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(context, nullptr);
  EXPECT_EQ(mhcrt_context_create(1 << 20, &context), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(mhcrt_context_create(3, &context), MHCRT_OK);
  EXPECT_EQ(mhcrt_context_threads(context), 3);
  mhcrt_context_destroy(context);
  mhcrt_context_destroy(nullptr);
  EXPECT_EQ(mhcrt_context_create(0, &context), MHCRT_OK);
  EXPECT_GE(mhcrt_context_threads(context), 1);
  mhcrt_context_destroy(context);
}

TEST(CpuContext, ThreadsDoNotHaveTheCallersRounding) {
  Context before(3), one(1);
  PreCase c(3);
  c.M = 301; // several tiles
  c.x = c.random.buffer(c.type, c.M * c.K);
  PreOutputs expected(c), upward(c), alone(c);
  ASSERT_EQ(c.run(before, expected), MHCRT_OK) << before.error();
  std::fesetround(FE_UPWARD);
  Context after(3); // whose threads begin as this one is
  const mhcrt_status statuses[] = {c.run(one, alone), c.run(before, upward), c.run(after, upward)};
  const int kept = std::fegetround();
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(kept, FE_UPWARD);
  for (mhcrt_status status : statuses)
    EXPECT_EQ(status, MHCRT_OK);
  EXPECT_TRUE(upward == expected && alone == expected) << c.name();
}

/// Every iteration runs once, in ranges that do not depend on the threads.
TEST(CpuContext, LoopsAreCutByTheirSizeOnly) {
  struct Frame {
    std::vector<int> runs;
    std::vector<std::atomic<int>> ends; ///< per iteration, whether a range ends behind it
  };
  auto body = [](void *argument, int64_t begin, int64_t end) {
    auto &frame = *static_cast<Frame *>(argument);
    for (int64_t i = begin; i < end; ++i)
      ++frame.runs[i];
    ++frame.ends[end - 1];
  };
  Context one(1), three(3);
  for (int64_t count : {0, 1, 13, 5000})
    for (int64_t work : {0, 1, 100, 1000000}) {
      Frame a{std::vector<int>(count), std::vector<std::atomic<int>>(count)};
      Frame b{std::vector<int>(count), std::vector<std::atomic<int>>(count)};
      mhcrt_parallel_loop(one, body, &a, count, work);
      mhcrt_parallel_loop(three, body, &b, count, work);
      EXPECT_EQ(a.runs, std::vector<int>(count, 1));
      EXPECT_EQ(b.runs, std::vector<int>(count, 1));
      for (int64_t i = 0; i < count; ++i)
        EXPECT_EQ(a.ends[i], b.ends[i]) << i;
    }
}

} // namespace

// Where rows are pages of their own, kernels that take channels by channels wait for page tables.
TEST(CpuContext, LargeBuffersAreWholeLargePages) {
  Context context(1);
  constexpr int64_t kPage = 2 << 20;
  void *buffer = mhcrt_buffer_create(context, 2 * kPage + 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer) % kPage, 0u);
  std::memset(buffer, 1, 2 * kPage + 1);
  mhcrt_buffer_destroy(context, buffer);
  EXPECT_EQ(mhcrt_buffer_create(context, INT64_MAX), nullptr);
}
