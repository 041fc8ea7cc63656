//===- FileTest.cpp - Files that are whole or not there -------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/file.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mhcrt;
namespace fs = std::filesystem;

namespace {

class Files : public testing::Test {
protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "mhcrt-files-XXXXXX";
    ASSERT_TRUE(mkdtemp(name.data()));
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string in(const std::string &name) const { return folder + "/" + name; }
  size_t count() const { return std::distance(fs::directory_iterator(folder), fs::directory_iterator()); }
  mode_t permissions(const std::string &name) const {
    struct stat status = {};
    stat(in(name).c_str(), &status);
    return status.st_mode & 07777;
  }
  /// "" or the error
  std::string write(const std::string &name, const std::string &text, bool isExecutable = false) const {
    std::string error;
    const bool good = writeFile(in(name), text.data(), static_cast<int64_t>(text.size()), error, isExecutable);
    EXPECT_EQ(good, error.empty());
    return error;
  }
  std::string read(const std::string &name) const {
    std::stringstream text;
    text << std::ifstream(in(name), std::ios::binary).rdbuf();
    return text.str();
  }
  /// The exit status of what a process of its own does.
  static int inChild(const std::function<bool()> &action) {
    const pid_t child = fork();
    if (child == 0)
      _exit(action() ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string folder;
};

TEST_F(Files, NewFilesAreThoseOfAnOrdinaryCreate) {
  const mode_t old = umask(027);
  EXPECT_EQ(write("a", "1"), "");
  EXPECT_EQ(write("b", "1", /*isExecutable=*/true), "");
  umask(old);
  EXPECT_EQ(permissions("a"), 0640u);
  EXPECT_EQ(permissions("b"), 0750u);
  ASSERT_EQ(chmod(in("a").c_str(), 0604), 0);
  EXPECT_EQ(write("a", "2"), "");
  EXPECT_EQ(read("a"), "2");
  EXPECT_EQ(permissions("a"), 0604u);
  EXPECT_EQ(count(), 2u);
}

TEST_F(Files, ALinkStaysAndItsFileIsReplaced) {
  ASSERT_EQ(mkdir(in("sub").c_str(), 0777), 0);
  ASSERT_EQ(write("sub/file", "old"), "");
  fs::create_symlink("sub/file", in("link"));
  fs::create_symlink("link", in("second"));
  fs::create_symlink("sub/new", in("dangling"));
  EXPECT_EQ(write("second", "new"), "");
  EXPECT_EQ(write("dangling", "made"), "");
  EXPECT_EQ(read("sub/file"), "new");
  EXPECT_EQ(read("sub/new"), "made");
  EXPECT_TRUE(fs::is_symlink(in("link")) && fs::is_symlink(in("second")) && fs::is_symlink(in("dangling")));
  fs::create_symlink("loop", in("loop"));
  EXPECT_EQ(write("loop", "x"), "'" + in("loop") + "' cannot be written: Too many levels of symbolic links");
}

TEST_F(Files, NamesAsLongAsTheSystemAllows) {
  const std::string name(255, 'n');
  EXPECT_EQ(write(name, "1"), "");
  EXPECT_EQ(write(name + "n", "1"), "'" + in(name + "n") + "' cannot be written: File name too long");
  EXPECT_EQ(count(), 1u);
}

TEST_F(Files, WhatIsNoFileIsWrittenAsItIs) {
  std::string error;
  EXPECT_TRUE(writeFile("/dev/null", "abc", 3, error)) << error;
  EXPECT_FALSE(writeFile("/dev/full", "abc", 3, error));
  EXPECT_EQ(error, "'/dev/full' cannot be written: No space left on device");
  ASSERT_EQ(mkfifo(in("pipe").c_str(), 0666), 0);
  std::string got;
  const pid_t child = fork();
  if (child == 0)
    _exit(writeFile(in("pipe"), "through", 7, error) ? 0 : 1);
  got = read("pipe");
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(got, "through");
  struct stat pipe;
  ASSERT_EQ(stat(in("pipe").c_str(), &pipe), 0);
  EXPECT_TRUE(S_ISFIFO(pipe.st_mode));
  // A program's standard output stays the file that it has opened, whatever that file's name is now.
  EXPECT_EQ(inChild([&] {
              if (!std::freopen(in("output").c_str(), "w", stdout))
                return false;
              std::string unused;
              return writeFile("/dev/stdout", "text", 4, unused) && ::write(1, "more", 4) == 4;
            }),
            0);
  EXPECT_EQ(read("output"), "more"); // not "text": both write from the start of one file
}

TEST_F(Files, WhatCannotBeWrittenIsFoundBefore) {
  std::string error;
  EXPECT_TRUE(canWriteFile(in("new"), error) && canWriteFile("/dev/full", error)) << error;
  EXPECT_EQ(count(), 0u);
  EXPECT_FALSE(canWriteFile(in("no/file"), error));
  EXPECT_EQ(error, "'" + in("no/file") + "' cannot be written: No such file or directory");
  EXPECT_FALSE(canWriteFile(folder, error));
  EXPECT_EQ(error, "'" + folder + "' cannot be written: Is a directory");
  ASSERT_EQ(write("file", "old"), "");
  EXPECT_TRUE(canWriteFile(in("file"), error)) << error;
  EXPECT_EQ(read("file"), "old");
  EXPECT_FALSE(canWriteFile(in("file/x"), error));
  EXPECT_EQ(error, "'" + in("file/x") + "' cannot be written: Not a directory");
  // A file that must not be written is no file to replace. The superuser may write anything.
  EXPECT_EQ(inChild([&] {
              std::string reason;
              return chmod(folder.c_str(), 0777) == 0 && chmod(in("file").c_str(), 0444) == 0 &&
                     (geteuid() != 0 || setuid(65534) == 0) && !writeFile(in("file"), "new", 3, reason) &&
                     reason == "'" + in("file") + "' cannot be written: Permission denied";
            }),
            0);
  EXPECT_EQ(read("file"), "old");
  EXPECT_EQ(count(), 1u);
}

TEST_F(Files, WithoutSpaceTheOldFileStays) {
  ASSERT_EQ(write("file", "old"), "");
  auto writeMuch = [&](const std::string &name) {
    return inChild([&] {
      makeFileLimitAnError();
      const rlimit most = {4096, 4096};
      setrlimit(RLIMIT_FSIZE, &most);
      return write(name, std::string(5000, 'x')) == "'" + in(name) + "' cannot be written: File too large";
    });
  };
  EXPECT_EQ(writeMuch("file"), 0);
  EXPECT_EQ(writeMuch("new"), 0);
  EXPECT_EQ(read("file"), "old");
  EXPECT_EQ(count(), 1u);
}

TEST_F(Files, ManyWritersOfOneFile) {
  constexpr int kWriters = 8, kTimes = 20;
  constexpr int64_t kBytes = 200000;
  std::vector<pid_t> children;
  for (int i = 0; i < kWriters; ++i) {
    children.push_back(fork());
    if (children.back() != 0)
      continue;
    bool good = true;
    for (int k = 0; k < kTimes; ++k) {
      good = write("file", std::string(kBytes, static_cast<char>('a' + i))).empty() && good;
      const std::string whole = read("file");
      good = good && whole == std::string(kBytes, whole[0]);
    }
    _exit(good ? 0 : 1);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(count(), 1u);
}

TEST_F(Files, OutputsAreNotInputs) {
  ASSERT_EQ(write("a", "1"), "");
  fs::create_symlink("a", in("link"));
  fs::create_hard_link(in("a"), in("hard"));
  auto errorOf = [](const std::vector<FileRole> &outputs, const std::vector<FileRole> &inputs) {
    std::string error;
    const bool good = checkDistinct(outputs, inputs, error);
    EXPECT_EQ(good, error.empty());
    return error;
  };
  for (const char *name : {"a", "link", "hard", "./a", "../"}) {
    const std::string path =
        name == std::string("../") ? in("..") + "/" + fs::path(folder).filename().string() + "/a" : in(name);
    EXPECT_EQ(errorOf({{"'-o'", path}}, {{"the model", in("a")}}),
              "'-o' is '" + path + "', which is the same file as the model '" + in("a") + "'; needed another");
  }
  EXPECT_EQ(errorOf({{"'-o'", in("new")}, {"'--log'", folder + "/./new"}}, {}),
            "'--log' is '" + folder + "/./new', which is the same file as '-o' '" + in("new") + "'; needed another");
  EXPECT_EQ(errorOf({{"'-o'", in("new")}, {"'--log'", in("other")}}, {{"the model", in("a")}}), "");
  EXPECT_EQ(errorOf({{"'-o'", "/dev/null"}, {"'--log'", "/dev/null"}, {"'--x'", "-"}, {"'--y'", ""}},
                    {{"the model", "-"}, {"'--load'", ""}}),
            "");
}

} // namespace
