//===- FormatTest.cpp - Coefficients that are rounded ----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Reference.h"

using namespace mhcrt::test;

namespace {

constexpr int32_t kFormats[] = {MHCRT_FORMAT_BF16, MHCRT_FORMAT_F16};

/// An f32 number rounded to a format.
double rounded(double value, int64_t format) {
  const auto number = static_cast<float>(value);
  return format == MHCRT_FORMAT_BF16  ? fromBf16(toBf16(number))
         : format == MHCRT_FORMAT_F16 ? fromF16(toF16(number))
                                      : number;
}
double stored(double value, int32_t type) {
  return rounded(value, type == MHCRT_BF16  ? MHCRT_FORMAT_BF16
                        : type == MHCRT_F16 ? MHCRT_FORMAT_F16
                                            : MHCRT_FORMAT_F32);
}
Doubles rounded(Doubles values, int64_t format) {
  for (double &value : values)
    value = rounded(value, format);
  return values;
}
double unit(int64_t format) { return format == MHCRT_FORMAT_BF16 ? 0x1p-8 : 0x1p-11; }

double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }

/// Streams of which each token has one that is not zero, so that an aggregate is one product: token m has stream m % n.
struct Streams {
  int64_t M, n, C;
  int32_t type, layout;
  Buffer x;

  Streams(Random &random, int64_t n, int64_t C, int32_t type, int32_t layout)
      : M(13), n(n), C(C), type(type), layout(layout) {
    const Doubles all = random.buffer(type, M * n * C).values();
    Doubles one(all.size());
    for (int64_t m = 0; m < M; ++m)
      for (int64_t c = 0; c < C; ++c)
        one[m * n * C + at(layout, n, C, m % n, c)] = all[m * n * C + at(layout, n, C, m % n, c)];
    x = Buffer(type, one);
  }
  /// The aggregate, with its one rounding.
  Doubles mixed(const Doubles &hPre) const {
    const Doubles values = x.values();
    Doubles u;
    for (int64_t m = 0; m < M; ++m)
      for (int64_t c = 0; c < C; ++c)
        u.push_back(stored(hPre[m * n + m % n] * values[m * n * C + at(layout, n, C, m % n, c)], type));
    return u;
  }
};

/// Sizes that every kernel takes, and those of the fast ones.
struct Size {
  int64_t n, C;
  int32_t type, layout;
};
constexpr Size kSizes[] = {{1, 33, MHCRT_F32, MHCRT_LAYOUT_NC},   {3, 40, MHCRT_BF16, MHCRT_LAYOUT_CN},
                           {4, 40, MHCRT_F32, MHCRT_LAYOUT_CN},   {4, 64, MHCRT_F16, MHCRT_LAYOUT_NC},
                           {4, 768, MHCRT_BF16, MHCRT_LAYOUT_NC}, {8, 24, MHCRT_BF16, MHCRT_LAYOUT_NC}};

struct PreCall {
  Random random;
  Streams streams;
  Buffer phi, alpha, beta, u, hPre, hPost, hRes;
  mhcrt_pre_args args = {};

  PreCall(uint64_t seed, const Size &size)
      : random(seed), streams(random, size.n, size.C, size.type, size.layout),
        phi(random.buffer(MHCRT_F32, (2 + size.n) * size.n * size.n * size.C,
                          3 / std::sqrt(static_cast<double>(size.C)))),
        alpha(random.buffer(MHCRT_F32, 3)), beta(random.buffer(MHCRT_F32, (2 + size.n) * size.n)),
        u(size.type, streams.M * size.C), hPre(MHCRT_F32, streams.M * size.n), hPost(MHCRT_F32, streams.M * size.n),
        hRes(MHCRT_F32, streams.M * size.n * size.n) {
    args.size = sizeof(args);
    args.x = streams.x.data(), args.x_type = size.type, args.phi = phi.data(), args.phi_type = MHCRT_F32;
    args.alpha = alpha.data(), args.beta = beta.data(), args.alpha_type = args.beta_type = MHCRT_F32;
    args.u_type = size.type, args.h_pre_type = args.h_post_type = args.h_res_type = MHCRT_F32;
    args.M = streams.M, args.n = size.n, args.C = size.C, args.N = (2 + size.n) * size.n, args.K = size.n * size.C;
    args.A = 3, args.layout = size.layout, args.norm_eps = 1e-6, args.pre_eps = 1e-6, args.post_mult = 2;
    args.order = MHCRT_ORDER_ROW_COL, args.sk_eps = 1e-6, args.iters = 20, args.precision = MHCRT_PRECISION_BF16X3;
  }
  mhcrt_status run(mhcrt_context *context) {
    args.u = args.u_type == MHCRT_NONE ? nullptr : u.data(), args.h_pre = hPre.data(), args.h_post = hPost.data(),
    args.h_res = hRes.data();
    return mhcrt_pre(context, &args);
  }
};

