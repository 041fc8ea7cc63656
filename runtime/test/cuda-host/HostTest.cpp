//===- HostTest.cpp - Memory, streams and errors of the CUDA backend ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "../Call.h"
#include "FakeDriver.h"

#include "cuda/host/Context.h"
#include "cuda/host/CutFault.h"
#include "cuda/host/Images.h"
#include "mhcrt/cuda.h"

#include <gtest/gtest.h>

using namespace mhcrt;
using namespace mhcrt::test;

namespace {

class CudaHost : public testing::Test {
protected:
  CudaHost() {
    driver() = FakeDriver();
    EXPECT_EQ(mhcrt_context_create(0, &context), MHCRT_OK);
  }
  ~CudaHost() override { mhcrt_context_destroy(context); }

  std::string error() const { return mhcrt_last_error(context); }
  mhcrt_status aggregate(int64_t M) {
    return call(mhcrt_aggregate, context, this, MHCRT_F32, this, MHCRT_F32, this, MHCRT_F32, M, 4, 33, 0);
  }
  /// A call that needs scratch memory.
  mhcrt_status head(int64_t M) {
    return call(mhcrt_head, context, this, MHCRT_F32, this, MHCRT_F32, nullptr, MHCRT_NONE, this, MHCRT_F32, this,
                MHCRT_F32, this, MHCRT_F32, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, M, 4, 8, 32,
                1, 0, 0, 0, 1e-6, 1e-6, MHCRT_PRECISION_BF16X3);
  }
  mhcrt_status matmul(int32_t rhsType, int64_t M) {
    return call(mhcrt_matmul, context, this, MHCRT_BF16, this, rhsType, this, MHCRT_BF16, M, 8, 16, 0, 0);
  }

