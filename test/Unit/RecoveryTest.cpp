//===- RecoveryTest.cpp - Crashes as errors -----------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/CAPI/Recovery.h"
#include "llvm/Support/ErrorHandling.h"
#include "gtest/gtest.h"
#include <csignal>
#include <cstdlib>

using namespace mhc;

TEST(Recovery, ACrashIsAnError) {
  int count = 0;
  EXPECT_TRUE(runToEnd([&] { ++count; }));
  EXPECT_FALSE(runToEnd([] { raise(SIGSEGV); }));
  EXPECT_FALSE(runToEnd([] { abort(); }));
  EXPECT_FALSE(runToEnd([] { llvm::report_fatal_error("a fatal error"); }));
  EXPECT_TRUE(runToEnd([&] { ++count; }));
  EXPECT_EQ(count, 2);
}

static void handle(int) {}

TEST(Recovery, HandlersOfTheProgramAreBackBehindIt) {
  auto *before = signal(SIGSEGV, handle);
  runToEnd([] {});
  runToEnd([] { raise(SIGSEGV); });
  EXPECT_EQ(signal(SIGSEGV, before), handle);
}
