//===- RebuildTest.cpp - rebuild against the kernels that it replaces -----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Reference.h"

using namespace mhcrt::test;

namespace {

using Buffers = std::vector<Buffer>;

template <typename Pointer>
std::vector<Pointer> pointers(Buffers &buffers) {
  std::vector<Pointer> result;
  for (Buffer &buffer : buffers)
    result.push_back(buffer.data());
  return result;
}

/// A chain of layers; the inputs are those of the first `inputs` layers, the one behind the last among them.
struct Chain {
  int64_t M, n, C, layers, inputs;
  int32_t type, biasType, layout, orient;
  int64_t stream, streamStep; ///< of dropouts
  double rate;
  Buffer x;
  Buffers hPre, f, bias, hPost, hRes, seeds, u, out;

  explicit Chain(Random &random, int64_t tokens, int64_t streams, int64_t channels, int64_t count)
      : M(tokens), n(streams), C(channels), layers(count), inputs(random.pick<int64_t>({0, layers, layers + 1})),
        type(random.pick<int32_t>({MHCRT_F32, MHCRT_BF16, MHCRT_F16})),
        biasType(random.pick<int32_t>({MHCRT_NONE, MHCRT_F32, type})),
        layout(random.pick<int32_t>({MHCRT_LAYOUT_NC, MHCRT_LAYOUT_CN})),
        orient(random.pick<int32_t>({MHCRT_ORIENT_OI, MHCRT_ORIENT_IO})), stream(random.integer(1000, 1 << 20)),
        streamStep(random.integer(-10, 10)), rate(random.pick({0.0, 0.0, 0.1, 0.5})),
        x(random.buffer(type, M * n * C)) {
    for (int64_t k = 0; k < layers; ++k) {
      f.push_back(random.buffer(type, M * C));
      if (biasType != MHCRT_NONE)
        bias.push_back(random.buffer(biasType, C));
      hPost.push_back(random.buffer(MHCRT_F32, M * n));
      hRes.push_back(random.buffer(MHCRT_F32, M * n * n, 0.5));
      if (rate != 0)
        seeds.emplace_back(std::vector<int64_t>{random.integer(0, INT64_MAX), k});
      out.emplace_back(type, M * n * C);
    }
    for (int64_t k = 0; k < inputs; ++k) {
      hPre.push_back(random.buffer(MHCRT_F32, M * n));
      u.emplace_back(type, M * C);
    }
  }

  std::string name() const {
    return "M=" + std::to_string(M) + " n=" + std::to_string(n) + " C=" + std::to_string(C) +
           " layers=" + std::to_string(layers) + " inputs=" + std::to_string(inputs) + " " + mhcrt_dtype_name(type) +
           " bias=" + mhcrt_dtype_name(biasType) + " layout=" + std::to_string(layout) +
           " orient=" + std::to_string(orient) + " rate=" + std::to_string(rate);
  }

  int32_t seedType() const { return seeds.empty() ? MHCRT_NONE : MHCRT_I64; }
  int64_t seedSize() const { return seeds.empty() ? 0 : 2; }

  mhcrt_status rebuild(mhcrt_context *context) { return rebuild(context, pointers<void *>(out)); }

  mhcrt_status rebuild(mhcrt_context *context, const std::vector<void *> &outList) {
    auto hPreList = pointers<const void *>(hPre), fList = pointers<const void *>(f),
         biasList = pointers<const void *>(bias), hPostList = pointers<const void *>(hPost),
         hResList = pointers<const void *>(hRes), seedList = pointers<const void *>(seeds);
    auto uList = pointers<void *>(u);
    return call(mhcrt_rebuild, context, x.data(), type, hPreList.data(), inputs ? MHCRT_F32 : MHCRT_NONE, inputs,
                fList.data(), type, layers, biasList.data(), biasType, biasList.size(), hPostList.data(), MHCRT_F32,
                layers, hResList.data(), MHCRT_F32, layers, seedList.data(), seedType(), seeds.size(), uList.data(),
                inputs ? type : MHCRT_NONE, inputs, outList.data(), type, layers, M, n, C, seedSize(), layout, orient,
                rate, stream, seeds.empty() ? 0 : streamStep);
  }

  /// The layers one after the other, in their own kernels, must give the same bits.
  void expectBitsOfSeparateKernels(mhcrt_context *context) {
    Buffer streams = x;
    for (int64_t k = 0; k <= layers; ++k) {
      if (k < inputs) {
        Buffer input(type, M * C);
        ASSERT_EQ(call(mhcrt_aggregate, context, streams.data(), type, hPre[k].data(), MHCRT_F32, input.data(), type, M,
                       n, C, layout),
                  MHCRT_OK);
        EXPECT_TRUE(u[k] == input) << name() << ": u[" << k << "] differs";
      }
      if (k == layers)
        break;
      Buffer next(type, M * n * C);
      ASSERT_EQ(call(mhcrt_post, context, f[k].data(), type, bias.empty() ? nullptr : bias[k].data(), biasType,
                     hPost[k].data(), MHCRT_F32, streams.data(), type, hRes[k].data(), MHCRT_F32,
                     seeds.empty() ? nullptr : seeds[k].data(), seedType(), next.data(), type, M, C, n, seedSize(),
                     layout, orient, rate, stream + k * streamStep),
                MHCRT_OK);
      EXPECT_TRUE(out[k] == next) << name() << ": out[" << k << "] differs";
      streams = next;
    }
  }
};

TEST(Rebuild, HasTheBitsOfSeparateKernels) {
  Context context;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    Random random(seed);
    const int64_t M = random.pick<int64_t>({0, 1, 13}), n = random.pick<int64_t>({1, 2, 3, 4, 4, 4, 8, 16});
    const int64_t C = random.pick<int64_t>({1, 7, 16, 33, 64, 129, 256, 300});
    Chain chain(random, M, n, C, random.pick<int64_t>({1, 2, 3, 7, 16, 17, 33}));
    ASSERT_EQ(chain.rebuild(context), MHCRT_OK) << context.error();
    chain.expectBitsOfSeparateKernels(context);
  }
}

