//===- FakeLibrary.cpp - The CUDA backend on a GPU that only takes notes --===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A libmhcrt_cuda.so that compiled models run with on a machine without a GPU, so that tests see what a whole model
// asks of the driver. Results are zeros. The notes go to the file that MHCRT_FAKE_NOTES names, one a line; the compute
// capability, times ten, is MHCRT_FAKE_ARCH.
//
//===------------------------------------------------------------------------===//
#include "FakeDriver.h"

#include <cstdlib>
#include <fstream>

using namespace mhcrt::test;

namespace {
struct NoteWriter {
  NoteWriter() {
    FakeDriver &fake = driver(); // made first, so that it is destroyed last
    if (const char *arch = std::getenv("MHCRT_FAKE_ARCH"))
      fake.major = std::atoi(arch) / 10, fake.minor = std::atoi(arch) % 10;
  }
  ~NoteWriter() {
    const char *path = std::getenv("MHCRT_FAKE_NOTES");
    if (!path)
      return;
    std::ofstream file(path);
    for (const std::string &call : driver().calls)
      file << call << "\n";
  }
} writer;
} // namespace
