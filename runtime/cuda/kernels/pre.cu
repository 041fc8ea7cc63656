//===- pre.cu - Coefficients and layer input ------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   P = x phi^T, s = 1/rms(x)          h_pre, h_post, z = gates(s * P)
//   h_res = residual map of z          u[m,c] = sum_i h_pre[m,i] * x[m,i,c], or by h_in in place of h_pre
//
// Generic: the launches of projection, gates, the residual map and aggregate, and so their bits; fold_pre and the
// rounding of h_res have a launch of their own, and so have equal streams, which are made in scratch memory. tf32x3:
// the same, with the projection on matrix tiles and aggregate's fast row. n8: the same, with the projection of
// projection_eight_sm90.cu.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Format.cuh"
#include "cuda/host/Launch.cuh"
#include "cuda/host/Variants.h"
#include "cuda/kernels/Beside.h"
#include "cuda/kernels/Elementwise.h"
#include "cuda/kernels/Generic.h"
#include "cuda/kernels/Parts.h"
#include "cuda/kernels/Pre.h"
#include "cuda/kernels/Projection.h"
#include "cuda/kernels/Residual.h"
#include "src/Checks.h"

using namespace mhcrt;
using generic::Units;

namespace {

/// h_res -= h_post h_pre^T where h_post is given, and its rounding.
__global__ void preFinishKernel(const float *hPre, const float *hPost, float *hRes, int64_t M, int64_t n,
                                int32_t format) {
  for (int64_t item = firstItem(); item < M * n * n; item += itemStep()) {
    const int64_t m = item / (n * n), o = item / n % n, i = item % n;
    const float value = hPost ? fmaf(-hPost[m * n + o], hPre[m * n + i], hRes[item]) : hRes[item];
    hRes[item] = roundedTo(value, format);
  }
}

/// z to h_res. The identity has taken its logits from the gates.
cudaError_t launchResidual(mhcrt_context &context, const PreArgs &a, const float *logits) {
  const SinkhornArgs map = {logits,  MHCRT_F32, a.h_res,  MHCRT_F32, a.M,         a.n,     a.init,
                            a.order, a.denom,   a.sk_eps, a.iters,   a.sk_format, a.solver};
  Needs needs;
  if (a.res_map == MHCRT_RES_MAP_SINKHORN)
    return sinkhornN4Takes(map, needs) || sinkhornN2N8Takes(map, needs) ? sinkhornN4(map, context.stream)
                                                                        : generic::sinkhorn(context, map);
  if (a.res_map == MHCRT_RES_MAP_PERMUTATION)
    return generic::permutationMix(context, {logits, MHCRT_F32, a.h_res, MHCRT_F32, a.M, a.N - 2 * a.n, a.n});
  return cudaSuccess;
}

} // namespace

