//===- CudaEmbeddingTest.cpp - A GPU that other programs use as well ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sublayer's four fused calls on several streams, in captures of the caller, with the caller's memory and beside
// another current GPU: always the bits of one call after the other. cuda-host has every entry.
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Support.h"

#include "mhcrt/cuda.h"

#include <cuda_runtime_api.h>

using namespace mhcrt::test;

namespace {

constexpr int32_t F = MHCRT_F32, H = MHCRT_BF16, kNone = MHCRT_NONE;
constexpr int64_t n = 4, C = 4096, K = n * C, N = 24;

/// Memory of the GPU, which the tests fill and read by a context of its own.
class Tensor {
public:
  Tensor(mhcrt_context *owner, int32_t type, int64_t elements)
      : owner(owner), type(type), elements(elements), data(mhcrt_buffer_create(owner, bytes())) {}
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;
  ~Tensor() { mhcrt_buffer_destroy(owner, data); }
  operator void *() const { return data; }

  void fill(uint64_t seed) {
    if (type == F)
      return fillNormal(seed);
    // Products of normal numbers, rounded to the type.
    constexpr int64_t kRank = 8, kColumns = 4096;
    Tensor left(owner, F, elements / kColumns * kRank), right(owner, F, kRank * kColumns);
    left.fillNormal(seed), right.fillNormal(seed + 1000);
    EXPECT_EQ(call(mhcrt_matmul, owner, left, F, right, F, data, type, elements / kColumns, kRank, kColumns, 0, 0),
              MHCRT_OK)
        << mhcrt_last_error(owner);
    EXPECT_EQ(mhcrt_synchronize(owner), MHCRT_OK);
  }
  void assign(const std::vector<float> &values) {
    EXPECT_EQ(mhcrt_copy(owner, data, values.data(), bytes()), MHCRT_OK);
    EXPECT_EQ(mhcrt_synchronize(owner), MHCRT_OK);
  }
  void clear() {
    const std::vector<unsigned char> zeros(bytes());
    EXPECT_EQ(mhcrt_copy(owner, data, zeros.data(), bytes()), MHCRT_OK);
    EXPECT_EQ(mhcrt_synchronize(owner), MHCRT_OK);
  }
  std::vector<unsigned char> read() const {
    std::vector<unsigned char> found(bytes());
    EXPECT_EQ(mhcrt_copy(owner, found.data(), data, bytes()), MHCRT_OK);
    EXPECT_EQ(mhcrt_synchronize(owner), MHCRT_OK);
    return found;
  }

private:
  int64_t bytes() const { return elements * mhcrt_dtype_bytes(type); }
  void fillNormal(uint64_t seed) {
    Buffer words(std::vector<int64_t>{static_cast<int64_t>(seed), 0});
    EXPECT_EQ(call(mhcrt_random, owner, words.data(), MHCRT_I64, data, F, 2, elements, MHCRT_DISTRIBUTION_NORMAL, 0),
              MHCRT_OK);
    EXPECT_EQ(mhcrt_synchronize(owner), MHCRT_OK) << mhcrt_last_error(owner);
  }

  mhcrt_context *owner;
  int32_t type;
  int64_t elements;
  void *data;
};

/// Forward and backward pass around one layer.
class Sublayer {
public:
  Sublayer(mhcrt_context *owner, int64_t M, uint64_t seed)
      : M(M), x(owner, H, M * K), phi(owner, F, N * K), alpha(owner, F, 3), beta(owner, F, N), f(owner, H, M * C),
        dOut(owner, H, M * K), dU(owner, H, M * C), u(owner, H, M * C), hPre(owner, F, M * n), hPost(owner, F, M * n),
        hRes(owner, F, M * n * n), proj(owner, F, M * N), stat(owner, F, M), out(owner, H, M * K), dF(owner, H, M * C),
        dHPost(owner, F, M * n), dHRes(owner, F, M * n * n), dX(owner, H, M * K), dPhi(owner, F, N * K),
        dAlpha(owner, F, 3), dBeta(owner, F, N) {
    for (Tensor *input : {&x, &phi, &beta, &f, &dOut, &dU})
      input->fill(seed++);
    alpha.assign({0.01f, 0.01f, 0.01f}); // sums of K products of order 1
  }

