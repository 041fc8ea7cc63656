//===- PostPreTest.cpp - One kernel from one sublayer to the next ---------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Its results have the bits of post and of pre, one after the other, whatever variant takes the call.
//
//===------------------------------------------------------------------------===//
#include "PostPreCase.h"

#include <algorithm>
#include <cstddef>

using namespace mhcrt::test;

namespace {

/// Widths that kernels of a GPU are made for, and others.
const std::vector<std::tuple<int64_t, int64_t, int32_t>> kShapes = { // n, C, type
    {4, 4096, MHCRT_BF16}, {4, 2560, MHCRT_BF16}, {4, 1280, MHCRT_BF16}, {4, 1024, MHCRT_F32}, {4, 33, MHCRT_BF16},
    {4, 100, MHCRT_F16},   {2, 256, MHCRT_BF16},  {8, 64, MHCRT_F32},    {3, 40, MHCRT_F16},   {16, 17, MHCRT_F32}};
constexpr int64_t kTokens[] = {0, 1, 7, 8, 9, 15, 16, 17, 130, 1000};
/// Wide tokens are few. Sanitizers look at the ends of tensors, which small ones have as well.
constexpr int64_t kMostElements = kRuns == 100 ? 1 << 22 : 100000;

/// Calls body with boundaries of all shapes.
template <typename Body>
void forBoundaries(Body body) {
  uint64_t number = 0;
  for (auto [n, C, type] : kShapes)
    for (int64_t M : kTokens)
      if (Boundary b(++number, M, n, C, type); M * b.K <= kMostElements) {
        SCOPED_TRACE(b.name());
        body(b);
      }
}

void expectNear(const Buffer &got, const Buffer &want, const std::string &what, double error = 1e-5) {
  const Doubles values = want.values();
  Doubles tolerance(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    tolerance[i] = error * std::max(1.0, std::fabs(values[i]));
  expectClose(got, values, tolerance, what);
}

} // namespace

TEST(PostPre, HasTheBitsOfPostAndPre) {
  Context context;
  forBoundaries([&](Boundary &b) {
    Results apart(b), fused(b);
    apart.runApart(context, b);
    fused.runFused(context, b);
    ASSERT_TRUE(fused.y == apart.y) << "y";
    ASSERT_TRUE(fused.proj == apart.proj && fused.stat == apart.stat) << "proj, stat";
    ASSERT_TRUE(fused.hPre == apart.hPre && fused.hPost == apart.hPost && fused.hRes == apart.hRes) << "coefficients";
    ASSERT_TRUE(fused.u == apart.u) << "u";
    if (!b.foldPre) {
      Buffer again(b.type, b.M * b.C);
      b.aggregate(context, fused.y, fused.hPre, again);
      ASSERT_TRUE(fused.u == again) << "u of aggregate, which makes it where it is not saved";
    }
    ASSERT_TRUE(fused.y.guardIntact() && fused.u.guardIntact() && fused.proj.guardIntact());
  });
}

// Large streams at an address of whole cache lines bypass the caches of a CPU.
TEST(PostPre, HasTheSameBitsWithLargeStreams) {
  Context context;
  for (int32_t type : {MHCRT_F32, MHCRT_BF16}) {
    Boundary b(/*number=*/1, /*M=*/257, /*n=*/4, /*C=*/8192 / mhcrt_dtype_bytes(type), type);
    b.layout = MHCRT_LAYOUT_NC, b.hasDropout = false;
    SCOPED_TRACE(b.name());
    Results apart(b), fused(b);
    apart.runApart(context, b);
    const int64_t bytes = b.M * b.K * mhcrt_dtype_bytes(type);
    void *y = mhcrt_buffer_create(context, bytes);
    fused.runFused(context, b, y);
    std::vector<char> copied(bytes);
    ASSERT_EQ(mhcrt_copy(context, copied.data(), y, bytes), MHCRT_OK);
    ASSERT_EQ(mhcrt_synchronize(context), MHCRT_OK);
    mhcrt_buffer_destroy(context, y);
    EXPECT_EQ(std::memcmp(copied.data(), apart.y.floats(), bytes), 0) << "y";
    EXPECT_TRUE(fused.proj == apart.proj && fused.stat == apart.stat) << "proj, stat";
    EXPECT_TRUE(fused.u == apart.u) << "u";
  }
}

// The norm may be of u before it is rounded: its own rounding and that of its mean square are each one more at most.
TEST(PostPre, NormOfUIsThatOfTheRoundedOneUpToRoundings) {
  Context context;
  forBoundaries([&](Boundary &b) {
    Buffer weight = b.random.buffer(b.random.pick<int32_t>({MHCRT_F32, b.type}), b.C);
    Results plain(b), normed(b);
    plain.runApart(context, b);
    normed.runFused(context, b, /*streams=*/nullptr, &weight);
    const Doubles u = plain.u.values(), w = weight.values(), y = plain.y.values();
    const double least = b.type == MHCRT_F16 ? 0x1p-25 : 0; // rounding of numbers that are not normal
    Doubles want(u.size()), tolerance(u.size());
    for (int64_t m = 0; m < b.M; ++m) {
      double squares = 0;
      for (int64_t c = 0; c < b.C; ++c)
        squares += u[m * b.C + c] * u[m * b.C + c];
      const double scale = 1 / std::sqrt(squares / static_cast<double>(b.C) + kNormEps);
      for (int64_t c = 0; c < b.C; ++c) {
        const int64_t k = m * b.C + c;
        double mixed = 0; // of coefficients that may differ by 1e-5, as below
        for (int64_t i = 0; i < b.n; ++i)
          mixed += std::fabs(y[m * b.K + (b.layout == MHCRT_LAYOUT_NC ? i * b.C + c : c * b.n + i)]);
        want[k] = scale * u[k] * w[c];
        tolerance[k] = (3 * roundoff(b.type) + 0x1p-20) * std::fabs(want[k]) +
                       (least + 1e-5 * mixed) * scale * std::fabs(w[c]) + least;
      }
    }
    expectClose(normed.u, want, tolerance, "u");
    ASSERT_TRUE(normed.y == plain.y && normed.proj == plain.proj) << "y, proj";
    // A kernel may add the squares in the order of its products; either is within 5e-6 of the exact ones.
    expectNear(normed.stat, plain.stat, "stat");
    expectNear(normed.hPre, plain.hPre, "h_pre");
    expectNear(normed.hPost, plain.hPost, "next_h_post");
    expectNear(normed.hRes, plain.hRes, "next_h_res");
  });
}

TEST(PostPre, WeightOfTheNormIsChecked) {
  Boundary b(/*number=*/1, /*M=*/2, /*n=*/4, /*C=*/64, MHCRT_BF16);
  Buffer weight = b.random.buffer(MHCRT_F16, b.C);
  Results r(b);
  mhcrt_post_pre_args args = {};
  b.setPost(args), b.setPre(args);
  MHCRT_TENSOR(args, y, r.y), MHCRT_TENSOR(args, u, r.u), MHCRT_TENSOR(args, next_h_post, r.hPost),
      MHCRT_TENSOR(args, next_h_res, r.hRes);
  MHCRT_TENSOR(args, u_norm_weight, weight);
  const auto errorOf = [&] {
    Context context;
    EXPECT_EQ(mhcrt_post_pre(context, &args), MHCRT_INVALID_ARGUMENT);
    return context.error();
  };
  EXPECT_EQ(errorOf(), "mhcrt_post_pre: 'u_norm_weight' has dtype f16; needed f32 or bf16");
  args.u_norm_weight_type = MHCRT_BF16, args.u_norm_eps = -1;
  EXPECT_EQ(errorOf(), "mhcrt_post_pre: 'u_norm_eps' is -1; needed a finite number of at least 0");
  args.u_norm_eps = 0, args.u = nullptr, args.u_type = MHCRT_NONE;
  EXPECT_EQ(errorOf(), "mhcrt_post_pre: 'u_norm_weight' has dtype bf16; needed none with absent u");
  args.u_norm_weight = nullptr, args.u_norm_weight_type = MHCRT_NONE, args.u_norm_eps = kNormEps;
  EXPECT_EQ(errorOf(), "mhcrt_post_pre: 'u_norm_eps' is 1e-05; needed 0 without 'u_norm_weight'");
}

namespace {

/// A tensor among the members of an argument struct: the places of its address and type.
struct Operand {
  const char *name;
  size_t data, type;
};

#define OPERAND(name)                                                                                                  \
  Operand { #name, offsetof(Args, name), offsetof(Args, name##_type) }

/// Messages of calls that differ in one argument from a good one, and launch nothing.
template <typename Args>
struct Refusals {
  std::string symbol;
  mhcrt_status (*kernel)(mhcrt_context *, const Args *);
  const Args &good;

  template <typename Change>
  void expect(const std::string &message, Change change) {
    Args bad = good;
    change(bad);
    Context context;
    EXPECT_EQ(kernel(context, &bad), MHCRT_INVALID_ARGUMENT);
    EXPECT_EQ(mhcrt_context_launches(context), 0);
    EXPECT_EQ(context.error(), symbol + ": " + message);
  }

  /// Takes each tensor away, and gives each another type than the `needed` one.
  void ofTensors(const std::string &needed, const std::vector<Operand> &operands) {
    Context context;
    ASSERT_EQ(kernel(context, &good), MHCRT_OK) << context.error();
    for (const auto &[name, data, type] : operands) {
      int32_t known;
      std::memcpy(&known, reinterpret_cast<const char *>(&good) + type, sizeof(known));
      expect("'" + std::string(name) + "' is null; needed elements of " + mhcrt_dtype_name(known),
             [at = data](Args &a) { std::memset(reinterpret_cast<char *>(&a) + at, 0, sizeof(void *)); });
      expect("'" + std::string(name) + "' has dtype i32; needed " + needed, [at = type](Args &a) {
        const int32_t other = MHCRT_I32;
        std::memcpy(reinterpret_cast<char *>(&a) + at, &other, sizeof(other));
      });
    }
  }

  /// Numbers that both directions have.
  void ofNumbers() {
    expect("'M' is -1; needed at least 0", [](Args &a) { a.M = -1; });
    expect("'S' is 3; needed 2", [](Args &a) { a.S = 3; });
    for (const auto &[rate, text] : {std::pair{1.0, "1"}, {-0.25, "-0.25"}, {NAN, "nan"}})
      expect("'rate' is " + std::string(text) + "; needed at least 0 and less than 1",
             [value = rate](Args &a) { a.rate = value; });
    expect("'rate' is 0.25; needed 0 without 'seed'", [](Args &a) { a.seed = nullptr, a.seed_type = MHCRT_NONE; });
  }
};

/// One with everything that may be absent.
Boundary wholeBoundary() {
  Boundary b(/*number=*/1, /*M=*/2, /*n=*/4, /*C=*/64, MHCRT_BF16);
  b.hasBias = b.hasWeight = b.hasDropout = true, b.foldPre = 0;
  return b;
}

} // namespace

TEST(PostPre, BadArgumentsAreNamed) {
  using Args = mhcrt_post_pre_args;
  Boundary b = wholeBoundary();
  Results r(b);
  Buffer normWeight = b.random.buffer(MHCRT_F32, b.C);
  Args args = {};
  b.setPost(args), b.setPre(args);
  MHCRT_TENSOR(args, h_in, b.hPost), MHCRT_TENSOR(args, u_norm_weight, normWeight);
  MHCRT_TENSOR(args, y, r.y), MHCRT_TENSOR(args, u, r.u), MHCRT_TENSOR(args, h_pre, r.hPre),
      MHCRT_TENSOR(args, next_h_post, r.hPost);
  MHCRT_TENSOR(args, next_h_res, r.hRes), MHCRT_TENSOR(args, proj, r.proj), MHCRT_TENSOR(args, stat, r.stat);
  Refusals<Args> refusals{"mhcrt_post_pre", mhcrt_post_pre, args};
  refusals.ofTensors("f32, bf16 or f16", {OPERAND(x)});
  refusals.ofTensors("bf16", {OPERAND(f), OPERAND(y), OPERAND(u)});
  refusals.ofTensors("f32 or bf16", {OPERAND(bias), OPERAND(phi), OPERAND(norm_weight), OPERAND(u_norm_weight)});
  refusals.ofTensors("f32", {OPERAND(h_post), OPERAND(h_res), OPERAND(alpha), OPERAND(beta), OPERAND(h_in),
                             OPERAND(h_pre), OPERAND(next_h_post), OPERAND(next_h_res), OPERAND(proj), OPERAND(stat)});
  refusals.ofTensors("i64", {OPERAND(seed)});
  refusals.ofNumbers();
}

TEST(PostHead, HasTheBitsOfPostAndHead) {
  Context context;
  forBoundaries([&](Boundary &b) {
    HeadResults apart(b), fused(b), alone(b);
    apart.runApart(context, b);
    fused.runFused(context, b, /*givesY=*/true);
    alone.runFused(context, b, /*givesY=*/false);
    ASSERT_TRUE(fused.y == apart.y) << "y";
    ASSERT_TRUE(fused.proj == apart.proj && fused.stat == apart.stat && fused.hPre == apart.hPre)
        << "proj, stat, h_pre";
    ASSERT_TRUE(fused.out == apart.out) << "out";
    ASSERT_TRUE(alone.out == apart.out) << "out without y";
    ASSERT_TRUE(fused.y.guardIntact() && fused.out.guardIntact() && fused.proj.guardIntact());
    ASSERT_TRUE(alone.out.guardIntact());
  });
}

TEST(PostHead, HasTheSameBitsWithLargeStreams) {
  Context context;
  for (int32_t type : {MHCRT_F32, MHCRT_BF16}) {
    Boundary b(/*number=*/1, /*M=*/257, /*n=*/4, /*C=*/8192 / mhcrt_dtype_bytes(type), type);
    b.layout = MHCRT_LAYOUT_NC, b.hasDropout = false;
    SCOPED_TRACE(b.name());
    HeadResults apart(b), fused(b), alone(b);
    apart.runApart(context, b);
    const int64_t bytes = b.M * b.K * mhcrt_dtype_bytes(type);
    void *y = mhcrt_buffer_create(context, bytes);
    fused.runFused(context, b, /*givesY=*/true, y);
    alone.runFused(context, b, /*givesY=*/false);
    std::vector<char> copied(bytes);
    ASSERT_EQ(mhcrt_copy(context, copied.data(), y, bytes), MHCRT_OK);
    ASSERT_EQ(mhcrt_synchronize(context), MHCRT_OK);
    mhcrt_buffer_destroy(context, y);
    EXPECT_EQ(std::memcmp(copied.data(), apart.y.floats(), bytes), 0) << "y";
    EXPECT_TRUE(fused.proj == apart.proj && fused.stat == apart.stat) << "proj, stat";
    EXPECT_TRUE(fused.out == apart.out && alone.out == apart.out) << "out";
  }
}

// Where y is not saved, the gradient makes it again.
TEST(PostPreBwd, HasTheSameBitsWithYAndWithout) {
  Context context;
  forBoundaries([&](Boundary &b) {
    Results saved(b);
    saved.runApart(context, b);
    Arriving arriving(b);
    Gradients with(b), without(b), wide(b);
    arriving.run(context, b, saved, with, /*givesY=*/true);
    arriving.run(context, b, saved, without, /*givesY=*/false);
    ASSERT_TRUE(with == without);
    wide.dX = Buffer(MHCRT_F32, b.M * b.K); // of another row, which may round dy another way
    arriving.run(context, b, saved, wide, /*givesY=*/true);
    expectNear(wide.dX, with.dX, "d_x in f32", 0.25);
    ASSERT_TRUE(without.dX.guardIntact() && without.dF.guardIntact() && without.dPhi.guardIntact());
  });
}

// Streams of zeros have no length that a norm could divide by.
TEST(PostPreBwd, TokensOfZerosAreFinite) {
  Context context;
  forBoundaries([&](Boundary &b) {
    if (b.M == 0 || b.M > 17)
      return;
    b.hasBias = false;
    const std::vector<int64_t> empty = {0, b.M / 2};
    for (int64_t m : empty)
      b.clearToken(m);
    Results apart(b), fused(b), normed(b);
    apart.runApart(context, b);
    fused.runFused(context, b);
    ASSERT_TRUE(fused.y == apart.y && fused.u == apart.u && fused.proj == apart.proj && fused.hRes == apart.hRes);
    Buffer weight = b.random.buffer(MHCRT_F32, b.C);
    normed.runFused(context, b, /*streams=*/nullptr, &weight);
    for (Buffer *u : {&fused.u, &normed.u})
      for (int64_t m : empty)
        EXPECT_EQ(u->slice(m * b.C, b.C).values(), Doubles(b.C)) << "token " << m;
    if (b.type == MHCRT_F16) // which ends at 65504
      return;
    Gradients gradients(b);
    Arriving(b).run(context, b, fused, gradients, /*givesY=*/true);
    for (const Buffer *gradient : gradients.all())
      for (double value : gradient->values())
        ASSERT_TRUE(std::isfinite(value)) << value;
  });
}

TEST(PostPreBwd, BadArgumentsAreNamed) {
  using Args = mhcrt_post_pre_bwd_args;
  Boundary b = wholeBoundary();
  Results saved(b);
  Gradients out(b), in(b);
  Buffer dU = b.random.buffer(b.type, b.M * b.C), dY = b.random.buffer(b.type, b.M * b.K);
  Args args = {};
  b.setPost(args), b.setPre(args);
  MHCRT_TENSOR(args, d_u, dU), MHCRT_TENSOR(args, d_h_pre, saved.hPre), MHCRT_TENSOR(args, d_next_h_post, saved.hPost);
  MHCRT_TENSOR(args, d_next_h_res, saved.hRes), MHCRT_TENSOR(args, y, saved.y), MHCRT_TENSOR(args, d_y, dY);
  MHCRT_TENSOR(args, proj, saved.proj), MHCRT_TENSOR(args, stat, saved.stat);
  MHCRT_TENSOR(args, d_bias_in, in.dBias), MHCRT_TENSOR(args, d_phi_in, in.dPhi),
      MHCRT_TENSOR(args, d_norm_weight_in, in.dWeight);
  MHCRT_TENSOR(args, d_alpha_in, in.dAlpha), MHCRT_TENSOR(args, d_beta_in, in.dBeta);
  MHCRT_TENSOR(args, d_f, out.dF), MHCRT_TENSOR(args, d_h_post, out.dHPost), MHCRT_TENSOR(args, d_h_res, out.dHRes);
  MHCRT_TENSOR(args, d_x, out.dX), MHCRT_TENSOR(args, d_bias, out.dBias), MHCRT_TENSOR(args, d_phi, out.dPhi);
  MHCRT_TENSOR(args, d_norm_weight, out.dWeight), MHCRT_TENSOR(args, d_alpha, out.dAlpha),
      MHCRT_TENSOR(args, d_beta, out.dBeta);
  Refusals<Args> refusals{"mhcrt_post_pre_bwd", mhcrt_post_pre_bwd, args};
  refusals.ofTensors("bf16", {OPERAND(d_u), OPERAND(y), OPERAND(f), OPERAND(d_f)});
  refusals.ofTensors("f32",
                     {OPERAND(d_h_pre),    OPERAND(d_next_h_post), OPERAND(d_next_h_res),  OPERAND(h_post),
                      OPERAND(h_res),      OPERAND(alpha),         OPERAND(beta),          OPERAND(proj),
                      OPERAND(stat),       OPERAND(d_bias_in),     OPERAND(d_phi_in),      OPERAND(d_norm_weight_in),
                      OPERAND(d_alpha_in), OPERAND(d_beta_in),     OPERAND(d_h_post),      OPERAND(d_h_res),
                      OPERAND(d_bias),     OPERAND(d_phi),         OPERAND(d_norm_weight), OPERAND(d_alpha),
                      OPERAND(d_beta)});
  refusals.ofTensors("f32 or bf16", {OPERAND(d_y), OPERAND(bias), OPERAND(phi), OPERAND(norm_weight), OPERAND(d_x)});
  refusals.ofTensors("f32, bf16 or f16", {OPERAND(x)});
  refusals.ofTensors("i64", {OPERAND(seed)});
  refusals.ofNumbers();
  refusals.expect("'next_h_res' has dtype f32; needed none with absent d_out",
                  [&](Args &a) { MHCRT_TENSOR(a, next_h_res, saved.hRes); });
  MHCRT_TENSOR(args, d_out, dY), MHCRT_TENSOR(args, next_h_res, saved.hRes);
  refusals.expect("'d_y' has dtype bf16; needed none with d_out", [](Args &) {});
  args.d_y = nullptr, args.d_y_type = MHCRT_NONE;
  refusals.ofTensors("bf16", {OPERAND(d_out)});
  refusals.ofTensors("f32", {OPERAND(next_h_res)});
}
