//===- CpuPostPreTest.cpp - post_pre_bwd joined and its parts apart -------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where post_bwd takes dy from the tiles that make it, the results are those of pre_bwd and then post_bwd: bit for bit,
// but for sums over channels, which have another order.
//
//===------------------------------------------------------------------------===//
#include "Support.h"

#include <cmath>

using namespace mhcrt::test;

namespace {

/// Members of an argument struct: a tensor and its type.
#define TENSOR(args, name, buffer) args.name = buffer.data(), args.name##_type = buffer.type()

constexpr int64_t n = 4, N = 24;

struct Operands {
  int64_t M, C;
  int32_t type, orient;
  bool hasOut, hasStart, hasBias; ///< d_out or d_y or neither
  Buffer dU, dHPost, dHRes, y, start, nextHRes, f, bias, hPost, x, hRes, phi, alpha, beta, proj, stat;

  Operands(Random &random, int64_t M, int64_t C, int32_t type)
      : M(M), C(C), type(type), orient(random.pick({0, 1})), hasOut(random.pick({0, 1})), hasStart(random.pick({0, 1})),
        hasBias(random.pick({0, 1})) {
    const auto streams = [&] { return random.buffer(type, M * n * C); };
    const auto rows = [&](int64_t width) { return random.buffer(MHCRT_F32, M * width, 0.5); };
    dU = random.buffer(type, M * C), f = random.buffer(type, M * C), bias = random.buffer(type, C);
    y = streams(), start = streams(), x = streams();
    dHPost = rows(n), dHRes = rows(n * n), nextHRes = rows(n * n), hPost = rows(n), hRes = rows(n * n);
    phi = random.buffer(MHCRT_F32, N * n * C, 0.1), alpha = random.buffer(MHCRT_F32, 3);
    beta = random.buffer(MHCRT_F32, N), proj = rows(N);
    stat = Buffer(MHCRT_F32, Doubles(M, 0.75));
  }

  std::string name() const {
    return "M=" + std::to_string(M) + " C=" + std::to_string(C) + " " + mhcrt_dtype_name(type) +
           " orient=" + std::to_string(orient) +
           (hasOut     ? " d_out"
            : hasStart ? " d_y"
                       : "") +
           (hasBias ? " bias" : "");
  }

  template <typename Args>
  void setPost(Args &args) {
    args.size = sizeof(args), args.M = M, args.C = C, args.n = n, args.orient = orient;
    TENSOR(args, f, f), TENSOR(args, h_post, hPost), TENSOR(args, x, x), TENSOR(args, h_res, hRes);
    if (hasBias)
      TENSOR(args, bias, bias);
  }
  template <typename Args>
  void setPre(Args &args) {
    args.size = sizeof(args), args.M = M, args.C = C, args.n = n, args.N = N, args.K = n * C, args.A = 3;
    args.norm_eps = args.pre_eps = args.sk_eps = 1e-6, args.post_mult = 2, args.iters = 20;
    TENSOR(args, d_u, dU), TENSOR(args, phi, phi), TENSOR(args, alpha, alpha), TENSOR(args, beta, beta);
    TENSOR(args, proj, proj), TENSOR(args, stat, stat);
    if (hasOut)
      TENSOR(args, d_out, start);
  }
};

struct Results {
  Buffer dF, dHPost, dHRes, dX, dPhi, dAlpha, dBeta, dY;
  explicit Results(const Operands &in)
      : dF(in.type, in.M * in.C), dHPost(MHCRT_F32, in.M * n), dHRes(MHCRT_F32, in.M * n * n),
        dX(in.type, in.M * n * in.C), dPhi(MHCRT_F32, N * n * in.C), dAlpha(MHCRT_F32, 3), dBeta(MHCRT_F32, N),
        dY(in.type, in.M * n * in.C) {}

  template <typename Args>
  void setPost(Args &args) {
    TENSOR(args, d_f, dF), TENSOR(args, d_h_post, dHPost), TENSOR(args, d_h_res, dHRes), TENSOR(args, d_x, dX);
  }
  template <typename Args>
  void setPre(Args &args) {
    TENSOR(args, d_phi, dPhi), TENSOR(args, d_alpha, dAlpha), TENSOR(args, d_beta, dBeta);
  }

