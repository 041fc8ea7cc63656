//===- Cases.cpp - Calls of the kernels on random data --------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Cases.h"

#include "Reference.h"
#include "cuda/Elementwise.h"
#include "cuda/Pre.h"
#include "cuda/Projection.h"

#include <cmath>

using namespace mhcrt;
using namespace mhcrt::test;

/// One rounding to `type`, and sums in f32.
static double rounding(int32_t type) { return type == MHCRT_BF16 ? 2.5e-3 : type == MHCRT_F16 ? 4e-4 : 2e-6; }
static constexpr double kSums = 5e-6;

static int64_t elementBytes(const Options &o) { return mhcrt_dtype_bytes(o.type); }

/// phi, norm_weight, alpha, beta and x of a projection.
struct ProjectionInputs {
  Buffer x, phi, weight, alpha, beta;

  ProjectionInputs(int64_t M, int64_t C, const Options &o)
      : x(random(o.type, M * 4 * C, o.seed)),
        phi(random(o.phiType, 96 * C, o.seed + 1, static_cast<float>(1 / std::sqrt(4.0 * C)))),
        alpha(random(MHCRT_F32, 3, o.seed + 2, 0.2f, 1)), beta(random(MHCRT_F32, 24, o.seed + 3, 0.5f)) {
    if (o.weightType != MHCRT_NONE)
      weight = random(o.weightType, 4 * C, o.seed + 4, 0.2f, 1);
  }
};

Case mhcrt::test::preCase(int64_t M, int64_t C, const Options &o) {
  const ProjectionInputs in(M, C, o);
  const Buffer u(o.type, M * C), hPre(MHCRT_F32, M * 4), hPost(MHCRT_F32, M * 4), hRes(MHCRT_F32, M * 16),
      proj(MHCRT_F32, M * 24), stat(MHCRT_F32, M);
  PreArgs args = {in.x.data(),
                  o.type,
                  in.phi.data(),
                  o.phiType,
                  in.weight.data(),
                  o.weightType,
                  in.alpha.data(),
                  MHCRT_F32,
                  in.beta.data(),
                  MHCRT_F32,
                  u.data(),
                  o.type,
                  hPre.data(),
                  MHCRT_F32,
                  hPost.data(),
                  MHCRT_F32,
                  hRes.data(),
                  MHCRT_F32,
                  proj.data(),
                  MHCRT_F32,
                  stat.data(),
                  MHCRT_F32,
                  M,
                  4,
                  C,
                  24,
                  4 * C,
                  3,
                  MHCRT_LAYOUT_NC,
                  o.phiLayout,
                  o.norm,
                  1e-6,
                  1e-3,
                  2.0,
                  o.resMap,
                  o.init,
                  o.order,
                  o.denom,
                  1e-6,
                  o.iters,
                  o.foldPre};
  Case result = {"pre", M, C, double(M) * (10 * C + 24 * 4), {}, {}, {}, {}};
  result.outputs = {{"u", u, C, rounding(o.type)},
                    {"h_pre", hPre, 4, kSums},
                    {"h_post", hPost, 4, kSums},
                    {"h_res", hRes, 16, 2 * kSums}};
  if (o.saves) {
    result.outputs.push_back({"proj", proj, 24, kSums});
    result.outputs.push_back({"stat", stat, 1, kSums});
    result.bytes += double(M) * 25 * 4;
  } else {
    args.proj = args.stat = nullptr;
    args.proj_type = args.stat_type = MHCRT_NONE;
  }
  result.launch = [=](int64_t tokens, cudaStream_t stream) {
    (void)in; // keeps the buffers
    PreArgs call = args;
    call.M = tokens;
    return preSm90(call, stream);
  };
  result.reference = [=] {
    const PreResults r = reference(args);
    std::vector<Buffer> all = {r.u, r.hPre, r.hPost, r.hRes};
    if (o.saves)
      all.insert(all.end(), {r.proj, r.multiplier});
    return all;
  };
  result.takes = missOf(preSm90Takes, args);
  return result;
}