  mhcrt_context *context = nullptr;
};

// The GPU

/// Machine code runs on later GPUs of its major version, PTX on all later ones.
TEST(CudaImages, WhatTheyRunOn) {
  EXPECT_TRUE(hasCodeFor("80-real", 80));
  EXPECT_TRUE(hasCodeFor("80-real", 89));
  EXPECT_FALSE(hasCodeFor("80-real", 90));
  EXPECT_FALSE(hasCodeFor("120-real 121-real", 110));
  EXPECT_FALSE(hasCodeFor("103-real", 100));
  EXPECT_TRUE(hasCodeFor("80-real 90-virtual", 110));
  EXPECT_FALSE(hasCodeFor("80-real 90-virtual", 75));
  for (int arch : {80, 86, 89, 90, 100, 103, 110, 120, 121, 130})
    EXPECT_TRUE(hasCodeFor(kImages, arch)) << arch;
}

/// PTX of a GPU before 9.0 would be launched to overlap, and not wait.
TEST(CudaImages, NoPtxThatDoesNotWait) {
  const std::string images = kImages;
  EXPECT_EQ(images.find("virtual"), images.find("90-virtual") + 3);
  EXPECT_EQ(images.find("virtual"), images.rfind("virtual"));
}

TEST_F(CudaHost, AGpuWithoutCodeIsNamed) {
  mhcrt_cuda_machine machine;
  EXPECT_EQ(mhcrt_cuda_describe(&machine), MHCRT_OK);
  EXPECT_STREQ(machine.name, "a fake GPU");
  EXPECT_EQ(machine.arch, 90);
  EXPECT_STREQ(machine.problem, "");
  driver().major = 7, driver().minor = 5;
  EXPECT_EQ(mhcrt_cuda_describe(&machine), MHCRT_UNAVAILABLE);
  EXPECT_STREQ(machine.problem, "the GPU is sm_75, and libmhcrt_cuda.so has sm_80, sm_90, sm_100, sm_120, "
                                "PTX of compute_90");
  mhcrt_context *none = nullptr;
  EXPECT_EQ(mhcrt_context_create(0, &none), MHCRT_UNAVAILABLE);
  EXPECT_EQ(none, nullptr);
}

TEST_F(CudaHost, ALoopWithoutCodeForTheGpuSaysSo) {
  driver().launchError = cudaErrorNoKernelImageForDevice;
  mhcrt_cuda_loop(context, this, 8, "mhc_loop_1", nullptr, 1);
  EXPECT_EQ(mhcrt_last_status(context), MHCRT_UNAVAILABLE);
  EXPECT_EQ(error(), "mhc_loop_1: the model has no code for this GPU, sm_90; compile it for that one");
}

// Memory

TEST_F(CudaHost, OutOfMemorySaysHowMuchThereWas) {
  driver().memory = driver().used() + 1000;
  EXPECT_EQ(mhcrt_workspace(context, 1 << 20), nullptr);
  EXPECT_EQ(mhcrt_last_status(context), MHCRT_OUT_OF_MEMORY);
  EXPECT_EQ(error(), "mhcrt_workspace: no memory for 1048576 bytes on the GPU, which has 1000 free (out of memory)");
  mhcrt_clear_error(context);
  EXPECT_EQ(head(1 << 20), MHCRT_OUT_OF_MEMORY);
  EXPECT_EQ(error(), "mhcrt_head: no memory for 58785792 bytes on the GPU, which has 1000 free (out of memory)");
  mhcrt_clear_error(context);
  EXPECT_EQ(mhcrt_buffer_create(context, 4096), nullptr);
  EXPECT_EQ(error(), "mhcrt_buffer_create: no memory for 4096 bytes on the GPU, which has 1000 free (out of memory)");
  mhcrt_clear_error(context);
  EXPECT_EQ(mhcrt_workspace(context, -1), nullptr);
  EXPECT_EQ(error(), "mhcrt_workspace: 'bytes' is -1; needed at least 0");
  mhcrt_clear_error(context);
  EXPECT_EQ(mhcrt_buffer_create(context, -1), nullptr);
  EXPECT_EQ(error(), "mhcrt_buffer_create: 'bytes' is -1; needed at least 0");
  EXPECT_TRUE(driver().launches.empty());
}

TEST_F(CudaHost, ScratchAndWorkspaceGrowAndStay) {
  const int mallocs = driver().count("malloc");
  const size_t blocks = driver().blocks.size();
  ASSERT_EQ(head(100), MHCRT_OK) << error();
  const int64_t bytes = mhcrt_context_bytes(context), allocations = mhcrt_context_allocations(context);
  EXPECT_GE(bytes, 100 * (4 + 4 + 1) * 4);
  ASSERT_EQ(head(7), MHCRT_OK);
  ASSERT_EQ(head(100), MHCRT_OK);
  EXPECT_EQ(driver().count("malloc"), mallocs + 1);
  EXPECT_EQ(mhcrt_context_allocations(context), allocations);
  ASSERT_EQ(head(200), MHCRT_OK);
  EXPECT_EQ(driver().count("malloc"), mallocs + 2);
  EXPECT_EQ(driver().count("free"), 1);
  EXPECT_GT(mhcrt_context_bytes(context), bytes);
  const void *workspace = mhcrt_workspace(context, 500);
  EXPECT_EQ(mhcrt_workspace(context, 20), workspace);
  EXPECT_EQ(driver().blocks.size(), blocks + 2);
  mhcrt_context_destroy(context);
  EXPECT_TRUE(driver().blocks.empty());
  EXPECT_EQ(mhcrt_context_create(0, &context), MHCRT_OK);
}

TEST_F(CudaHost, KernelsRunOnTheCallersStream) {
  ASSERT_EQ(aggregate(3), MHCRT_OK);
  EXPECT_EQ(driver().launches.back().stream, context->ownStream);
  int stream;
  mhcrt_cuda_set_stream(context, &stream);
  ASSERT_EQ(aggregate(3), MHCRT_OK);
  EXPECT_EQ(driver().launches.back().stream, reinterpret_cast<cudaStream_t>(&stream));
}

TEST_F(CudaHost, ErrorsNameTheLineOfTheModel) {
  mhcrt_set_location(context, "layer.mlir:12:8");
  EXPECT_EQ(aggregate(-1), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "mhcrt_aggregate: 'M' is -1; needed at least 0 (at layer.mlir:12:8)");
}

TEST_F(CudaHost, AnErrorStopsWhatFollows) {
  EXPECT_EQ(aggregate(-1), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "mhcrt_aggregate: 'M' is -1; needed at least 0");
  EXPECT_EQ(aggregate(3), MHCRT_INVALID_ARGUMENT);
  EXPECT_TRUE(driver().launches.empty());
  EXPECT_EQ(call(mhcrt_aggregate, nullptr, this, MHCRT_F32, this, MHCRT_F32, this, MHCRT_F32, 1, 4, 33, 0),
            MHCRT_INVALID_ARGUMENT);
}

// Kernels of a compiled model

TEST_F(CudaHost, LoopImagesAreLoadedOnce) {
  const char first[] = "image", second[] = "image";
  void *arguments[] = {nullptr};
  for (int round = 0; round < 2; ++round) {
    mhcrt_cuda_loop(context, first, 6, "add", arguments, 1000);
    mhcrt_cuda_loop(context, first, 6, "sub", arguments, 1000);
    mhcrt_cuda_loop(context, second, 6, "add", arguments, 1000);
    mhcrt_cuda_loop(context, second, 6, "add", arguments, 0);
  }
  EXPECT_EQ(driver().count("load"), 2);
  EXPECT_EQ(driver().count("find add"), 2);
  EXPECT_EQ(driver().count("find sub"), 1);
  EXPECT_EQ(driver().launches.size(), 6u);
  EXPECT_EQ(mhcrt_context_launches(context), 6);
  mhcrt_cuda_loop(context, first, 6, "add", arguments, int64_t{INT32_MAX} * 256);
  EXPECT_EQ(driver().launches.back().grid.x, unsigned{INT32_MAX});
  mhcrt_cuda_loop(context, first, 6, "add", arguments, int64_t{INT32_MAX} * 256 + 1);
  EXPECT_EQ(mhcrt_last_status(context), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "add: 'count' is 549755813633; needed at most 549755813632");
  mhcrt_clear_error(context);
  mhcrt_cuda_loop(context, first, 6, "missing", arguments, 1);
  EXPECT_EQ(mhcrt_last_status(context), MHCRT_DEVICE_ERROR);
  EXPECT_EQ(error(), "missing: an error of the fake driver (cudaErrorFake)");
}

TEST_F(CudaHost, ConstantsAreCopiedOnce) {
  const float a[4] = {}, b[4] = {};
  const void *first = mhcrt_constant(context, a, sizeof(a));
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(mhcrt_constant(context, a, sizeof(a)), first);
  EXPECT_NE(mhcrt_constant(context, b, sizeof(b)), first);
  EXPECT_EQ(driver().count("copy"), 2);
}

TEST_F(CudaHost, ABadRowNumberIsAnErrorAtTheNextSynchronizationOrCall) {
  const auto take = [&] {
    return call(mhcrt_take, context, this, MHCRT_F32, this, MHCRT_I32, this, MHCRT_F32, 10, 4, 3);
  };
  ASSERT_EQ(take(), MHCRT_OK) << error();
  EXPECT_EQ(mhcrt_synchronize(context), MHCRT_OK);
  auto *faults = static_cast<IdFault *>(context->idFaults.data);
  faults[0] = {uint64_t{2} << 32 | 10, 10};
  EXPECT_EQ(mhcrt_synchronize(context), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "mhcrt_take: 'ids' has 10 at 2; needed 0 to 9");
  mhcrt_clear_error(context);
  EXPECT_EQ(mhcrt_synchronize(context), MHCRT_OK);

  faults[0] = {uint64_t{2} << 32 | 10, 10};
  EXPECT_EQ(take(), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "mhcrt_take: 'ids' has 10 at 2; needed 0 to 9, in an earlier call");
  mhcrt_clear_error(context);
  EXPECT_EQ(take(), MHCRT_OK);

  // The first word alone, as a kernel leaves it that is still writing.
  faults[0].first = uint64_t{2} << 32 | 10;
  EXPECT_EQ(take(), MHCRT_OK);
  faults[0].size = 10;
  EXPECT_EQ(take(), MHCRT_INVALID_ARGUMENT);
}

/// As a kernel that read bad cuts leaves it: the position above the cut, and above what was needed.
TEST_F(CudaHost, ABadCutIsAnErrorAtTheNextSynchronization) {
  const auto report = [&](uint64_t position, uint32_t cut, uint32_t needed) {
    static_cast<IdFault *>(context->idFaults.data)[2] = {position << 32 | cut, int64_t(position << 32 | needed)};
    EXPECT_EQ(mhcrt_synchronize(context), MHCRT_INVALID_ARGUMENT);
    const std::string message = error();
    mhcrt_clear_error(context);
    return message;
  };
  EXPECT_EQ(report(2, 5, kCutBound | 7), "mhcrt_pre_gated_delta_rule: 'cu_seqlens' has 5 at 2; needed at least 7");
  EXPECT_EQ(report(0, 3, 0), "mhcrt_pre_gated_delta_rule: 'cu_seqlens' has 3 at 0; needed 0");
  EXPECT_EQ(report(4, 15, 16), "mhcrt_pre_gated_delta_rule: 'cu_seqlens' has 15 at 4; needed 16");
}

/// Three checks in two kernels, of which the second has an assertion; as they would leave the record.
TEST_F(CudaHost, ACheckThatFailsInALoopIsAnErrorAtTheNextSynchronization) {
  char record, texts;
  using Words = std::vector<int64_t>;
  const auto bytesOf = [](const Words &words) {
    return std::string(reinterpret_cast<const char *>(words.data()), words.size() * sizeof(int64_t));
  };
  constexpr int64_t kMost = INT64_MAX, kLeast = INT64_MIN;
  const Words free = {0, 0, kMost, kLeast, 0, kMost, kLeast, 0, kMost, kLeast};
  const char text[] = "the index in dimension 1\0a.mlir:3:4\0the index in dimension 0\0a.mlir:4:4\0no rows\0a.mlir:5:6";
  driver().contents[&record] = bytesOf(free);
  driver().contents[&texts] = std::string(text, sizeof(text));
  driver().globals = {{"mhc_check", &record}, {"mhc_check_texts", &texts}};
  void *arguments[] = {nullptr};
  mhcrt_cuda_loop(context, "image", 6, "add", arguments, 1000);
  EXPECT_EQ(mhcrt_synchronize(context), MHCRT_OK) << error();

  const auto expect = [&](const Words &found, const char *message) {
    driver().contents[&record] = bytesOf(found);
    EXPECT_EQ(mhcrt_synchronize(context), MHCRT_INVALID_ARGUMENT);
    EXPECT_EQ(error(), message);
    mhcrt_clear_error(context);
    EXPECT_EQ(driver().contents[&record], bytesOf(free));
    EXPECT_EQ(mhcrt_synchronize(context), MHCRT_OK) << error();
  };
  const char *const outside = "the index in dimension 1 is 12; needed 0 to 5 (at a.mlir:3:4)";
  expect({1, 7, 7, 12, 0, kMost, kLeast, 0, kMost, kLeast}, outside);
  expect({1, 7, 7, 12, 7, -1, -1, 0, kMost, kLeast}, outside); // the first of a kernel
  expect({1, 7, -9, 12, 0, kMost, kLeast, 0, kMost, kLeast},
         "the index in dimension 1 is -9; needed 0 to 5 (at a.mlir:3:4)");
  expect({1, 0, kMost, kLeast, 7, kMost, kMost, 0, kMost, kLeast},
         "the index in dimension 0 is 9223372036854775807; needed 0 to 5 (at a.mlir:4:4)");
  expect({1, 1, 0, 0, 0, kMost, kLeast, 0, kMost, kLeast},
         "the index in dimension 1 is 0; no number is possible (at a.mlir:3:4)");
  expect({3, 0, kMost, kLeast, 0, kMost, kLeast, 1, kMost, kLeast}, "an assertion fails: no rows (at a.mlir:5:6)");

  // Without such a record nothing is asked of it.
  driver().globals.clear();
  mhcrt_cuda_loop(context, "another", 8, "add", arguments, 1000);
  EXPECT_EQ(mhcrt_last_status(context), MHCRT_OK) << error();
  const int copies = driver().count("copy");
  EXPECT_EQ(mhcrt_synchronize(context), MHCRT_OK) << error();
  EXPECT_EQ(driver().count("copy"), copies);
}

/// Nothing is asked of the record while the stream is captured.
TEST_F(CudaHost, ACheckThatFailsInAReplayIsAnErrorAtTheNextSynchronization) {
  char record, texts;
  const int64_t found[] = {1, 7, 9, 9};
  driver().contents[&record] = std::string(reinterpret_cast<const char *>(found), sizeof(found));
  driver().contents[&texts] = std::string("the index in dimension 0\0a.mlir:3:4", 36);
  driver().globals = {{"mhc_check", &record}, {"mhc_check_texts", &texts}};
  void *arguments[] = {nullptr};
  mhcrt_cuda_graph *graph = nullptr;
  ASSERT_EQ(mhcrt_cuda_record_begin(context), MHCRT_OK) << error();
  mhcrt_cuda_loop(context, "image", 6, "add", arguments, 1000);
  ASSERT_EQ(mhcrt_cuda_record_end(context, &graph), MHCRT_OK) << error();
  EXPECT_TRUE(driver().endedCaptures.empty());
  EXPECT_EQ(driver().count("copy"), 0);
  ASSERT_EQ(mhcrt_cuda_replay(context, graph), MHCRT_OK) << error();
  EXPECT_EQ(mhcrt_synchronize(context), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "the index in dimension 0 is 9; needed 0 to 5 (at a.mlir:3:4)");
  mhcrt_cuda_graph_destroy(graph);
}

// Dense products

TEST_F(CudaHost, ProductsWithoutTheLibrary) {
  driver().hasBlas = false;
  EXPECT_EQ(matmul(MHCRT_BF16, 0), MHCRT_OK); // nothing to multiply
  EXPECT_EQ(matmul(MHCRT_BF16, 4), MHCRT_UNAVAILABLE);
  EXPECT_EQ(error(), "mhcrt_matmul: neither libcublasLt.so.13 nor libcublasLt.so.12 was found; they are part of the "
                     "CUDA toolkit");
}

/// Sums of nothing need no library.
TEST_F(CudaHost, ProductsWithoutTermsAreZeros) {
  driver().hasBlas = false;
  EXPECT_EQ(
      call(mhcrt_batch_matmul, context, nullptr, MHCRT_F16, nullptr, MHCRT_BF16, this, MHCRT_BF16, 2, 3, 0, 5, 0, 1),
      MHCRT_OK)
      << error();
  EXPECT_EQ(driver().count("memset"), 1);
}

TEST_F(CudaHost, ProductsArePlannedOncePerShape) {
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(matmul(MHCRT_BF16, 4), MHCRT_OK) << error();
    ASSERT_EQ(matmul(MHCRT_BF16, 5), MHCRT_OK);
  }
  EXPECT_EQ(driver().count("open libcublasLt.so.13"), 1);
  EXPECT_EQ(driver().count("plan"), 2);
  EXPECT_EQ(driver().count("product"), 4);
  EXPECT_TRUE(driver().launches.empty());
  // Operands of two types become f32, and the result is rounded behind.
  ASSERT_EQ(matmul(MHCRT_F16, 4), MHCRT_OK) << error();
  EXPECT_EQ(driver().launches.size(), 3u);
}

} // namespace
