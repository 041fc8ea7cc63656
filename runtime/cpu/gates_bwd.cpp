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

#include "cpu/Entry.h"
#include "cpu/Partials.h"
#include "src/Checks.h"

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
void gatesBwdTokens(const GatesBwdArgs &args, int64_t first, int64_t last, float *sums, float *planes) {
  const int64_t N = args.N, n = args.n;
  const GateOptions gates = {floats(args.alpha), floats(args.beta), 0.0f, static_cast<float>(args.post_mult)};
  float *proj = planes, *dz = proj + N * kLanes, *sumPlanes = dz + N * kLanes;
  std::memset(sumPlanes, 0, (N + 3) * kLanes * sizeof(float));
  for (int64_t m = first; m < last; m += kLanes) {
    const int64_t count = HWY_MIN(kLanes, last - m);
    rowsToPlanes(floats(args.proj) + m * N, N, count, N, proj);
    gradToPlanes(floats(args.d_h_pre), m, count, n, dz);
    if (args.A > 1) {
      gradToPlanes(floats(args.d_h_post), m, count, n, dz + n * kLanes);
      gradToPlanes(floats(args.d_logits), m, count, N - 2 * n, dz + 2 * n * kLanes);
    }
    V s = hn::Set(d, 1.0f);
    if (args.stat_form != MHCRT_STAT_APPLIED) {
      // Lanes without a token have a multiplier of 1, so that their zeros stay zeros.
      HWY_ALIGN float stat[kLanes];
      for (int64_t lane = 0; lane < kLanes; ++lane)
        stat[lane] = lane < count ? floats(args.stat)[m + lane] : 1.0f;
      s = load(stat);
      if (args.stat_form == MHCRT_STAT_MEAN_SQUARE)
        s = normMultiplier(s, {MHCRT_NORM_INSIDE, static_cast<float>(args.norm_eps)});
    }
    V dStat = gatesBwdPlanes(proj, s, n, N, gates, dz, sumPlanes);
    if (args.d_stat) {
      if (args.stat_form == MHCRT_STAT_MEAN_SQUARE)
        dStat = hn::Mul(hn::Mul(hn::Set(d, -0.5f), dStat), hn::Mul(s, hn::Mul(s, s)));
      storeSome(dStat, floats(args.d_stat) + m, count);
    }
    if (args.d_proj)
      planesToRows(proj, count, N, floats(args.d_proj) + m * N);
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

mhcrt_status mhcrt::runGatesBwd(mhcrt_context &context, const GatesBwdArgs &a) {
  const int64_t M = a.M, N = a.N, tiles = divideUp(M, kSmallTile), width = N + 3;
  if (!checkGatesBwd(context, a) ||
      !context.reserveScratch("mhcrt_gates_bwd", saturatingMul(tiles, width * 4), (3 * N + 3) * kMaxLanes * 4))
    return context.status;

  float *sums = reinterpret_cast<float *>(context.sharedScratch());
  context.parallelFor(tiles, [&](int64_t tile, int thread) {
    HWY_DYNAMIC_DISPATCH(gatesBwdTokens)
    (a, tile * kSmallTile, std::min(M, (tile + 1) * kSmallTile), sums + tile * width,
     reinterpret_cast<float *>(context.threadScratch(thread)));
  });
  if (a.d_alpha)
    addPartials(sums, tiles, width, 0, a.A, floats(a.d_alpha_in), floats(a.d_alpha));
  if (a.d_beta)
    addPartials(sums + 3, tiles, width, 0, N, floats(a.d_beta_in), floats(a.d_beta));
  return MHCRT_OK;
}

MHCRT_ENTRY(gates_bwd, GatesBwd)
#endif // HWY_ONCE
