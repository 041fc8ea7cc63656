//===- EqualStreamsTest.cpp - One row that stands for every stream --------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that read the row in place of equal streams, or add up streams in place of writing them, have the bits that
// they have on the streams.
//
//===------------------------------------------------------------------------===//
#include "Support.h"

using namespace mhcrt::test;

namespace {

/// Members of an argument struct: a tensor and its type.
#define TENSOR(args, name, buffer) args.name = buffer.data(), args.name##_type = buffer.type()

/// Random operands of a sublayer whose streams are equal, in layout [M,n,C]. `whole` has the streams.
struct Entry {
  Random random;
  int64_t M, n, C, K, N;
  int32_t type, orient, phiLayout, precision;
  bool hasDropout;
  Buffer x, wholeX, dOut, wholeDOut, f, bias, hPost, hRes, seed, phi, alpha, beta, proj, stat, dU;

  Entry(uint64_t number, int64_t M, int64_t n, int64_t C, int32_t type)
      : random(number), M(M), n(n), C(C), K(n * C), N(2 * n + n * n), type(type) {
    orient = random.pick({0, 1}), phiLayout = random.pick({0, 0, 1}), hasDropout = random.pick({0, 0, 0, 1});
    precision = random.pick({MHCRT_PRECISION_BF16X3, MHCRT_PRECISION_BF16X3, MHCRT_PRECISION_IEEE});
    x = random.buffer(type, M * C), dOut = random.buffer(type, M * C), dU = random.buffer(type, M * C);
    wholeX = whole(x), wholeDOut = whole(dOut);
    f = random.buffer(type, M * C), bias = random.buffer(type, C), hPost = random.buffer(MHCRT_F32, M * n);
    hRes = random.buffer(MHCRT_F32, M * n * n, 0.5), seed = Buffer(std::vector<int64_t>{3, 5});
    phi = random.buffer(MHCRT_F32, N * K, 1 / std::sqrt(static_cast<double>(K)));
    alpha = random.buffer(MHCRT_F32, 3), beta = random.buffer(MHCRT_F32, N);
    proj = random.buffer(MHCRT_F32, M * N), stat = Buffer(MHCRT_F32, Doubles(M, 1.5));
  }

  Buffer whole(const Buffer &row) const {
    Doubles all;
    const Doubles rows = row.values();
    for (int64_t m = 0; m < M; ++m)
      for (int64_t i = 0; i < n; ++i)
        all.insert(all.end(), rows.begin() + m * C, rows.begin() + (m + 1) * C);
    return Buffer(type, all);
  }

  std::string name() const {
    return "M=" + std::to_string(M) + " n=" + std::to_string(n) + " C=" + std::to_string(C) + " " +
           mhcrt_dtype_name(type) + " orient=" + std::to_string(orient) + " phi_layout=" + std::to_string(phiLayout) +
           " precision=" + std::to_string(precision) + (hasDropout ? " dropout" : "");
  }

