//===- RepeatTest.cpp - The same bits in every run and for every batch ----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every kernel 100 times, and on pieces of its batch: what belongs to a token does not depend on the others. Two
// shapes, for the variants of a GPU: the widest streams that are quick on a CPU, and some that fit no vector.
//
//===------------------------------------------------------------------------===//
#include "Call.h"
#include "Support.h"

using namespace mhcrt::test;

namespace {

constexpr int32_t F = MHCRT_F32, kNone = MHCRT_NONE;

struct Tensor {
  int32_t type;
  int64_t width;          ///< elements of a token, or of all
  bool isOfTokens = true; ///< else a parameter, or a sum over tokens
};

struct Shape {
  int64_t M, n, C, K, N;
  int32_t type;
};

using Pointers = std::vector<void *>;

struct Launch {
  const char *name;
  std::vector<Tensor> inputs, outputs;
  std::function<mhcrt_status(mhcrt_context *, int64_t M, const Pointers &in, const Pointers &out)> run;
  /// Elements of random numbers have places, and a library may choose another kernel for another M.
  bool splits = true;
};

void addStreamOps(const Shape &s, std::vector<Launch> &all) {
  const int32_t T = s.type;
  const int64_t n = s.n, C = s.C;
  const Tensor streams{T, s.K}, rows{T, C}, gates{F, n}, maps{F, n * n}, bias{T, C, false};
  all.push_back({"aggregate", {streams, gates}, {rows}, [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_aggregate, ctx, in[0], T, in[1], F, out[0], T, M, n, C, 0);
                 }});
  all.push_back({"aggregate_bwd",
                 {rows, streams, gates, streams},
                 {streams, gates},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_aggregate_bwd, ctx, in[0], T, in[1], T, in[2], F, in[3], T, out[0], T, out[1], F,
                               M, C, n, 0);
                 }});
  all.push_back({"contract", {streams}, {rows}, [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_contract, ctx, in[0], T, out[0], T, M, n, C, 0, 0);
                 }});
  all.push_back({"expand", {rows}, {streams}, [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_expand, ctx, in[0], T, out[0], T, M, C, n, 0);
                 }});
  all.push_back({"post", {rows, bias, gates, streams, maps}, {streams}, [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_post, ctx, in[0], T, in[1], T, in[2], F, in[3], T, in[4], F, nullptr, kNone,
                               out[0], T, M, C, n, 0, 0, 0, 0, 0);
                 }});
  all.push_back({"post_bwd",
                 {streams, rows, bias, gates, streams, maps},
                 {rows, gates, maps, streams, {F, C, false}},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_post_bwd, ctx, in[0], T, in[1], T, in[2], T, in[3], F, in[4], T, in[5], F, nullptr,
                               kNone, nullptr, kNone, nullptr, kNone, out[0], T, out[1], F, out[2], F, out[3], T,
                               out[4], F, M, n, C, 0, 0, 0, 0, 0);
                 }});
  const Tensor seed{MHCRT_I64, 2, false};
  all.push_back({"post with a dropout",
                 {rows, bias, gates, streams, maps, seed},
                 {streams},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_post, ctx, in[0], T, in[1], T, in[2], F, in[3], T, in[4], F, in[5], MHCRT_I64,
                               out[0], T, M, C, n, 2, 0, 0, 0.5, 3);
                 },
                 /*splits=*/false});
  all.push_back({"post_bwd with a dropout",
                 {streams, rows, bias, gates, streams, maps, seed},
                 {rows, gates, maps, streams, {F, C, false}},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_post_bwd, ctx, in[0], T, in[1], T, in[2], T, in[3], F, in[4], T, in[5], F, in[6],
                               MHCRT_I64, nullptr, kNone, nullptr, kNone, out[0], T, out[1], F, out[2], F, out[3], T,
                               out[4], F, M, n, C, 2, 0, 0, 0.5, 3);
                 },
                 /*splits=*/false});
  all.push_back(
      {"rebuild", {streams, gates, rows, gates, maps}, {rows, streams}, [=](auto *ctx, int64_t M, auto &in, auto &out) {
         const void *inputs[] = {in[1], in[2], in[3], in[4]};
         void *outputs[] = {out[0], out[1]};
         return call(mhcrt_rebuild, ctx, in[0], T, inputs, F, 1, inputs + 1, T, 1, nullptr, kNone, 0, inputs + 2, F, 1,
                     inputs + 3, F, 1, nullptr, kNone, 0, outputs, T, 1, outputs + 1, T, 1, M, n, C, 0, 0, 0, 0, 0, 0);
       }});
}

