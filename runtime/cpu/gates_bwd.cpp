//===- gates_bwd.cpp - Gradients of the gates -----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   z = s * proj * a + beta           a = alpha[0], alpha[1], alpha[2] on the columns of pre, post and res
//   dz = d_h_pre * g (1 - g), d_h_post * post_mult * g (1 - g) with g = sigmoid(z), d_logits
//   d_beta = sum_m dz                 d_alpha = sum over m and the columns of a group of dz * s * proj
//   d_proj = dz * a * s               d_stat = sum_j dz * a * proj, times -s^3/2 for mean_square
//
// Plan    One token per lane, planes in the first-level cache. One partial sum of d_alpha and d_beta per 256 tokens.
// Bytes   per token 4*(3*N + 2): the arithmetic dominates.
// Needs   nothing.
// Round   all f32. z is computed again: the gate itself would not give g (1 - g) back where g is close to 0 or 1.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/gates_bwd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Gates-inl.h"

#include "cpu/Partials.h"
#include "src/Context.h"
#include "src/KernelCall.h"

#ifndef MHCRT_CPU_GATES_BWD_CALL
#define MHCRT_CPU_GATES_BWD_CALL
namespace mhcrt {
struct GatesBwdCall {
  const float *dhPre, *dhPost, *dLogits; ///< null counts as zero
  const float *proj, *stat;
  float *dProj, *dStat;
  int64_t n, N, groups;
  int32_t statForm;
  float normEps;
  GateOptions gates;
};
} // namespace mhcrt
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Rows of a cotangent to planes; one that is absent is zero.
HWY_INLINE void gradToPlanes(const float *rows, int64_t m, int64_t count, int64_t columns, float *planes) {
  if (rows)
    rowsToPlanes(rows + m * columns, columns, count, columns, planes);
  else
    std::memset(planes, 0, columns * kLanes * sizeof(float));
}

