//===- pre.cu - Coefficients and layer input ------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   P = x phi^T, s = 1/rms(x)          h_pre, h_post, z = gates(s * P)
//   h_res = residual map of z          u[m,c] = sum_i h_pre[m,i] * x[m,i,c]
//
// Generic: the launches of projection, gates, the residual map and aggregate, and so their bits; fold_pre has a launch
// of its own. tf32x3: the same, with the projection on matrix tiles and aggregate's fast row.
//
//===------------------------------------------------------------------------===//
#include "Generic.h"
#include "Pre.h"
#include "Projection.h"
#include "Residual.h"
#include "Variants.h"
#include "prim/launch.cuh"
#include "src/Checks.h"

using namespace mhcrt;
using generic::Units;

/// h_res -= h_post h_pre^T
__global__ void preFoldKernel(const float *hPre, const float *hPost, float *hRes, int64_t M, int64_t n) {
  for (int64_t item = firstItem(); item < M * n * n; item += itemStep()) {
    const int64_t m = item / (n * n), o = item / n % n, i = item % n;
    hRes[item] = fmaf(-hPost[m * n + o], hPre[m * n + i], hRes[item]);
  }
}

/// z to h_res. The identity has taken its logits from the gates.
static cudaError_t launchResidual(mhcrt_context &context, const PreArgs &a, const float *logits) {
  const SinkhornArgs map = {logits, MHCRT_F32, a.h_res, MHCRT_F32, a.M,    a.n,
                            a.init, a.order,   a.denom, a.sk_eps,  a.iters};
  Needs needs;
  if (a.res_map == MHCRT_RES_MAP_SINKHORN)
    return sinkhornN4Takes(map, needs) ? sinkhornN4(map, context.stream) : generic::sinkhorn(context, map);
  if (a.res_map == MHCRT_RES_MAP_PERMUTATION)
    return generic::permutationMix(context, {logits, MHCRT_F32, a.h_res, MHCRT_F32, a.M, a.N - 2 * a.n, a.n});
  return cudaSuccess;
}

template <Units kUnits>
static cudaError_t launchWith(mhcrt_context &context, const PreArgs &a) {
  const int64_t R = a.N - 2 * a.n;
  const bool isIdentity = a.res_map == MHCRT_RES_MAP_IDENTITY;
  generic::ScratchPlan plan;
  const int64_t hPreAt = plan.addFloats(a.h_pre ? 0 : a.M, a.n), projAt = plan.addFloats(a.proj ? 0 : a.M, a.N);
  const int64_t statAt = plan.addFloats(a.stat ? 0 : a.M, 1), logitsAt = plan.addFloats(isIdentity ? 0 : a.M, R);
  const int64_t sumsAt = plan.add(generic::projectionBytes(projectionOf(a, a.N, nullptr, nullptr), kUnits));
  auto *scratch = static_cast<char *>(context.reserveScratch("mhcrt_pre", plan.bytes()));
  if (!scratch)
    return cudaSuccess;
  const auto room = [&](void *result, int64_t at) { return static_cast<float *>(result ? result : scratch + at); };
  float *hPre = room(a.h_pre, hPreAt), *proj = room(a.proj, projAt), *stat = room(a.stat, statAt);
  float *logits = room(isIdentity ? a.h_res : nullptr, logitsAt);

  cudaError_t error = generic::projection(context, projectionOf(a, a.N, proj, stat), scratch + sumsAt, kUnits);
  if (error == cudaSuccess)
    error = generic::gates(context,
                           {proj, MHCRT_F32, stat,     MHCRT_F32,          a.alpha, MHCRT_F32, a.beta,     MHCRT_F32,
                            hPre, MHCRT_F32, a.h_post, MHCRT_F32,          logits,  MHCRT_F32, a.M,        a.N,
                            a.A,  a.n,       R,        MHCRT_STAT_INV_RMS, 0.0,     a.pre_eps, a.post_mult});
  if (error == cudaSuccess)
    error = launchResidual(context, a, logits);
  if (error == cudaSuccess && a.fold_pre) {
    error = launchKernel(preFoldKernel, gridFor(context, a.M * a.n * a.n), kThreads, 0, context.stream, hPre,
                         static_cast<const float *>(a.h_post), static_cast<float *>(a.h_res), a.M, a.n);
  }
  if (error == cudaSuccess)
    error =
        generic::aggregate(context, {a.x, a.x_type, hPre, MHCRT_F32, a.u, a.u_type, a.M, a.n, a.C, a.layout}, kUnits);
  return error;
}

static bool tilesTake(const PreArgs &a, Needs &needs) {
  return projectionTf32Takes(projectionOf(a, a.N, nullptr, nullptr), needs);
}

static constexpr Variant<PreArgs> kVariants[] = {
    {"sm90", 90, 90, preSm90Takes, [](mhcrt_context &c, const PreArgs &a) { return preSm90(a, c.stream); },
     MHCRT_PRECISION_BF16X3},
    {"tf32x3", 90, kMostTf32Arch, tilesTake, launchWith<Units::tiles>, MHCRT_PRECISION_TF32X3},
    {"generic", 0, kAnyArch, nullptr, launchWith<Units::scalar>, MHCRT_PRECISION_IEEE}};

mhcrt_status mhcrt::runPre(mhcrt_context &context, const PreArgs &args) {
  if (!checkPre(context, args))
    return context.status;
  return args.M ? launchVariant(context, "pre", kVariants, args) : context.status;
}