void addCoefficientOps(const Shape &s, std::vector<Launch> &all) {
  const int64_t n = s.n, N = s.N, R = n * n, permutations = n == 3 ? 6 : 24;
  const Tensor proj{F, N}, one{F, 1}, gates{F, n}, maps{F, R}, alpha{F, 3, false}, beta{F, N, false};
  all.push_back(
      {"gates", {proj, one, alpha, beta}, {gates, gates, maps}, [=](auto *ctx, int64_t M, auto &in, auto &out) {
         return call(mhcrt_gates, ctx, in[0], F, in[1], F, in[2], F, in[3], F, out[0], F, out[1], F, out[2], F, M, N, 3,
                     n, R, MHCRT_STAT_INV_RMS, 0, 0, 2);
       }});
  all.push_back({"gates_bwd",
                 {gates, gates, maps, proj, one, alpha, beta},
                 {proj, one, alpha, beta},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_gates_bwd, ctx, in[0], F, in[1], F, in[2], F, in[3], F, in[4], F, in[5], F, in[6],
                               F, nullptr, kNone, nullptr, kNone, out[0], F, out[1], F, out[2], F, out[3], F, M, n, R,
                               N, 3, MHCRT_STAT_INV_RMS, 0, 2);
                 }});
  all.push_back({"sinkhorn", {maps}, {maps}, [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_sinkhorn, ctx, in[0], F, out[0], F, M, n, MHCRT_INIT_SOFTMAX_EPS, 0, 0, 1e-6, 20);
                 }});
  all.push_back({"sinkhorn_bwd", {maps, maps}, {maps}, [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_sinkhorn_bwd, ctx, in[0], F, in[1], F, out[0], F, M, n, MHCRT_INIT_SOFTMAX_EPS, 0,
                               0, 1e-6, 20);
                 }});
  all.push_back({"sinkhorn newton", {maps}, {maps}, [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_sinkhorn, ctx, in[0], F, out[0], F, M, n, MHCRT_INIT_LOG, 0, MHCRT_DENOM_NONE, 0,
                               20, 0, MHCRT_SOLVER_NEWTON);
                 }});
  all.push_back({"sinkhorn_bwd newton", {maps, maps}, {maps}, [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_sinkhorn_bwd, ctx, in[0], F, in[1], F, out[0], F, M, n, MHCRT_INIT_LOG, 0,
                               MHCRT_DENOM_NONE, 0, 20, MHCRT_SOLVER_NEWTON);
                 }});
  all.push_back({"permutation_mix", {{F, permutations}}, {maps}, [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_permutation_mix, ctx, in[0], F, out[0], F, M, permutations, n);
                 }});
  all.push_back({"permutation_mix_bwd",
                 {maps, {F, permutations}},
                 {{F, permutations}},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_permutation_mix_bwd, ctx, in[0], F, in[1], F, out[0], F, M, n, permutations);
                 }});
}

