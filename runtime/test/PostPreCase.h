//===- PostPreCase.h - A random boundary between two sublayers --*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of post_pre, post_head and post_pre_bwd, and of the ops that they are made of.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_POSTPRECASE_H
#define MHCRT_TEST_POSTPRECASE_H

#include "Support.h"

#include <cmath>

namespace mhcrt::test {

/// Members of an argument struct: a tensor and its type.
#define MHCRT_TENSOR(args, name, buffer) args.name = (buffer).data(), args.name##_type = (buffer).type()

/// A boundary between two sublayers with random operands.
struct Boundary {
  Random random;
  int64_t M, n, C, K, N;
  int32_t type, phiType, layout, orient, phiLayout, norm, foldPre, precision;
  bool hasBias, hasWeight, hasDropout;
  Buffer f, bias, hPost, x, hRes, seed, phi, weight, alpha, beta;

  Boundary(uint64_t number, int64_t M, int64_t n, int64_t C, int32_t type)
      : random(number), M(M), n(n), C(C), K(n * C), N(2 * n + n * n), type(type) {
    phiType = random.pick<int32_t>({MHCRT_F32, MHCRT_F32, type});
    layout = random.pick({0, 0, 1}), orient = random.pick({0, 1}), phiLayout = random.pick({0, 0, 1});
    norm = random.pick({MHCRT_NORM_INSIDE, MHCRT_NORM_INSIDE, MHCRT_NORM_OUTSIDE, MHCRT_NORM_NONE});
    foldPre = random.pick({0, 0, 1});
    precision = random.pick({MHCRT_PRECISION_BF16X3, MHCRT_PRECISION_BF16X3, MHCRT_PRECISION_IEEE});
    hasBias = random.pick({0, 0, 1}), hasWeight = random.pick({0, 0, 1}), hasDropout = random.pick({0, 0, 0, 1});
    f = random.buffer(type, M * C), bias = random.buffer(type, C), hPost = random.buffer(MHCRT_F32, M * n);
    x = random.buffer(type, M * K), hRes = random.buffer(MHCRT_F32, M * n * n, 0.5);
    seed = Buffer(std::vector<int64_t>{3, 5});
    phi = random.buffer(phiType, N * K, 1 / std::sqrt(static_cast<double>(K)));
    weight = random.buffer(MHCRT_F32, K);
    alpha = random.buffer(MHCRT_F32, 3), beta = random.buffer(MHCRT_F32, N);
  }

  std::string name() const {
    return "M=" + std::to_string(M) + " n=" + std::to_string(n) + " C=" + std::to_string(C) + " " +
           mhcrt_dtype_name(type) + " phi " + mhcrt_dtype_name(phiType) + " layout=" + std::to_string(layout) +
           " orient=" + std::to_string(orient) + " phi_layout=" + std::to_string(phiLayout) +
           " norm=" + std::to_string(norm) + " fold=" + std::to_string(foldPre) +
           " precision=" + std::to_string(precision) + (hasBias ? " bias" : "") + (hasWeight ? " weight" : "") +
           (hasDropout ? " dropout" : "");
  }

  /// Makes zeros of a token's streams and its output.
  void clearToken(int64_t m) {
    const int64_t bytes = mhcrt_dtype_bytes(type);
    std::memset(reinterpret_cast<char *>(f.floats()) + m * C * bytes, 0, C * bytes);
    std::memset(reinterpret_cast<char *>(x.floats()) + m * K * bytes, 0, K * bytes);
  }

  /// Operands that post, post_pre and its gradient read alike.
  template <typename Args>
  void setPost(Args &args) {
    args.size = sizeof(args);
    MHCRT_TENSOR(args, f, f), MHCRT_TENSOR(args, h_post, hPost), MHCRT_TENSOR(args, x, x),
        MHCRT_TENSOR(args, h_res, hRes);
    if (hasBias)
      MHCRT_TENSOR(args, bias, bias);
    if (hasDropout) {
      MHCRT_TENSOR(args, seed, seed);
      args.S = 2, args.rate = 0.25, args.stream = 7;
    }
    args.M = M, args.C = C, args.n = n, args.layout = layout, args.orient = orient;
  }
  /// The same of pre.
  template <typename Args>
  void setPre(Args &args) {
    args.size = sizeof(args);
    MHCRT_TENSOR(args, phi, phi), MHCRT_TENSOR(args, alpha, alpha), MHCRT_TENSOR(args, beta, beta);
    if (hasWeight)
      MHCRT_TENSOR(args, norm_weight, weight);
    args.M = M, args.C = C, args.n = n, args.N = N, args.K = K, args.A = 3, args.layout = layout;
    args.phi_layout = phiLayout, args.norm = norm, args.norm_eps = 1e-6, args.pre_eps = 1e-6, args.post_mult = 2;
    args.res_map = MHCRT_RES_MAP_SINKHORN, args.init = MHCRT_INIT_SOFTMAX_EPS, args.sk_eps = 1e-6, args.iters = 20;
    args.fold_pre = foldPre, args.precision = precision;
  }
  /// The same of head, which has the first n columns and the first gate.
  template <typename Args>
  void setHead(Args &args) {
    args.size = sizeof(args);
    MHCRT_TENSOR(args, phi, phi), MHCRT_TENSOR(args, alpha, alpha), MHCRT_TENSOR(args, beta, beta);
    if (hasWeight)
      MHCRT_TENSOR(args, norm_weight, weight);
    args.M = M, args.C = C, args.n = n, args.K = K, args.A = 1, args.layout = layout, args.phi_layout = phiLayout;
    args.norm = norm, args.norm_eps = 1e-6, args.pre_eps = 1e-6, args.precision = precision;
  }

