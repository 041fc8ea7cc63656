//===- GradientTest.cpp - Gradients against differences of the reference --===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel's gradients, along random directions, against central differences of the f64 loops. The loss is the sum of
// the results times random cotangents.
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "PreCase.h"

#include <functional>

using namespace mhcrt::test;

namespace {

double dot(const Doubles &a, const Doubles &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

/// A loss of f64 tensors that can be moved.
struct Loss {
  std::function<double()> value;
  std::string name;

  /// Moves `input`, one of the tensors that the loss reads.
  void expectGradient(Doubles &input, const Buffer &gradient, const char *what) const {
    constexpr double kStep = 1e-6;
    const Doubles start = input, got = gradient.values();
    EXPECT_TRUE(gradient.guardIntact()) << name << " " << what;
    Random random(start.size());
    for (int turn = 0; turn < 3; ++turn) {
      const Doubles direction = random.buffer(MHCRT_F32, static_cast<int64_t>(start.size())).values();
      double differences[2];
      for (int side : {0, 1}) {
        for (size_t i = 0; i < start.size(); ++i)
          input[i] = start[i] + (side ? kStep : -kStep) * direction[i];
        differences[side] = value();
      }
      input = start;
      // f32 sums whose terms may cancel, and one rounding of each element.
      double size = 0;
      for (size_t i = 0; i < start.size(); ++i)
        size += std::fabs(got[i] * direction[i]);
      const double tolerance = (1e-4 + roundoff(gradient.type())) * size + 1e-5;
      EXPECT_NEAR(dot(got, direction), (differences[1] - differences[0]) / (2 * kStep), tolerance)
          << name << " " << what;
    }
  }
};

struct Shape {
  Random random;
  int64_t M, n, C, K;
  int32_t type, layout;

  explicit Shape(uint64_t seed)
      : random(seed), M(random.pick<int64_t>({1, 5, 67})), n(random.pick<int64_t>({1, 2, 3, 4, 4, 5, 16})),
        C(random.pick<int64_t>({1, 7, 33, 300})), K(n * C),
        type(random.pick<int32_t>({MHCRT_F32, MHCRT_BF16, MHCRT_F16})), layout(static_cast<int32_t>(seed % 2)) {}

  Buffer inputs(int64_t count) { return random.buffer(type, count); }
  Buffer floats(int64_t count, double scale = 1) { return random.buffer(MHCRT_F32, count, scale); }
  std::string name() const {
    return "M=" + std::to_string(M) + " n=" + std::to_string(n) + " C=" + std::to_string(C) + " " +
           mhcrt_dtype_name(type) + " layout=" + std::to_string(layout);
  }
};

constexpr uint64_t kCases = 24;

TEST(Gradients, Aggregate) {
  Context context;
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    Shape s(seed);
    Buffer du = s.inputs(s.M * s.C), x = s.inputs(s.M * s.K), h = s.floats(s.M * s.n), start = s.inputs(s.M * s.K);
    Buffer dx(MHCRT_F32, s.M * s.K), dh(MHCRT_F32, s.M * s.n);
    ASSERT_EQ(call(mhcrt_aggregate_bwd, context, du.data(), s.type, x.data(), s.type, h.data(), MHCRT_F32, start.data(),
                   s.type, dx.data(), MHCRT_F32, dh.data(), MHCRT_F32, s.M, s.C, s.n, s.layout),
              MHCRT_OK)
        << context.error();
    Doubles xs = x.values(), hs = h.values();
    const Doubles cotangent = du.values(), starts = start.values();
    const Loss loss = {
        [&] { return dot(aggregate(xs, hs, s.M, s.n, s.C, s.layout).values, cotangent) + dot(xs, starts); }, s.name()};
    loss.expectGradient(xs, dx, "d_x");
    loss.expectGradient(hs, dh, "d_h_pre");
  }
}

TEST(Gradients, Post) {
  Context context;
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    Shape s(seed);
    const int32_t orient = static_cast<int32_t>(s.random.integer(0, 1));
    Buffer dOut = s.inputs(s.M * s.K), f = s.inputs(s.M * s.C), bias = s.floats(s.C), x = s.inputs(s.M * s.K);
    Buffer h = s.floats(s.M * s.n), mix = s.floats(s.M * s.n * s.n);
    Buffer df(s.type, s.M * s.C), dh(MHCRT_F32, s.M * s.n), dMix(MHCRT_F32, s.M * s.n * s.n);
    Buffer dx(s.type, s.M * s.K), dBias(MHCRT_F32, s.C);
    PostDropout dropout(context, s.random, s.M * s.K);
    ASSERT_EQ(call(mhcrt_post_bwd, context, dOut.data(), s.type, f.data(), s.type, bias.data(), MHCRT_F32, h.data(),
                   MHCRT_F32, x.data(), s.type, mix.data(), MHCRT_F32, dropout.data(), dropout.type, nullptr,
                   MHCRT_NONE, nullptr, MHCRT_NONE, df.data(), s.type, dh.data(), MHCRT_F32, dMix.data(), MHCRT_F32,
                   dx.data(), s.type, dBias.data(), MHCRT_F32, s.M, s.n, s.C, dropout.size, s.layout, orient,
                   dropout.rate, dropout.stream),
              MHCRT_OK)
        << context.error();
    Doubles fs = f.values(), biases = bias.values(), hs = h.values(), xs = x.values(), mixes = mix.values();
    const Doubles cotangent = dOut.values();
    const Loss loss = {[&] {
                         return dot(
                             post(fs, &biases, hs, xs, mixes, s.M, s.n, s.C, s.layout, orient, dropout.mask()).values,
                             cotangent);
                       },
                       s.name() + dropout.name()};
    loss.expectGradient(fs, df, "d_f");
    loss.expectGradient(biases, dBias, "d_bias");
    loss.expectGradient(hs, dh, "d_h_post");
    loss.expectGradient(xs, dx, "d_x");
    loss.expectGradient(mixes, dMix, "d_h_res");
  }
}

