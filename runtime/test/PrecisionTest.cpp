//===- PrecisionTest.cpp - Error bounds of each precision -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bounds of mhc.projection and mhc.projection_bwd, on sums of one product each: nothing hides what a kernel makes
// of its factors. d_x starts from the product's rounded negative, so that what is left of it shows its error.
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Support.h"

using namespace mhcrt::test;

namespace {

constexpr const char *kNames[] = {"ieee", "tf32x3", "bf16x3", "tf32"};
const double kBounds[] = {0, std::ldexp(1.0, -21), std::ldexp(1.0, -15), std::ldexp(1.0, -10)};
const double kRound = std::ldexp(1.0, -24);
constexpr int64_t kStreams = 4;

enum Op { kProjection, kPre, kHead };
constexpr const char *kOps[] = {"projection", "pre", "head"};

/// Numbers of 24 bits, of any sign and magnitudes over 2^`spread`.
Doubles numbers(Random &random, int64_t count, int spread) {
  Doubles values;
  for (int64_t i = 0; i < count; ++i) {
    const double mantissa = std::ldexp(static_cast<double>(random.integer(1 << 23, (1 << 24) - 1)), -24);
    values.push_back(
        std::ldexp(random.integer(0, 1) ? mantissa : -mantissa, -static_cast<int>(random.integer(0, spread))));
  }
  return values;
}

Buffer zeros(int32_t type, int64_t count) { return Buffer(type, Doubles(count)); }

struct Case {
  Op op;
  int32_t type, precision;
  int64_t M = 4, C, N, K;
  Buffer phi, weight;
  Doubles product;    ///< phi * weight in f32: [N][K]
  double largest = 0; ///< of them