/// Large enough for streaming stores, which need 64-byte aligned outputs; a buffer's memory need not be.
TEST(Rebuild, StreamingStoresChangeNothing) {
  Context context;
  for (uint64_t seed = 0; seed < (kInstrumented ? 1 : 4); ++seed) {
    Random random(seed);
    Chain chain(random, 600, 4, 1792, 2);
    chain.layout = MHCRT_LAYOUT_NC;
    const int64_t count = chain.M * chain.n * chain.C, size = mhcrt_dtype_bytes(chain.type);
    Buffers rooms;
    std::vector<void *> aligned;
    std::vector<int64_t> skips;
    for (int64_t k = 0; k < chain.layers; ++k) {
      auto *start = static_cast<unsigned char *>(rooms.emplace_back(chain.type, count + 32).data());
      skips.push_back(static_cast<int64_t>(-reinterpret_cast<uintptr_t>(start) % 64) / size);
      aligned.push_back(start + skips.back() * size);
    }
    ASSERT_EQ(chain.rebuild(context, aligned), MHCRT_OK) << context.error();
    for (int64_t k = 0; k < chain.layers; ++k)
      chain.out[k] = rooms[k].slice(skips[k], count);
    chain.expectBitsOfSeparateKernels(context);
  }
}

TEST(Rebuild, IsTheSameForAnyNumberOfThreads) {
  Context one(1), three(3);
  Random random(5);
  Chain chain(random, 257, 4, 640, 4);
  ASSERT_EQ(chain.rebuild(one), MHCRT_OK);
  Buffers out = chain.out;
  ASSERT_EQ(chain.rebuild(three), MHCRT_OK);
  for (size_t k = 0; k < out.size(); ++k)
    EXPECT_TRUE(chain.out[k] == out[k]);
}

TEST(Rebuild, ErrorsNameTheListAndTheNeed) {
  Context context;
  Random random(1);
  auto expectError = [&](Chain &chain, const std::string &message) {
    EXPECT_EQ(chain.rebuild(context), MHCRT_INVALID_ARGUMENT);
    EXPECT_EQ(context.error(), message);
    mhcrt_clear_error(context);
  };
  Chain none(random, 1, 4, 8, 0);
  expectError(none, "mhcrt_rebuild: 'out_count' is 0; needed at least 1");
  Chain dropping(random, 1, 4, 8, 2);
  dropping.rate = 0.5, dropping.stream = 0, dropping.streamStep = -1;
  dropping.seeds.assign(1, Buffer(std::vector<int64_t>{1, 2}));
  expectError(dropping, "mhcrt_rebuild: 'seed_count' is 1; needed out_count = 2");
  dropping.seeds.assign(2, Buffer(std::vector<int64_t>{1, 2}));
  expectError(dropping, "mhcrt_rebuild: 'stream + (seed_count-1)*stream_step' is -1; needed 0 to 4294967295");
  float values[16] = {};
  void *out[] = {values, nullptr};
  const void *lists[] = {values, values};
  auto errorOf = [&](int64_t fCount, int64_t uCount, int64_t outCount, void *const *outs) {
    call(mhcrt_rebuild, context, values, MHCRT_F32, lists, MHCRT_F32, uCount, lists, MHCRT_F32, fCount, nullptr,
         MHCRT_NONE, 0, lists, MHCRT_F32, outCount, lists, MHCRT_F32, outCount, nullptr, MHCRT_NONE, 0, out, MHCRT_F32,
         uCount, outs, MHCRT_F32, outCount, 1, 1, 1, 0, 0, 0, 0, 0, 0);
    std::string error = context.error();
    mhcrt_clear_error(context);
    return error;
  };
  EXPECT_EQ(errorOf(2, 0, 1, out), "mhcrt_rebuild: 'f_count' is 2; needed out_count = 1");
  EXPECT_EQ(errorOf(1, 3, 1, out), "mhcrt_rebuild: 'u_count' is 3; needed 0 to 2");
  EXPECT_EQ(errorOf(1, 0, 1, nullptr), "mhcrt_rebuild: 'out' is null; needed 1 tensors");
  EXPECT_EQ(errorOf(2, 0, 2, out), "mhcrt_rebuild: 'out' is null; needed elements of f32");
}

} // namespace
