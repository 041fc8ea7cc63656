//===- Embedding.h - A program that uses the GPU as well --------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_CUDA_HOST_EMBEDDING_H
#define MHCRT_TEST_CUDA_HOST_EMBEDDING_H

#include "Entries.h"
#include "FakeDriver.h"

#include "mhcrt/cuda.h"

#include <gtest/gtest.h>

namespace mhcrt::test {

class CudaEmbedding : public testing::Test {
protected:
  CudaEmbedding() { renew(); }
  ~CudaEmbedding() override { mhcrt_context_destroy(context); }

  /// A driver and a context that nobody has used.
  void renew() {
    mhcrt_context_destroy(context);
    driver() = FakeDriver();
    ASSERT_EQ(mhcrt_context_create(0, &context), MHCRT_OK);
  }
  std::string error() {
    const std::string text = mhcrt_last_error(context);
    mhcrt_clear_error(context);
    return text;
  }
  mhcrt_status call(const Entry &entry, int64_t M = 1000) { return entry.call(context, M, 4, entry.C); }
  /// Each entry with a new context.
  template <typename Body>
  void forEachEntry(Body body) {
    for (const std::vector<Entry> *list : {&entries(), &ringEntries()})
      for (const Entry &entry : *list) {
        SCOPED_TRACE(entry.name + std::string(" C=") + std::to_string(entry.C));
        renew();
        body(entry);
      }
  }
  /// Work from number `first` on, each behind all that came before it there.
  void expectInOrder(size_t first = 0) {
    for (size_t i = first; i < driver().work.size(); ++i)
      for (size_t earlier = first; earlier < i; ++earlier)
        EXPECT_EQ(driver().work[i].after.count(earlier), 1u)
            << driver().work[i].what << " does not wait for " << driver().work[earlier].what;
  }
  void endCapture(cudaStream_t stream) {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  }

  mhcrt_context *context = nullptr;
};

} // namespace mhcrt::test

#endif // MHCRT_TEST_CUDA_HOST_EMBEDDING_H