TEST(Formats, PreRoundsWhatItComputesInF32) {
  Context context;
  for (const Size &size : kSizes)
    for (int32_t map : {MHCRT_RES_MAP_SINKHORN, MHCRT_RES_MAP_IDENTITY})
      for (int32_t format : kFormats) {
        SCOPED_TRACE("n=" + std::to_string(size.n) + " C=" + std::to_string(size.C) + " map=" + std::to_string(map) +
                     " format=" + std::to_string(format));
        PreCall c(size.C, size);
        c.args.res_map = map;
        ASSERT_EQ(c.run(context), MHCRT_OK) << context.error();
        const Doubles pre = c.hPre.values(), post = c.hPost.values(), res = c.hRes.values();
        EXPECT_EQ(c.u.values(), c.streams.mixed(pre));
        // Each by itself, and with the others in another format.
        for (int which = 0; which < 3; ++which) {
          const int32_t other = format == MHCRT_FORMAT_BF16 ? MHCRT_FORMAT_F32 : MHCRT_FORMAT_BF16;
          c.args.h_pre_format = which == 0 ? format : other;
          c.args.h_post_format = which == 1 ? format : other;
          c.args.h_res_format = which == 2 ? format : other;
          ASSERT_EQ(c.run(context), MHCRT_OK) << context.error();
          EXPECT_EQ(c.hPre.values(), rounded(pre, c.args.h_pre_format));
          EXPECT_EQ(c.hPost.values(), rounded(post, c.args.h_post_format));
          EXPECT_EQ(c.hRes.values(), rounded(res, c.args.h_res_format));
          EXPECT_EQ(c.u.values(), c.streams.mixed(rounded(pre, c.args.h_pre_format)));
        }
      }
}

TEST(Formats, PreMixesByGivenWeightsOrNotAtAll) {
  Context context;
  for (const Size &size : kSizes)
    for (int64_t tokens : {13, 1}) {
      SCOPED_TRACE("n=" + std::to_string(size.n) + " C=" + std::to_string(size.C) + " M=" + std::to_string(tokens));
      PreCall c(size.C, size);
      c.args.M = tokens;
      ASSERT_EQ(c.run(context), MHCRT_OK) << context.error();
      const Doubles pre = c.hPre.values(), post = c.hPost.values(), res = c.hRes.values();
      Buffer given = c.random.buffer(MHCRT_F32, c.streams.M * size.n);
      c.args.h_in = given.data(), c.args.h_in_type = MHCRT_F32;
      ASSERT_EQ(c.run(context), MHCRT_OK) << context.error();
      Doubles u = c.u.values(), want = c.streams.mixed(given.values());
      u.resize(tokens * size.C), want.resize(tokens * size.C);
      EXPECT_EQ(u, want);
      EXPECT_EQ(c.hPre.values(), pre);
      EXPECT_EQ(c.hPost.values(), post);
      EXPECT_EQ(c.hRes.values(), res);
      c.args.h_in = nullptr, c.args.h_in_type = c.args.u_type = MHCRT_NONE;
      c.hPost = Buffer(MHCRT_F32, c.streams.M * size.n);
      ASSERT_EQ(c.run(context), MHCRT_OK) << context.error();
      EXPECT_EQ(c.hPre.values(), pre);
      EXPECT_EQ(c.hPost.values(), post);
      EXPECT_EQ(c.hRes.values(), res);
    }
}

TEST(Formats, TheFoldOfPreTakesRoundedGates) {
  Context context;
  for (const Size &size : kSizes)
    for (int32_t format : kFormats) {
      PreCall c(size.C, size);
      c.args.h_pre_format = format, c.args.h_post_format = format;
      ASSERT_EQ(c.run(context), MHCRT_OK) << context.error();
      const Doubles pre = c.hPre.values(), post = c.hPost.values(), mix = c.hRes.values();
      c.args.fold_pre = 1;
      ASSERT_EQ(c.run(context), MHCRT_OK) << context.error();
      Doubles want, tolerance;
      for (int64_t cell = 0; cell < c.args.M * size.n * size.n; ++cell) {
        const int64_t o = cell / size.n, m = o / size.n;
        const double product = post[o] * pre[m * size.n + cell % size.n];
        want.push_back(mix[cell] - product);
        tolerance.push_back(0x1p-23 * (std::fabs(mix[cell]) + std::fabs(product)));
      }
      expectClose(c.hRes, want, tolerance, "n=" + std::to_string(size.n));
    }
}