  /// u of the streams `y`.
  void aggregate(mhcrt_context *context, Buffer &y, Buffer &hPre, Buffer &u) const {
    mhcrt_aggregate_args args = {};
    args.size = sizeof(args);
    MHCRT_TENSOR(args, x, y), MHCRT_TENSOR(args, h_pre, hPre), MHCRT_TENSOR(args, u, u);
    args.M = M, args.n = n, args.C = C, args.layout = layout;
    ASSERT_EQ(mhcrt_aggregate(context, &args), MHCRT_OK) << mhcrt_last_error(context);
  }

  /// y, by post alone.
  void runPost(mhcrt_context *context, Buffer &y) {
    mhcrt_post_args post = {};
    setPost(post);
    MHCRT_TENSOR(post, out, y);
    ASSERT_EQ(mhcrt_post(context, &post), MHCRT_OK) << mhcrt_last_error(context);
  }
};

constexpr double kNormEps = 1e-5; ///< of the norm of u

/// Results of both ways.
struct Results {
  Buffer y, u, hPre, hPost, hRes, proj, stat;
  explicit Results(const Boundary &b)
      : y(b.type, b.M * b.K), u(b.type, b.M * b.C), hPre(MHCRT_F32, b.M * b.n), hPost(MHCRT_F32, b.M * b.n),
        hRes(MHCRT_F32, b.M * b.n * b.n), proj(MHCRT_F32, b.M * b.N), stat(MHCRT_F32, b.M) {}

  void runApart(mhcrt_context *context, Boundary &b) {
    b.runPost(context, y);
    mhcrt_pre_args pre = {};
    b.setPre(pre);
    MHCRT_TENSOR(pre, x, y), MHCRT_TENSOR(pre, u, u), MHCRT_TENSOR(pre, h_pre, hPre), MHCRT_TENSOR(pre, h_post, hPost);
    MHCRT_TENSOR(pre, h_res, hRes), MHCRT_TENSOR(pre, proj, proj), MHCRT_TENSOR(pre, stat, stat);
    ASSERT_EQ(mhcrt_pre(context, &pre), MHCRT_OK) << mhcrt_last_error(context);
  }

  /// `streams` takes y, and `normWeight` makes u its norm, if they are not null.
  void runFused(mhcrt_context *context, Boundary &b, void *streams = nullptr, Buffer *normWeight = nullptr) {
    mhcrt_post_pre_args both = {};
    b.setPost(both), b.setPre(both);
    MHCRT_TENSOR(both, y, y), MHCRT_TENSOR(both, u, u), MHCRT_TENSOR(both, h_pre, hPre),
        MHCRT_TENSOR(both, next_h_post, hPost);
    MHCRT_TENSOR(both, next_h_res, hRes), MHCRT_TENSOR(both, proj, proj), MHCRT_TENSOR(both, stat, stat);
    if (streams)
      both.y = streams;
    if (normWeight) {
      MHCRT_TENSOR(both, u_norm_weight, (*normWeight));
      both.u_norm_eps = kNormEps;
    }
    ASSERT_EQ(mhcrt_post_pre(context, &both), MHCRT_OK) << mhcrt_last_error(context);
  }
};

/// The same where a head is behind the post: out, and of proj the n columns that there are.
struct HeadResults {
  Buffer y, out, hPre, proj, stat;
  explicit HeadResults(const Boundary &b)
      : y(b.type, b.M * b.K), out(b.type, b.M * b.C), hPre(MHCRT_F32, b.M * b.n), proj(MHCRT_F32, b.M * b.n),
        stat(MHCRT_F32, b.M) {}

