//===- CudaPostPre.h - Calls from one sublayer to the next ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_CUDAPOSTPRE_H
#define MHCRT_TEST_CUDAPOSTPRE_H

#include "Support.h"

#include "mhcrt/cuda.h"

#include <algorithm>
#include <cmath>

namespace mhcrt::test {

constexpr int32_t F = MHCRT_F32, B = MHCRT_BF16;

/// A call whose tokens are the first of all.
struct Case {
  int64_t M, C;
  int32_t orient, biasType, phiType, phiLayout;
  bool weighs, given, folds; ///< whether there are norm_weight, h_in and fold_pre
  int32_t iters = 20;        ///< of the residual map
  int32_t type = MHCRT_BF16, layout = MHCRT_LAYOUT_NC;
};

struct Operands {
  Buffer f, bias, hPost, x, hRes, phi, weight, alpha, beta, hIn;

  Operands(const Case &c, uint64_t seed, int32_t type = B) {
    Random random(seed);
    f = random.buffer(type, c.M * c.C);
    bias = random.buffer(c.biasType == MHCRT_NONE ? F : c.biasType, c.C);
    hPost = random.buffer(F, c.M * 4), x = random.buffer(type, c.M * 4 * c.C), hRes = random.buffer(F, c.M * 16);
    phi = random.buffer(c.phiType, 24 * 4 * c.C, 0.5 / std::sqrt(static_cast<double>(c.C)));
    weight = random.buffer(B, 4 * c.C);
    alpha = random.buffer(F, 3), beta = random.buffer(F, 24), hIn = random.buffer(F, c.M * 4);
  }
};

/// A member of an argument struct: a tensor and its type.
#define MHCRT_TENSOR(args, name, buffer) args.name = (buffer).data(), args.name##_type = (buffer).type()

constexpr double kNormOfUEps = 1e-6;

/// y, u, h_pre, next_h_post, next_h_res, proj, stat.
inline std::vector<Buffer> resultsOf(const Case &c, int64_t tokens) {
  std::vector<Buffer> out;
  for (const auto &[type, width] :
       {std::pair{c.type, 4 * c.C}, {c.type, c.C}, {F, 4}, {F, 4}, {F, 16}, {F, 24}, {F, 1}})
    out.emplace_back(type, tokens * width);
  return out;
}

/// Operands that both directions have.
template <typename Args>
void setPre(Args &args, const Case &c, Operands &in, int64_t tokens) {
  args.size = sizeof(args);
  MHCRT_TENSOR(args, f, in.f), MHCRT_TENSOR(args, h_post, in.hPost), MHCRT_TENSOR(args, x, in.x);
  MHCRT_TENSOR(args, h_res, in.hRes), MHCRT_TENSOR(args, phi, in.phi), MHCRT_TENSOR(args, alpha, in.alpha);
  MHCRT_TENSOR(args, beta, in.beta);
  if (c.biasType != MHCRT_NONE)
    MHCRT_TENSOR(args, bias, in.bias);
  if (c.weighs)
    MHCRT_TENSOR(args, norm_weight, in.weight);
  args.M = tokens, args.C = c.C, args.n = 4, args.N = 24, args.K = 4 * c.C, args.A = 3, args.orient = c.orient;
  args.layout = c.layout, args.phi_layout = c.phiLayout, args.norm_eps = 1e-6, args.post_mult = 2;
  args.res_map = MHCRT_RES_MAP_SINKHORN, args.init = MHCRT_INIT_SOFTMAX_EPS, args.sk_eps = 1e-6;
  args.iters = c.iters, args.fold_pre = c.folds, args.precision = MHCRT_PRECISION_BF16X3;
}

/// `weight` is that of the norm of u, or null.
inline void runInto(std::vector<Buffer> &out, mhcrt_context *context, const Case &c, Operands &in, int64_t tokens,
                    Buffer *weight = nullptr) {
  mhcrt_post_pre_args args = {};
  setPre(args, c, in, tokens);
  MHCRT_TENSOR(args, y, out[0]), MHCRT_TENSOR(args, u, out[1]), MHCRT_TENSOR(args, h_pre, out[2]);
  MHCRT_TENSOR(args, next_h_post, out[3]), MHCRT_TENSOR(args, next_h_res, out[4]), MHCRT_TENSOR(args, proj, out[5]);
  MHCRT_TENSOR(args, stat, out[6]);
  if (c.given)
    MHCRT_TENSOR(args, h_in, in.hIn);
  if (weight)
    MHCRT_TENSOR(args, u_norm_weight, *weight), args.u_norm_eps = kNormOfUEps;
  EXPECT_EQ(mhcrt_post_pre(context, &args), MHCRT_OK) << mhcrt_last_error(context);
}

inline std::vector<Buffer> run(mhcrt_context *context, const Case &c, Operands &in, int64_t tokens,
                               Buffer *weight = nullptr) {
  std::vector<Buffer> out = resultsOf(c, tokens);
  runInto(out, context, c, in, tokens, weight);
  for (const Buffer &buffer : out)
    EXPECT_TRUE(buffer.guardIntact());
  return out;
}

inline double relativeError(const Buffer &got, const Buffer &want) {
  const Doubles a = got.values(), b = want.values();
  double error = 0, whole = 0;
  for (size_t k = 0; k < a.size(); ++k)
    error += (a[k] - b[k]) * (a[k] - b[k]), whole += b[k] * b[k];
  return std::sqrt(error / std::max(whole, 1e-30));
}

/// Gradients of the results, and those results that the gradient reads.
struct BwdOperands {
  Buffer du, dhPre, dhPost, dhRes, dy, mix, y, proj, stat;

