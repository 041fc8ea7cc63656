//===- ErrorTest.cpp - Messages and sticky errors -------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Support.h"

#include <cstddef>

using namespace mhcrt::test;

namespace {

float values[64];

TEST(Errors, NameKernelValueAndNeed) {
  Context context;
  auto expectError = [&](mhcrt_status status, const char *message) {
    EXPECT_EQ(status, MHCRT_INVALID_ARGUMENT);
    EXPECT_EQ(context.error(), message);
    mhcrt_clear_error(context);
  };
  expectError(call(mhcrt_post, context, values, MHCRT_I32, nullptr, MHCRT_NONE, values, MHCRT_F32, values, MHCRT_F32,
                   values, MHCRT_F32, nullptr, MHCRT_NONE, values, MHCRT_F32, 1, 1, 1, 0, 0, 0, 0, 0),
              "mhcrt_post: 'f' has dtype i32; needed f32, bf16 or f16");
  expectError(call(mhcrt_aggregate, context, values, MHCRT_BF16, values, MHCRT_F32, values, MHCRT_F32, 1, 1, 1, 0),
              "mhcrt_aggregate: 'u' has dtype f32; needed bf16");
  expectError(call(mhcrt_aggregate, context, nullptr, MHCRT_F32, values, MHCRT_F32, values, MHCRT_F32, 1, 1, 1, 0),
              "mhcrt_aggregate: 'x' is null; needed elements of f32");
  expectError(call(mhcrt_aggregate, context, values, MHCRT_F32, values, MHCRT_F32, values, MHCRT_F32, 1, 17, 1, 0),
              "mhcrt_aggregate: 'n' is 17; needed 1 to 16");
  expectError(call(mhcrt_expand, context, values, MHCRT_F32, values, MHCRT_F32, -1, 1, 1, 0),
              "mhcrt_expand: 'M' is -1; needed at least 0");
  expectError(call(mhcrt_contract, context, values, MHCRT_F32, values, MHCRT_F32, 1, 1, 1, 2, 0),
              "mhcrt_contract: 'layout' is 2; needed 0 to 1");
  expectError(call(mhcrt_permutation_mix, context, values, MHCRT_F32, values, MHCRT_F32, 1, 25, 4),
              "mhcrt_permutation_mix: 'R' is 25; needed n! = 24");
  expectError(call(mhcrt_permutation_mix, context, values, MHCRT_F32, values, MHCRT_F32, 1, 5040, 7),
              "mhcrt_permutation_mix: 'n' is 7; needed 1 to 6");
  expectError(call(mhcrt_sinkhorn, context, values, MHCRT_F32, values, MHCRT_F32, 1, 4, 0, 0, 0, NAN, 20),
              "mhcrt_sinkhorn: 'eps' is nan; needed a finite number of at least 0");
  expectError(call(mhcrt_sinkhorn, context, values, MHCRT_F32, values, MHCRT_F32, 1, 4, 0, 0, 0, -1e-6, 20),
              "mhcrt_sinkhorn: 'eps' is -1e-06; needed a finite number of at least 0");
  expectError(call(mhcrt_sinkhorn, context, values, MHCRT_F32, values, MHCRT_F32, 1, 4, 1, 0, 0, 1e-6, 1001),
              "mhcrt_sinkhorn: 'iters' is 1001; needed 0 to 1000");
  // A limit has neither a start nor an order.
  expectError(call(mhcrt_sinkhorn, context, values, MHCRT_F32, values, MHCRT_F32, 1, 4, MHCRT_INIT_EXP, 0, 0, 1e-6, 20,
                   0, MHCRT_SOLVER_NEWTON),
              "mhcrt_sinkhorn: 'solver' is newton; needed init log, order row_col and format f32 with it");
  expectError(call(mhcrt_take, context, values, MHCRT_F32, values, MHCRT_I64, values, MHCRT_F32, 4, 1, 2),
              "mhcrt_take: 'ids' has dtype i64; needed i32");
  const int64_t seed[] = {0, 0};
  expectError(call(mhcrt_dropout, context, values, MHCRT_F32, seed, MHCRT_I64, values, MHCRT_F32, 1, 1, 2, 1.0, 0),
              "mhcrt_dropout: 'rate' is 1; needed at least 0 and less than 1");
  const auto post = [&](const int64_t *numbers, double rate, int64_t stream) {
    return call(mhcrt_post, context, values, MHCRT_F32, nullptr, MHCRT_NONE, values, MHCRT_F32, values, MHCRT_F32,
                values, MHCRT_F32, numbers, numbers ? MHCRT_I64 : MHCRT_NONE, values, MHCRT_F32, 1, 1, 1,
                numbers ? 2 : 0, 0, 0, rate, stream);
  };
  expectError(post(nullptr, 0.5, 0), "mhcrt_post: 'rate' is 0.5; needed 0 without 'seed'");
  expectError(post(seed, 1.5, 0), "mhcrt_post: 'rate' is 1.5; needed at least 0 and less than 1");
  expectError(post(seed, 0.5, -1), "mhcrt_post: 'stream' is -1; needed 0 to 4294967295");
  expectError(call(mhcrt_projection, context, values, MHCRT_F32, values, MHCRT_F32, nullptr, MHCRT_NONE, values,
                   MHCRT_F32, values, MHCRT_F32, 1, 2, 3, 1, 7, 0, 0, 0, 1e-6, 0, MHCRT_PRECISION_BF16X3),
              "mhcrt_projection: 'K' is 7; needed n*C = 6");
  expectError(call(mhcrt_projection, context, values, MHCRT_F32, values, MHCRT_F32, nullptr, MHCRT_NONE, values,
                   MHCRT_F32, values, MHCRT_F32, 1, 2, 3, 1, 6, 0, 0, 0, 1e-6, MHCRT_STAT_APPLIED,
                   MHCRT_PRECISION_BF16X3),
              "mhcrt_projection: 'stat' has dtype f32; needed none with stat_form applied");
  expectError(call(mhcrt_projection, context, values, MHCRT_F32, values, MHCRT_F32, nullptr, MHCRT_NONE, values,
                   MHCRT_F32, values, MHCRT_F32, 1, 2, 3, 1, 6, 0, 0, 0, 1e-6, 0, 4),
              "mhcrt_projection: 'precision' is 4; needed 0 to 3");
}

/// Callers that were built against another version of the library have a shorter or a longer struct.
TEST(Errors, ArgumentsOfOtherVersions) {
  Context context;
  Buffer one(MHCRT_F32, Doubles{7.0}), result(MHCRT_F32, 2);
  struct {
    mhcrt_expand_args known;
    int64_t later;
  } longer = {};
  mhcrt_expand_args &args = longer.known;
  args.x = one.data(), args.x_type = MHCRT_F32;
  args.streams = result.data(), args.streams_type = MHCRT_F32;
  args.M = 1, args.C = 1, args.n = 2;

  args.size = sizeof(longer);
  EXPECT_EQ(mhcrt_expand(context, &args), MHCRT_OK);
  EXPECT_EQ(result.values(), (Doubles{7.0, 7.0}));
  longer.later = 1;
  EXPECT_EQ(mhcrt_expand(context, &args), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(context.error(),
            "mhcrt_expand: 'size' is 80, and byte 72 is not zero; needed zeros behind the 72 bytes that "
            "this version of the library knows");
  mhcrt_clear_error(context);

  // A caller that knows no layout: what lies behind its struct counts for nothing.
  args.layout = 99;
  args.size = offsetof(mhcrt_expand_args, layout);
  EXPECT_EQ(mhcrt_expand(context, &args), MHCRT_OK);
  args.size = offsetof(mhcrt_expand_args, n);
  EXPECT_EQ(mhcrt_expand(context, &args), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(context.error(), "mhcrt_expand: 'n' is 0; needed 1 to 16");
  mhcrt_clear_error(context);

  for (int64_t size : {0, 12, 1 << 20}) {
    args.size = size;
    EXPECT_EQ(mhcrt_expand(context, &args), MHCRT_INVALID_ARGUMENT);
    EXPECT_EQ(context.error(),
              "mhcrt_expand: 'size' is " + std::to_string(size) + "; needed sizeof(mhcrt_expand_args) = 72");
    mhcrt_clear_error(context);
  }
  EXPECT_EQ(mhcrt_expand(context, nullptr), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(context.error(), "mhcrt_expand: 'args' is null; needed a mhcrt_expand_args");
  EXPECT_EQ(mhcrt_expand(nullptr, &args), MHCRT_INVALID_ARGUMENT);
}

TEST(Errors, AreSticky) {
  Context context;
  Buffer one(MHCRT_F32, Doubles{1.0}), result(MHCRT_F32, Doubles{5.0});
  EXPECT_EQ(context.error(), "");
  EXPECT_EQ(call(mhcrt_expand, context, one.data(), MHCRT_F32, result.data(), MHCRT_F32, 1, 0, 1, 0),
            MHCRT_INVALID_ARGUMENT);
  const std::string first = context.error();
  EXPECT_EQ(first, "mhcrt_expand: 'C' is 0; needed at least 1");
  // A good call does nothing, a bad one does not replace the first message.
  EXPECT_EQ(call(mhcrt_expand, context, one.data(), MHCRT_F32, result.data(), MHCRT_F32, 1, 1, 1, 0),
            MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(call(mhcrt_expand, context, one.data(), MHCRT_F32, result.data(), MHCRT_F32, 1, 1, 99, 0),
            MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(result.values(), Doubles{5.0});
  EXPECT_EQ(context.error(), first);
  EXPECT_EQ(mhcrt_context_launches(context), 0);
  mhcrt_clear_error(context);
  EXPECT_EQ(mhcrt_last_status(context), MHCRT_OK);
  EXPECT_EQ(call(mhcrt_expand, context, one.data(), MHCRT_F32, result.data(), MHCRT_F32, 1, 1, 1, 0), MHCRT_OK);
  EXPECT_EQ(result.values(), Doubles{1.0});
}

/// A bad row number is met by the check where the numbers are on the host, else by the kernel: then the row is zero, or
/// adds nothing.
TEST(Errors, RowNumbersThatTheTableDoesNotHave) {
  Context context;
  Buffer table(MHCRT_F32, Doubles{1, 2, 3, 4}), ids(std::vector<int32_t>{0, 4, -1}), out(MHCRT_F32, 3);
  call(mhcrt_take, context, table.data(), MHCRT_F32, ids.data(), MHCRT_I32, out.data(), MHCRT_F32, 4, 1, 3);
  EXPECT_EQ(mhcrt_synchronize(context), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(context.error(), "mhcrt_take: 'ids' has 4 at 1; needed 0 to 3");
  mhcrt_clear_error(context);
  EXPECT_EQ(mhcrt_synchronize(context), MHCRT_OK);
  Buffer rows(MHCRT_F32, Doubles{1, 2, 3}), sums(MHCRT_F32, 4);
  call(mhcrt_take_bwd, context, rows.data(), MHCRT_F32, ids.data(), MHCRT_I32, table.data(), MHCRT_F32, sums.data(),
       MHCRT_F32, 3, 1, 4);
  EXPECT_EQ(mhcrt_synchronize(context), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(context.error(), "mhcrt_take_bwd: 'ids' has 4 at 1; needed 0 to 3");
  mhcrt_clear_error(context);
  if (mhcrt_context_device(context) == MHCRT_CUDA) {
    EXPECT_EQ(out.values(), (Doubles{1, 0, 0}));
    EXPECT_EQ(sums.values(), (Doubles{2, 2, 3, 4}));
  }
}

} // namespace
