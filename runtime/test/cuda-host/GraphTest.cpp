//===- GraphTest.cpp - Calls recorded into graphs, and their ranges -------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "../Call.h"
#include "FakeDriver.h"

#include "mhcrt/cuda.h"

#include <gtest/gtest.h>

using namespace mhcrt::test;

namespace {

class CudaGraphs : public testing::Test {
protected:
  CudaGraphs() {
    driver() = FakeDriver();
    EXPECT_EQ(mhcrt_context_create(0, &context), MHCRT_OK);
  }
  ~CudaGraphs() override { mhcrt_context_destroy(context); }

  std::string error() {
    const std::string text = mhcrt_last_error(context);
    mhcrt_clear_error(context);
    return text;
  }
  /// A call that needs scratch memory.
  mhcrt_status head(int64_t M) {
    return call(mhcrt_head, context, this, MHCRT_F32, this, MHCRT_F32, nullptr, MHCRT_NONE, this, MHCRT_F32, this,
                MHCRT_F32, this, MHCRT_F32, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, M, 4, 8, 32,
                1, 0, 0, 0, 1e-6, 1e-6, MHCRT_PRECISION_BF16X3);
  }

  mhcrt_context *context = nullptr;
  mhcrt_cuda_graph *graph = nullptr;
};

TEST_F(CudaGraphs, RecordAndReplay) {
  ASSERT_EQ(head(100), MHCRT_OK);
  ASSERT_EQ(mhcrt_cuda_record_begin(context), MHCRT_OK);
  ASSERT_EQ(head(100), MHCRT_OK);
  ASSERT_EQ(mhcrt_cuda_record_end(context, &graph), MHCRT_OK) << error();
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(mhcrt_cuda_replay(context, graph), MHCRT_OK);
  EXPECT_EQ(mhcrt_cuda_replay(context, graph), MHCRT_OK);
  EXPECT_EQ(driver().count("replay"), 2);
  // More memory moves the addresses that the graph has.
  ASSERT_EQ(head(200), MHCRT_OK);
  EXPECT_EQ(driver().count("free"), 1);
  EXPECT_EQ(mhcrt_cuda_replay(context, graph), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(error(),
            "mhcrt_cuda_replay: the context's memory has grown since the calls were recorded; record them again");
  mhcrt_cuda_graph_destroy(graph);
  EXPECT_EQ(driver().count("graph destroyed"), 2); // what was recorded, and what was made of it
}

TEST_F(CudaGraphs, StreamsOfARecordAreJoined) {
  const cudaStream_t origin = driver().makeStream(), other = driver().makeStream();
  mhcrt_cuda_set_stream(context, origin);
  ASSERT_EQ(head(100), MHCRT_OK);
  ASSERT_EQ(mhcrt_cuda_record_begin(context), MHCRT_OK);
  ASSERT_EQ(mhcrt_cuda_set_stream(context, other), MHCRT_OK);
  ASSERT_EQ(head(100), MHCRT_OK);
  EXPECT_EQ(mhcrt_cuda_record_end(context, &graph), MHCRT_OK) << error();
  ASSERT_NE(graph, nullptr);
  mhcrt_cuda_graph_destroy(graph);
  ASSERT_EQ(head(100), MHCRT_OK);
  EXPECT_EQ(driver().launches.back().stream, origin);
}

TEST_F(CudaGraphs, WhatWasNotCalledBeforeIsNotRecorded) {
  const auto before = driver().blocks;
  ASSERT_EQ(mhcrt_cuda_record_begin(context), MHCRT_OK);
  EXPECT_EQ(head(100), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(mhcrt_cuda_record_end(context, &graph), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(error(),
            "mhcrt_head: 72192 bytes of memory are needed while the stream is captured; make the same calls once "
            "before, or set an allocator");
  EXPECT_EQ(driver().blocks, before);
  EXPECT_EQ(head(100), MHCRT_OK); // the stream has left its mode
  ASSERT_EQ(mhcrt_cuda_record_begin(context), MHCRT_OK);
  EXPECT_EQ(mhcrt_buffer_create(context, 16), nullptr);
  EXPECT_EQ(error(),
            "mhcrt_buffer_create: 256 bytes of memory are needed while the stream is captured; make the same calls "
            "once before, or set an allocator");
  mhcrt_cuda_record_end(context, &graph);
  mhcrt_cuda_graph_destroy(graph);
  EXPECT_EQ(mhcrt_cuda_record_end(context, &graph), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "mhcrt_cuda_record_end: no calls were recorded");
}

TEST_F(CudaGraphs, AStreamThatDoesNotRecord) {
  driver().recordError = cudaErrorStreamCaptureUnsupported;
  EXPECT_EQ(mhcrt_cuda_record_begin(context), MHCRT_DEVICE_ERROR);
  EXPECT_EQ(error(), "mhcrt_cuda_record_begin: an error of the fake driver (cudaErrorFake)");
}

/// NVTX hands its calls to the library that this variable names; the fake driver is one.
TEST_F(CudaGraphs, RangesNameOpAndLine) {
  setenv("NVTX_INJECTION64_PATH", kRangeNotes, 1);
  const auto aggregate = [&] {
    return call(mhcrt_aggregate, context, this, MHCRT_F32, this, MHCRT_F32, this, MHCRT_F32, 3, 4, 33, 0);
  };
  ASSERT_EQ(aggregate(), MHCRT_OK);
  mhcrt_cuda_set_ranges(context, 1);
  ASSERT_EQ(aggregate(), MHCRT_OK);
  mhcrt_set_location(context, "layer.mlir:12:8");
  ASSERT_EQ(aggregate(), MHCRT_OK);
  void *arguments[] = {nullptr};
  mhcrt_cuda_loop(context, "image", 6, "mhc_loop_3", arguments, 1000);
  const std::vector<std::string> wanted = {"range aggregate", "range aggregate layer.mlir:12:8",
                                           "range mhc_loop_3 layer.mlir:12:8"};
  std::vector<std::string> ranges;
  for (const std::string &call : driver().calls)
    if (call.rfind("range ", 0) == 0)
      ranges.push_back(call);
  EXPECT_EQ(ranges, wanted);
  EXPECT_EQ(driver().count("end of range"), 3);
}

} // namespace
