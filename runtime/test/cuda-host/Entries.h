//===- Entries.h - A call of every entry ------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_CUDA_HOST_ENTRIES_H
#define MHCRT_TEST_CUDA_HOST_ENTRIES_H

#include "mhcrt/kernels.h"

#include <functional>
#include <vector>

namespace mhcrt::test {

struct Entry {
  const char *name;
  std::function<mhcrt_status(mhcrt_context *, int64_t M, int64_t n, int64_t C)> call;
  int64_t C = 33; ///< where a test asks for no other
};

/// Every entry of mhcrt/kernels.h with all results, in f32, but products in types that the library does not take.
const std::vector<Entry> &entries();

/// Entries with one launch for the widths of clusters and gangs of blocks, which take it: four streams in bf16.
const std::vector<Entry> &ringEntries();

} // namespace mhcrt::test

#endif // MHCRT_TEST_CUDA_HOST_ENTRIES_H