  Case(Random &random, Op op, int32_t type, int64_t C, int32_t precision)
      : op(op), type(type), precision(precision), C(C), N(op == kHead ? kStreams : 24), K(kStreams * C),
        phi(MHCRT_F32, numbers(random, N * K, 12)), weight(MHCRT_F32, numbers(random, K, 2)) {
    const Doubles rows = phi.values(), scales = weight.values();
    for (int64_t i = 0; i < N * K; ++i) {
      product.push_back(static_cast<float>(rows[i] * scales[i % K]));
      largest = std::max(largest, std::fabs(product.back()));
    }
  }
  /// Relative error allowed in the products of a sum: beside the bound the f32 sum of one product's terms, which matrix
  /// units may truncate instead of rounding.
  double error(int32_t promised) const {
    return kBounds[promised] + (promised == MHCRT_PRECISION_IEEE ? 2 : 8) * kRound;
  }
  std::string name() const {
    return std::string(kOps[op]) + " of " + mhcrt_dtype_name(type) + ", C=" + std::to_string(C) + ", " +
           kNames[precision];
  }
  /// The column whose gradient token m has alone: of pre one of the residual logits.
  int64_t column(int64_t m) const { return op == kPre ? 2 * kStreams + 5 * m % 16 : m; }
};

mhcrt_status project(mhcrt_context *context, Case &c, Buffer &x, Buffer &proj) {
  Buffer stat(MHCRT_F32, c.M), alpha = zeros(MHCRT_F32, 3), beta = zeros(MHCRT_F32, c.N), u(c.type, c.M * c.C);
  Buffer hPost(MHCRT_F32, c.M * kStreams), hRes(MHCRT_F32, c.M * kStreams * kStreams);
  if (c.op == kProjection)
    return call(mhcrt_projection, context, x.data(), c.type, c.phi.data(), MHCRT_F32, c.weight.data(), MHCRT_F32,
                proj.data(), MHCRT_F32, stat.data(), MHCRT_F32, c.M, kStreams, c.C, c.N, c.K, MHCRT_LAYOUT_NC,
                MHCRT_PHI_LAYOUT_OUT_IN, MHCRT_NORM_NONE, 0, MHCRT_STAT_INV_RMS, c.precision);
  if (c.op == kHead)
    return call(mhcrt_head, context, x.data(), c.type, c.phi.data(), MHCRT_F32, c.weight.data(), MHCRT_F32,
                alpha.data(), MHCRT_F32, beta.data(), MHCRT_F32, u.data(), c.type, nullptr, MHCRT_NONE, proj.data(),
                MHCRT_F32, stat.data(), MHCRT_F32, c.M, kStreams, c.C, c.K, 1, MHCRT_LAYOUT_NC, MHCRT_PHI_LAYOUT_OUT_IN,
                MHCRT_NORM_NONE, 0, 0, c.precision);
  return call(mhcrt_pre, context, x.data(), c.type, c.phi.data(), MHCRT_F32, c.weight.data(), MHCRT_F32, alpha.data(),
              MHCRT_F32, beta.data(), MHCRT_F32, u.data(), c.type, nullptr, MHCRT_NONE, hPost.data(), MHCRT_F32,
              hRes.data(), MHCRT_F32, proj.data(), MHCRT_F32, stat.data(), MHCRT_F32, c.M, kStreams, c.C, c.N, c.K, 3,
              MHCRT_LAYOUT_NC, MHCRT_PHI_LAYOUT_OUT_IN, MHCRT_NORM_NONE, 0, 0, 2, MHCRT_RES_MAP_IDENTITY,
              MHCRT_INIT_EXP, 0, 0, 0, 0, 0, c.precision);
}

struct Gradients {
  Buffer dx, dPhi;
};

/// With d_proj[m,column(m)] = grads[m] and nothing else: no statistic, gates that hand on what they get.
mhcrt_status differentiate(mhcrt_context *context, Case &c, const Doubles &grads, Buffer &x, Buffer &start,
                           Gradients &out) {
  Buffer proj = zeros(MHCRT_F32, c.M * c.N), stat(MHCRT_F32, Doubles(c.M, 1.0)), beta = zeros(MHCRT_F32, c.N);
  Buffer alpha(MHCRT_F32, Doubles(c.op == kHead ? 1 : 3, 1.0)), du = zeros(c.type, c.M * c.C);
  const int64_t width = c.op == kProjection ? c.N : c.op == kPre ? kStreams * kStreams : kStreams;
  Doubles gradients(c.M * width);
  for (int64_t m = 0; m < c.M; ++m)
    gradients[m * width + c.column(m) - (c.op == kPre ? 2 * kStreams : 0)] = grads[m] * (c.op == kHead ? 4 : 1);
  Buffer given(MHCRT_F32, gradients), dPost = zeros(MHCRT_F32, c.M * kStreams);
  if (c.op == kProjection)
    return call(mhcrt_projection_bwd, context, given.data(), MHCRT_F32, nullptr, MHCRT_NONE, x.data(), c.type,
                c.phi.data(), MHCRT_F32, c.weight.data(), MHCRT_F32, stat.data(), MHCRT_F32, start.data(), c.type,
                nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, out.dx.data(), c.type, out.dPhi.data(), MHCRT_F32, nullptr,
                MHCRT_NONE, c.M, c.N, kStreams, c.C, c.K, MHCRT_LAYOUT_NC, MHCRT_PHI_LAYOUT_OUT_IN, MHCRT_NORM_NONE, 0,
                MHCRT_STAT_INV_RMS, c.precision);
  if (c.op == kHead) // sigmoid(0) has the slope 1/4
    return call(mhcrt_head_bwd, context, du.data(), c.type, given.data(), MHCRT_F32, x.data(), c.type, c.phi.data(),
                MHCRT_F32, c.weight.data(), MHCRT_F32, alpha.data(), MHCRT_F32, beta.data(), MHCRT_F32, proj.data(),
                MHCRT_F32, stat.data(), MHCRT_F32, start.data(), c.type, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE,
                nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, out.dx.data(), c.type, out.dPhi.data(), MHCRT_F32, nullptr,
                MHCRT_NONE, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, c.M, c.C, kStreams, c.K, 1, MHCRT_LAYOUT_NC,
                MHCRT_PHI_LAYOUT_OUT_IN, MHCRT_NORM_NONE, 0, 0, c.precision);
  return call(mhcrt_pre_bwd, context, du.data(), c.type, nullptr, MHCRT_NONE, dPost.data(), MHCRT_F32, given.data(),
              MHCRT_F32, x.data(), c.type, c.phi.data(), MHCRT_F32, c.weight.data(), MHCRT_F32, alpha.data(), MHCRT_F32,
              beta.data(), MHCRT_F32, proj.data(), MHCRT_F32, stat.data(), MHCRT_F32, nullptr, MHCRT_NONE, nullptr,
              MHCRT_NONE, start.data(), c.type, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, nullptr,
              MHCRT_NONE, out.dx.data(), c.type, out.dPhi.data(), MHCRT_F32, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE,
              nullptr, MHCRT_NONE, c.M, c.C, kStreams, c.N, c.K, 3, MHCRT_LAYOUT_NC, MHCRT_PHI_LAYOUT_OUT_IN,
              MHCRT_NORM_NONE, 0, 0, 2, MHCRT_RES_MAP_IDENTITY, MHCRT_INIT_EXP, 0, 0, 0, 0, 0, MHCRT_ORIENT_OI,
              c.precision);
}

/// One x of each token is not zero.
void checkForward(mhcrt_context *context, Random &random, Case &c) {
  Doubles values(c.M * c.K), want, tolerance;
  std::vector<int64_t> places;
  for (int64_t m = 0; m < c.M; ++m) {
    places.push_back(random.integer(0, c.K - 1));
    values[m * c.K + places.back()] = numbers(random, 1, 4)[0];
  }
  Buffer x(c.type, values), proj(MHCRT_F32, c.M * c.N);
  ASSERT_EQ(project(context, c, x, proj), MHCRT_OK) << mhcrt_last_error(context);
  const Doubles stored = x.values();
  for (int64_t m = 0; m < c.M; ++m)
    for (int64_t j = 0; j < c.N; ++j) {
      want.push_back(stored[m * c.K + places[m]] * c.product[j * c.K + places[m]]);
      tolerance.push_back(c.error(c.precision) * std::fabs(want.back()));
    }
  expectClose(proj, want, tolerance, c.name());
}

void checkBackward(mhcrt_context *context, Random &random, Case &c) {
  const Doubles grads = numbers(random, c.M, 4), scales = c.weight.values();
  Buffer x(c.type, numbers(random, c.M * c.K, 4));
  Doubles products, starts;
  for (int64_t m = 0; m < c.M; ++m)
    for (int64_t k = 0; k < c.K; ++k) {
      products.push_back(grads[m] * c.product[c.column(m) * c.K + k]);
      starts.push_back(-products.back());
    }
  Buffer start(c.type, starts);
  Gradients out = {Buffer(c.type, c.M * c.K), Buffer(MHCRT_F32, c.N * c.K)};
  ASSERT_EQ(differentiate(context, c, grads, x, start, out), MHCRT_OK) << mhcrt_last_error(context);

  // bf16x3 asks for no more than tf32 where d_x is bf16; the range of terms costs 2^-24 of the largest.
  const bool isRounded = c.type == MHCRT_BF16 && c.precision == MHCRT_PRECISION_BF16X3;
  const double bound = c.error(isRounded ? MHCRT_PRECISION_TF32 : c.precision);
  const double range = c.precision >= MHCRT_PRECISION_BF16X3 ? kRound * c.largest : 0;
  const Doubles stored = start.values(), tokens = x.values();
  Doubles dx, dxTolerance, dPhi(c.N * c.K), dPhiTolerance(c.N * c.K);
  for (int64_t m = 0; m < c.M; ++m)
    for (int64_t k = 0; k < c.K; ++k) {
      const int64_t i = m * c.K + k, at = c.column(m) * c.K + k;
      dx.push_back(products[i] + stored[i]);
      const double error = bound * std::fabs(products[i]) + range * std::fabs(grads[m]);
      dxTolerance.push_back(error + (roundoff(c.type) + kRound) * (std::fabs(dx.back()) + error) +
                            std::ldexp(1.0, -25));
      dPhi[at] = grads[m] * tokens[i] * scales[k];
      dPhiTolerance[at] = (c.error(c.precision) + kRound) * std::fabs(dPhi[at]);
    }
  expectClose(out.dx, dx, dxTolerance, "d_x of " + c.name());
  expectClose(out.dPhi, dPhi, dPhiTolerance, "d_phi of " + c.name());
}

TEST(Precision, BoundsHold) {
  for (bool amx : variants()) {
    Context context(2, amx);
    Random random(3);
    for (Op op : {kProjection, kPre, kHead})
      for (int32_t precision = 0; precision < 4; ++precision)
        for (auto [type, C] : {std::pair(MHCRT_BF16, int64_t{768}), std::pair(MHCRT_BF16, int64_t{64}),
                               std::pair(MHCRT_F32, int64_t{33}), std::pair(MHCRT_F32, int64_t{64}),
                               std::pair(MHCRT_F16, int64_t{40})}) {
          Case c(random, op, type, C, precision);
          checkForward(context, random, c);
          checkBackward(context, random, c);
        }
  }
}

} // namespace