TEST(Formats, HeadRoundsItsGates) {
  Context context;
  for (const Size &size : kSizes)
    for (int32_t format : kFormats) {
      PreCall c(size.C, size);
      mhcrt_head_args args = {};
      args.size = sizeof(args);
      args.x = c.args.x, args.x_type = size.type, args.phi = c.args.phi, args.phi_type = MHCRT_F32;
      args.alpha = c.args.alpha, args.beta = c.args.beta, args.alpha_type = args.beta_type = MHCRT_F32;
      args.out_type = size.type, args.h_pre_type = MHCRT_F32;
      args.M = c.args.M, args.n = size.n, args.C = size.C, args.K = c.args.K, args.A = 1, args.layout = size.layout;
      args.norm_eps = 1e-6, args.pre_eps = 1e-6, args.precision = MHCRT_PRECISION_BF16X3;
      args.out = c.u.data(), args.h_pre = c.hPre.data();
      ASSERT_EQ(mhcrt_head(context, &args), MHCRT_OK) << context.error();
      const Doubles pre = c.hPre.values();
      args.out = c.u.data(), args.h_pre = c.hPre.data(), args.h_pre_format = format;
      ASSERT_EQ(mhcrt_head(context, &args), MHCRT_OK) << context.error();
      EXPECT_EQ(c.hPre.values(), rounded(pre, format));
      EXPECT_EQ(c.u.values(), c.streams.mixed(rounded(pre, format)));
    }
}

/// A call of pre_bwd on streams of zeros, whose gradient is h_pre * d_u where the other gradients are zeros, too.
struct PreBwdCall {
  Random random;
  int64_t M, n, C, N;
  Buffer x, du, phi, alpha, beta, proj, stat, dPost, dRes, dx, dBeta;
  mhcrt_pre_bwd_args args = {};

  PreBwdCall(uint64_t seed, const Size &size, int64_t M)
      : random(seed), M(M), n(size.n), C(size.C), N((2 + n) * n), x(size.type, Doubles(M * n * C)),
        du(random.buffer(size.type, M * C)), phi(random.buffer(MHCRT_F32, N * n * C)),
        alpha(random.buffer(MHCRT_F32, 3)), beta(random.buffer(MHCRT_F32, N)), proj(random.buffer(MHCRT_F32, M * N)),
        stat(MHCRT_F32, Doubles(M, 1.0)), dPost(MHCRT_F32, Doubles(M * n)), dRes(MHCRT_F32, Doubles(M * n * n)),
        dx(size.type, M * n * C), dBeta(MHCRT_F32, N) {
    args.size = sizeof(args);
    args.d_u = du.data(), args.d_u_type = size.type, args.d_h_post = dPost.data(), args.d_h_res = dRes.data();
    args.d_h_post_type = args.d_h_res_type = MHCRT_F32, args.x = x.data(), args.x_type = size.type;
    args.phi = phi.data(), args.alpha = alpha.data(), args.beta = beta.data(), args.proj = proj.data();
    args.stat = stat.data(), args.phi_type = args.alpha_type = args.beta_type = args.proj_type = MHCRT_F32;
    args.stat_type = args.d_beta_type = MHCRT_F32, args.d_x = dx.data(), args.d_x_type = size.type;
    args.d_beta = dBeta.data(), args.M = M, args.n = n, args.C = C, args.N = N, args.K = n * C, args.A = 3;
    args.layout = size.layout, args.pre_eps = 1e-6, args.post_mult = 2, args.res_map = MHCRT_RES_MAP_IDENTITY;
    args.norm = MHCRT_NORM_NONE, args.precision = MHCRT_PRECISION_BF16X3, args.iters = 3;
  }
  double z(int64_t m, int64_t j) const {
    return proj.values()[m * N + j] * alpha.values()[j < n ? 0 : j < 2 * n ? 1 : 2] + beta.values()[j];
  }
  double gate(int64_t m, int64_t j) const { return sigmoid(z(m, j)) * (j < n ? 1 : 2) + (j < n ? 1e-6 : 0); }
};