void addProjectionOps(const Shape &s, std::vector<Launch> &all) {
  const int32_t T = s.type, precision = MHCRT_PRECISION_BF16X3;
  const int64_t n = s.n, C = s.C, K = s.K, N = s.N;
  const Tensor streams{T, K}, rows{T, C}, proj{F, N}, one{F, 1}, gates{F, n}, maps{F, n * n};
  const Tensor phi{F, N * K, false}, weight{F, K, false}, alpha{F, 3, false}, beta{F, N, false};
  all.push_back({"projection", {streams, phi, weight}, {proj, one}, [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_projection, ctx, in[0], T, in[1], F, in[2], F, out[0], F, out[1], F, M, n, C, N, K,
                               0, 0, 0, 1e-6, MHCRT_STAT_INV_RMS, precision);
                 }});
  all.push_back({"projection_bwd",
                 {proj, one, streams, phi, weight, one, streams},
                 {streams, phi, weight},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_projection_bwd, ctx, in[0], F, in[1], F, in[2], T, in[3], F, in[4], F, in[5], F,
                               in[6], T, nullptr, kNone, nullptr, kNone, out[0], T, out[1], F, out[2], F, M, N, n, C, K,
                               0, 0, 0, 1e-6, MHCRT_STAT_INV_RMS, precision);
                 }});
  all.push_back({"pre",
                 {streams, phi, weight, alpha, beta},
                 {rows, gates, gates, maps, proj, one},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_pre, ctx, in[0], T, in[1], F, in[2], F, in[3], F, in[4], F, out[0], T, out[1], F,
                               out[2], F, out[3], F, out[4], F, out[5], F, M, n, C, N, K, 3, 0, 0, 0, 1e-6, 0, 2,
                               MHCRT_RES_MAP_SINKHORN, MHCRT_INIT_SOFTMAX_EPS, 0, 0, 1e-6, 20, 0, precision);
                 }});
  all.push_back({"pre_bwd",
                 {rows, gates, gates, maps, streams, phi, weight, alpha, beta, proj, one, streams, maps},
                 {streams, phi, weight, alpha, beta},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_pre_bwd, ctx, in[0], T, in[1], F, in[2], F, in[3], F, in[4], T, in[5], F, in[6], F,
                               in[7], F, in[8], F, in[9], F, in[10], F, in[11], T, in[12], F, nullptr, kNone, nullptr,
                               kNone, nullptr, kNone, nullptr, kNone, nullptr, kNone, out[0], T, out[1], F, out[2], F,
                               out[3], F, out[4], F, M, C, n, N, K, 3, 0, 0, 0, 1e-6, 0, 2, MHCRT_RES_MAP_SINKHORN,
                               MHCRT_INIT_SOFTMAX_EPS, 0, 0, 1e-6, 20, 0, 0, precision);
                 }});
  const Tensor bias{T, C, false};
  all.push_back({"post_pre",
                 {rows, bias, gates, streams, maps, phi, weight, alpha, beta},
                 {streams, rows, gates, gates, maps, proj, one},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_post_pre, ctx, in[0], T, in[1], T, in[2], F, in[3], T, in[4], F, nullptr, kNone,
                               in[5], F, in[6], F, in[7], F, in[8], F, nullptr, kNone, out[0], T, out[1], T, out[2], F,
                               out[3], F, out[4], F, out[5], F, out[6], F, M, C, n, 0, N, K, 3, 0, 0, 0.0, 0, 0, 0,
                               1e-6, 0, 2, MHCRT_RES_MAP_SINKHORN, MHCRT_INIT_SOFTMAX_EPS, 0, 0, 1e-6, 20, 0,
                               precision);
                 }});
  all.push_back(
      {"post_pre_bwd",
       {rows, gates, gates, maps, streams, rows, bias, gates, streams, maps, phi, weight, alpha, beta, proj, one},
       {rows, gates, maps, streams, {F, C, false}, phi, weight, alpha, beta},
       [=](auto *ctx, int64_t M, auto &in, auto &out) {
         return call(mhcrt_post_pre_bwd, ctx, in[0], T, in[1], F, in[2], F, in[3], F, nullptr, kNone, in[4], T, nullptr,
                     kNone, nullptr, kNone, in[5], T, in[6], T, in[7], F, in[8], T, in[9], F, nullptr, kNone, in[10], F,
                     in[11], F, in[12], F, in[13], F, in[14], F, in[15], F, nullptr, kNone, nullptr, kNone, nullptr,
                     kNone, nullptr, kNone, nullptr, kNone, out[0], T, out[1], F, out[2], F, out[3], T, out[4], F,
                     out[5], F, out[6], F, out[7], F, out[8], F, M, C, n, 0, N, K, 3, 0, 0, 0.0, 0, 0, 0, 1e-6, 0, 2,
                     MHCRT_RES_MAP_SINKHORN, MHCRT_INIT_SOFTMAX_EPS, 0, 0, 1e-6, 20, 0, 0, precision);
       }});
  all.push_back({"post_pre_bwd of a chain",
                 {rows, gates, gates, maps, streams, streams, maps, rows, gates, streams, maps, phi, weight, alpha,
                  beta, proj, one},
                 {rows, gates, maps, streams, phi, weight, alpha, beta},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_post_pre_bwd, ctx, in[0], T, in[1], F, in[2], F, in[3], F, in[4], T, nullptr,
                               kNone, in[5], T, in[6], F, in[7], T, nullptr, kNone, in[8], F, in[9], T, in[10], F,
                               nullptr, kNone, in[11], F, in[12], F, in[13], F, in[14], F, in[15], F, in[16], F,
                               nullptr, kNone, nullptr, kNone, nullptr, kNone, nullptr, kNone, nullptr, kNone, out[0],
                               T, out[1], F, out[2], F, out[3], T, nullptr, kNone, out[4], F, out[5], F, out[6], F,
                               out[7], F, M, C, n, 0, N, K, 3, 0, 0, 0.0, 0, 0, 0, 1e-6, 0, 2, MHCRT_RES_MAP_SINKHORN,
                               MHCRT_INIT_SOFTMAX_EPS, 0, 0, 1e-6, 20, 0, 0, precision);
                 }});
  const Tensor headPhi{F, n * K, false}, headAlpha{F, 1, false}, headBeta{F, n, false};
  all.push_back({"head",
                 {streams, headPhi, weight, headAlpha, headBeta},
                 {rows, gates, gates, one},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_head, ctx, in[0], T, in[1], F, in[2], F, in[3], F, in[4], F, out[0], T, out[1], F,
                               out[2], F, out[3], F, M, n, C, K, 1, 0, 0, 0, 1e-6, 0, precision);
                 }});
  all.push_back({"post_head",
                 {rows, bias, gates, streams, maps, headPhi, weight, headAlpha, headBeta},
                 {streams, rows, gates, gates, one},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_post_head, ctx, in[0], T, in[1], T, in[2], F, in[3], T, in[4], F, nullptr, kNone,
                               in[5], F, in[6], F, in[7], F, in[8], F, out[0], T, out[1], T, out[2], F, out[3], F,
                               out[4], F, M, C, n, 0, K, 1, 0, 0, 0.0, 0, 0, 0, 1e-6, 0, precision);
                 }});
  all.push_back({"head_bwd",
                 {rows, gates, streams, headPhi, weight, headAlpha, headBeta, gates, one, streams},
                 {streams, headPhi, weight, headAlpha, headBeta},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_head_bwd, ctx, in[0], T, in[1], F, in[2], T, in[3], F, in[4], F, in[5], F, in[6],
                               F, in[7], F, in[8], F, in[9], T, nullptr, kNone, nullptr, kNone, nullptr, kNone, nullptr,
                               kNone, out[0], T, out[1], F, out[2], F, out[3], F, out[4], F, M, C, n, K, 1, 0, 0, 0,
                               1e-6, 0, precision);
                 }});
}

