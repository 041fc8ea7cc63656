//===- CaptureTest.cpp - Captures and memory of other programs ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every entry and the rest of a model, in a program that captures graphs of its own and brings its own memory.
//
//===------------------------------------------------------------------------===//
#include "Embedding.h"

using namespace mhcrt::test;

namespace {

/// A program's memory, given out in the order of its streams.
struct Pool {
  std::map<void *, int64_t> blocks;
  size_t most = 0; ///< blocks at a time
  uintptr_t next = uintptr_t{1} << 40;
  bool isEmpty = false;
  int64_t offset = 0; ///< of the addresses, in bytes

  static void *alloc(void *user, int64_t bytes, void *stream) {
    auto &pool = *static_cast<Pool *>(user);
    if (pool.isEmpty)
      return nullptr;
    driver().enqueue("alloc", static_cast<cudaStream_t>(stream));
    void *memory = reinterpret_cast<void *>(pool.next += (uintptr_t{1} << 20) + pool.offset);
    pool.blocks[memory] = bytes;
    pool.most = std::max(pool.most, pool.blocks.size());
    return memory;
  }
  static void free(void *user, void *memory, int64_t bytes, void *stream) {
    auto &pool = *static_cast<Pool *>(user);
    driver().enqueue("free", static_cast<cudaStream_t>(stream));
    ASSERT_EQ(pool.blocks.count(memory), 1u);
    EXPECT_EQ(pool.blocks[memory], bytes);
    pool.blocks.erase(memory);
  }
};

// Captures of other programs

TEST_F(CudaEmbedding, ACaptureWithoutTheMemoryIsAnErrorAndGoesOn) {
  int refused = 0;
  forEachEntry([&](const Entry &entry) {
    const cudaStream_t stream = driver().makeStream();
    mhcrt_cuda_set_stream(context, stream);
    const auto blocks = driver().blocks;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    if (call(entry) != MHCRT_OK) {
      ++refused;
      const std::string text = error(), start = "mhcrt_" + std::string(entry.name) + ": ";
      EXPECT_EQ(text.rfind(start, 0), 0u) << text;
      EXPECT_GT(std::atoll(text.c_str() + start.size()), 0) << text;
      EXPECT_NE(text.find(" bytes of memory are needed while the stream is captured; make the same calls once before, "
                          "or set an allocator"),
                std::string::npos)
          << text;
    }
    endCapture(stream); // not ended before
    EXPECT_EQ(driver().blocks, blocks);
    EXPECT_EQ(call(entry), MHCRT_OK) << error();
  });
  EXPECT_GE(refused, 8);
}

TEST_F(CudaEmbedding, WhatCannotBeDoneInACapture) {
  const float host[4] = {};
  const cudaStream_t stream = driver().makeStream();
  mhcrt_cuda_set_stream(context, stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(mhcrt_synchronize(context), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "mhcrt_synchronize: the stream is captured, so that nothing runs; end the capture first");
  EXPECT_EQ(mhcrt_cuda_record_begin(context), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "mhcrt_cuda_record_begin: the stream is captured already");
  EXPECT_EQ(mhcrt_workspace(context, 5000), nullptr);
  EXPECT_EQ(error(), "mhcrt_workspace: 5120 bytes of memory are needed while the stream is captured; make the same "
                     "calls once before, or set an allocator");
  EXPECT_EQ(mhcrt_constant(context, host, sizeof(host)), nullptr);
  EXPECT_EQ(error(), "mhcrt_constant: 256 bytes of memory are needed while the stream is captured; make the same calls "
                     "once before, or set an allocator");
  // A program's first loop loads code, which a capture of the strictest mode would forbid.
  void *arguments[] = {nullptr};
  mhcrt_cuda_loop(context, "image", 6, "add", arguments, 1000);
  EXPECT_EQ(error(), "");
  endCapture(stream);
  EXPECT_NE(mhcrt_constant(context, host, sizeof(host)), nullptr) << error();
  // One that others have ended is one all the same, until they notice.
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  driver().endedCaptures.insert(driver().captures);
  EXPECT_EQ(mhcrt_synchronize(context), MHCRT_INVALID_ARGUMENT);
}

/// The legacy stream waits for other streams, which a captured one cannot bear.
TEST_F(CudaEmbedding, TheLegacyStreamBesideACapture) {
  forEachEntry([&](const Entry &entry) {
    const cudaStream_t others = driver().makeStream();
    mhcrt_cuda_set_stream(context, nullptr);
    const size_t work = driver().work.size();
    cudaStreamBeginCapture(others, cudaStreamCaptureModeGlobal);
    EXPECT_EQ(call(entry), MHCRT_DEVICE_ERROR);
    EXPECT_EQ(error(), "mhcrt_" + std::string(entry.name) + ": an error of the fake driver (cudaErrorFake)");
    EXPECT_EQ(mhcrt_cuda_set_stream(context, others), MHCRT_DEVICE_ERROR);
    error();
    EXPECT_EQ(driver().work.size(), work);
    endCapture(others);
    EXPECT_EQ(call(entry), MHCRT_OK) << error();
  });
}

/// The graph has the addresses of the memory that was there when it was captured.
TEST_F(CudaEmbedding, MemoryOfACapturedCallStays) {
  forEachEntry([&](const Entry &entry) {
    const cudaStream_t stream = driver().makeStream();
    mhcrt_cuda_set_stream(context, stream);
    ASSERT_EQ(call(entry), MHCRT_OK) << error();
    ASSERT_NE(mhcrt_workspace(context, 1000), nullptr);
    const auto captured = driver().blocks;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    ASSERT_EQ(call(entry), MHCRT_OK) << error();
    ASSERT_NE(mhcrt_workspace(context, 1000), nullptr);
    endCapture(stream);
    ASSERT_EQ(call(entry, 100000), MHCRT_OK) << error();
    ASSERT_NE(mhcrt_workspace(context, 10000), nullptr);
    for (const auto &[address, block] : captured)
      EXPECT_EQ(driver().blocks.count(address), 1u);
    mhcrt_context_destroy(std::exchange(context, nullptr));
    EXPECT_TRUE(driver().blocks.empty());
  });
}

/// Another thread's capture, of a stream that the context knows nothing of.
TEST_F(CudaEmbedding, CapturesOfOthersGoOnWhileMemoryGrows) {
  const cudaStream_t others = driver().makeStream();
  forEachEntry([&](const Entry &entry) {
    cudaStreamBeginCapture(others, cudaStreamCaptureModeGlobal);
    EXPECT_EQ(call(entry), MHCRT_OK) << error();
    EXPECT_EQ(call(entry, 100000), MHCRT_OK) << error();
    mhcrt_buffer_destroy(context, mhcrt_buffer_create(context, 100));
    EXPECT_EQ(mhcrt_synchronize(context), MHCRT_OK) << error();
    mhcrt_context_destroy(std::exchange(context, nullptr));
    EXPECT_EQ(mhcrt_context_create(0, &context), MHCRT_OK);
    endCapture(others);
  });
}

// Memory of other programs

TEST_F(CudaEmbedding, AllMemoryIsTheAllocators) {
  forEachEntry([&](const Entry &entry) {
    Pool pool;
    ASSERT_EQ(mhcrt_cuda_set_allocator(context, Pool::alloc, Pool::free, &pool), MHCRT_OK);
    const int mallocs = driver().count("malloc");
    for (int64_t M : {10, 1000, 100000}) {
      mhcrt_cuda_set_stream(context, driver().makeStream());
      EXPECT_EQ(call(entry, M), MHCRT_OK) << error();
      EXPECT_NE(mhcrt_workspace(context, M), nullptr) << error();
    }
    mhcrt_buffer_destroy(context, mhcrt_buffer_create(context, 100));
    const float host[4] = {};
    EXPECT_NE(mhcrt_constant(context, host, sizeof(host)), nullptr);
    EXPECT_EQ(pool.blocks.size(), 2u); // workspace and constant: scratch is of one call
    // Blocks of the pool go back to it, though new ones come from elsewhere now.
    mhcrt_cuda_set_allocator(context, nullptr, nullptr, nullptr);
    EXPECT_EQ(driver().count("malloc"), mallocs);
    mhcrt_context_destroy(std::exchange(context, nullptr));
    EXPECT_TRUE(pool.blocks.empty());
    expectInOrder();
  });
}

TEST_F(CudaEmbedding, AnAllocatorServesCaptures) {
  int served = 0;
  forEachEntry([&](const Entry &entry) {
    Pool pool;
    mhcrt_cuda_set_allocator(context, Pool::alloc, Pool::free, &pool);
    const cudaStream_t stream = driver().makeStream();
    mhcrt_cuda_set_stream(context, stream);
    const size_t before = driver().work.size();
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    EXPECT_EQ(call(entry), MHCRT_OK) << error();
    served += driver().work.back().what == "free";
    EXPECT_TRUE(pool.blocks.empty()); // the graph takes and gives it back
    // Not in one block: scratch, and what one part of a kernel leaves for the next.
    EXPECT_TRUE(entry.name != std::string("post_pre_bwd") || pool.most == 2u);
    const void *captured = mhcrt_workspace(context, 1000);
    EXPECT_NE(captured, nullptr) << error();
    EXPECT_EQ(mhcrt_workspace(context, 900), captured);
    EXPECT_EQ(pool.blocks.size(), 1u);
    endCapture(stream);
    expectInOrder(before);
    // Memory of a graph is not used outside of it.
    EXPECT_NE(mhcrt_workspace(context, 1000), captured);
    EXPECT_EQ(call(entry), MHCRT_OK) << error();
    mhcrt_context_destroy(std::exchange(context, nullptr));
    EXPECT_TRUE(pool.blocks.empty());
  });
  EXPECT_GE(served, 8);
}

/// Memory waits for work that the stream of a capture has not waited for, too.
TEST_F(CudaEmbedding, MemoryGoesBackBehindAllWork) {
  forEachEntry([&](const Entry &entry) {
    Pool pool;
    mhcrt_cuda_set_allocator(context, Pool::alloc, Pool::free, &pool);
    const cudaStream_t eager = driver().makeStream(), captured = driver().makeStream();
    mhcrt_cuda_set_stream(context, eager);
    ASSERT_NE(mhcrt_workspace(context, 1000), nullptr);
    ASSERT_EQ(call(entry), MHCRT_OK) << error();
    cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal);
    mhcrt_cuda_set_stream(context, captured);
    endCapture(captured);
    mhcrt_context_destroy(std::exchange(context, nullptr));
    EXPECT_EQ(driver().work.back().what, "free");
    expectInOrder();
  });
}

TEST_F(CudaEmbedding, AllocatorsThatAreNoUse) {
  Pool pool;
  EXPECT_EQ(mhcrt_cuda_set_allocator(context, Pool::alloc, nullptr, &pool), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "mhcrt_cuda_set_allocator: 'free' is null; needed both functions or none");
  EXPECT_EQ(mhcrt_cuda_set_allocator(context, nullptr, Pool::free, &pool), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "mhcrt_cuda_set_allocator: 'alloc' is null; needed both functions or none");
  mhcrt_cuda_set_allocator(context, Pool::alloc, Pool::free, &pool);
  pool.isEmpty = true;
  EXPECT_EQ(mhcrt_workspace(context, 1000), nullptr);
  EXPECT_EQ(mhcrt_last_status(context), MHCRT_OUT_OF_MEMORY);
  EXPECT_EQ(error(), "mhcrt_workspace: the allocator has no memory for 1024 bytes");
  pool = {};
  pool.offset = 16;
  EXPECT_EQ(mhcrt_workspace(context, 1000), nullptr);
  EXPECT_EQ(error(), "mhcrt_workspace: the allocator's memory is at 0x10000100010; needed a multiple of 256");
  EXPECT_TRUE(pool.blocks.empty());
}

// Compiled models

/// An entry of a model that has a constant, a loop and every kernel.
mhcrt_status callModel(mhcrt_context *context) {
  static const float weights[64] = {};
  void *arguments[] = {nullptr};
  if (!mhcrt_workspace(context, 1 << 16) || !mhcrt_constant(context, weights, sizeof(weights)))
    return mhcrt_last_status(context);
  mhcrt_cuda_loop(context, "image", 6, "add", arguments, 1000);
  for (const Entry &entry : entries())
    entry.call(context, 1000, 4, 33);
  return mhcrt_last_status(context);
}

TEST_F(CudaEmbedding, AModelOnSeveralStreamsAndBesideAnotherDevice) {
  const cudaStream_t first = driver().makeStream(), second = driver().makeStream();
  driver().device = 1;
  for (cudaStream_t stream : {first, second, first}) {
    mhcrt_cuda_set_stream(context, stream);
    ASSERT_EQ(callModel(context), MHCRT_OK) << error();
  }
  expectInOrder();
  EXPECT_EQ(driver().devicesUsed, std::set<int>{0});
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(CudaEmbedding, AModelInACapture) {
  const cudaStream_t stream = driver().makeStream();
  mhcrt_cuda_set_stream(context, stream);
  for (bool isFirst : {true, false}) {
    const auto blocks = driver().blocks;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    EXPECT_EQ(callModel(context), isFirst ? MHCRT_INVALID_ARGUMENT : MHCRT_OK);
    EXPECT_EQ(error(), isFirst ? "mhcrt_workspace: 65536 bytes of memory are needed while the stream is captured; make "
                                 "the same calls once before, or set an allocator"
                               : "");
    endCapture(stream);
    EXPECT_EQ(driver().blocks, blocks);
    ASSERT_EQ(callModel(context), MHCRT_OK) << error();
  }
}

TEST_F(CudaEmbedding, AModelInACaptureWithAnAllocator) {
  Pool pool;
  mhcrt_cuda_set_allocator(context, Pool::alloc, Pool::free, &pool);
  const cudaStream_t stream = driver().makeStream();
  mhcrt_cuda_set_stream(context, stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  ASSERT_EQ(callModel(context), MHCRT_OK) << error();
  EXPECT_EQ(pool.blocks.size(), 2u); // workspace and constant
  int copies = 0;
  for (const Work &work : driver().work)
    copies += work.what == "copy" && work.capture == 0;
  EXPECT_EQ(copies, 1); // the constant is there for calls that run, too
  endCapture(stream);
  ASSERT_EQ(callModel(context), MHCRT_OK) << error();
  mhcrt_context_destroy(std::exchange(context, nullptr));
  EXPECT_TRUE(pool.blocks.empty());
}

} // namespace