TEST(Gradients, Gates) {
  Context context;
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    Shape s(seed);
    const int64_t R = s.n * s.n, N = 2 * s.n + R;
    const int32_t form = static_cast<int32_t>(seed % 3), statType = form == MHCRT_STAT_APPLIED ? MHCRT_NONE : MHCRT_F32;
    Buffer dPre = s.floats(s.M * s.n), dPost = s.floats(s.M * s.n), dLogits = s.floats(s.M * R);
    Buffer proj = s.floats(s.M * N), alpha = s.floats(3), beta = s.floats(N);
    Buffer stat(MHCRT_F32, Doubles(s.M, 0.7)), dStat(MHCRT_F32, s.M), dProj(MHCRT_F32, s.M * N);
    Buffer dAlpha(MHCRT_F32, 3), dBeta(MHCRT_F32, N);
    void *statData = statType == MHCRT_NONE ? nullptr : stat.data();
    void *dStatData = statType == MHCRT_NONE ? nullptr : dStat.data();
    ASSERT_EQ(call(mhcrt_gates_bwd, context, dPre.data(), MHCRT_F32, dPost.data(), MHCRT_F32, dLogits.data(), MHCRT_F32,
                   proj.data(), MHCRT_F32, statData, statType, alpha.data(), MHCRT_F32, beta.data(), MHCRT_F32, nullptr,
                   MHCRT_NONE, nullptr, MHCRT_NONE, dProj.data(), MHCRT_F32, dStatData, statType, dAlpha.data(),
                   MHCRT_F32, dBeta.data(), MHCRT_F32, s.M, s.n, R, N, 3, form, 0.01, 2.0),
              MHCRT_OK)
        << context.error();
    Doubles projs = proj.values(), stats = stat.values(), alphas = alpha.values(), betas = beta.values();
    const Doubles pre = dPre.values(), post = dPost.values(), logits = dLogits.values();
    const Loss loss = {[&] {
                         Doubles z = projs;
                         for (int64_t i = 0; i < s.M * N; ++i)
                           z[i] *= form == MHCRT_STAT_MEAN_SQUARE ? 1 / std::sqrt(stats[i / N] + 0.01)
                                   : form == MHCRT_STAT_INV_RMS   ? stats[i / N]
                                                                  : 1;
                         const Gates g = gates(z, alphas, betas, s.M, s.n, R, 0, 2);
                         return dot(g.hPre, pre) + dot(g.hPost, post) + dot(g.logits, logits);
                       },
                       s.name() + " stat=" + std::to_string(form)};
    loss.expectGradient(projs, dProj, "d_proj");
    if (statType != MHCRT_NONE)
      loss.expectGradient(stats, dStat, "d_stat");
    loss.expectGradient(alphas, dAlpha, "d_alpha");
    loss.expectGradient(betas, dBeta, "d_beta");
  }
}