  void runApart(mhcrt_context *context, Operands &in) {
    mhcrt_pre_bwd_args pre = {};
    in.setPre(pre), setPre(pre);
    TENSOR(pre, d_h_post, in.dHPost), TENSOR(pre, d_h_res, in.dHRes), TENSOR(pre, x, in.y), TENSOR(pre, d_x, dY);
    if (in.hasOut)
      TENSOR(pre, h_res, in.nextHRes);
    else if (in.hasStart)
      TENSOR(pre, d_x_in, in.start);
    ASSERT_EQ(mhcrt_pre_bwd(context, &pre), MHCRT_OK) << mhcrt_last_error(context);
    mhcrt_post_bwd_args post = {};
    in.setPost(post), setPost(post);
    TENSOR(post, d_out, dY);
    ASSERT_EQ(mhcrt_post_bwd(context, &post), MHCRT_OK) << mhcrt_last_error(context);
  }
  void runFused(mhcrt_context *context, Operands &in) {
    mhcrt_post_pre_bwd_args both = {};
    in.setPost(both), in.setPre(both), setPost(both), setPre(both);
    TENSOR(both, d_next_h_post, in.dHPost), TENSOR(both, d_next_h_res, in.dHRes), TENSOR(both, y, in.y);
    if (in.hasOut)
      TENSOR(both, next_h_res, in.nextHRes);
    else if (in.hasStart)
      TENSOR(both, d_y, in.start);
    ASSERT_EQ(mhcrt_post_pre_bwd(context, &both), MHCRT_OK) << mhcrt_last_error(context);
  }
  bool sameButSums(const Results &other) const {
    return dF == other.dF && dX == other.dX && dPhi == other.dPhi && dAlpha == other.dAlpha && dBeta == other.dBeta;
  }
};

/// Two orders of a sum of C products in f32, of standard normal magnitude and dy's.
void expectNear(const Buffer &got, const Buffer &want, double tolerance, const char *what) {
  const Doubles a = got.values(), b = want.values();
  for (size_t k = 0; k < b.size(); ++k)
    ASSERT_NEAR(a[k], b[k], tolerance) << what << " " << k;
}

double largest(const Buffer &buffer) {
  double most = 0;
  for (double value : buffer.values())
    most = std::max(most, std::fabs(value));
  return most;
}

} // namespace

// Tokens in whole groups of a tile and not, channels of one slice and several, the last of which is a half.
TEST(PostPreBwd, JoinedHasTheResultsOfItsParts) {
  Random random(5);
  for (bool amx : variants()) {
    Context context(2, amx), one(1, amx), three(3, amx);
    for (int32_t type : {MHCRT_F32, MHCRT_BF16})
      for (auto [M, C] : std::vector<std::pair<int64_t, int64_t>>{
               {0, 256}, {1, 256}, {17, 768}, {64, 512}, {130, 1280}, {600, 256}}) {
        Operands in(random, M, C, type);
        SCOPED_TRACE(in.name());
        Results apart(in), fused(in), alone(in), shared(in);
        apart.runApart(context, in);
        fused.runFused(context, in);
        ASSERT_TRUE(fused.sameButSums(apart));
        ASSERT_TRUE(fused.dX.guardIntact() && fused.dF.guardIntact() && fused.dHRes.guardIntact());
        const double most = largest(apart.dY) * std::max(largest(in.x), largest(in.f) + largest(in.bias));
        const double tolerance = std::ldexp(most * static_cast<double>(C), -24) * 4;
        expectNear(fused.dHRes, apart.dHRes, tolerance, "d_h_res");
        expectNear(fused.dHPost, apart.dHPost, tolerance, "d_h_post");
        alone.runFused(one, in);
        shared.runFused(three, in);
        ASSERT_TRUE(fused.sameButSums(alone) && fused.dHRes == alone.dHRes && fused.dHPost == alone.dHPost);
        ASSERT_TRUE(fused.sameButSums(shared) && fused.dHRes == shared.dHRes && fused.dHPost == shared.dHPost);
      }
  }
}