/// Whether f32 may round a number to either side.
bool isTie(double value, int64_t format) {
  return rounded(value * (1 - 1e-6), format) != rounded(value * (1 + 1e-6), format);
}

void expectProducts(const PreBwdCall &c, const Size &size, int32_t format) {
  const Doubles got = c.dx.values(), du = c.du.values();
  int64_t compared = 0;
  for (int64_t m = 0; m < c.M; ++m)
    for (int64_t i = 0; i < c.n; ++i) {
      if (isTie(c.gate(m, i), format))
        continue;
      ++compared;
      for (int64_t k = 0; k < c.C; ++k)
        ASSERT_EQ(got[m * c.n * c.C + at(size.layout, c.n, c.C, i, k)],
                  stored(rounded(c.gate(m, i), format) * du[m * c.C + k], size.type))
            << "n=" << c.n << " C=" << c.C << " format=" << format;
    }
  EXPECT_GT(compared, c.M * c.n / 2);
}

TEST(Formats, GradientsOfStreamsTakeRoundedGates) {
  Context context;
  for (const Size &size : kSizes)
    for (int32_t format : kFormats) {
      PreBwdCall c(size.C, size, 13);
      c.args.h_pre_format = format;
      ASSERT_EQ(mhcrt_pre_bwd(context, &c.args), MHCRT_OK) << context.error();
      expectProducts(c, size, format);
      mhcrt_head_bwd_args head = {};
      Buffer narrow(MHCRT_F32, [&] { // the first n columns
        Doubles values;
        for (int64_t i = 0; i < c.M * c.n; ++i)
          values.push_back(c.proj.values()[i / c.n * c.N + i % c.n]);
        return values;
      }());
      head.size = sizeof(head);
      head.d_out = c.args.d_u, head.d_out_type = size.type, head.x = c.args.x, head.x_type = size.type;
      head.phi = c.args.phi, head.alpha = c.args.alpha, head.beta = c.args.beta, head.proj = narrow.data();
      head.stat = c.args.stat, head.phi_type = head.alpha_type = head.beta_type = head.proj_type = MHCRT_F32;
      head.stat_type = MHCRT_F32, head.d_x = c.dx.data(), head.d_x_type = size.type, head.M = c.M, head.n = c.n;
      head.C = c.C, head.K = c.n * c.C, head.A = 1, head.layout = size.layout, head.pre_eps = 1e-6;
      head.norm = MHCRT_NORM_NONE, head.precision = MHCRT_PRECISION_BF16X3, head.h_pre_format = format;
      ASSERT_EQ(mhcrt_head_bwd(context, &head), MHCRT_OK) << context.error();
      expectProducts(c, size, format);
    }
}

/// d_beta of one token is the gradient of its gates' and logits' arguments.
TEST(Formats, GradientsOfTheFoldTakeRoundedGates) {
  Context context;
  int64_t compared = 0;
  for (const Size &size : kSizes)
    for (int32_t format : kFormats) {
      PreBwdCall c(size.C + 1, size, 1);
      const int64_t n = c.n;
      c.dRes = c.random.buffer(MHCRT_F32, n * n), c.args.d_h_res = c.dRes.data();
      c.args.fold_pre = 1, c.args.h_pre_format = c.args.h_post_format = format;
      ASSERT_EQ(mhcrt_pre_bwd(context, &c.args), MHCRT_OK) << context.error();
      const Doubles dRes = c.dRes.values(), got = c.dBeta.values();
      for (int64_t j = 0; j < 2 * n; ++j) {
        double sum = 0, size = 0;
        bool hasTie = false;
        for (int64_t k = 0; k < n; ++k) {
          const double gate = c.gate(0, j < n ? n + k : k);
          const double term = dRes[j < n ? k * n + j : (j - n) * n + k] * rounded(gate, format);
          sum -= term, size += std::fabs(term), hasTie |= isTie(gate, format);
        }
        if (hasTie)
          continue;
        const double g = sigmoid(c.z(0, j)), slope = g * (1 - g) * (j < n ? 1 : 2);
        ++compared;
        EXPECT_NEAR(got[j], sum * slope, 1e-6 * size) << "n=" << n << " j=" << j << " format=" << format;
      }
    }
  EXPECT_GT(compared, 20);
}