/// Whether an iteration from `init` takes logits beyond the exponentials of f32, all of a matrix.
bool takesAnyLogits(int32_t init) {
  return init != MHCRT_INIT_EXP && init != MHCRT_INIT_SIGMOID && init != MHCRT_INIT_SIGMOID_EPS;
}

/// Logits with 200, -200 or nothing added to all of a token: what subtracts a maximum does not care, and the
/// exponential of anything else is no number of f32.
Buffer shifted(const Buffer &logits, int64_t width, uint64_t seed) {
  Doubles values = logits.values();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] += 200 * (static_cast<int>((i / width + seed) % 3) - 1);
  return Buffer(MHCRT_F32, values);
}

TEST(Gradients, SinkhornWithAllOptions) {
  Context context;
  uint64_t seed = 0;
  for (int64_t n : {1, 2, 3, 4, 5, 16})
    for (int32_t init = 0; init <= MHCRT_INIT_SIGMOID_EPS; ++init)
      for (int32_t order = 0; order < 2; ++order)
        for (int32_t denom = 0; denom <= MHCRT_DENOM_POTENTIALS; ++denom) {
          Random random(++seed);
          const int64_t M = random.pick<int64_t>({1, 13, 70}),
                        iters = random.pick<int64_t>({init == MHCRT_INIT_SOFTMAX_EPS, 1, 2, 20});
          const double eps = random.pick({1e-6, 0.8}); // the clamp is at work
          Buffer dMix = random.buffer(MHCRT_F32, M * n * n), in = random.buffer(MHCRT_F32, M * n * n);
          if (takesAnyLogits(init) && iters > 0)
            in = shifted(in, n * n, seed);
          Buffer out(MHCRT_F32, M * n * n);
          ASSERT_EQ(call(mhcrt_sinkhorn_bwd, context, dMix.data(), MHCRT_F32, in.data(), MHCRT_F32, out.data(),
                         MHCRT_F32, M, n, init, order, denom, eps, iters),
                    MHCRT_OK)
              << context.error();
          Doubles logits = in.values();
          const Doubles cotangent = dMix.values();
          const Loss loss = {[&] { return dot(sinkhorn(logits, M, n, init, order, denom, eps, iters), cotangent); },
                             "n=" + std::to_string(n) + " init=" + std::to_string(init) +
                                 " order=" + std::to_string(order) + " denom=" + std::to_string(denom) +
                                 " iters=" + std::to_string(iters) + " eps=" + std::to_string(eps)};
          loss.expectGradient(logits, out, "d_logits");
        }
}

TEST(Gradients, SinkhornLimit) {
  Context context;
  for (int64_t n : {1, 2, 3, 4, 5, 8, 16})
    for (int64_t M : {1, 13, 70}) {
      Random random(100 * n + M);
      // A standard deviation of 2, and 200 more or less for all of a token.
      Buffer dMix = random.buffer(MHCRT_F32, M * n * n), in = shifted(random.buffer(MHCRT_F32, M * n * n, 2), n * n, M);
      Buffer out(MHCRT_F32, M * n * n);
      ASSERT_EQ(call(mhcrt_sinkhorn_bwd, context, dMix.data(), MHCRT_F32, in.data(), MHCRT_F32, out.data(), MHCRT_F32,
                     M, n, MHCRT_INIT_LOG, 0, MHCRT_DENOM_NONE, 0, 20, MHCRT_SOLVER_NEWTON),
                MHCRT_OK)
          << context.error();
      Doubles logits = in.values();
      const Doubles cotangent = dMix.values();
      const Loss loss = {[&, n = n, M = M] { return dot(sinkhornLimit(logits, M, n), cotangent); },
                         "n=" + std::to_string(n) + " M=" + std::to_string(M)};
      loss.expectGradient(logits, out, "d_logits");
    }
}