  BwdOperands(int64_t M, int64_t C, const std::vector<Buffer> &forward)
      : y(forward[0]), proj(forward[5]), stat(forward[6]) {
    Random random(11);
    du = random.buffer(B, M * C), dhPre = random.buffer(F, M * 4), dhPost = random.buffer(F, M * 4);
    dhRes = random.buffer(F, M * 16), dy = random.buffer(B, M * 4 * C), mix = random.buffer(F, M * 16);
  }
};

/// d_f, d_h_post, d_h_res, d_x, d_phi, d_alpha, d_beta, d_bias, d_norm_weight; those of absent operands stay as they
/// are made.
inline std::vector<Buffer> gradientsOf(const Case &c, int64_t tokens) {
  std::vector<Buffer> out;
  for (const auto &[type, size] : {std::pair{B, tokens * c.C},
                                   {F, tokens * 4},
                                   {F, tokens * 16},
                                   {B, tokens * 4 * c.C},
                                   {F, 96 * c.C},
                                   {F, 3},
                                   {F, 24},
                                   {F, c.C},
                                   {F, 4 * c.C}})
    out.emplace_back(type, size);
  return out;
}
constexpr size_t kTokenGradients = 4; ///< of those, in front

/// Whose sum dy starts from.
enum class Start { none, dy, post };

inline void runBwdInto(std::vector<Buffer> &out, mhcrt_context *context, const Case &c, Operands &in, BwdOperands &of,
                       int64_t tokens, Start start = Start::dy) {
  mhcrt_post_pre_bwd_args args = {};
  setPre(args, c, in, tokens);
  MHCRT_TENSOR(args, d_u, of.du), MHCRT_TENSOR(args, d_h_pre, of.dhPre), MHCRT_TENSOR(args, d_next_h_post, of.dhPost);
  MHCRT_TENSOR(args, d_next_h_res, of.dhRes), MHCRT_TENSOR(args, y, of.y), MHCRT_TENSOR(args, proj, of.proj);
  MHCRT_TENSOR(args, stat, of.stat);
  if (start == Start::dy)
    MHCRT_TENSOR(args, d_y, of.dy);
  if (start == Start::post)
    MHCRT_TENSOR(args, d_out, of.dy), MHCRT_TENSOR(args, next_h_res, of.mix);
  MHCRT_TENSOR(args, d_f, out[0]), MHCRT_TENSOR(args, d_h_post, out[1]), MHCRT_TENSOR(args, d_h_res, out[2]);
  MHCRT_TENSOR(args, d_x, out[3]), MHCRT_TENSOR(args, d_phi, out[4]), MHCRT_TENSOR(args, d_alpha, out[5]);
  MHCRT_TENSOR(args, d_beta, out[6]);
  if (c.biasType != MHCRT_NONE)
    MHCRT_TENSOR(args, d_bias, out[7]);
  if (c.weighs)
    MHCRT_TENSOR(args, d_norm_weight, out[8]);
  EXPECT_EQ(mhcrt_post_pre_bwd(context, &args), MHCRT_OK) << mhcrt_last_error(context);
}

inline std::vector<Buffer> runBwd(mhcrt_context *context, const Case &c, Operands &in, BwdOperands &of, int64_t tokens,
                                  Start start = Start::dy) {
  std::vector<Buffer> out = gradientsOf(c, tokens);
  runBwdInto(out, context, c, in, of, tokens, start);
  for (const Buffer &buffer : out)
    EXPECT_TRUE(buffer.guardIntact());
  return out;
}

} // namespace mhcrt::test

#endif // MHCRT_TEST_CUDAPOSTPRE_H
