//===- pre_bwd.cpp - Gradients of pre and head ----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_h_pre += sum_c d_u * x           d_proj, d_stat = gates, residual map backwards
//   d_x      = d_x_in + h_pre * d_u + d_proj W + t * x           d_phi, d_norm_weight, d_alpha, d_beta: sums over m
//   or with sum_o A[o,i] * d_out[o] in place of d_x_in: mhc.post's share, from its operands
//
// Plan    d_proj needs the sums over all of a token's x, so x is read twice. First by tiles of 64 tokens: the sums of
//         aggregate_bwd, then the coefficients with one token per lane, and partial sums of d_alpha and d_beta per
//         tile. Then projection_bwd's plan, which adds h_pre * d_u before d_x is rounded. Keeping 16 tokens of x in the
//         caches between the two would cost more than reading x again: phi and its gradient pass by for every 16
//         tokens, 12*N bytes for 16 elements of x.
// Bytes   per token (3n+2)*C elements and 4*(2N + 2 + 2n + n*n), n*C more for d_x_in or d_out; 8*N*K per call.
// Needs   scratch memory of projection_bwd and 4*(N + n + 1) bytes per token.
// Round   f32 sums; d_x rounded once. d_x may be d_x_in, a weight's gradient its start.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pre_bwd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/AggregateBwd-inl.h"
#include "cpu/Permutation-inl.h"
#include "cpu/SinkhornBwd-inl.h"

#include "cpu/PreBwd.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// h_res is mix - h_post h_pre^T: what its gradient takes from those of the gates.
HWY_INLINE void foldPreBwd(const float *dhRes, const float *hPre, const float *hPost, int64_t n, float *dhPre,
                           float *dhPost) {
  for (int64_t o = 0; o < n; ++o)
    for (int64_t i = 0; i < n; ++i) {
      const V grad = load(dhRes + (o * n + i) * kLanes);
      float *post = dhPost + o * kLanes, *pre = dhPre + i * kLanes;
      store(hn::NegMulAdd(grad, load(hPre + i * kLanes), load(post)), post);
      store(hn::NegMulAdd(grad, load(hPost + o * kLanes), load(pre)), pre);
    }
}

/// The planes of d_h_post and the logits' gradients; `gates` are the planes of mhc.gates' results, whose logits are
/// overwritten.
HWY_INLINE void residualBwd(const PreBwdCall &args, int64_t m, int64_t count, float *gates, float *dz, float *history) {
  const int64_t n = args.n, R = args.N - 2 * n;
  float *logits = gates + 2 * n * kLanes, *dLogits = dz + 2 * n * kLanes;
  HWY_ALIGN float dhRes[256 * kLanes];
  rowsToPlanes(args.dhRes.floats() + m * n * n, n * n, count, n * n, dhRes);
  rowsToPlanes(args.dhPost.floats() + m * n, n, count, n, dz + n * kLanes);
  if (args.foldPre)
    foldPreBwd(dhRes, gates, gates + n * kLanes, n, dz, dz + n * kLanes);
  const float *result = dhRes;
  if (args.resMap == MHCRT_RES_MAP_SINKHORN) {
    sinkhornBwdPlanes(dhRes, logits, n, args.sinkhorn, history);
  } else if (args.resMap == MHCRT_RES_MAP_PERMUTATION) {
    permutationBwdPlanes(dhRes, R, n, logits);
    result = logits;
  }
  std::memcpy(dLogits, result, R * kLanes * sizeof(float));
}

/// Tokens m .. m+count-1, one per lane.
HWY_INLINE void coefficientsBwd(const PreBwdCall &args, const PreBwdFirstPass &rows, int64_t m, int64_t count,
                                float *planes, float *sums, float *history) {
  const int64_t n = args.n, N = args.N;
  float *proj = planes, *gates = proj + N * kLanes, *dz = gates + N * kLanes;
  rowsToPlanes(args.proj.floats() + m * N, N, count, N, proj);
  // Lanes without a token have a multiplier of 1, so that their zeros stay zeros.
  HWY_ALIGN float stat[kLanes];
  for (int64_t lane = 0; lane < kLanes; ++lane)
    stat[lane] = lane < count ? args.stat.floats()[m + lane] : 1.0f;
  const V s = load(stat);
  std::memcpy(gates, proj, N * kLanes * sizeof(float));
  const GateOptions options = args.gates();
  rowsToPlanes(rows.hPre + m * n, n, count, n, dz);
  if (args.dhPre.data)
    for (int64_t lane = 0; lane < count; ++lane)
      for (int64_t i = 0; i < n; ++i)
        dz[i * kLanes + lane] += args.dhPre.floats()[(m + lane) * n + i];
  if (args.isHead()) {
    gatePre(gates, s, n, options);
  } else {
    gateAll(gates, s, n, N, options);
    residualBwd(args, m, count, gates, dz, history);
  }
  planesToRows(gates, count, n, rows.hPre + m * n);
  storeSome(gatesBwdPlanes(proj, s, n, N, options, dz, sums), rows.dStat + m, count);
  planesToRows(proj, count, N, rows.dProj + m * N);
}

