//===- CudaBoundaryTest.cpp - Both directions across a boundary -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each width that has kernels of its own: gradients beside two calls, parts of the tokens, graphs. CudaPostPreTest.cpp
// has the forward kernels one by one.
//
//===------------------------------------------------------------------------===//
#include "CudaPostPre.h"

#include <cuda_runtime_api.h>

using namespace mhcrt::test;

namespace {

/// Two that have an odd number of 128 channels, whose blocks are alone backwards, and all that have a ring forward.
constexpr int64_t kWidths[] = {896,  7296, 768,  1024, 1280, 1536, 2048, 2560,  3072,
                               3584, 4096, 5120, 6144, 6656, 7168, 8192, 12288, 16384};

/// Options in turns, so that each comes with narrow tokens and with wide ones.
Case caseOf(int64_t M, int64_t C, int turn) {
  return {M,
          C,
          turn % 2,
          turn % 3 == 0 ? B : MHCRT_NONE,
          turn % 4 == 3 ? B : F,
          turn / 2 % 2,
          turn % 3 == 1,
          false,
          turn % 5 == 0};
}

/// Tokens, more than the 420 from which on a block's run of tiles may end one slice of channels and begin another.
constexpr int64_t kTokens = 520;

/// Relative errors of sums over tokens, of other gradients, and of those where dy has no term of the projection. That
/// has phi in one f16 number in one of both kernels: dy, and what is made from it, rounds to its other neighbour where
/// the term's error or the order of terms leads over the middle, which without the term is rare. A dy that is not
/// rounded at all differs by 1e-3.
constexpr double kOfSums = 3e-5, kOfStreams = 2e-3, kOfSameTerms = 1e-5;

TEST(CudaBoundary, GradientsAreThoseOfTwoCalls) {
  Context one, two;
  ASSERT_EQ(mhcrt_cuda_pin(two, "post_pre_bwd=separate"), MHCRT_OK);
  ASSERT_EQ(mhcrt_cuda_pin(two, "pre_bwd=tf32x3"), MHCRT_OK); // initcheck sees its stores, not those of tensor copies
  int turn = 0;
  double most[3] = {};
  for (int64_t C : kWidths)
    for (bool hasProduct : {true, false}) {
      const Case c = caseOf(kTokens, C, turn++);
      const Start start = static_cast<Start>(hasProduct ? turn % 3 : 1 + turn % 2);
      Operands in(c, 9);
      if (!hasProduct)
        in.alpha = Buffer(F, Doubles(3));
      for (int64_t tokens : {int64_t{1}, int64_t{15}, c.M}) {
        SCOPED_TRACE("C=" + std::to_string(C) + ", start " + std::to_string(static_cast<int>(start)) + ", " +
                     std::to_string(tokens) + " tokens, bias " + std::to_string(c.biasType));
        std::vector<Buffer> forward = run(one, c, in, tokens);
        BwdOperands of(tokens, C, forward);
        const std::vector<Buffer> got = runBwd(one, c, in, of, tokens, start);
        const std::vector<Buffer> want = runBwd(two, c, in, of, tokens, start);
        if (std::string(mhcrt_cuda_chosen(one, "post_pre_bwd")) == "separate")
          GTEST_SKIP() << "no faster variant for this GPU";
        for (size_t i = 0; i < got.size(); ++i) {
          const bool isSum = i == 4 || i == 5 || i == 6 || i == 8; // but that of d_f
          const int kind = isSum ? 0 : hasProduct ? 1 : 2;
          const double error = relativeError(got[i], want[i]);
          EXPECT_LE(error, (kind == 0 ? kOfSums : kind == 1 ? kOfStreams : kOfSameTerms)) << "result " << i;
          most[kind] = std::max(most[kind], error);
        }
        ASSERT_TRUE(runBwd(one, c, in, of, tokens, start) == got);
      }
    }
  for (int kind = 0; kind < 3; ++kind)
    RecordProperty("most of kind " + std::to_string(kind), std::to_string(most[kind] * 1e6) + "e-6");
}

TEST(CudaBoundary, AHundredRunsHaveTheSameBits) {
  Context context;
  int turn = 0;
  for (int64_t C : {896, 1536, 4096, 7168}) {
    const Case c = caseOf(200, C, turn++);
    Operands in(c, 77);
    const std::vector<Buffer> forward = run(context, c, in, c.M);
    BwdOperands of(c.M, C, forward);
    const Start start = static_cast<Start>(turn % 3);
    const std::vector<Buffer> backward = runBwd(context, c, in, of, c.M, start);
    for (int again = 0; again < 100; ++again) {
      ASSERT_TRUE(run(context, c, in, c.M) == forward) << "C=" << C << ", run " << again;
      ASSERT_TRUE(runBwd(context, c, in, of, c.M, start) == backward) << "C=" << C << ", run " << again;
    }
  }
}

Buffer rowsOf(const Buffer &all, int64_t M, int64_t first, int64_t count) {
  const int64_t width = all.size() / M;
  return all.slice(first * width, count * width);
}

/// Tokens [first, first + count) of what has M.
void takeTokens(Operands &in, BwdOperands &of, int64_t M, int64_t first, int64_t count) {
  for (Buffer *buffer : {&in.f, &in.hPost, &in.x, &in.hRes, &in.hIn, &of.du, &of.dhPre, &of.dhPost, &of.dhRes, &of.dy,
                         &of.mix, &of.y, &of.proj, &of.stat})
    *buffer = rowsOf(*buffer, M, first, count);
}

TEST(CudaBoundary, APartOfTheTokensHasTheBitsOfAll) {
  Context context;
  int turn = 0;
  for (int64_t C : kWidths) {
    const Case c = caseOf(kTokens, C, turn++);
    Operands in(c, 51);
    const std::vector<Buffer> forward = run(context, c, in, c.M);
    BwdOperands of(c.M, C, forward);
    const Start start = static_cast<Start>(turn % 3);
    const std::vector<Buffer> backward = runBwd(context, c, in, of, c.M, start);
    for (const auto &[first, count] : {std::pair<int64_t, int64_t>{0, 7}, {1, 16}, {7, 17}, {385, 130}}) {
      SCOPED_TRACE("C=" + std::to_string(C) + ", tokens from " + std::to_string(first));
      Operands part = in;
      BwdOperands partOf = of;
      takeTokens(part, partOf, c.M, first, count);
      const std::vector<Buffer> u = run(context, c, part, count);
      for (size_t i = 0; i < u.size(); ++i)
        EXPECT_TRUE(u[i] == rowsOf(forward[i], c.M, first, count)) << "result " << i;
      const std::vector<Buffer> d = runBwd(context, c, part, partOf, count, start);
      for (size_t i = 0; i < kTokenGradients; ++i)
        EXPECT_TRUE(d[i] == rowsOf(backward[i], c.M, first, count)) << "gradient " << i;
    }
  }
}

/// Copies the values of `from` to where those of `to` are.
void replace(Buffer &to, const Buffer &from) {
  Buffer copy(from);
  std::memcpy(to.floats(), copy.floats(), to.size() * mhcrt_dtype_bytes(to.type()));
  to.data();
}

/// A boundary with its results on data of its own.
struct Boundary {
  Case c;
  Operands in;
  std::vector<Buffer> out, gradients;
  BwdOperands of;