/// The gradient of the iteration in f32, at the rounded logits.
TEST(Formats, GradientsOfTheIterationTakeRoundedLogits) {
  Context context;
  int64_t compared = 0;
  for (const Size &size : kSizes)
    for (int32_t init : {MHCRT_INIT_SOFTMAX_EPS, MHCRT_INIT_LOG})
      for (int32_t format : kFormats) {
        PreBwdCall c(size.C + 2, size, 1);
        const int64_t n = c.n;
        c.dRes = c.random.buffer(MHCRT_F32, n * n), c.args.d_h_res = c.dRes.data();
        c.args.res_map = MHCRT_RES_MAP_SINKHORN, c.args.init = init, c.args.sk_eps = 1e-6;
        c.args.denom = init == MHCRT_INIT_LOG ? MHCRT_DENOM_NONE : MHCRT_DENOM_ADD, c.args.sk_format = format;
        ASSERT_EQ(mhcrt_pre_bwd(context, &c.args), MHCRT_OK) << context.error();
        Doubles logits, tolerance(n * n);
        bool hasTie = false;
        for (int64_t k = 0; k < n * n; ++k) {
          hasTie |= isTie(c.z(0, 2 * n + k), format);
          logits.push_back(rounded(c.z(0, 2 * n + k), format));
        }
        if (hasTie)
          continue;
        ++compared;
        Buffer at(MHCRT_F32, logits), grad(MHCRT_F32, n * n);
        ASSERT_EQ(call(mhcrt_sinkhorn_bwd, context, c.dRes.data(), MHCRT_F32, at.data(), MHCRT_F32, grad.data(),
                       MHCRT_F32, 1, n, init, c.args.order, c.args.denom, 1e-6, c.args.iters),
                  MHCRT_OK);
        const Doubles got = c.dBeta.values(), want = grad.values();
        for (int64_t k = 0; k < n * n; ++k)
          EXPECT_NEAR(got[2 * n + k], want[k], 2e-6) << "n=" << n << " init=" << init << " format=" << format;
      }
  EXPECT_GT(compared, 12);
}

/// The iteration of mhc.sinkhorn op by op, each rounded, on one matrix.
Doubles iterate(Doubles m, int64_t n, int32_t init, int32_t order, int32_t denom, double eps, int64_t iters,
                int64_t format) {
  const auto r = [&](double value) { return rounded(value, format); };
  const auto line = [&](bool rows, int64_t index, int64_t k) -> double & {
    return m[rows ? index * n + k : k * n + index];
  };
  const auto mostOf = [&](bool rows, int64_t index) {
    double most = line(rows, index, 0);
    for (int64_t k = 1; k < n; ++k)
      most = std::max(most, line(rows, index, k));
    return most;
  };
  const auto step = [&](bool rows) {
    for (int64_t index = 0; index < n; ++index) {
      double sum = 0, most = mostOf(rows, index);
      for (int64_t k = 0; k < n; ++k)
        sum += init == MHCRT_INIT_LOG ? r(std::exp(r(line(rows, index, k) - most))) : line(rows, index, k);
      sum = r(sum);
      if (init == MHCRT_INIT_LOG)
        sum = r(most + r(std::log(sum)));
      else if (denom == MHCRT_DENOM_ADD)
        sum = r(sum + r(eps));
      else if (denom == MHCRT_DENOM_CLAMP)
        sum = std::max(sum, r(eps));
      for (int64_t k = 0; k < n; ++k) {
        double &value = line(rows, index, k);
        value = r(init == MHCRT_INIT_LOG ? value - sum : value / sum);
      }
    }
  };
  for (double &value : m)
    value = r(value);
  const bool isSoftmax = init == MHCRT_INIT_SOFTMAX_EPS, byRows = init != MHCRT_INIT_EXP_COLMAX;
  const bool isSigmoid = init == MHCRT_INIT_SIGMOID || init == MHCRT_INIT_SIGMOID_EPS;
  for (double &value : m) {
    value = isSigmoid ? r(1 / (1 + std::exp(-value))) : value;
    value = init == MHCRT_INIT_SIGMOID_EPS ? r(value + r(eps)) : value;
  }
  const double mostOfAll = *std::max_element(m.begin(), m.end());
  for (int64_t index = 0; index < n && init != MHCRT_INIT_LOG && !isSigmoid; ++index) {
    const double most = init == MHCRT_INIT_EXP ? 0 : init == MHCRT_INIT_EXP_MAX ? mostOfAll : mostOf(byRows, index);
    double sum = 0;
    for (int64_t k = 0; k < n; ++k) {
      double &value = line(byRows, index, k);
      value = isSoftmax ? std::exp(value - most) : r(std::exp(r(value - most)));
      sum += value;
    }
    for (int64_t k = 0; k < n && isSoftmax; ++k)
      line(true, index, k) = r(r(line(true, index, k) / sum) + r(eps));
  }
  const bool rowsFirst = !isSoftmax && order == MHCRT_ORDER_ROW_COL;
  for (int64_t i = 0; i < 2 * iters - isSoftmax; ++i)
    step((i % 2 == 0) == rowsFirst);
  for (double &value : m)
    value = init == MHCRT_INIT_LOG ? r(std::exp(value)) : value;
  return m;
}