TEST(Gradients, PermutationMix) {
  Context context;
  for (auto [n, R] : {std::pair<int64_t, int64_t>(1, 1), {2, 2}, {3, 6}, {4, 24}, {5, 120}})
    for (int64_t M : {1, 13, 300}) {
      Random random(10 * n + M);
      Buffer dMix = random.buffer(MHCRT_F32, M * n * n), in = shifted(random.buffer(MHCRT_F32, M * R), R, M);
      Buffer out(MHCRT_F32, M * R);
      ASSERT_EQ(call(mhcrt_permutation_mix_bwd, context, dMix.data(), MHCRT_F32, in.data(), MHCRT_F32, out.data(),
                     MHCRT_F32, M, n, R),
                MHCRT_OK)
          << context.error();
      Doubles logits = in.values();
      const Doubles cotangent = dMix.values();
      const Loss loss = {[&, n = n] { return dot(permutationMix(logits, M, n), cotangent); }, "n=" + std::to_string(n)};
      loss.expectGradient(logits, out, "d_logits");
    }
}

/// The f64 tensors of a projection.
struct Weights {
  Doubles x, phi, weight, alpha, beta;

  explicit Weights(const PreCase &c)
      : x(c.x.values()), phi(c.phi.values()), weight(c.weight.values()), alpha(c.alpha.values()),
        beta(c.beta.values()) {}
  Projection project(const PreCase &c, int64_t N) const {
    return mhcrt::test::project(x, phi, c.weightType == MHCRT_NONE ? nullptr : &weight, c.M, N, c.K, c.phiLayout,
                                c.norm, c.normEps);
  }
};

/// Room for the gradients of x, phi, norm_weight, alpha and beta.
struct WeightGradients {
  Buffer x, phi, weight, alpha, beta;

  WeightGradients(const PreCase &c, int64_t N, int64_t A)
      : x(c.type, c.M * c.K), phi(MHCRT_F32, N * c.K),
        weight(c.weightType == MHCRT_NONE ? Buffer() : Buffer(MHCRT_F32, c.K)), alpha(MHCRT_F32, A),
        beta(MHCRT_F32, N) {}
  void expect(const Loss &loss, Weights &at) const {
    loss.expectGradient(at.x, x, "d_x");
    loss.expectGradient(at.phi, phi, "d_phi");
    if (weight.size())
      loss.expectGradient(at.weight, weight, "d_norm_weight");
    if (!alpha.size())
      return;
    loss.expectGradient(at.alpha, alpha, "d_alpha");
    loss.expectGradient(at.beta, beta, "d_beta");
  }
};

TEST(Gradients, Projection) {
  Context context;
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    PreCase c(seed);
    const int32_t form = static_cast<int32_t>(seed % 2);
    Buffer dProj = c.random.buffer(MHCRT_F32, c.M * c.N), dStat = c.random.buffer(MHCRT_F32, c.M);
    Weights at(c);
    WeightGradients grads(c, c.N, 0);
    Buffer stat(MHCRT_F32, at.project(c, c.N).multiplier);
    ASSERT_EQ(call(mhcrt_projection_bwd, context, dProj.data(), MHCRT_F32, dStat.data(), MHCRT_F32, c.x.data(), c.type,
                   c.phi.data(), c.phiType, c.weightData(), c.weightType, stat.data(), MHCRT_F32, nullptr, MHCRT_NONE,
                   nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, grads.x.data(), c.type, grads.phi.data(), MHCRT_F32,
                   grads.weight.data(), grads.weight.type(), c.M, c.N, c.n, c.C, c.K, c.layout, c.phiLayout, c.norm,
                   c.normEps, form, MHCRT_PRECISION_BF16X3),
              MHCRT_OK)
        << context.error();
    const Doubles cotangent = dProj.values(), statCotangent = dStat.values();
    grads.expect({[&] {
                    const Projection p = at.project(c, c.N);
                    return dot(p.proj.values, cotangent) +
                           dot(form == MHCRT_STAT_MEAN_SQUARE ? p.meanSquare : p.multiplier, statCotangent);
                  },
                  c.name() + " stat=" + std::to_string(form)},
                 at);
  }
}