cudaError_t generic::pre(mhcrt_context &context, const char *kernel, const PreArgs &given, bool isHead, Units units) {
  PreArgs a = given;
  const int64_t R = isHead ? 0 : a.N - 2 * a.n;
  const bool isIdentity = a.res_map == MHCRT_RES_MAP_IDENTITY;
  const int32_t type = isHead ? MHCRT_NONE : MHCRT_F32; // of what head does not have
  ScratchPlan plan;
  const int64_t hPreAt = plan.addFloats(a.h_pre ? 0 : a.M, a.n), projAt = plan.addFloats(a.proj ? 0 : a.M, a.N);
  const int64_t statAt = plan.addFloats(a.stat ? 0 : a.M, 1), logitsAt = plan.addFloats(isIdentity ? 0 : a.M, R);
  const int64_t sumsAt = plan.add(projectionBytes(projectionOf(a, a.N, nullptr, nullptr), units));
  const int64_t streamsAt = plan.add(wholeBytes(a, a.equal_x));
  auto *scratch = static_cast<char *>(context.reserveScratch(kernel, plan.bytes()));
  if (!scratch)
    return cudaSuccess;
  cudaError_t error = makeWhole(context, a, a.x, a.equal_x, scratch + streamsAt);
  const auto room = [&](void *result, int64_t at) { return static_cast<float *>(result ? result : scratch + at); };
  float *hPre = room(a.h_pre, hPreAt), *proj = room(a.proj, projAt), *stat = room(a.stat, statAt);
  float *logits = isIdentity ? static_cast<float *>(a.h_res) : room(nullptr, logitsAt);

  if (error == cudaSuccess)
    error = projection(context, projectionOf(a, a.N, proj, stat), scratch + sumsAt, units);
  if (error == cudaSuccess)
    error =
        gates(context, {proj,      MHCRT_F32,          stat, MHCRT_F32, a.alpha,    MHCRT_F32, a.beta, MHCRT_F32, hPre,
                        MHCRT_F32, a.h_post,           type, logits,    type,       a.M,       a.N,    a.A,       a.n,
                        R,         MHCRT_STAT_INV_RMS, 0.0,  a.pre_eps, a.post_mult},
              {a.h_pre_format, a.h_post_format});
  if (error == cudaSuccess)
    error = launchResidual(context, a, logits);
  if (error == cudaSuccess && (a.fold_pre || a.h_res_format != MHCRT_FORMAT_F32))
    error = launchKernel(preFinishKernel, gridFor(context, a.M * a.n * a.n), kThreads, 0, context.stream, hPre,
                         static_cast<const float *>(a.fold_pre ? a.h_post : nullptr), static_cast<float *>(a.h_res),
                         a.M, a.n, static_cast<int32_t>(a.h_res_format));
  if (error || !a.u)
    return error;
  const AggregateArgs input = {a.x, a.x_type, a.h_in ? a.h_in : hPre, MHCRT_F32, a.u, a.u_type, a.M, a.n,
                               a.C, a.layout};
  Needs needs;
  const bool isBeside = units == Units::tiles && !isHead && !isIdentity &&
                        (aggregateN4Takes(input, needs) || aggregateN2N8Takes(input, needs));
  return isBeside ? aggregateBeside(input, context.stream) : aggregate(context, input, units);
}

bool generic::preTilesTake(const PreArgs &a, Needs &needs) {
  return projectionTf32Takes(projectionOf(a, a.N, nullptr, nullptr), needs);
}

/// Products are no coarser than the row says.
template <Units kUnits, int32_t kPrecision>
static cudaError_t launchWith(mhcrt_context &context, const PreArgs &args) {
  PreArgs a = args;
  a.precision = kPrecision;
  return generic::pre(context, "mhcrt_pre", a, /*isHead=*/false, kUnits);
}

static bool eightTakes(const PreArgs &a, Needs &needs) {
  return projectionEightTakes(projectionOf(a, a.N, nullptr, nullptr), needs);
}

/// Two streams that are one row are made in scratch memory: four of half the channels are not equal.
static cudaError_t launchSm90(mhcrt_context &context, const PreArgs &given) {
  PreArgs a = given;
  generic::ScratchPlan plan;
  const int64_t xAt = plan.add(wholeBytes(a, a.n == 2 && a.equal_x)), restAt = plan.add(preSm90Bytes(a));
  auto *scratch = plan.bytes() ? static_cast<char *>(context.reserveScratch("mhcrt_pre", plan.bytes())) : nullptr;
  if (plan.bytes() && !scratch)
    return cudaSuccess;
  const cudaError_t error = a.n == 2 ? makeWhole(context, a, a.x, a.equal_x, scratch + xAt) : cudaSuccess;
  if (error)
    return error;
  uint32_t *counter = preSm90Bytes(a) ? nullptr : context.tileCounter("mhcrt_pre");
  return preSm90(a, scratch + restAt, counter, context.stream);
}

static constexpr Variant<PreArgs> kVariants[] = {
    {"sm90", 90, 90, preSm90Takes, launchSm90, MHCRT_PRECISION_BF16X3},
    {"n8", 90, 90, eightTakes, launchWith<Units::tiles, MHCRT_PRECISION_BF16X3>, MHCRT_PRECISION_BF16X3},
    {"tf32x3", 90, kMostTf32Arch, generic::preTilesTake, launchWith<Units::tiles, MHCRT_PRECISION_TF32X3>,
     MHCRT_PRECISION_TF32X3, true},
    {"generic", 0, kAnyArch, nullptr, launchWith<Units::scalar, MHCRT_PRECISION_IEEE>, MHCRT_PRECISION_IEEE}};

mhcrt_status mhcrt::launchPre(mhcrt_context &context, const PreArgs &args) {
  return args.M ? launchVariant(context, "pre", kVariants, args) : context.status;
}

mhcrt_status mhcrt::runPre(mhcrt_context &context, const PreArgs &args) {
  return checkPre(context, args) ? launchPre(context, args) : context.status;
}
