//===- MemoryLimitTest.cpp - Limits of control groups ---------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "torch/MemoryLimit.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace mhcrt;

namespace {

class MemoryLimit : public testing::Test {
protected:
  void SetUp() override { std::filesystem::remove_all(root); }
  void TearDown() override { std::filesystem::remove_all(root); }
  void write(const std::string &path, const std::string &text) {
    std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text << "\n";
  }

  const std::string root =
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + std::to_string(getpid());
};

TEST_F(MemoryLimit, IsTheMachinesWithoutGroups) { EXPECT_EQ(memoryLimit(1000, root), 1000); }

TEST_F(MemoryLimit, OfAGroupAndThoseAroundIt) {
  write("/proc/self/cgroup", "0::/job/step");
  write("/sys/fs/cgroup/job/step/memory.max", "max");
  EXPECT_EQ(memoryLimit(1000, root), 1000);
  write("/sys/fs/cgroup/job/memory.max", "600");
  EXPECT_EQ(memoryLimit(1000, root), 600);
  write("/sys/fs/cgroup/job/step/memory.max", "500");
  EXPECT_EQ(memoryLimit(1000, root), 500);
  EXPECT_EQ(memoryLimit(400, root), 400);
}

TEST_F(MemoryLimit, OfAContainer) {
  write("/proc/self/cgroup", "0::/");
  write("/sys/fs/cgroup/memory.max", "300");
  EXPECT_EQ(memoryLimit(1000, root), 300);
}

/// A container sees its own group at the root, and may read a name that is known outside alone.
TEST_F(MemoryLimit, OfTheFirstVersion) {
  write("/proc/self/cgroup", "5:cpu,cpuacct:/docker/12ab\n4:memory:/docker/12ab\n0::/docker/12ab");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "200");
  EXPECT_EQ(memoryLimit(1000, root), 200);
  write("/sys/fs/cgroup/memory/docker/12ab/memory.limit_in_bytes", "100");
  EXPECT_EQ(memoryLimit(1000, root), 100);
}

} // namespace