void addModelOps(const Shape &s, std::vector<Launch> &all) {
  const int32_t T = s.type;
  const int64_t C = s.C, V = 7;
  const Tensor rows{T, C}, seed{MHCRT_I64, 2, false}, ids{MHCRT_I32, 1}, table{F, V * C, false};
  const Tensor square{F, C * C, false};
  all.push_back({"take", {table, ids}, {{F, C}}, [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_take, ctx, in[0], F, in[1], MHCRT_I32, out[0], F, V, C, M);
                 }});
  all.push_back({"take_bwd", {rows, ids, table}, {table}, [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_take_bwd, ctx, in[0], T, in[1], MHCRT_I32, in[2], F, out[0], F, M, C, V);
                 }});
  all.push_back({"dropout",
                 {rows, seed},
                 {rows},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_dropout, ctx, in[0], T, in[1], MHCRT_I64, out[0], T, M, C, 2, 0.1, 0);
                 },
                 false});
  all.push_back({"random",
                 {seed},
                 {{F, C}},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_random, ctx, in[0], MHCRT_I64, out[0], F, 2, M * C, MHCRT_DISTRIBUTION_NORMAL, 0);
                 },
                 false});
  all.push_back({"matmul",
                 {{F, C}, square},
                 {{F, C}},
                 [=](auto *ctx, int64_t M, auto &in, auto &out) {
                   return call(mhcrt_matmul, ctx, in[0], F, in[1], F, out[0], F, M, C, C, 0, 0);
                 },
                 false});
}