/// Tokens of one tile; `sums` takes d_alpha, then d_beta. `planes` has room for 3*N + 3.
void gatesBwdTokens(const GatesBwdCall &args, int64_t first, int64_t last, float *sums, float *planes) {
  const int64_t N = args.N, n = args.n;
  float *proj = planes, *dz = proj + N * kLanes, *sumPlanes = dz + N * kLanes;
  std::memset(sumPlanes, 0, (N + 3) * kLanes * sizeof(float));
  for (int64_t m = first; m < last; m += kLanes) {
    const int64_t count = HWY_MIN(kLanes, last - m);
    rowsToPlanes(args.proj + m * N, N, count, N, proj);
    gradToPlanes(args.dhPre, m, count, n, dz);
    if (args.groups > 1) {
      gradToPlanes(args.dhPost, m, count, n, dz + n * kLanes);
      gradToPlanes(args.dLogits, m, count, N - 2 * n, dz + 2 * n * kLanes);
    }
    V s = hn::Set(d, 1.0f);
    if (args.statForm != MHCRT_STAT_APPLIED) {
      // Lanes without a token have a multiplier of 1, so that their zeros stay zeros.
      HWY_ALIGN float stat[kLanes];
      for (int64_t lane = 0; lane < kLanes; ++lane)
        stat[lane] = lane < count ? args.stat[m + lane] : 1.0f;
      s = load(stat);
      if (args.statForm == MHCRT_STAT_MEAN_SQUARE)
        s = normMultiplier(s, {MHCRT_NORM_INSIDE, args.normEps});
    }
    V dStat = gatesBwdPlanes(proj, s, n, N, args.gates, dz, sumPlanes);
    if (args.dStat) {
      if (args.statForm == MHCRT_STAT_MEAN_SQUARE)
        dStat = hn::Mul(hn::Mul(hn::Set(d, -0.5f), dStat), hn::Mul(s, hn::Mul(s, s)));
      storeSome(dStat, args.dStat + m, count);
    }
    if (args.dProj)
      planesToRows(proj, count, N, args.dProj + m * N);
  }
  for (int64_t k = 0; k < N + 3; ++k)
    sums[k] = sumLanes(load(sumPlanes + k * kLanes));
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(gatesBwdTokens);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt_gates_bwd(mhcrt_context *ctx, const void *d_h_pre, int32_t d_h_pre_type, const void *d_h_post,
                             int32_t d_h_post_type, const void *d_logits, int32_t d_logits_type, const void *proj,
                             int32_t proj_type, const void *stat, int32_t stat_type, const void *alpha,
                             int32_t alpha_type, const void *beta, int32_t beta_type, const void *d_alpha_in,
                             int32_t d_alpha_in_type, const void *d_beta_in, int32_t d_beta_in_type, void *d_proj,
                             int32_t d_proj_type, void *d_stat, int32_t d_stat_type, void *d_alpha,
                             int32_t d_alpha_type, void *d_beta, int32_t d_beta_type, int64_t M, int64_t n, int64_t R,
                             int64_t N, int64_t A, int32_t stat_form, double norm_eps, double post_mult) {
  KernelCall call(ctx, "mhcrt_gates_bwd");
  call.dim("M", M, 0).dim("n", n, 1, kMaxStreams).attribute("stat_form", stat_form, 3);
  // A head has the first gate only.
  const bool head = A == 1;
  if (head) {
    call.equal("N", N, "n", n)
        .absent("d_h_post", d_h_post_type, "one gate")
        .absent("d_logits", d_logits_type, "one gate");
  } else {
    call.equal("A", A, "the number of gates", 3).dim("N", N, 2 * n, INT32_MAX);
    if (d_logits_type != MHCRT_NONE)
      call.equal("N", N, "2*n + R", saturatingAdd(2 * n, R));
  }
  call.tensor("d_h_pre", d_h_pre, d_h_pre_type, kF32, M).optional("d_h_post", d_h_post, d_h_post_type, kF32, M);
  call.optional("d_logits", d_logits, d_logits_type, kF32, std::min(M, R)).tensor("proj", proj, proj_type, kF32, M);
  if (stat_form == MHCRT_STAT_APPLIED)
    call.absent("stat", stat_type, "stat_form applied").absent("d_stat", d_stat_type, "stat_form applied");
  else
    call.tensor("stat", stat, stat_type, kF32, M).optional("d_stat", d_stat, d_stat_type, kF32, M);
  call.tensor("alpha", alpha, alpha_type, kF32, A).tensor("beta", beta, beta_type, kF32, N);
  call.optional("d_proj", d_proj, d_proj_type, kF32, M);
  call.optional("d_alpha", d_alpha, d_alpha_type, kF32, A).optional("d_beta", d_beta, d_beta_type, kF32, N);
  call.start("d_alpha_in", d_alpha_in, d_alpha_in_type, kF32, A, "d_alpha", d_alpha_type);
  call.start("d_beta_in", d_beta_in, d_beta_in_type, kF32, N, "d_beta", d_beta_type);
  call.epsilon("norm_eps", norm_eps).finite("post_mult", post_mult);
  const int64_t tiles = divideUp(M, kSmallTile), width = N + 3;
  if (!call.begin() ||
      !ctx->reserveScratch("mhcrt_gates_bwd", saturatingMul(tiles, width * 4), (3 * N + 3) * kMaxLanes * 4))
    return call.status();

  const GatesBwdCall args = {
      static_cast<const float *>(d_h_pre),
      static_cast<const float *>(d_h_post),
      static_cast<const float *>(d_logits),
      static_cast<const float *>(proj),
      static_cast<const float *>(stat),
      static_cast<float *>(d_proj),
      static_cast<float *>(d_stat),
      n,
      N,
      A,
      stat_form,
      static_cast<float>(norm_eps),
      {static_cast<const float *>(alpha), static_cast<const float *>(beta), 0.0f, static_cast<float>(post_mult)}};
  float *sums = reinterpret_cast<float *>(ctx->sharedScratch());
  ctx->parallelFor(tiles, [&](int64_t tile, int thread) {
    HWY_DYNAMIC_DISPATCH(gatesBwdTokens)
    (args, tile * kSmallTile, std::min(M, (tile + 1) * kSmallTile), sums + tile * width,
     reinterpret_cast<float *>(ctx->threadScratch(thread)));
  });
  if (d_alpha)
    addPartials(sums, tiles, width, 0, A, static_cast<const float *>(d_alpha_in), static_cast<float *>(d_alpha));
  if (d_beta)
    addPartials(sums + 3, tiles, width, 0, N, static_cast<const float *>(d_beta_in), static_cast<float *>(d_beta));
  return MHCRT_OK;
}
#endif // HWY_ONCE