Case mhcrt::test::projectionCase(int64_t M, int64_t C, const Options &o) {
  const ProjectionInputs in(M, C, o);
  const Buffer proj(MHCRT_F32, M * 24), stat(MHCRT_F32, M);
  const bool hasStat = o.statForm != MHCRT_STAT_APPLIED;
  const ProjectionArgs args = {in.x.data(),
                               o.type,
                               in.phi.data(),
                               o.phiType,
                               in.weight.data(),
                               o.weightType,
                               proj.data(),
                               MHCRT_F32,
                               hasStat ? stat.data() : nullptr,
                               hasStat ? MHCRT_F32 : MHCRT_NONE,
                               M,
                               4,
                               C,
                               24,
                               4 * C,
                               MHCRT_LAYOUT_NC,
                               o.phiLayout,
                               o.norm,
                               1e-6,
                               o.statForm};
  Case result = {"projection", M, C, double(M) * (8 * C + 25 * 4), {{"proj", proj, 24, kSums}}, {}, {}, {}};
  if (hasStat)
    result.outputs.push_back({"stat", stat, 1, kSums});
  result.launch = [=](int64_t tokens, cudaStream_t stream) {
    (void)in;
    ProjectionArgs call = args;
    call.M = tokens;
    return projectionSm90(call, stream);
  };
  result.reference = [=] {
    PreArgs pre = {};
    pre.x = args.x, pre.x_type = o.type, pre.phi = args.phi, pre.phi_type = o.phiType;
    pre.norm_weight = args.norm_weight, pre.norm_weight_type = o.weightType, pre.phi_layout = o.phiLayout;
    pre.alpha = in.alpha.data(), pre.beta = in.beta.data();
    pre.M = M, pre.n = 4, pre.C = C, pre.N = 24, pre.K = 4 * C, pre.norm = o.norm, pre.norm_eps = 1e-6;
    pre.res_map = MHCRT_RES_MAP_IDENTITY;
    const PreResults r = reference(pre);
    const Buffer form = o.statForm == MHCRT_STAT_MEAN_SQUARE ? r.meanSquare : r.multiplier;
    return std::vector<Buffer>{hasStat ? r.proj : r.applied, form};
  };
  result.takes = missOf(projectionSm90Takes, args);
  return result;
}

Case mhcrt::test::aggregateCase(int64_t M, int64_t C, const Options &o) {
  const Buffer x = random(o.type, M * 4 * C, o.seed), h = random(MHCRT_F32, M * 4, o.seed + 1), u(o.type, M * C);
  const AggregateArgs args = {x.data(), o.type, h.data(), MHCRT_F32, u.data(), o.type, M, 4, C, MHCRT_LAYOUT_NC};
  Case result = {"aggregate", M,  C, double(M) * (5 * C * elementBytes(o) + 16), {{"u", u, C, rounding(o.type)}},
                 {},          {}, {}};
  result.launch = [=](int64_t tokens, cudaStream_t stream) {
    (void)x, (void)h;
    AggregateArgs call = args;
    call.M = tokens;
    return aggregateN4(call, stream);
  };
  result.reference = [=] { return std::vector<Buffer>{reference(args)}; };
  result.takes = missOf(aggregateN4Takes, args);
  return result;
}

Case mhcrt::test::contractCase(int64_t M, int64_t C, const Options &o) {
  const Buffer x = random(o.type, M * 4 * C, o.seed), u(o.type, M * C), quarter = random(MHCRT_F32, M * 4, 1, 0, 0.25f);
  const ContractArgs args = {x.data(), o.type, u.data(), o.type, M, 4, C, MHCRT_LAYOUT_NC, MHCRT_CONTRACT_MODE_MEAN};
  Case result = {"contract", M, C, double(M) * 5 * C * elementBytes(o), {{"out", u, C, rounding(o.type)}}, {}, {}, {}};
  result.launch = [=](int64_t tokens, cudaStream_t stream) {
    (void)x;
    ContractArgs call = args;
    call.M = tokens;
    return contractN4(call, stream);
  };
  result.reference = [=] {
    const AggregateArgs same = {x.data(), o.type, quarter.data(), MHCRT_F32, u.data(), o.type, M,
                                4,        C,      MHCRT_LAYOUT_NC};
    return std::vector<Buffer>{reference(same)};
  };
  result.takes = missOf(contractN4Takes, args);
  return result;
}

Case mhcrt::test::expandCase(int64_t M, int64_t C, const Options &o) {
  const Buffer x = random(o.type, M * C, o.seed), streams(o.type, M * 4 * C);
  const ExpandArgs args = {x.data(), o.type, streams.data(), o.type, M, C, 4, MHCRT_LAYOUT_NC};
  Case result = {"expand", M, C, double(M) * 5 * C * elementBytes(o), {{"streams", streams, 4 * C, 1e-30}}, {}, {}, {}};
  result.launch = [=](int64_t tokens, cudaStream_t stream) {
    (void)x;
    ExpandArgs call = args;
    call.M = tokens;
    return expandN4(call, stream);
  };
  result.reference = [=] {
    // post without mixing: h_post 1, h_res 0
    const Buffer ones = random(MHCRT_F32, M * 4, 1, 0, 1), zeros = random(MHCRT_F32, M * 16, 1, 0, 0);
    const PostArgs same = {
        x.data(), o.type,          nullptr,        MHCRT_NONE,     ones.data(), MHCRT_F32, streams.data(),
        o.type,   zeros.data(),    MHCRT_F32,      streams.data(), o.type,      M,         C,
        4,        MHCRT_LAYOUT_NC, MHCRT_ORIENT_OI};
    return std::vector<Buffer>{reference(same)};
  };
  result.takes = missOf(expandN4Takes, args);
  return result;
}