Buffer makeInput(Random &random, const Tensor &tensor, int64_t count) {
  if (tensor.type == MHCRT_I64)
    return Buffer(std::vector<int64_t>(count, 5));
  if (tensor.type != MHCRT_I32)
    return random.buffer(tensor.type, count, tensor.isOfTokens ? 1 : 0.1);
  std::vector<int32_t> ids(count);
  for (int32_t &id : ids)
    id = static_cast<int32_t>(random.integer(0, 6));
  return Buffer(ids);
}

/// A launch on tokens first .. first+count-1 of `inputs`.
std::vector<Buffer> runOn(const Launch &launch, mhcrt_context *context, const std::vector<Buffer> &inputs,
                          int64_t first, int64_t count) {
  std::vector<Buffer> in, out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor &tensor = launch.inputs[i];
    in.push_back(tensor.isOfTokens ? inputs[i].slice(first * tensor.width, count * tensor.width) : inputs[i]);
  }
  for (const Tensor &tensor : launch.outputs)
    out.emplace_back(tensor.type, tensor.isOfTokens ? count * tensor.width : tensor.width);
  Pointers from, to;
  for (Buffer &buffer : in)
    from.push_back(buffer.data());
  for (Buffer &buffer : out)
    to.push_back(buffer.data());
  EXPECT_EQ(launch.run(context, count, from, to), MHCRT_OK) << launch.name << ": " << mhcrt_last_error(context);
  return out;
}

std::vector<Launch> allLaunches(const Shape &shape) {
  std::vector<Launch> all;
  addStreamOps(shape, all);
  addCoefficientOps(shape, all);
  addProjectionOps(shape, all);
  addModelOps(shape, all);
  return all;
}

const Shape kShapes[] = {{kInstrumented ? 60 : 300, 4, 768, 4 * 768, 24, MHCRT_BF16},
                         {77, 3, 37, 3 * 37, 15, MHCRT_F32}};

/// Calls body(launch, inputs of `shape.M` tokens).
template <typename Body>
void forEachLaunch(const Shape &shape, Body body) {
  for (const Launch &launch : allLaunches(shape)) {
    SCOPED_TRACE(std::string(launch.name) + " C=" + std::to_string(shape.C));
    Random random(11);
    std::vector<Buffer> inputs;
    for (const Tensor &tensor : launch.inputs)
      inputs.push_back(makeInput(random, tensor, tensor.isOfTokens ? shape.M * tensor.width : tensor.width));
    body(launch, inputs);
  }
}