  Boundary(mhcrt_context *context, const Case &c, uint64_t seed)
      : c(c), in(c, seed), out(::run(context, c, in, c.M)), of(c.M, c.C, out) {
    gradients = runBwd(context, c, in, of, c.M);
  }
  void run(mhcrt_context *context) {
    runInto(out, context, c, in, c.M);
    runBwdInto(gradients, context, c, in, of, c.M);
  }
  /// The other's operands in the places of these, whose results are to be written again.
  void take(const Boundary &other) {
    const Operands &from = other.in;
    for (const auto &[to, values] : {std::pair{&in.f, &from.f},
                                     {&in.bias, &from.bias},
                                     {&in.hPost, &from.hPost},
                                     {&in.x, &from.x},
                                     {&in.hRes, &from.hRes},
                                     {&in.phi, &from.phi},
                                     {&in.weight, &from.weight},
                                     {&in.alpha, &from.alpha},
                                     {&in.beta, &from.beta},
                                     {&of.y, &other.of.y},
                                     {&of.proj, &other.of.proj},
                                     {&of.stat, &other.of.stat}})
      replace(*to, *values);
    for (std::vector<Buffer> *results : {&out, &gradients})
      for (Buffer &buffer : *results) {
        std::memset(buffer.floats(), 0, buffer.size() * mhcrt_dtype_bytes(buffer.type()));
        buffer.data();
      }
  }
};

/// Each form of the kernels: counters of tiles, messages of gangs, coefficients and sums in scratch memory.
TEST(CudaBoundary, AGraphRunsOnOtherData) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  for (int64_t C : {1280, 4096, 5120, 7168, 8192}) {
    SCOPED_TRACE("C=" + std::to_string(C));
    Case c = caseOf(kTokens, C, 3);
    c.weighs = true; // all gradients are written
    Context context, direct;
    Boundary boundary(direct, c, 61);
    const Boundary first = boundary, second(direct, c, 62);
    ASSERT_EQ(mhcrt_cuda_set_stream(context, stream), MHCRT_OK) << context.error();
    boundary.run(context); // now memory is there, and the kernels are loaded
    ASSERT_EQ(mhcrt_synchronize(context), MHCRT_OK) << context.error();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    boundary.run(context);
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    for (const Boundary *data : {&second, &first, &second}) {
      boundary.take(*data);
      ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
      ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
      for (size_t i = 0; i < boundary.out.size(); ++i)
        EXPECT_TRUE(boundary.out[i] == data->out[i]) << "result " << i;
      for (size_t i = 0; i < boundary.gradients.size(); ++i)
        EXPECT_TRUE(boundary.gradients[i] == data->gradients[i])
            << "gradient " << i << ", " << relativeError(boundary.gradients[i], data->gradients[i]);
    }
    cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
  }
  cudaStreamDestroy(stream);
}

} // namespace
