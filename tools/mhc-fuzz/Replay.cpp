//===- Replay.cpp - Run the fuzz target on files ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In a build without libFuzzer: each file once, as libFuzzer does with files.
//
//===----------------------------------------------------------------------===//

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static constexpr const char *kUsage =
    "usage: mhc-fuzz FILE...\n\n"
    "Compiles each file once, whatever it holds, and ends with 0 unless that crashes.\n"
    "This build has no libFuzzer; in one that has, --help=1 lists its options.\n";

static int fail(const llvm::Twine &message) {
  llvm::errs() << "mhc-fuzz: error: " << message << "\n";
  return 2;
}

int main(int argc, char **argv) {
  const llvm::ArrayRef<char *> words(argv + 1, argv + argc);
  for (llvm::StringRef word : words) {
    if (word == "--help") {
      llvm::outs() << kUsage;
      return 0;
    }
    if (word.starts_with("-"))
      return fail("unknown option '" + word + "'; see --help");
  }
  if (words.empty())
    return fail("no file given; see --help");
  for (llvm::StringRef path : words) {
    auto file = llvm::MemoryBuffer::getFile(path);
    if (!file)
      return fail("'" + path + "': " + file.getError().message());
    llvm::errs() << "Running: " << path << "\n"; // libFuzzer's words
    llvm::StringRef text = (*file)->getBuffer();
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(text.data()), text.size());
  }
  return 0;
}