  mhcrt_status run(mhcrt_context *context) {
    call(mhcrt_pre, context, x, H, phi, F, nullptr, kNone, alpha, F, beta, F, u, H, hPre, F, hPost, F, hRes, F, proj, F,
         stat, F, M, n, C, N, K, 3, 0, 0, 0, 1e-6, 1e-6, 2, 0, 0, 0, 0, 1e-6, 20, 0, MHCRT_PRECISION_BF16X3);
    call(mhcrt_post, context, f, H, nullptr, kNone, hPost, F, x, H, hRes, F, nullptr, kNone, out, H, M, C, n, 0, 0, 0,
         0, 0);
    call(mhcrt_post_bwd, context, dOut, H, f, H, nullptr, kNone, hPost, F, x, H, hRes, F, nullptr, kNone, nullptr,
         kNone, nullptr, kNone, dF, H, dHPost, F, dHRes, F, nullptr, kNone, nullptr, kNone, M, n, C, 0, 0, 0, 0, 0);
    return call(mhcrt_pre_bwd, context, dU, H, nullptr, kNone, dHPost, F, dHRes, F, x, H, phi, F, nullptr, kNone, alpha,
                F, beta, F, proj, F, stat, F, dOut, H, hRes, F, nullptr, kNone, nullptr, kNone, nullptr, kNone, nullptr,
                kNone, nullptr, kNone, dX, H, dPhi, F, nullptr, kNone, dAlpha, F, dBeta, F, M, C, n, N, K, 3, 0, 0, 0,
                1e-6, 1e-6, 2, 0, 0, 0, 0, 1e-6, 20, 0, 0, MHCRT_PRECISION_BF16X3);
  }

  /// Its results, alone on the GPU, become what expectSame() wants.
  void runAlone(mhcrt_context *context) {
    EXPECT_EQ(run(context), MHCRT_OK) << mhcrt_last_error(context);
    EXPECT_EQ(mhcrt_synchronize(context), MHCRT_OK) << mhcrt_last_error(context);
    wanted.clear();
    for (Tensor *result : results)
      wanted.push_back(result->read());
  }
  void clear() {
    for (Tensor *result : results)
      result->clear();
  }
  void expectSame(const std::string &what) {
    for (size_t i = 0; i < results.size(); ++i)
      EXPECT_TRUE(results[i]->read() == wanted[i]) << what << ": result " << i;
  }

private:
  int64_t M;
  Tensor x, phi, alpha, beta, f, dOut, dU;
  Tensor u, hPre, hPost, hRes, proj, stat, out, dF, dHPost, dHRes, dX, dPhi, dAlpha, dBeta;
  const std::vector<Tensor *> results = {&u,  &hPre,   &hPost, &hRes, &proj, &stat,   &out,
                                         &dF, &dHPost, &dHRes, &dX,   &dPhi, &dAlpha, &dBeta};
  std::vector<std::vector<unsigned char>> wanted;
};

class CudaEmbedding : public testing::Test {
protected:
  CudaEmbedding() {
    for (cudaStream_t &stream : streams)
      EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  }
  ~CudaEmbedding() override {
    cudaDeviceSynchronize();
    for (cudaStream_t stream : streams)
      cudaStreamDestroy(stream);
  }

  cudaGraphExec_t endCapture(cudaStream_t stream) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    if (graph) {
      EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    }
    cudaGraphDestroy(graph);
    return exec;
  }
  void launch(cudaGraphExec_t exec, cudaStream_t stream) {
    ASSERT_NE(exec, nullptr);
    EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  }

  Context owner; ///< of the tensors
  cudaStream_t streams[4] = {};
};

TEST_F(CudaEmbedding, FourStreamsOfOneContext) {
  constexpr int kTurns = 5;
  Context context;
  std::vector<std::unique_ptr<Sublayer>> sublayers;
  for (uint64_t seed : {10, 20, 30, 40}) {
    sublayers.push_back(std::make_unique<Sublayer>(owner, 4096, seed));
    sublayers.back()->runAlone(context);
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    for (auto &sublayer : sublayers)
      sublayer->clear();
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(mhcrt_cuda_set_stream(context, streams[i]), MHCRT_OK) << context.error();
      ASSERT_EQ(sublayers[i]->run(context), MHCRT_OK) << context.error();
    }
    ASSERT_EQ(mhcrt_synchronize(context), MHCRT_OK) << context.error(); // the last stream has waited for the others
    for (int i = 0; i < 4; ++i)
      sublayers[i]->expectSame("turn " + std::to_string(turn) + ", stream " + std::to_string(i));
  }
}

TEST_F(CudaEmbedding, DefaultStreams) {
  Context context;
  Sublayer sublayer(owner, 1000, 1), other(owner, 1000, 2);
  sublayer.runAlone(context), other.runAlone(context);
  sublayer.clear(), other.clear();
  for (cudaStream_t stream : {cudaStream_t(nullptr), cudaStreamPerThread, streams[0], cudaStreamLegacy}) {
    ASSERT_EQ(mhcrt_cuda_set_stream(context, stream), MHCRT_OK) << context.error();
    ASSERT_EQ((stream == cudaStreamPerThread ? other : sublayer).run(context), MHCRT_OK) << context.error();
  }
  ASSERT_EQ(mhcrt_synchronize(context), MHCRT_OK) << context.error();
  sublayer.expectSame("default"), other.expectSame("per thread");
}