TEST(Repeat, EveryRunHasTheSameBits) {
  Context context;
  for (const Shape &shape : kShapes)
    forEachLaunch(shape, [&](const Launch &launch, const std::vector<Buffer> &inputs) {
      const std::vector<Buffer> first = runOn(launch, context, inputs, 0, shape.M);
      for (int run = 1; run < kRuns; ++run)
        ASSERT_TRUE(runOn(launch, context, inputs, 0, shape.M) == first) << "run " << run;
    });
}

/// Sums over tokens, too, have an order that only the shape decides.
TEST(Repeat, TheDivisionOfWorkDoesNotMatter) {
  Context context;
  for (const Shape &shape : kShapes)
    forEachLaunch(shape, [&](const Launch &launch, const std::vector<Buffer> &inputs) {
      const std::vector<Buffer> want = runOn(launch, context, inputs, 0, shape.M);
      forEachDivision([&](mhcrt_context *other) { EXPECT_TRUE(runOn(launch, other, inputs, 0, shape.M) == want); });
    });
}

/// An element that is not finite makes its own token's results NaN, and changes no other token by a bit.
TEST(Repeat, WhatIsNotFiniteStaysInItsToken) {
  Context context;
  for (const Shape &shape : kShapes)
    forEachLaunch(shape, [&](const Launch &launch, const std::vector<Buffer> &inputs) {
      const std::vector<Buffer> want = runOn(launch, context, inputs, 0, shape.M);
      const int64_t bad = shape.M / 2;
      for (size_t k = 0; k < inputs.size(); ++k) {
        const Tensor &input = launch.inputs[k];
        if (!input.isOfTokens || input.type == MHCRT_I32)
          continue;
        for (double special : {NAN, INFINITY}) {
          SCOPED_TRACE(std::to_string(special) + " in input " + std::to_string(k));
          std::vector<Buffer> changed = inputs;
          Doubles values = inputs[k].values();
          values[bad * input.width + input.width / 2] = special;
          changed[k] = Buffer(input.type, values);
          const std::vector<Buffer> got = runOn(launch, context, changed, 0, shape.M);
          bool shows = false;
          for (size_t i = 0; i < got.size(); ++i) {
            const Tensor &output = launch.outputs[i];
            const int64_t first = output.isOfTokens ? bad * output.width : 0;
            for (double value : got[i].slice(first, output.width).values())
              shows |= !std::isfinite(value);
            if (!output.isOfTokens)
              continue;
            const int64_t behind = first + output.width, rest = shape.M * output.width - behind;
            EXPECT_TRUE(got[i].slice(0, first) == want[i].slice(0, first)) << "output " << i;
            EXPECT_TRUE(got[i].slice(behind, rest) == want[i].slice(behind, rest)) << "output " << i;
          }
          EXPECT_TRUE(shows || !launch.splits);
        }
      }
    });
}

TEST(Repeat, ATokenDoesNotDependOnItsBatch) {
  Context context;
  for (const Shape &shape : kShapes)
    forEachLaunch(shape, [&](const Launch &launch, const std::vector<Buffer> &inputs) {
      if (!launch.splits)
        return;
      const std::vector<Buffer> whole = runOn(launch, context, inputs, 0, shape.M);
      for (int64_t first = 0, count = 1; first < shape.M; first += count, count = count * 3 % 47) {
        count = std::min(count, shape.M - first);
        const std::vector<Buffer> part = runOn(launch, context, inputs, first, count);
        for (size_t i = 0; i < part.size(); ++i) {
          const Tensor &tensor = launch.outputs[i];
          if (!tensor.isOfTokens)
            continue;
          ASSERT_TRUE(part[i] == whole[i].slice(first * tensor.width, count * tensor.width))
              << "output " << i << ", " << count << " tokens from " << first;
        }
      }
    });
}

} // namespace
