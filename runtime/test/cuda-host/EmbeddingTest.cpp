//===- EmbeddingTest.cpp - Streams, devices, threads and errors of others -===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every entry as a program calls it that has several streams, devices and threads, and looks at CUDA's last error.
//
//===------------------------------------------------------------------------===//
#include "Embedding.h"

#include "mhcrt/measure.h"

#include <thread>

using namespace mhcrt::test;

namespace {

// Streams

TEST_F(CudaEmbedding, CallsOnSeveralStreamsFollowOneAnother) {
  forEachEntry([&](const Entry &entry) {
    const cudaStream_t first = driver().makeStream(), second = driver().makeStream();
    for (cudaStream_t stream : {first, second, first, cudaStream_t(nullptr), second, cudaStreamPerThread, first}) {
      ASSERT_EQ(mhcrt_cuda_set_stream(context, stream), MHCRT_OK);
      const size_t before = driver().work.size();
      ASSERT_EQ(call(entry), MHCRT_OK) << error();
      EXPECT_GT(driver().work.size(), before);
    }
    expectInOrder();
  });
}

TEST_F(CudaEmbedding, StreamsOfOneCaptureFollowOneAnother) {
  forEachEntry([&](const Entry &entry) {
    const cudaStream_t origin = driver().makeStream(), other = driver().makeStream();
    mhcrt_cuda_set_stream(context, origin);
    ASSERT_EQ(call(entry), MHCRT_OK) << error();
    const size_t before = driver().work.size();
    ASSERT_EQ(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal), cudaSuccess);
    for (cudaStream_t stream : {origin, other, origin}) {
      ASSERT_EQ(mhcrt_cuda_set_stream(context, stream), MHCRT_OK) << error();
      ASSERT_EQ(call(entry), MHCRT_OK) << error();
      EXPECT_EQ(driver().work.back().capture, 1);
    }
    endCapture(origin); // all streams are joined
    expectInOrder(before);
  });
}

/// A capture cannot wait for work that runs. The next call that runs waits for it.
TEST_F(CudaEmbedding, AStreamThatIsCapturedAlready) {
  forEachEntry([&](const Entry &entry) {
    const cudaStream_t eager = driver().makeStream(), captured = driver().makeStream();
    mhcrt_cuda_set_stream(context, eager);
    ASSERT_EQ(call(entry), MHCRT_OK) << error();
    const size_t ran = driver().work.size();
    cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal);
    ASSERT_EQ(mhcrt_cuda_set_stream(context, captured), MHCRT_OK) << error();
    ASSERT_EQ(call(entry), MHCRT_OK) << error();
    endCapture(captured);
    ASSERT_EQ(call(entry), MHCRT_OK) << error();
    EXPECT_EQ(driver().work.back().capture, 0);
    for (size_t i = 0; i < ran; ++i)
      EXPECT_EQ(driver().work.back().after.count(i), 1u) << driver().work[i].what;
    // Once is enough.
    driver().doneOn(captured).clear();
    ASSERT_EQ(call(entry), MHCRT_OK);
    EXPECT_EQ(driver().work.back().after.count(0), 0u);
  });
}