TEST_F(CudaEmbedding, OneCaptureOfTwoStreams) {
  Context context;
  Sublayer first(owner, 1000, 1), second(owner, 1000, 2);
  first.runAlone(context), second.runAlone(context);
  first.clear(), second.clear();
  ASSERT_EQ(mhcrt_cuda_set_stream(context, streams[0]), MHCRT_OK);
  ASSERT_EQ(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(first.run(context), MHCRT_OK) << context.error();
  EXPECT_EQ(mhcrt_cuda_set_stream(context, streams[1]), MHCRT_OK) << context.error();
  EXPECT_EQ(second.run(context), MHCRT_OK) << context.error();
  EXPECT_EQ(mhcrt_cuda_set_stream(context, nullptr), MHCRT_INVALID_ARGUMENT); // cannot join
  mhcrt_clear_error(context);
  EXPECT_EQ(mhcrt_synchronize(context), MHCRT_INVALID_ARGUMENT); // would end the capture
  mhcrt_clear_error(context);
  EXPECT_EQ(mhcrt_cuda_set_stream(context, streams[0]), MHCRT_OK) << context.error();
  cudaGraphExec_t exec = endCapture(streams[0]);
  for (int turn = 0; turn < 2; ++turn) {
    first.clear(), second.clear();
    launch(exec, streams[2]);
    first.expectSame("first"), second.expectSame("second");
  }
  cudaGraphExecDestroy(exec);
}

/// The stream of a capture is set while the context's calls still run on another one.
TEST_F(CudaEmbedding, AStreamThatIsCapturedAlready) {
  Context context;
  Sublayer eager(owner, 4096, 1), captured(owner, 1000, 2);
  eager.runAlone(context), captured.runAlone(context);
  eager.clear(), captured.clear();
  ASSERT_EQ(mhcrt_cuda_set_stream(context, streams[0]), MHCRT_OK);
  EXPECT_EQ(eager.run(context), MHCRT_OK) << context.error();
  ASSERT_EQ(cudaStreamBeginCapture(streams[1], cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(mhcrt_cuda_set_stream(context, streams[1]), MHCRT_OK) << context.error();
  EXPECT_EQ(captured.run(context), MHCRT_OK) << context.error();
  cudaGraphExec_t exec = endCapture(streams[1]);
  EXPECT_EQ(captured.run(context), MHCRT_OK) << context.error(); // behind the eager one
  EXPECT_EQ(mhcrt_synchronize(context), MHCRT_OK) << context.error();
  eager.expectSame("eager"), captured.expectSame("behind");
  captured.clear();
  launch(exec, streams[1]);
  captured.expectSame("graph");
  cudaGraphExecDestroy(exec);
}

TEST_F(CudaEmbedding, ACaptureWithoutTheMemoryGoesOn) {
  Context context;
  Sublayer sublayer(owner, 1000, 1);
  ASSERT_EQ(mhcrt_cuda_set_stream(context, streams[0]), MHCRT_OK);
  ASSERT_EQ(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(sublayer.run(context), MHCRT_INVALID_ARGUMENT);
  EXPECT_NE(context.error().find(" bytes of memory are needed while the stream is captured; make the same calls once "
                                 "before, or set an allocator"),
            std::string::npos)
      << context.error();
  mhcrt_clear_error(context);
  cudaGraphExecDestroy(endCapture(streams[0]));
  sublayer.runAlone(context);
}

TEST_F(CudaEmbedding, AGraphOutlivesTheGrowthOfItsMemory) {
  Context context;
  Sublayer sublayer(owner, 1000, 1), large(owner, 4096, 2);
  sublayer.runAlone(context);
  ASSERT_EQ(mhcrt_cuda_set_stream(context, streams[0]), MHCRT_OK);
  ASSERT_EQ(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(sublayer.run(context), MHCRT_OK) << context.error();
  cudaGraphExec_t exec = endCapture(streams[0]);
  const int64_t allocations = mhcrt_context_allocations(context);
  large.runAlone(context);
  EXPECT_GT(mhcrt_context_allocations(context), allocations);
  // Who takes the memory now would be written to.
  Tensor guard(owner, F, 32 << 20);
  guard.fill(3);
  const auto before = guard.read();
  sublayer.clear();
  launch(exec, streams[0]);
  sublayer.expectSame("after growth");
  EXPECT_TRUE(guard.read() == before);
  cudaGraphExecDestroy(exec);
}

/// CUDA's own pool, which a capture makes nodes of.
struct StreamOrdered {
  int64_t taken = 0, given = 0;

  static void *alloc(void *user, int64_t bytes, void *stream) {
    void *memory = nullptr;
    if (cudaMallocAsync(&memory, bytes, static_cast<cudaStream_t>(stream)) != cudaSuccess)
      return nullptr;
    ++static_cast<StreamOrdered *>(user)->taken;
    return memory;
  }
  static void free(void *user, void *memory, int64_t, void *stream) {
    EXPECT_EQ(cudaFreeAsync(memory, static_cast<cudaStream_t>(stream)), cudaSuccess);
    ++static_cast<StreamOrdered *>(user)->given;
  }
};

TEST_F(CudaEmbedding, AnAllocatorServesCallsAndCaptures) {
  StreamOrdered memory;
  Sublayer sublayer(owner, 1000, 1);
  sublayer.runAlone(owner);
  {
    Context context;
    ASSERT_EQ(mhcrt_cuda_set_allocator(context, StreamOrdered::alloc, StreamOrdered::free, &memory), MHCRT_OK);
    ASSERT_EQ(mhcrt_cuda_set_stream(context, streams[0]), MHCRT_OK);
    sublayer.clear();
    ASSERT_EQ(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_EQ(sublayer.run(context), MHCRT_OK) << context.error();
    EXPECT_GT(memory.taken, 0);
    EXPECT_EQ(memory.given, memory.taken); // within the graph
    cudaGraphExec_t exec = endCapture(streams[0]);
    for (int turn = 0; turn < 3; ++turn) {
      sublayer.clear();
      launch(exec, streams[0]);
      sublayer.expectSame("graph");
    }
    sublayer.clear();
    EXPECT_EQ(sublayer.run(context), MHCRT_OK) << context.error();
    EXPECT_EQ(mhcrt_cuda_set_stream(context, streams[1]), MHCRT_OK);
    EXPECT_EQ(mhcrt_synchronize(context), MHCRT_OK);
    sublayer.expectSame("call");
    EXPECT_EQ(memory.taken, memory.given); // scratch is of one call
    cudaGraphExecDestroy(exec);
  }
  EXPECT_EQ(memory.taken, memory.given);
}

/// Each call in a graph has a counter of tiles of its own, and with an allocator its own scratch memory.
TEST_F(CudaEmbedding, GraphsOfOneContextRunAtOnce) {
  StreamOrdered memory;
  Context context;
  Sublayer first(owner, 4096, 1), second(owner, 3000, 2);
  first.runAlone(owner), second.runAlone(owner);
  ASSERT_EQ(mhcrt_cuda_set_allocator(context, StreamOrdered::alloc, StreamOrdered::free, &memory), MHCRT_OK);
  ASSERT_EQ(mhcrt_cuda_set_multiprocessors(context, 100), MHCRT_OK);
  ASSERT_EQ(mhcrt_cuda_set_stream(context, streams[0]), MHCRT_OK);
  cudaGraphExec_t graphs[2];
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_EQ((i ? second : first).run(context), MHCRT_OK) << context.error();
    graphs[i] = endCapture(streams[0]);
    ASSERT_NE(graphs[i], nullptr);
  }
  for (int turn = 0; turn < 20; ++turn) {
    first.clear(), second.clear();
    for (int i = 0; i < 2; ++i)
      ASSERT_EQ(cudaGraphLaunch(graphs[i], streams[1 + i]), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    first.expectSame("first"), second.expectSame("second");
  }
  for (cudaGraphExec_t graph : graphs)
    cudaGraphExecDestroy(graph);
}

TEST_F(CudaEmbedding, AnotherCurrentDevice) {
  int devices = 0;
  ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  if (devices < 2)
    GTEST_SKIP() << "this machine has one GPU";
  Context context;
  Sublayer sublayer(owner, 1000, 1);
  sublayer.runAlone(owner);
  sublayer.clear();
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  cudaStream_t foreign = nullptr;
  ASSERT_EQ(cudaStreamCreate(&foreign), cudaSuccess);
  EXPECT_EQ(sublayer.run(context), MHCRT_OK) << context.error();
  EXPECT_EQ(mhcrt_synchronize(context), MHCRT_OK) << context.error();
  EXPECT_EQ(mhcrt_cuda_set_stream(context, foreign), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(context.error(),
            "mhcrt_cuda_set_stream: the stream is of GPU 1; needed one of GPU 0, where the context is");
  int current = 0;
  EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 1);
  sublayer.expectSame("beside another device");
  cudaStreamDestroy(foreign);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

} // namespace
