//===- DeterminismTest.cpp - Threads, splits, contexts, instruction sets --===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "GatedDeltaCase.h"
#include "PreCase.h"

#include <thread>

using namespace mhcrt::test;

namespace {

/// A case with enough tokens for several tiles.
PreCase large(uint64_t seed, int64_t M) {
  PreCase c(seed);
  c.M = M;
  c.x = c.random.buffer(c.type, M * c.K);
  return c;
}

TEST(Determinism, PreDoesNotDependOnThreads) {
  for (bool amx : variants()) {
    Context one(1, amx), two(2, amx), five(5, amx);
    for (uint64_t seed = 0; seed < 12; ++seed) {
      PreCase c = large(seed, 301);
      PreOutputs a(c), b(c), e(c);
      ASSERT_EQ(c.run(one, a), MHCRT_OK) << one.error();
      ASSERT_EQ(c.run(two, b), MHCRT_OK);
      ASSERT_EQ(c.run(five, e), MHCRT_OK);
      EXPECT_TRUE(a == b && a == e) << c.name();
    }
  }
}

TEST(Determinism, PreDoesNotDependOnTheSplitOfTheBatch) {
  for (bool amx : variants()) {
    Context context(2, amx);
    for (uint64_t seed = 0; seed < 12; ++seed) {
      PreCase c = large(seed, 101);
      PreOutputs whole(c);
      ASSERT_EQ(c.run(context, whole), MHCRT_OK) << context.error();
      for (int64_t first = 0, count = 1; first < c.M; first += count, count = count * 3 % 47) {
        count = std::min(count, c.M - first);
        PreCase part = c.tokens(first, count);
        PreOutputs out(part);
        ASSERT_EQ(part.run(context, out), MHCRT_OK);
        EXPECT_TRUE(out.u == whole.u.slice(first * c.C, count * c.C)) << c.name();
        EXPECT_TRUE(out.hPre == whole.hPre.slice(first * c.n, count * c.n)) << c.name();
        EXPECT_TRUE(out.hPost == whole.hPost.slice(first * c.n, count * c.n)) << c.name();
        EXPECT_TRUE(out.hRes == whole.hRes.slice(first * c.n * c.n, count * c.n * c.n)) << c.name();
      }
    }
  }
}

TEST(Determinism, PostAndMatmulDoNotDependOnThreads) {
  Context one(1), three(3);
  Random random(5);
  const int64_t M = 700, n = 4, C = 129;
  Buffer f = random.buffer(MHCRT_BF16, M * C), x = random.buffer(MHCRT_BF16, M * n * C);
  Buffer h = random.buffer(MHCRT_F32, M * n), mix = random.buffer(MHCRT_F32, M * n * n);
  Buffer a(MHCRT_BF16, M * n * C), b(MHCRT_BF16, M * n * C);
  auto runPost = [&](mhcrt_context *context, Buffer &out) {
    return call(mhcrt_post, context, f.data(), MHCRT_BF16, nullptr, MHCRT_NONE, h.data(), MHCRT_F32, x.data(),
                MHCRT_BF16, mix.data(), MHCRT_F32, nullptr, MHCRT_NONE, out.data(), MHCRT_BF16, M, C, n, 0,
                MHCRT_LAYOUT_CN, MHCRT_ORIENT_IO, 0, 0);
  };
  ASSERT_EQ(runPost(one, a), MHCRT_OK);
  ASSERT_EQ(runPost(three, b), MHCRT_OK);
  EXPECT_TRUE(a == b);

  const int64_t K = 65, N = 600;
  Buffer lhs = random.buffer(MHCRT_BF16, M * K), rhs = random.buffer(MHCRT_F32, K * N);
  Buffer c(MHCRT_F32, M * N), e(MHCRT_F32, M * N);
  ASSERT_EQ(call(mhcrt_matmul, one, lhs.data(), MHCRT_BF16, rhs.data(), MHCRT_F32, c.data(), MHCRT_F32, M, K, N, 0, 0),
            MHCRT_OK);
  ASSERT_EQ(
      call(mhcrt_matmul, three, lhs.data(), MHCRT_BF16, rhs.data(), MHCRT_F32, e.data(), MHCRT_F32, M, K, N, 0, 0),
      MHCRT_OK);
  EXPECT_TRUE(c == e);
}

/// Many small products at a time: the BLAS must not hand one work buffer to two of them.
TEST(Determinism, ProductsOfSeveralThreadsKeepApart) {
  Context one(1), four(4);
  Random random(6);
  const int64_t B = 256, M = 128, K = 100, N = 129;
  Buffer lhs = random.buffer(MHCRT_F32, B * M * K), rhs = random.buffer(MHCRT_F32, B * K * N);
  Buffer expected(MHCRT_F32, B * M * N), found(MHCRT_F32, B * M * N);
  auto run = [&](mhcrt_context *context, Buffer &out) {
    return call(mhcrt_batch_matmul, context, lhs.data(), MHCRT_F32, rhs.data(), MHCRT_F32, out.data(), MHCRT_F32, B, M,
                K, N, 0, 0);
  };
  ASSERT_EQ(run(one, expected), MHCRT_OK);
  for (int round = 0; round < 60; ++round) {
    ASSERT_EQ(run(four, found), MHCRT_OK);
    ASSERT_TRUE(found == expected) << "round " << round;
  }
}

TEST(Determinism, TakeBwdDoesNotDependOnThreads) {
  Context one(1), three(3);
  Random random(7);
  const int64_t M = 500, C = 200, V = 9;
  Buffer rows = random.buffer(MHCRT_BF16, M * C), start = random.buffer(MHCRT_F32, V * C);
  Buffer a(MHCRT_F32, V * C), b(MHCRT_F32, V * C);
  std::vector<int32_t> ids;
  for (int64_t m = 0; m < M; ++m)
    ids.push_back(random.integer(0, V - 1));
  Buffer rowIds(ids);
  auto add = [&](mhcrt_context *context, Buffer &table) {
    return call(mhcrt_take_bwd, context, rows.data(), MHCRT_BF16, rowIds.data(), MHCRT_I32, start.data(), MHCRT_F32,
                table.data(), MHCRT_F32, M, C, V);
  };
  ASSERT_EQ(add(one, a), MHCRT_OK);
  ASSERT_EQ(add(three, b), MHCRT_OK);
  EXPECT_TRUE(a == b);
  // Nothing but the last rounding is lost.
  Doubles sums = start.values(), tolerance, terms = rows.values();
  for (int64_t i = 0; i < M * C; ++i)
    sums[ids[i / C] * C + i % C] += terms[i];
  for (double sum : sums)
    tolerance.push_back(std::ldexp(std::fabs(sum), -24) + 1e-11);
  expectClose(a, sums, tolerance, "d_table");
}

TEST(Contexts, AreIndependent) {
  PreCase c = large(3, 200);
  PreOutputs want(c);
  Context context;
  ASSERT_EQ(c.run(context, want), MHCRT_OK);
  const PreOutputs expected = want; // read from memory here: the threads have contexts of their own
  auto user = [&c, &expected](bool *same) {
    PreCase mine = c;
    Context context(2);
    for (int round = 0; round < 20; ++round) {
      PreOutputs out(mine);
      *same = mine.run(context, out) == MHCRT_OK && out == expected;
      if (!*same)
        return;
    }
  };
  bool first = false, second = false;
  std::thread a(user, &first), b(user, &second);
  a.join();
  b.join();
  EXPECT_TRUE(first && second);
}

/// Calls that use the context's scratch memory and, on a GPU, the library of products, from two threads at once: each
/// has a context, and so a stream, of its own.
TEST(Contexts, ProductsAndSumsAreIndependent) {
  const int64_t M = 300, C = 200, V = 9;
  Random random(8);
  const Buffer lhs = random.buffer(MHCRT_F16, M * C), rhs = random.buffer(MHCRT_BF16, C * C);
  const Buffer start = random.buffer(MHCRT_F32, V * C);
  std::vector<int32_t> numbers;
  for (int64_t m = 0; m < M; ++m)
    numbers.push_back(random.integer(0, V - 1));
  const Buffer ids(numbers);
  struct Outputs {
    Buffer product, table;
  };
  const auto run = [&] {
    Context context(1);
    Buffer a = lhs, b = rhs, rows = ids, first = start;
    Outputs out = {Buffer(MHCRT_BF16, M * C), Buffer(MHCRT_F32, V * C)};
    for (int round = 0; round < 30; ++round) {
      call(mhcrt_matmul, context, a.data(), MHCRT_F16, b.data(), MHCRT_BF16, out.product.data(), MHCRT_BF16, M, C, C, 0,
           0);
      call(mhcrt_take_bwd, context, out.product.data(), MHCRT_BF16, rows.data(), MHCRT_I32, first.data(), MHCRT_F32,
           out.table.data(), MHCRT_F32, M, C, V);
    }
    EXPECT_EQ(mhcrt_synchronize(context), MHCRT_OK) << context.error();
    out.product.values(), out.table.values(); // read here: the caller's thread has other contexts
    return out;
  };
  const Outputs want = run();
  Outputs found[2];
  std::thread one([&] { found[0] = run(); }), other([&] { found[1] = run(); });
  one.join();
  other.join();
  for (const Outputs &out : found) {
    EXPECT_TRUE(out.product == want.product);
    EXPECT_TRUE(out.table == want.table);
  }
}

TEST(Contexts, SecondRunAllocatesNothing) {
  Context context;
  PreCase c = large(3, 200);
  PreOutputs out(c);
  ASSERT_EQ(c.run(context, out), MHCRT_OK);
  ASSERT_NE(mhcrt_workspace(context, 1000), nullptr);
  const int64_t allocations = mhcrt_context_allocations(context), bytes = mhcrt_context_bytes(context);
  EXPECT_GT(bytes, 1000);
  ASSERT_EQ(c.run(context, out), MHCRT_OK);
  ASSERT_NE(mhcrt_workspace(context, 1000), nullptr);
  EXPECT_EQ(mhcrt_context_allocations(context), allocations);
  EXPECT_EQ(mhcrt_context_bytes(context), bytes);
  EXPECT_EQ(mhcrt_context_launches(context), 2);
}

/// Every instruction set that this machine has runs the reference cases: the narrow ones have conversions and register
/// tiles of their own.
TEST(InstructionSets, AllAgreeWithTheReference) {
  forEachInstructionSet([](const std::string &set) {
    for (bool amx : variants()) {
      Context context(2, amx);
      for (uint64_t seed = 0; seed < 30; ++seed) {
        PreCase c(seed);
        PreOutputs out(c);
        ASSERT_EQ(c.run(context, out), MHCRT_OK) << context.error();
        const PreReference want = c.reference();
        // As in Pre.IsTheChain.
        const double error = want.logitMagnitude * 16 * std::ldexp(1.0, -24) + std::ldexp(1.0, -19);
        Doubles tolerance;
        for (double value : want.hRes)
          tolerance.push_back((4 + 2 * c.postMult) * error * (std::fabs(value) + 1));
        expectClose(out.hRes, want.hRes, tolerance, set + " " + c.name());
        const Sums u = aggregate(c.x.values(), out.hPre.values(), c.M, c.n, c.C, c.layout);
        Doubles uTolerance;
        for (size_t i = 0; i < u.values.size(); ++i)
          uTolerance.push_back(1.01 * ((c.n + 2) * std::ldexp(1.0, -24) * u.magnitudes[i] +
                                       roundoff(c.type) * std::fabs(u.values[i]) + std::ldexp(1.0, -25)));
        expectClose(out.u, u.values, uTolerance, set + " " + c.name());
      }
    }
  });
}

/// Without a gate z is left out forward; without its gradient that of z is zero. All else has the same bits.
TEST(GatedDelta, GateMayBeAbsent) {
  Context context;
  for (int32_t impl : {MHCRT_GDN_IMPL_FUSED, MHCRT_GDN_IMPL_STREAMED})
    for (uint64_t seed = 0; seed < 60; ++seed) {
      GatedDeltaCase whole = randomGatedDeltaCase(seed), bare = whole;
      bare.impl = impl;
      bare.gate = Buffer();
      bare.dGate = Buffer();
      whole.dGate = Buffer(whole.type, Doubles(whole.dGate.size(), 0.0));
      for (GatedDeltaCase *c : {&whole, &bare})
        ASSERT_EQ(c->both(context), MHCRT_OK) << context.error();
      for (size_t i = 0; i < whole.results().size(); ++i)
        EXPECT_TRUE(i == 3 || *whole.results()[i] == *bare.results()[i]) << whole.describe(seed) << ", result " << i;
    }
}

} // namespace
