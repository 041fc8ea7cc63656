//===- MatmulTest.cpp - matmul, batch_matmul ------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Support.h"

#include <algorithm>
#include <array>

using namespace mhcrt::test;

namespace {

void check(uint64_t seed, bool batched, int64_t M, int64_t K, int64_t N) {
  Context context;
  Random random(seed);
  const int64_t B = batched ? random.pick<int64_t>({0, 1, 3}) : 1;
  auto anyType = [&] { return random.pick<int32_t>({MHCRT_F32, MHCRT_BF16, MHCRT_F16}); };
  const int32_t lhsType = anyType(), rhsType = anyType(), outType = anyType();
  const bool transposeLhs = random.integer(0, 1), transposeRhs = random.integer(0, 1);
  Buffer lhs = random.buffer(lhsType, B * M * K), rhs = random.buffer(rhsType, B * K * N), out(outType, B * M * N);
  mhcrt_status status = batched ? call(mhcrt_batch_matmul, context, lhs.data(), lhsType, rhs.data(), rhsType,
                                       out.data(), outType, B, M, K, N, transposeLhs, transposeRhs)
                                : call(mhcrt_matmul, context, lhs.data(), lhsType, rhs.data(), rhsType, out.data(),
                                       outType, M, K, N, transposeLhs, transposeRhs);
  ASSERT_EQ(status, MHCRT_OK) << context.error();
  const Doubles a = lhs.values(), b = rhs.values();
  Doubles want(B * M * N), tolerance(B * M * N);
  for (int64_t batch = 0; batch < B; ++batch)
    for (int64_t i = 0; i < M; ++i)
      for (int64_t j = 0; j < N; ++j) {
        double magnitude = 0, &sum = want[(batch * M + i) * N + j];
        for (int64_t k = 0; k < K; ++k) {
          const double term = a[batch * M * K + (transposeLhs ? k * M + i : i * K + k)] *
                              b[batch * K * N + (transposeRhs ? j * K + k : k * N + j)];
          sum += term;
          magnitude += std::fabs(term);
        }
        // A chain of K additions of random signs: its error grows like the root of K.
        tolerance[(batch * M + i) * N + j] =
            1.01 * (4 * std::sqrt(static_cast<double>(K)) * std::ldexp(1.0, -24) * magnitude +
                    roundoff(outType) * std::fabs(sum) + std::ldexp(1.0, -25));
      }
  expectClose(out, want, tolerance,
              "B=" + std::to_string(B) + " M=" + std::to_string(M) + " K=" + std::to_string(K) + " N=" +
                  std::to_string(N) + " transposed " + std::to_string(transposeLhs) + std::to_string(transposeRhs));
}

TEST(Matmul, MatchesTheFormula) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    check(seed, seed % 2, random.pick<int64_t>({0, 1, 13, 40}), random.pick<int64_t>({0, 1, 17, 64}),
          random.pick<int64_t>({0, 1, 33, 48}));
  }
}

/// More than one block of rows and of columns.
TEST(Matmul, BlocksMeetExactly) {
  for (uint64_t seed = 100; seed < 108; ++seed)
    check(seed, seed % 2, 300, 9, 700);
}

/// More products than one call of sgemm adds.
TEST(Matmul, PartsOfLongSumsMeetExactly) {
  for (uint64_t seed = 200; seed < 208; ++seed)
    check(seed, seed % 2, 3, 20001, 5);
}

/// Sums of many terms of one sign: all columns of lhs are equal, and all rows of rhs. Several values, since some meet
/// the worst case. How a GPU adds is up to cuBLASLt.
TEST(Matmul, LongSumsKeepTheirAccuracy) {
  Random random(7);
  if (mhcrt_context_device(Context()) != MHCRT_CPU)
    GTEST_SKIP() << "sums of cuBLASLt";
  for (const auto &[M, K, N] : {std::array<int64_t, 3>{24, 1000000, 20}, {70, 131077, 60}, {300, 16384, 520}})
    for (const bool transposed : {false, true}) {
      Context context;
      Doubles left, right;
      for (int64_t i = 0; i < M; ++i)
        left.push_back(std::ldexp(static_cast<double>(random.integer(1 << 23, (1 << 24) - 1)), -24));
      for (int64_t j = 0; j < N; ++j)
        right.push_back(std::ldexp(static_cast<double>(random.integer(1 << 23, (1 << 24) - 1)), -24));
      Buffer lhs(MHCRT_F32, M * K), rhs(MHCRT_F32, K * N), out(MHCRT_F32, M * N);
      for (int64_t k = 0; k < K; ++k) {
        for (int64_t i = 0; i < M; ++i)
          lhs.floats()[transposed ? k * M + i : i * K + k] = static_cast<float>(left[i]);
        for (int64_t j = 0; j < N; ++j)
          rhs.floats()[transposed ? j * K + k : k * N + j] = static_cast<float>(right[j]);
      }
      ASSERT_EQ(call(mhcrt_matmul, context, lhs.data(), MHCRT_F32, rhs.data(), MHCRT_F32, out.data(), MHCRT_F32, M, K,
                     N, transposed, transposed),
                MHCRT_OK)
          << context.error();
      const Doubles got = out.values();
      double most = 0;
      for (int64_t i = 0; i < M * N; ++i)
        most = std::max(most, std::fabs(got[i] / (static_cast<double>(K) * left[i / N] * right[i % N]) - 1));
      EXPECT_LE(most, 2e-5) << M << "x" << K << "x" << N << " transposed " << transposed;
      RecordProperty("error of " + std::to_string(K) + (transposed ? " transposed" : ""), std::to_string(most * 1e6));
    }
}

} // namespace