TEST(Gradients, Pre) {
  Context context;
  for (uint64_t seed = 0; seed < 2 * kCases; ++seed) {
    PreCase c(seed);
    // Logits of the gates and of the residual map beyond the exponentials of f32.
    if (c.resMap == MHCRT_RES_MAP_PERMUTATION || (c.resMap == MHCRT_RES_MAP_SINKHORN && takesAnyLogits(c.init))) {
      Doubles beta = c.beta.values();
      for (int64_t j = seed % 3 == 0 ? 0 : 2 * c.n; j < c.N; ++j)
        beta[j] += seed % 2 ? 200 : -200;
      c.beta = Buffer(MHCRT_F32, beta);
    }
    Buffer proj(MHCRT_F32, c.M * c.N), stat(MHCRT_F32, c.M);
    ASSERT_EQ(call(mhcrt_projection, context, c.x.data(), c.type, c.phi.data(), c.phiType, c.weightData(), c.weightType,
                   proj.data(), MHCRT_F32, stat.data(), MHCRT_F32, c.M, c.n, c.C, c.N, c.K, c.layout, c.phiLayout,
                   c.norm, c.normEps, MHCRT_STAT_INV_RMS, MHCRT_PRECISION_BF16X3),
              MHCRT_OK);
    Buffer du = c.random.buffer(c.type, c.M * c.C), dPre = c.random.buffer(MHCRT_F32, c.M * c.n);
    Buffer dPost = c.random.buffer(MHCRT_F32, c.M * c.n), dRes = c.random.buffer(MHCRT_F32, c.M * c.n * c.n);
    // In every other case mhc.post takes the same streams, with matrices of its own.
    const bool hasPost = seed % 2, hasMix = seed % 5 != 4;
    const int32_t orient = seed % 4 == 1 ? MHCRT_ORIENT_OI : MHCRT_ORIENT_IO;
    Buffer dOut = c.random.buffer(c.type, c.M * c.K), mix = c.random.buffer(MHCRT_F32, c.M * c.n * c.n);
    WeightGradients grads(c, c.N, 3);
    ASSERT_EQ(call(mhcrt_pre_bwd, context, hasMix ? du.data() : nullptr, hasMix ? c.type : MHCRT_NONE, dPre.data(),
                   MHCRT_F32, dPost.data(), MHCRT_F32, dRes.data(), MHCRT_F32, c.x.data(), c.type, c.phi.data(),
                   c.phiType, c.weightData(), c.weightType, c.alpha.data(), MHCRT_F32, c.beta.data(), MHCRT_F32,
                   proj.data(), MHCRT_F32, stat.data(), MHCRT_F32, hasPost ? dOut.data() : nullptr,
                   hasPost ? c.type : MHCRT_NONE, hasPost ? mix.data() : nullptr, hasPost ? MHCRT_F32 : MHCRT_NONE,
                   nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, nullptr,
                   MHCRT_NONE, grads.x.data(), c.type, grads.phi.data(), MHCRT_F32, grads.weight.data(),
                   grads.weight.type(), grads.alpha.data(), MHCRT_F32, grads.beta.data(), MHCRT_F32, c.M, c.C, c.n, c.N,
                   c.K, 3, c.layout, c.phiLayout, c.norm, c.normEps, c.preEps, c.postMult, c.resMap, c.init, c.order,
                   c.denom, c.skEps, c.iters, c.foldPre, orient, MHCRT_PRECISION_BF16X3, 0, 0, 0, c.solver),
              MHCRT_OK)
        << context.error();
    Weights at(c);
    const Doubles u = du.values(), pre = dPre.values(), gate = dPost.values(), res = dRes.values();
    const Doubles out = dOut.values(), matrices = mix.values(), none(c.M * std::max(c.C, c.n), 0.0);
    grads.expect(
        {[&] {
           const PreReference r = c.coefficients(at.project(c, c.N), at.alpha, at.beta);
           return (hasMix ? dot(aggregate(at.x, r.hPre, c.M, c.n, c.C, c.layout).values, u) : 0.0) + dot(r.hPre, pre) +
                  dot(r.hPost, gate) + dot(r.hRes, res) +
                  (hasPost ? dot(post(none, nullptr, none, at.x, matrices, c.M, c.n, c.C, c.layout, orient).values, out)
                           : 0.0);
         },
         c.name()},
        at);
  }
}

