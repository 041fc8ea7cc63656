//===- DifferenceTest.cpp ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Driver/Run.h"
#include "gtest/gtest.h"

#include <cmath>

static mhcrt::HostTensor tensor(std::vector<double> values) {
  mhcrt::HostTensor result;
  std::string error;
  EXPECT_TRUE(result.allocate(MHCRT_F64, {static_cast<int64_t>(values.size())}, error)) << error;
  std::copy(values.begin(), values.end(), static_cast<double *>(result.data()));
  return result;
}

TEST(Difference, IsOfTheElementsFurthestApart) {
  EXPECT_EQ(mhc::largestDifference(tensor({1, 2, 3}), tensor({1, -2, 4})), 4);
  EXPECT_EQ(mhc::largestMagnitude(tensor({1, -2, 0})), 2);
}

TEST(Difference, KeepsWhatIsNoNumber) {
  EXPECT_TRUE(std::isnan(mhc::largestDifference(tensor({1, 2, 3}), tensor({1, NAN, 4}))));
  EXPECT_TRUE(std::isnan(mhc::largestDifference(tensor({NAN, 2, 3}), tensor({1, 5, 4}))));
  EXPECT_TRUE(std::isnan(mhc::largestMagnitude(tensor({NAN, 2, 3}))));
  EXPECT_EQ(mhc::largestDifference(tensor({INFINITY, 2}), tensor({1, 2})), INFINITY);
}

TEST(Difference, IsNoneBetweenEqualElements) {
  EXPECT_EQ(mhc::largestDifference(tensor({NAN, INFINITY, 1}), tensor({NAN, INFINITY, 1})), 0);
}