  template <typename Args>
  void setX(Args &args, bool isRow) {
    args.size = sizeof(args), args.M = M, args.C = C, args.n = n, args.equal_x = isRow;
    TENSOR(args, x, (isRow ? x : wholeX));
  }
  template <typename Args>
  void setDOut(Args &args, bool isRow) {
    args.equal_d_out = isRow;
    TENSOR(args, d_out, (isRow ? dOut : wholeDOut));
  }
  template <typename Args>
  void setPost(Args &args) {
    TENSOR(args, f, f), TENSOR(args, bias, bias), TENSOR(args, h_post, hPost), TENSOR(args, h_res, hRes);
    args.orient = orient;
    if (hasDropout) {
      TENSOR(args, seed, seed);
      args.S = 2, args.rate = 0.25, args.stream = 7;
    }
  }
  template <typename Args>
  void setPre(Args &args) {
    TENSOR(args, phi, phi), TENSOR(args, alpha, alpha), TENSOR(args, beta, beta);
    args.N = N, args.K = K, args.A = 3, args.phi_layout = phiLayout, args.norm_eps = 1e-6, args.pre_eps = 1e-6;
    args.post_mult = 2, args.sk_eps = 1e-6, args.iters = 20, args.precision = precision;
  }
};

/// Widths that kernels of a GPU are made for, and others.
const std::vector<std::tuple<int64_t, int64_t, int32_t>> kShapes = { // n, C, type
    {4, 4096, MHCRT_BF16}, {4, 2560, MHCRT_BF16}, {4, 768, MHCRT_BF16}, {4, 8192, MHCRT_BF16}, {4, 1024, MHCRT_F32},
    {4, 33, MHCRT_BF16},   {4, 100, MHCRT_F16},   {2, 256, MHCRT_BF16}, {8, 64, MHCRT_F32},    {8, 1024, MHCRT_BF16},
    {3, 40, MHCRT_F16},    {16, 17, MHCRT_F32},   {1, 64, MHCRT_BF16}};
constexpr int64_t kTokens[] = {0, 1, 7, 17, 130};
/// Sanitizers look at the ends of tensors, which small ones have as well.
constexpr int64_t kMostElements = kRuns == 100 ? INT64_MAX : 100000;

template <typename Body>
void forEntries(Body body) {
  uint64_t number = 0;
  Context context;
  for (auto [n, C, type] : kShapes)
    for (int64_t M : kTokens)
      if (Entry e(++number, M, n, C, type); M * e.K <= kMostElements) {
        SCOPED_TRACE(e.name());
        body(context, e);
      }
}

TEST(EqualStreams, PreHasTheBitsOfTheStreams) {
  forEntries([](mhcrt_context *context, Entry &e) {
    const auto run = [&](bool isRow) {
      std::vector<Buffer> results = {{e.type, e.M * e.C},          {MHCRT_F32, e.M * e.n}, {MHCRT_F32, e.M * e.n},
                                     {MHCRT_F32, e.M * e.n * e.n}, {MHCRT_F32, e.M * e.N}, {MHCRT_F32, e.M}};
      mhcrt_pre_args args = {};
      e.setX(args, isRow), e.setPre(args);
      TENSOR(args, u, results[0]), TENSOR(args, h_pre, results[1]), TENSOR(args, h_post, results[2]);
      TENSOR(args, h_res, results[3]), TENSOR(args, proj, results[4]), TENSOR(args, stat, results[5]);
      EXPECT_EQ(mhcrt_pre(context, &args), MHCRT_OK) << mhcrt_last_error(context);
      return results;
    };
    EXPECT_EQ(run(true), run(false));
  });
}

TEST(EqualStreams, PostHasTheBitsOfTheStreams) {
  forEntries([](mhcrt_context *context, Entry &e) {
    const auto run = [&](bool isRow) {
      Buffer out(e.type, e.M * e.K);
      mhcrt_post_args args = {};
      e.setX(args, isRow), e.setPost(args);
      TENSOR(args, out, out);
      EXPECT_EQ(mhcrt_post(context, &args), MHCRT_OK) << mhcrt_last_error(context);
      return out;
    };
    EXPECT_EQ(run(true), run(false));
  });
}

/// Both flags in turn, so that one row does not hide what the other needs.
constexpr std::pair<bool, bool> kFlags[] = {{true, false}, {false, true}, {true, true}};

TEST(EqualStreams, GradientsOfPostHaveTheBitsOfTheStreams) {
  forEntries([](mhcrt_context *context, Entry &e) {
    for (bool hasDx : {false, true}) {
      const auto run = [&](bool isRowX, bool isRowD) {
        std::vector<Buffer> results = {{e.type, e.M * e.C},
                                       {MHCRT_F32, e.M * e.n},
                                       {MHCRT_F32, e.M * e.n * e.n},
                                       {MHCRT_F32, e.C},
                                       {e.type, hasDx ? e.M * e.K : 0}};
        mhcrt_post_bwd_args args = {};
        e.setX(args, isRowX), e.setDOut(args, isRowD), e.setPost(args);
        TENSOR(args, d_f, results[0]), TENSOR(args, d_h_post, results[1]), TENSOR(args, d_h_res, results[2]);
        if (hasDx) {
          TENSOR(args, d_bias, results[3]);
          TENSOR(args, d_x, results[4]);
        }
        EXPECT_EQ(mhcrt_post_bwd(context, &args), MHCRT_OK) << mhcrt_last_error(context);
        return results;
      };
      const std::vector<Buffer> wanted = run(false, false);
      for (auto [x, dOut] : kFlags)
        EXPECT_EQ(run(x, dOut), wanted) << x << dOut << hasDx;
    }
  });
}

TEST(EqualStreams, GradientsOfPreHaveTheBitsOfTheStreams) {
  forEntries([](mhcrt_context *context, Entry &e) {
    Buffer dHPost = e.random.buffer(MHCRT_F32, e.M * e.n), dHRes = e.random.buffer(MHCRT_F32, e.M * e.n * e.n);
    const auto run = [&](bool isRowX, bool isRowD) {
      std::vector<Buffer> results = {{e.type, e.M * e.K}, {MHCRT_F32, e.N * e.K}, {MHCRT_F32, 3}, {MHCRT_F32, e.N}};
      mhcrt_pre_bwd_args args = {};
      e.setX(args, isRowX), e.setDOut(args, isRowD), e.setPre(args);
      TENSOR(args, d_u, e.dU), TENSOR(args, d_h_post, dHPost), TENSOR(args, d_h_res, dHRes);
      TENSOR(args, proj, e.proj), TENSOR(args, stat, e.stat), TENSOR(args, h_res, e.hRes);
      args.orient = e.orient;
      TENSOR(args, d_x, results[0]), TENSOR(args, d_phi, results[1]), TENSOR(args, d_alpha, results[2]);
      TENSOR(args, d_beta, results[3]);
      EXPECT_EQ(mhcrt_pre_bwd(context, &args), MHCRT_OK) << mhcrt_last_error(context);
      return results;
    };
    const std::vector<Buffer> wanted = run(false, false);
    for (auto [x, dOut] : kFlags)
      EXPECT_EQ(run(x, dOut), wanted) << x << dOut;
  });
}

TEST(EqualStreams, PostPreHasTheBitsOfTheStreams) {
  forEntries([](mhcrt_context *context, Entry &e) {
    const auto run = [&](bool isRow) {
      std::vector<Buffer> results = {{e.type, e.M * e.K},    {e.type, e.M * e.C},          {MHCRT_F32, e.M * e.n},
                                     {MHCRT_F32, e.M * e.n}, {MHCRT_F32, e.M * e.n * e.n}, {MHCRT_F32, e.M * e.N}};
      mhcrt_post_pre_args args = {};
      e.setX(args, isRow), e.setPost(args), e.setPre(args);
      TENSOR(args, y, results[0]), TENSOR(args, u, results[1]), TENSOR(args, h_pre, results[2]);
      TENSOR(args, next_h_post, results[3]), TENSOR(args, next_h_res, results[4]), TENSOR(args, proj, results[5]);
      EXPECT_EQ(mhcrt_post_pre(context, &args), MHCRT_OK) << mhcrt_last_error(context);
      return results;
    };
    EXPECT_EQ(run(true), run(false));
  });
}

TEST(EqualStreams, PostHeadHasTheBitsOfTheStreams) {
  forEntries([](mhcrt_context *context, Entry &e) {
    const auto run = [&](bool isRow, bool givesY) {
      std::vector<Buffer> results = {{e.type, e.M * e.C}, {e.type, e.M * e.K}};
      mhcrt_post_head_args args = {};
      e.setX(args, isRow), e.setPost(args);
      TENSOR(args, phi, e.phi), TENSOR(args, alpha, e.alpha), TENSOR(args, beta, e.beta);
      TENSOR(args, out, results[0]);
      if (givesY)
        TENSOR(args, y, results[1]);
      args.K = e.K, args.A = 1, args.phi_layout = e.phiLayout, args.norm_eps = 1e-6, args.pre_eps = 1e-6;
      args.precision = e.precision;
      EXPECT_EQ(mhcrt_post_head(context, &args), MHCRT_OK) << mhcrt_last_error(context);
      return results;
    };
    EXPECT_EQ(run(true, true), run(false, true));
    EXPECT_EQ(run(true, false), run(false, false));
  });
}

TEST(EqualStreams, GradientsOfPostPreHaveTheBitsOfTheStreams) {
  forEntries([](mhcrt_context *context, Entry &e) {
    Buffer dHPost = e.random.buffer(MHCRT_F32, e.M * e.n), dHRes = e.random.buffer(MHCRT_F32, e.M * e.n * e.n);
    Buffer y = e.random.buffer(e.type, e.M * e.K);
    for (bool givesY : {false, true}) {
      const auto run = [&](bool isRowX, bool isRowD) {
        std::vector<Buffer> results = {{e.type, e.M * e.C}, {MHCRT_F32, e.M * e.n}, {MHCRT_F32, e.M * e.n * e.n},
                                       {e.type, e.M * e.K}, {MHCRT_F32, e.N * e.K}, {MHCRT_F32, 3},
                                       {MHCRT_F32, e.N},    {MHCRT_F32, e.C}};
        mhcrt_post_pre_bwd_args args = {};
        e.setX(args, isRowX), e.setDOut(args, isRowD), e.setPost(args), e.setPre(args);
        TENSOR(args, d_u, e.dU), TENSOR(args, d_next_h_post, dHPost), TENSOR(args, d_next_h_res, dHRes);
        TENSOR(args, proj, e.proj), TENSOR(args, stat, e.stat), TENSOR(args, next_h_res, e.hRes);
        if (givesY)
          TENSOR(args, y, y);
        TENSOR(args, d_f, results[0]), TENSOR(args, d_h_post, results[1]), TENSOR(args, d_h_res, results[2]);
        TENSOR(args, d_x, results[3]), TENSOR(args, d_phi, results[4]), TENSOR(args, d_alpha, results[5]);
        TENSOR(args, d_beta, results[6]), TENSOR(args, d_bias, results[7]);
        EXPECT_EQ(mhcrt_post_pre_bwd(context, &args), MHCRT_OK) << mhcrt_last_error(context);
        return results;
      };
      const std::vector<Buffer> wanted = run(false, false);
      for (auto [x, dOut] : kFlags)
        EXPECT_EQ(run(x, dOut), wanted) << x << dOut << givesY;
    }
  });
}

/// Reads streams that a post wrote, where the post could have added them up.
TEST(EqualStreams, PostThatAddsUpHasTheBitsOfContract) {
  forEntries([](mhcrt_context *context, Entry &e) {
    for (int32_t layout : {MHCRT_LAYOUT_NC, MHCRT_LAYOUT_CN}) {
      for (bool isMean : {false, true}) {
        const auto run = [&](int64_t contracted) {
          Buffer out(e.type, e.M * (contracted ? e.C : e.K));
          mhcrt_post_args args = {};
          e.setX(args, /*isRow=*/false), e.setPost(args);
          TENSOR(args, out, out);
          args.layout = layout, args.contracted = contracted;
          EXPECT_EQ(mhcrt_post(context, &args), MHCRT_OK) << mhcrt_last_error(context);
          EXPECT_TRUE(out.guardIntact());
          return out;
        };
        Buffer streams = run(MHCRT_CONTRACTED_NONE), wanted(e.type, e.M * e.C);
        mhcrt_contract_args args = {};
        args.size = sizeof(args), args.M = e.M, args.C = e.C, args.n = e.n, args.layout = layout;
        args.mode = isMean ? MHCRT_CONTRACT_MODE_MEAN : MHCRT_CONTRACT_MODE_SUM;
        TENSOR(args, x, streams), TENSOR(args, out, wanted);
        EXPECT_EQ(mhcrt_contract(context, &args), MHCRT_OK) << mhcrt_last_error(context);
        EXPECT_EQ(run(isMean ? MHCRT_CONTRACTED_MEAN : MHCRT_CONTRACTED_SUM), wanted) << layout << isMean;
      }
    }
  });
}

TEST(EqualStreams, AFlagThatIsNeitherIsAnError) {
  Entry e(1, 3, 4, 8, MHCRT_F32);
  Context context;
  Buffer out(e.type, e.M * e.K);
  mhcrt_post_args args = {};
  e.setX(args, true), e.setPost(args);
  TENSOR(args, out, out);
  args.equal_x = 2;
  EXPECT_EQ(mhcrt_post(context, &args), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(context.error(), "mhcrt_post: 'equal_x' is 2; needed 0 to 1");
  mhcrt_clear_error(context);
  args.equal_x = 1, args.contracted = 3;
  EXPECT_EQ(mhcrt_post(context, &args), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(context.error(), "mhcrt_post: 'contracted' is 3; needed 0 to 2");
}

TEST(EqualStreams, AFlagOfAnAbsentTensorIsAnError) {
  Entry e(1, 3, 4, 8, MHCRT_F32);
  Context context;
  Buffer dX(e.type, e.M * e.K);
  mhcrt_pre_bwd_args args = {};
  e.setX(args, true), e.setPre(args);
  TENSOR(args, d_h_post, e.hPost), TENSOR(args, d_h_res, e.hRes), TENSOR(args, proj, e.proj);
  TENSOR(args, stat, e.stat), TENSOR(args, d_x, dX);
  args.equal_d_out = 1;
  EXPECT_EQ(mhcrt_pre_bwd(context, &args), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(context.error(), "mhcrt_pre_bwd: 'equal_d_out' is 1; needed 0 to 0");
}

TEST(EqualStreams, FlagsOfABoundaryAreChecked) {
  Entry e(1, 3, 4, 8, MHCRT_F32);
  Context context;
  Buffer y(e.type, e.M * e.K);
  mhcrt_post_pre_args both = {};
  e.setX(both, true), e.setPost(both), e.setPre(both);
  TENSOR(both, y, y), TENSOR(both, next_h_post, e.hPost), TENSOR(both, next_h_res, e.hRes);
  both.equal_x = 2;
  EXPECT_EQ(mhcrt_post_pre(context, &both), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(context.error(), "mhcrt_post_pre: 'equal_x' is 2; needed 0 to 1");
  mhcrt_clear_error(context);
  mhcrt_post_pre_bwd_args bwd = {};
  e.setX(bwd, true), e.setPost(bwd), e.setPre(bwd);
  TENSOR(bwd, d_next_h_post, e.hPost), TENSOR(bwd, d_next_h_res, e.hRes), TENSOR(bwd, proj, e.proj);
  TENSOR(bwd, stat, e.stat), TENSOR(bwd, d_x, y);
  bwd.equal_d_out = 1;
  EXPECT_EQ(mhcrt_post_pre_bwd(context, &bwd), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(context.error(), "mhcrt_post_pre_bwd: 'equal_d_out' is 1; needed 0 to 0");
}

} // namespace