  void runApart(mhcrt_context *context, Boundary &b) {
    b.runPost(context, y);
    mhcrt_head_args head = {};
    b.setHead(head);
    MHCRT_TENSOR(head, x, y), MHCRT_TENSOR(head, out, out), MHCRT_TENSOR(head, h_pre, hPre);
    MHCRT_TENSOR(head, proj, proj), MHCRT_TENSOR(head, stat, stat);
    ASSERT_EQ(mhcrt_head(context, &head), MHCRT_OK) << mhcrt_last_error(context);
  }

  /// `streams` takes y, if it is not null. Without y, and without what a gradient reads.
  void runFused(mhcrt_context *context, Boundary &b, bool givesY, void *streams = nullptr) {
    mhcrt_post_head_args both = {};
    b.setPost(both), b.setHead(both);
    MHCRT_TENSOR(both, out, out);
    if (givesY) {
      MHCRT_TENSOR(both, y, y), MHCRT_TENSOR(both, h_pre, hPre), MHCRT_TENSOR(both, proj, proj),
          MHCRT_TENSOR(both, stat, stat);
      both.y = streams ? streams : both.y;
    }
    ASSERT_EQ(mhcrt_post_head(context, &both), MHCRT_OK) << mhcrt_last_error(context);
  }
};

/// Gradients of a boundary; d_proj and the like stay in the kernel.
struct Gradients {
  Buffer dF, dHPost, dHRes, dX, dBias, dPhi, dWeight, dAlpha, dBeta;
  explicit Gradients(const Boundary &b)
      : dF(b.type, b.M * b.C), dHPost(MHCRT_F32, b.M * b.n), dHRes(MHCRT_F32, b.M * b.n * b.n), dX(b.type, b.M * b.K),
        dBias(MHCRT_F32, b.C), dPhi(MHCRT_F32, b.N * b.K), dWeight(MHCRT_F32, b.K), dAlpha(MHCRT_F32, 3),
        dBeta(MHCRT_F32, b.N) {}

  std::vector<const Buffer *> all() const {
    return {&dF, &dHPost, &dHRes, &dX, &dBias, &dPhi, &dWeight, &dAlpha, &dBeta};
  }
  bool operator==(const Gradients &other) const {
    return dF == other.dF && dHPost == other.dHPost && dHRes == other.dHRes && dX == other.dX && dBias == other.dBias &&
           dPhi == other.dPhi && dWeight == other.dWeight && dAlpha == other.dAlpha && dBeta == other.dBeta;
  }
};

/// Gradients that arrive at a boundary, whose streams another post mixes.
struct Arriving {
  Buffer dU, dHPre, dHPost, dHRes, dOut, nextHRes;
  explicit Arriving(Boundary &b)
      : dU(b.random.buffer(b.type, b.M * b.C)), dHPre(b.random.buffer(MHCRT_F32, b.M * b.n)),
        dHPost(b.random.buffer(MHCRT_F32, b.M * b.n)), dHRes(b.random.buffer(MHCRT_F32, b.M * b.n * b.n)),
        dOut(b.random.buffer(b.type, b.M * b.K)), nextHRes(b.random.buffer(MHCRT_F32, b.M * b.n * b.n, 0.5)) {}

  void run(mhcrt_context *context, Boundary &b, Results &saved, Gradients &out, bool givesY) {
    mhcrt_post_pre_bwd_args args = {};
    b.setPost(args), b.setPre(args);
    MHCRT_TENSOR(args, d_u, dU), MHCRT_TENSOR(args, d_h_pre, dHPre), MHCRT_TENSOR(args, d_next_h_post, dHPost);
    MHCRT_TENSOR(args, d_next_h_res, dHRes), MHCRT_TENSOR(args, d_out, dOut), MHCRT_TENSOR(args, next_h_res, nextHRes);
    MHCRT_TENSOR(args, proj, saved.proj), MHCRT_TENSOR(args, stat, saved.stat);
    if (givesY)
      MHCRT_TENSOR(args, y, saved.y);
    MHCRT_TENSOR(args, d_f, out.dF), MHCRT_TENSOR(args, d_h_post, out.dHPost), MHCRT_TENSOR(args, d_h_res, out.dHRes);
    MHCRT_TENSOR(args, d_x, out.dX), MHCRT_TENSOR(args, d_phi, out.dPhi), MHCRT_TENSOR(args, d_alpha, out.dAlpha);
    MHCRT_TENSOR(args, d_beta, out.dBeta);
    if (b.hasBias)
      MHCRT_TENSOR(args, d_bias, out.dBias);
    if (b.hasWeight)
      MHCRT_TENSOR(args, d_norm_weight, out.dWeight);
    ASSERT_EQ(mhcrt_post_pre_bwd(context, &args), MHCRT_OK) << mhcrt_last_error(context);
  }
};

} // namespace mhcrt::test

#endif // MHCRT_TEST_POSTPRECASE_H
