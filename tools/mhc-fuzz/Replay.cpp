//===- Replay.cpp - Run the fuzz target on files ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In a build without libFuzzer: each file once, as libFuzzer does with files.
//
//===----------------------------------------------------------------------===//

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
  if (argc < 2) {
    llvm::errs() << "usage: mhc-fuzz FILE...\nThis build has no libFuzzer, and runs each file once.\n";
    return 2;
  }
  for (int i = 1; i < argc; ++i) {
    auto file = llvm::MemoryBuffer::getFile(argv[i]);
    if (!file) {
      llvm::errs() << "mhc-fuzz: " << argv[i] << ": " << file.getError().message() << "\n";
      return 2;
    }
    llvm::errs() << "Running: " << argv[i] << "\n"; // libFuzzer's words
    llvm::StringRef text = (*file)->getBuffer();
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(text.data()), text.size());
  }
  return 0;
}