TEST_F(CudaEmbedding, StreamsThatCannotBeSet) {
  EXPECT_EQ(mhcrt_cuda_set_stream(context, driver().makeStream(1)), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "mhcrt_cuda_set_stream: the stream is of GPU 1; needed one of GPU 0, where the context is");

  const cudaStream_t captured = driver().makeStream(), other = driver().makeStream();
  mhcrt_cuda_set_stream(context, captured);
  cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(mhcrt_cuda_set_stream(context, nullptr), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(error(),
            "mhcrt_cuda_set_stream: the default stream cannot join the capture of the one before; end it first");
  // Two captures have no order.
  cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(mhcrt_cuda_set_stream(context, other), MHCRT_OK) << error();
  endCapture(captured);
  endCapture(other);

  ASSERT_EQ(mhcrt_cuda_set_stream(context, cudaStreamPerThread), MHCRT_OK);
  std::thread([&] {
    EXPECT_EQ(call(entries()[0]), MHCRT_INVALID_ARGUMENT);
    EXPECT_EQ(error(), "mhcrt_aggregate: the context's stream is the default stream of another thread");
    EXPECT_EQ(mhcrt_cuda_set_stream(context, other), MHCRT_INVALID_ARGUMENT);
    EXPECT_EQ(error(), "mhcrt_cuda_set_stream: the context's stream is the default stream of another thread");
  }).join();
  EXPECT_EQ(call(entries()[0]), MHCRT_OK) << error();
  // The memory of such a stream's work is free when all work has ended.
  const int waits = driver().count("synchronize");
  std::thread([&] { mhcrt_context_destroy(std::exchange(context, nullptr)); }).join();
  EXPECT_EQ(driver().count("synchronize"), waits + 1);
}

// Devices

TEST_F(CudaEmbedding, CallsUseTheContextsDeviceAndLeaveTheCallers) {
  forEachEntry([&](const Entry &entry) {
    driver().device = 1;
    EXPECT_EQ(call(entry), MHCRT_OK) << error();
    EXPECT_EQ(driver().device, 1);
    EXPECT_EQ(call(entry, -1), MHCRT_INVALID_ARGUMENT);
    EXPECT_EQ(driver().device, 1);
    EXPECT_EQ(driver().devicesUsed, std::set<int>{0});
  });
}

/// Functions that are not the entry of a kernel.
TEST_F(CudaEmbedding, OtherFunctionsUseTheContextsDeviceToo) {
  const float host[4] = {};
  void *arguments[] = {nullptr}, *buffer = nullptr;
  mhcrt_cuda_graph *graph = nullptr;
  const auto replayed = [](void *user) { return mhcrt_synchronize(static_cast<mhcrt_context *>(user)); };
  const std::vector<std::pair<const char *, std::function<void()>>> calls = {
      {"workspace", [&] { mhcrt_workspace(context, 1000); }},
      {"buffer_create", [&] { buffer = mhcrt_buffer_create(context, 100); }},
      {"copy", [&] { mhcrt_copy(context, buffer, host, sizeof(host)); }},
      {"constant", [&] { mhcrt_constant(context, host, sizeof(host)); }},
      {"loop", [&] { mhcrt_cuda_loop(context, "image", 6, "add", arguments, 1000); }},
      {"record_begin", [&] { mhcrt_cuda_record_begin(context); }},
      {"record_end", [&] { mhcrt_cuda_record_end(context, &graph); }},
      {"replay", [&] { mhcrt_cuda_replay(context, graph); }},
      {"set_stream", [&] { mhcrt_cuda_set_stream(context, nullptr); }},
      {"synchronize", [&] { mhcrt_synchronize(context); }},
      {"measure_copy", [&] { mhcrt_measure_copy_bandwidth(context, buffer, buffer, 100); }},
      {"measure_fma", [&] { mhcrt_measure_fma_peak(context); }},
      {"buffer_destroy", [&] { mhcrt_buffer_destroy(context, buffer); }},
      {"destroy",
       [&] {
         mhcrt_context_destroy(context);
         context = nullptr;
       }},
  };
  EXPECT_LT(mhcrt_measure_call(context, replayed, context), 0); // a call that waits is not measured
  error();
  driver().device = 1;
  for (const auto &[name, call] : calls) {
    SCOPED_TRACE(name);
    call();
    if (context) {
      EXPECT_EQ(mhcrt_last_status(context), MHCRT_OK) << error();
    }
    EXPECT_EQ(driver().device, 1);
    EXPECT_EQ(driver().devicesUsed, std::set<int>{0});
  }
  mhcrt_cuda_graph_destroy(graph);
  EXPECT_TRUE(driver().blocks.empty());
}

// Threads

TEST_F(CudaEmbedding, CallsThatOverlapAreAnError) {
  forEachEntry([&](const Entry &entry) {
    mhcrt_status intruder = MHCRT_OK;
    driver().duringLaunch = [&] {
      driver().duringLaunch = nullptr;
      std::thread([&] {
        const size_t work = driver().work.size();
        intruder = call(entry);
        EXPECT_EQ(driver().work.size(), work);
      }).join();
    };
    call(entry);
    EXPECT_EQ(intruder, MHCRT_INVALID_ARGUMENT);
    const std::string name = "mhcrt_" + std::string(entry.name);
    EXPECT_EQ(error(), name + " was called while " + name + " ran; calls on one context must not overlap");
    EXPECT_EQ(call(entry), MHCRT_OK) << error();
  });
}

// Errors

TEST_F(CudaEmbedding, AConstantThatWasNotCopiedIsCopiedAgain) {
  const float host[4] = {};
  driver().copyError = cudaErrorInvalidValue;
  const auto blocks = driver().blocks;
  EXPECT_EQ(mhcrt_constant(context, host, sizeof(host)), nullptr);
  EXPECT_EQ(error(), "mhcrt_constant: an error of the fake driver (cudaErrorFake)");
  EXPECT_EQ(driver().blocks, blocks);
  driver().copyError = cudaSuccess;
  EXPECT_NE(mhcrt_constant(context, host, sizeof(host)), nullptr) << error();
  EXPECT_EQ(driver().count("copy"), 2);
}

TEST_F(CudaEmbedding, AnErrorOfTheCallerIsNotOurs) {
  forEachEntry([&](const Entry &entry) {
    driver().lastError = cudaErrorInvalidValue;
    EXPECT_EQ(call(entry), MHCRT_OK) << error();
    EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  });
}

TEST_F(CudaEmbedding, AnErrorOfACallIsNotTheThreadsLast) {
  forEachEntry([&](const Entry &entry) {
    driver().launchError = cudaErrorLaunchOutOfResources;
    EXPECT_EQ(call(entry), MHCRT_DEVICE_ERROR);
    EXPECT_EQ(driver().launches.size() + driver().count("product"), 1u) << "what follows a failure is not launched";
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    driver().launchError = cudaSuccess;
    mhcrt_context *other = nullptr;
    ASSERT_EQ(mhcrt_context_create(0, &other), MHCRT_OK);
    EXPECT_EQ(entry.call(other, 1000, 4, entry.C), MHCRT_OK) << mhcrt_last_error(other);
    mhcrt_context_destroy(other);
  });
}

TEST_F(CudaEmbedding, WrongSizesAreRefused) {
  forEachEntry([&](const Entry &entry) {
    const size_t work = driver().work.size();
    EXPECT_EQ(call(entry, -1), MHCRT_INVALID_ARGUMENT);
    const std::string text = error();
    EXPECT_EQ(text.rfind("mhcrt_" + std::string(entry.name) + ": '", 0), 0u) << text;
    EXPECT_NE(text.find(" is -1; needed "), std::string::npos) << text;
    EXPECT_EQ(driver().work.size(), work);
  });
}

} // namespace