TEST(Gradients, Head) {
  Context context;
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    PreCase c(seed);
    c.phi = c.random.buffer(c.phiType, c.n * c.K, 0.1), c.alpha = c.alpha.slice(0, 1), c.beta = c.beta.slice(0, c.n);
    Buffer out(c.type, c.M * c.C), proj(MHCRT_F32, c.M * c.n), stat(MHCRT_F32, c.M),
        du = c.random.buffer(c.type, c.M * c.C);
    ASSERT_EQ(call(mhcrt_head, context, c.x.data(), c.type, c.phi.data(), c.phiType, c.weightData(), c.weightType,
                   c.alpha.data(), MHCRT_F32, c.beta.data(), MHCRT_F32, out.data(), c.type, nullptr, MHCRT_NONE,
                   proj.data(), MHCRT_F32, stat.data(), MHCRT_F32, c.M, c.n, c.C, c.K, 1, c.layout, c.phiLayout, c.norm,
                   c.normEps, c.preEps, MHCRT_PRECISION_BF16X3),
              MHCRT_OK)
        << context.error();
    WeightGradients grads(c, c.n, 1);
    ASSERT_EQ(call(mhcrt_head_bwd, context, du.data(), c.type, nullptr, MHCRT_NONE, c.x.data(), c.type, c.phi.data(),
                   c.phiType, c.weightData(), c.weightType, c.alpha.data(), MHCRT_F32, c.beta.data(), MHCRT_F32,
                   proj.data(), MHCRT_F32, stat.data(), MHCRT_F32, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, nullptr,
                   MHCRT_NONE, nullptr, MHCRT_NONE, nullptr, MHCRT_NONE, grads.x.data(), c.type, grads.phi.data(),
                   MHCRT_F32, grads.weight.data(), grads.weight.type(), grads.alpha.data(), MHCRT_F32,
                   grads.beta.data(), MHCRT_F32, c.M, c.C, c.n, c.K, 1, c.layout, c.phiLayout, c.norm, c.normEps,
                   c.preEps, MHCRT_PRECISION_BF16X3),
              MHCRT_OK)
        << context.error();
    Weights at(c);
    const Doubles cotangent = du.values();
    grads.expect({[&] {
                    const Projection p = at.project(c, c.n);
                    Doubles h(c.M * c.n);
                    for (int64_t i = 0; i < c.M * c.n; ++i) {
                      const double z = at.alpha[0] * p.multiplier[i / c.n] * p.proj.values[i] + at.beta[i % c.n];
                      h[i] = 1 / (1 + std::exp(-z)) + c.preEps;
                    }
                    return dot(aggregate(at.x, h, c.M, c.n, c.C, c.layout).values, cotangent);
                  },
                  c.name()},
                 at);
  }
}

/// A vector holds more tokens than there are: exp(beta) of a token that is none must not enter the sums.
TEST(Gradients, LanesWithoutTokens) {
  Context context;
  const int64_t n = 2, N = 8, K = 8;
  const Doubles one(N * K, 1.0);
  Buffer ones(MHCRT_F32, one), beta(MHCRT_F32, {0, 0, 0, 0, 100, 100, 100, 100});
  Buffer proj(MHCRT_F32, {0, 0, 0, 0, -96, -95, -94, -93}), dRes(MHCRT_F32, {0.3, 1, 1, 1});
  Buffer dX(MHCRT_F32, K), dPhi(MHCRT_F32, N * K), dAlpha(MHCRT_F32, 3), dBeta(MHCRT_F32, N);
  mhcrt_pre_bwd_args args = {};
  args.size = sizeof(args);
  const auto give = [](auto *&tensor, int32_t &type, Buffer &buffer) { tensor = buffer.data(), type = MHCRT_F32; };
  give(args.x, args.x_type, ones), give(args.phi, args.phi_type, ones), give(args.alpha, args.alpha_type, ones);
  give(args.beta, args.beta_type, beta), give(args.proj, args.proj_type, proj), give(args.stat, args.stat_type, ones);
  give(args.d_h_post, args.d_h_post_type, ones), give(args.d_h_res, args.d_h_res_type, dRes);
  give(args.d_x, args.d_x_type, dX), give(args.d_phi, args.d_phi_type, dPhi);
  give(args.d_alpha, args.d_alpha_type, dAlpha), give(args.d_beta, args.d_beta_type, dBeta);
  args.M = 1, args.C = 4, args.n = n, args.N = N, args.K = K, args.A = 3, args.norm_eps = 1e-6, args.post_mult = 2;
  args.init = MHCRT_INIT_EXP, args.sk_eps = 1e-6, args.iters = 3;
  ASSERT_EQ(mhcrt_pre_bwd(context, &args), MHCRT_OK) << context.error();
  const Doubles sums = dBeta.values();
  for (double sum : sums)
    EXPECT_TRUE(std::isfinite(sum)) << sum;
  EXPECT_NEAR(sums[4] + sums[5], 0, 1e-4) << "a row's scale changes nothing";
}

} // namespace