/// The tokens of one tile; `sums` takes d_alpha, then d_beta.
void preBwdTile(const PreBwdCall &args, const PreBwdFirstPass &rows, int64_t first, int64_t last, float *sums,
                float *planes) {
  const AggregateBwdCall aggregate = {args.du.data, args.x.data, args.x.type, rows.hPre, nullptr,
                                      MHCRT_NONE,   nullptr,     args.x.type, rows.hPre, args.n,
                                      args.C,       args.layout, false};
  aggregateBwdTokens(aggregate, first, last);
  const int64_t width = args.N + 3;
  float *sumPlanes = planes + 3 * args.N * kLanes, *history = sumPlanes + width * kLanes;
  std::memset(sumPlanes, 0, width * kLanes * sizeof(float));
  for (int64_t m = first; m < last; m += kLanes)
    coefficientsBwd(args, rows, m, HWY_MIN(kLanes, last - m), planes, sumPlanes, history);
  for (int64_t k = 0; k < width; ++k)
    sums[k] = sumLanes(load(sumPlanes + k * kLanes));
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(preBwdTile);

/// What pre_bwd and head_bwd need alike.
static void check(KernelCall &call, const PreBwdCall &c, const char *du) {
  checkProjection(call,
                  {c.x.data, c.x.type, c.phi.data, c.phi.type, c.weight.data, c.weight.type, c.M, c.K, c.N, c.phiLayout,
                   0, 0, 0, nullptr},
                  c.n, c.C, c.layout, c.norm, c.normEps, c.precision);
  call.equal("A", c.A, "the number of gates", c.isHead() ? 1 : 3);
  call.tensor(du, c.du.data, c.du.type, {c.x.type}, c.M);
  call.optional("d_h_pre", c.dhPre.data, c.dhPre.type, kF32, c.M);
  call.tensor("alpha", c.alpha.data, c.alpha.type, kF32, c.A).tensor("beta", c.beta.data, c.beta.type, kF32, c.N);
  call.tensor("proj", c.proj.data, c.proj.type, kF32, c.M).tensor("stat", c.stat.data, c.stat.type, kF32, c.M);
  call.optional("d_x", c.dx.data, c.dx.type, {MHCRT_F32, c.x.type}, c.M);
  call.optional("d_phi", c.dPhi.data, c.dPhi.type, kF32, c.N);
  if (c.weight.type == MHCRT_NONE)
    call.absent("d_norm_weight", c.dWeight.type, "absent norm_weight");
  else
    call.optional("d_norm_weight", c.dWeight.data, c.dWeight.type, kF32, c.K);
  call.optional("d_alpha", c.dAlpha.data, c.dAlpha.type, kF32, c.A);
  call.optional("d_beta", c.dBeta.data, c.dBeta.type, kF32, c.N);
  call.start("d_x_in", c.dxIn.data, c.dxIn.type, {MHCRT_F32, c.x.type}, c.M, "d_x", c.dx.type);
  call.start("d_phi_in", c.dPhiIn.data, c.dPhiIn.type, kF32, c.N, "d_phi", c.dPhi.type);
  call.start("d_norm_weight_in", c.dWeightIn.data, c.dWeightIn.type, kF32, c.K, "d_norm_weight", c.dWeight.type);
  call.start("d_alpha_in", c.dAlphaIn.data, c.dAlphaIn.type, kF32, c.A, "d_alpha", c.dAlpha.type);
  call.start("d_beta_in", c.dBetaIn.data, c.dBetaIn.type, kF32, c.N, "d_beta", c.dBeta.type);
  call.epsilon("pre_eps", c.preEps).finite("post_mult", c.postMult);
}

/// What only pre_bwd needs.
static void checkResidual(KernelCall &call, const PreBwdCall &c) {
  call.attribute("res_map", c.resMap, 3).attribute("fold_pre", c.foldPre, 2);
  if (c.resMap == MHCRT_RES_MAP_PERMUTATION)
    call.equal("N", c.N, "2*n + n!", factorial(c.n) < 0 ? -1 : saturatingAdd(2 * c.n, factorial(c.n)));
  else
    call.equal("N", c.N, "2*n + n*n", 2 * c.n + c.n * c.n);
  call.tensor("d_h_post", c.dhPost.data, c.dhPost.type, kF32, c.M);
  call.tensor("d_h_res", c.dhRes.data, c.dhRes.type, kF32, c.M);
  call.start("d_out", c.dOut.data, c.dOut.type, {c.x.type}, c.M, "d_x", c.dx.type);
  if (c.dOut.type == MHCRT_NONE)
    call.absent("h_res", c.hRes.type, "absent d_out");
  else
    call.tensor("h_res", c.hRes.data, c.hRes.type, kF32, c.M)
        .attribute("orient", c.orient, 2)
        .absent("d_x_in", c.dxIn.type, "d_out");
  if (c.resMap == MHCRT_RES_MAP_SINKHORN)
    call.sinkhorn(c.sinkhorn.init, c.sinkhorn.order, c.sinkhorn.denom, "sk_eps", c.sinkhorn.eps, c.sinkhorn.iters);
}

static mhcrt_status run(mhcrt_context *ctx, const char *kernel, const PreBwdCall &c) {
  const int64_t M = c.M, tiles = divideUp(M, kPreBwdTile), width = c.N + 3;
  ProjectionBwdCall projection = c.projection(ctx->amx);
  const int64_t rowFloats = saturatingMul(M, c.N + c.n + 1), sumFloats = saturatingMul(tiles, width);
  const int64_t ownBytes = saturatingMul(saturatingAdd(rowFloats, sumFloats), 4);
  if (!ctx->reserveScratch(kernel, saturatingAdd(projection.sharedBytes(), ownBytes),
                           std::max(projection.threadBytes(), c.planeBytes())))
    return ctx->status;
  float *shared = reinterpret_cast<float *>(ctx->sharedScratch() + projection.sharedBytes());
  const PreBwdFirstPass rows = {shared, shared + M * c.N, shared + M * (c.N + c.n)};
  float *sums = shared + rowFloats;
  const bool hasFactor = c.dx.data && c.norm != MHCRT_NORM_NONE;
  ctx->parallelFor(tiles, [&](int64_t tile, int thread) {
    const int64_t first = tile * kPreBwdTile, last = std::min(M, first + kPreBwdTile);
    HWY_DYNAMIC_DISPATCH(preBwdTile)
    (c, rows, first, last, sums + tile * width, reinterpret_cast<float *>(ctx->threadScratch(thread)));
    for (int64_t m = first; hasFactor && m < last; ++m) // in the place of d_stat
      rows.dStat[m] =
          statisticFactor(projection, rows.dStat, c.stat.floats(), MHCRT_STAT_INV_RMS, c.norm, c.normEps, m);
  });
  if (c.dAlpha.data)
    addPartials(sums, tiles, width, 0, c.A, c.dAlphaIn.floats(), c.dAlpha.floats());
  if (c.dBeta.data)
    addPartials(sums + 3, tiles, width, 0, c.N, c.dBetaIn.floats(), c.dBeta.floats());
  projection.dProj = rows.dProj;
  projection.factor = hasFactor ? rows.dStat : nullptr;
  projection.hPre = rows.hPre;
  if (projection.dx || projection.wantsProduct())
    projectionBackward(ctx, projection, ctx->sharedScratch());
  return MHCRT_OK;
}
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt_pre_bwd(mhcrt_context *ctx, const void *d_u, int32_t d_u_type, const void *d_h_pre,
                           int32_t d_h_pre_type, const void *d_h_post, int32_t d_h_post_type, const void *d_h_res,
                           int32_t d_h_res_type, const void *x, int32_t x_type, const void *phi, int32_t phi_type,
                           const void *norm_weight, int32_t norm_weight_type, const void *alpha, int32_t alpha_type,
                           const void *beta, int32_t beta_type, const void *proj, int32_t proj_type, const void *stat,
                           int32_t stat_type, const void *d_out, int32_t d_out_type, const void *h_res,
                           int32_t h_res_type, const void *d_x_in, int32_t d_x_in_type, const void *d_phi_in,
                           int32_t d_phi_in_type, const void *d_norm_weight_in, int32_t d_norm_weight_in_type,
                           const void *d_alpha_in, int32_t d_alpha_in_type, const void *d_beta_in,
                           int32_t d_beta_in_type, void *d_x, int32_t d_x_type, void *d_phi, int32_t d_phi_type,
                           void *d_norm_weight, int32_t d_norm_weight_type, void *d_alpha, int32_t d_alpha_type,
                           void *d_beta, int32_t d_beta_type, int64_t M, int64_t C, int64_t n, int64_t N, int64_t K,
                           int64_t A, int32_t layout, int32_t phi_layout, int32_t norm, double norm_eps, double pre_eps,
                           double post_mult, int32_t res_map, int32_t init, int32_t order, int32_t denom, double sk_eps,
                           int64_t iters, int32_t fold_pre, int32_t orient, int32_t precision) {
  const PreBwdCall c = {{d_u, d_u_type},
                        {d_h_pre, d_h_pre_type},
                        {d_h_post, d_h_post_type},
                        {d_h_res, d_h_res_type},
                        {x, x_type},
                        {phi, phi_type},
                        {norm_weight, norm_weight_type},
                        {alpha, alpha_type},
                        {beta, beta_type},
                        {proj, proj_type},
                        {stat, stat_type},
                        {d_out, d_out_type},
                        {h_res, h_res_type},
                        {d_x_in, d_x_in_type},
                        {d_phi_in, d_phi_in_type},
                        {d_norm_weight_in, d_norm_weight_in_type},
                        {d_alpha_in, d_alpha_in_type},
                        {d_beta_in, d_beta_in_type},
                        {d_x, d_x_type},
                        {d_phi, d_phi_type},
                        {d_norm_weight, d_norm_weight_type},
                        {d_alpha, d_alpha_type},
                        {d_beta, d_beta_type},
                        M,
                        C,
                        n,
                        N,
                        K,
                        A,
                        layout,
                        phi_layout,
                        norm,
                        norm_eps,
                        pre_eps,
                        post_mult,
                        res_map,
                        {init, order, denom, static_cast<float>(sk_eps), iters},
                        fold_pre,
                        orient,
                        precision};
  KernelCall call(ctx, "mhcrt_pre_bwd");
  check(call, c, "d_u");
  checkResidual(call, c);
  return call.begin() ? run(ctx, "mhcrt_pre_bwd", c) : call.status();
}

mhcrt_status mhcrt_head_bwd(mhcrt_context *ctx, const void *d_out, int32_t d_out_type, const void *d_h_pre,
                            int32_t d_h_pre_type, const void *x, int32_t x_type, const void *phi, int32_t phi_type,
                            const void *norm_weight, int32_t norm_weight_type, const void *alpha, int32_t alpha_type,
                            const void *beta, int32_t beta_type, const void *proj, int32_t proj_type, const void *stat,
                            int32_t stat_type, const void *d_x_in, int32_t d_x_in_type, const void *d_phi_in,
                            int32_t d_phi_in_type, const void *d_norm_weight_in, int32_t d_norm_weight_in_type,
                            const void *d_alpha_in, int32_t d_alpha_in_type, const void *d_beta_in,
                            int32_t d_beta_in_type, void *d_x, int32_t d_x_type, void *d_phi, int32_t d_phi_type,
                            void *d_norm_weight, int32_t d_norm_weight_type, void *d_alpha, int32_t d_alpha_type,
                            void *d_beta, int32_t d_beta_type, int64_t M, int64_t C, int64_t n, int64_t K, int64_t A,
                            int32_t layout, int32_t phi_layout, int32_t norm, double norm_eps, double pre_eps,
                            int32_t precision) {
  const PreBwdCall c = {{d_out, d_out_type},
                        {d_h_pre, d_h_pre_type},
                        {nullptr, MHCRT_NONE},
                        {nullptr, MHCRT_NONE},
                        {x, x_type},
                        {phi, phi_type},
                        {norm_weight, norm_weight_type},
                        {alpha, alpha_type},
                        {beta, beta_type},
                        {proj, proj_type},
                        {stat, stat_type},
                        {nullptr, MHCRT_NONE},
                        {nullptr, MHCRT_NONE},
                        {d_x_in, d_x_in_type},
                        {d_phi_in, d_phi_in_type},
                        {d_norm_weight_in, d_norm_weight_in_type},
                        {d_alpha_in, d_alpha_in_type},
                        {d_beta_in, d_beta_in_type},
                        {d_x, d_x_type},
                        {d_phi, d_phi_type},
                        {d_norm_weight, d_norm_weight_type},
                        {d_alpha, d_alpha_type},
                        {d_beta, d_beta_type},
                        M,
                        C,
                        n,
                        n,
                        K,
                        A,
                        layout,
                        phi_layout,
                        norm,
                        norm_eps,
                        pre_eps,
                        1.0,
                        MHCRT_RES_MAP_IDENTITY,
                        {},
                        0,
                        0,
                        precision};
  KernelCall call(ctx, "mhcrt_head_bwd");
  check(call, c, "d_out");
  return call.begin() ? run(ctx, "mhcrt_head_bwd", c) : call.status();
}
#endif // HWY_ONCE