/// Where an exponential is off by a unit of f32, a rounding may go to the other side, which the next steps pass on: the
/// rest of that matrix may then be several units off.
TEST(Formats, SinkhornRoundsEveryOp) {
  Context context;
  int64_t all = 0, equal = 0, far = 0;
  for (int64_t n : {1, 2, 3, 4, 8, 16})
    for (int32_t init = 0; init <= MHCRT_INIT_SIGMOID_EPS; ++init)
      for (int32_t order = 0; order < 2; ++order)
        for (int32_t denom = 0; denom < 3; ++denom)
          for (int32_t format : kFormats) {
            if ((init == MHCRT_INIT_SOFTMAX_EPS && order) || (init == MHCRT_INIT_LOG && denom != MHCRT_DENOM_NONE))
              continue;
            Random random(n * 100 + init * 10 + denom);
            const int64_t M = 9, iters = random.pick<int64_t>({1, 3, 20});
            Buffer logits = random.buffer(MHCRT_F32, M * n * n), mix(MHCRT_F32, M * n * n);
            ASSERT_EQ(call(mhcrt_sinkhorn, context, logits.data(), MHCRT_F32, mix.data(), MHCRT_F32, M, n, init, order,
                           denom, 1e-2, iters, format),
                      MHCRT_OK)
                << context.error();
            const Doubles got = mix.values();
            EXPECT_EQ(got, rounded(got, format));
            for (int64_t m = 0; m < M; ++m) {
              const Doubles want =
                  iterate(logits.slice(m * n * n, n * n).values(), n, init, order, denom, 1e-2, iters, format);
              for (int64_t k = 0; k < n * n; ++k) {
                const double found = got[m * n * n + k];
                ++all, equal += found == want[k];
                // In log space a unit of a logarithm up to 8 is 8 units of its exponential.
                const double units = init == MHCRT_INIT_LOG ? 16 : 2;
                far += std::fabs(found - want[k]) > units * unit(format) * want[k];
                ASSERT_NEAR(found, want[k], 16 * unit(format) * want[k])
                    << "n=" << n << " init=" << init << " order=" << order << " denom=" << denom << " iters=" << iters
                    << " format=" << format;
              }
            }
          }
  EXPECT_GT(equal, 0.99 * all) << equal << " of " << all;
  EXPECT_LT(far, 0.001 * all) << far << " of " << all;
}

/// All 8 bytes of an attribute count.
TEST(Formats, OnlyThoseThatThereAre) {
  Context context;
  PreCall c(1, kSizes[0]);
  c.args.h_post_format = 3;
  EXPECT_EQ(c.run(context), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(context.error(), "mhcrt_pre: 'h_post_format' is 3; needed 0 to 2");
  Context other;
  PreBwdCall bwd(1, kSizes[0], 1);
  bwd.args.h_pre_format = int64_t{1} << 32;
  EXPECT_EQ(mhcrt_pre_bwd(other, &bwd.args), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(other.error(), "mhcrt_pre_bwd: 'h_pre_format' is 4294967296; needed 0 to 2");
}

/// Factors of rows and columns are not rounded.
TEST(Formats, NoneOfPotentials) {
  Context context;
  PreCall c(1, kSizes[0]);
  c.args.denom = MHCRT_DENOM_POTENTIALS, c.args.sk_format = MHCRT_FORMAT_BF16;
  EXPECT_EQ(c.run(context), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(context.error(), "mhcrt_pre: 'sk_format' is 1; needed 0 to 0");
}

/// A caller of an older library has no formats.
TEST(Formats, AShorterStructHasNone) {
  Context context;
  PreCall c(1, kSizes[2]);
  ASSERT_EQ(c.run(context), MHCRT_OK);
  const Doubles want = c.hPost.values();
  c.args.h_post_format = MHCRT_FORMAT_BF16;
  c.args.size = offsetof(mhcrt_pre_args, h_pre_format);
  ASSERT_EQ(c.run(context), MHCRT_OK) << context.error();
  EXPECT_EQ(c.hPost.values(), want);
}

} // namespace
