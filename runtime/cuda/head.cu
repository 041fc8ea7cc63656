//===- head.cu - Learned contraction --------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   h_pre[m,j] = sigmoid(alpha * s[m] * (x[m] . phi[j]) + beta[j]) + pre_eps,   out[m,c] = sum_j h_pre[m,j] x[m,j,c]
//
// The launches of projection, gates and aggregate, and so their bits; tf32x3 with their fast rows.
//
//===------------------------------------------------------------------------===//
#include "Generic.h"
#include "Head.h"
#include "Projection.h"
#include "Variants.h"
#include "src/Checks.h"

using namespace mhcrt;
using generic::Units;

template <Units kUnits>
static cudaError_t launchWith(mhcrt_context &context, const HeadArgs &a) {
  generic::ScratchPlan plan;
  const int64_t hPreAt = plan.addFloats(a.h_pre ? 0 : a.M, a.n), projAt = plan.addFloats(a.proj ? 0 : a.M, a.n);
  const int64_t statAt = plan.addFloats(a.stat ? 0 : a.M, 1);
  const int64_t sumsAt = plan.add(generic::projectionBytes(projectionOf(a, a.n, nullptr, nullptr), kUnits));
  auto *scratch = static_cast<char *>(context.reserveScratch("mhcrt_head", plan.bytes()));
  if (!scratch)
    return cudaSuccess;
  const auto room = [&](void *result, int64_t at) { return static_cast<float *>(result ? result : scratch + at); };
  float *hPre = room(a.h_pre, hPreAt), *proj = room(a.proj, projAt), *stat = room(a.stat, statAt);

  cudaError_t error = generic::projection(context, projectionOf(a, a.n, proj, stat), scratch + sumsAt, kUnits);
  if (error == cudaSuccess)
    error =
        generic::gates(context, {proj, MHCRT_F32, stat,    MHCRT_F32,          a.alpha, MHCRT_F32,  a.beta, MHCRT_F32,
                                 hPre, MHCRT_F32, nullptr, MHCRT_NONE,         nullptr, MHCRT_NONE, a.M,    a.n,
                                 a.A,  a.n,       0,       MHCRT_STAT_INV_RMS, 0.0,     a.pre_eps,  0.0});
  if (error == cudaSuccess)
    error = generic::aggregate(context, {a.x, a.x_type, hPre, MHCRT_F32, a.out, a.out_type, a.M, a.n, a.C, a.layout},
                               kUnits);
  return error;
}

static bool tilesTake(const HeadArgs &a, Needs &needs) {
  return projectionTf32Takes(projectionOf(a, a.n, nullptr, nullptr), needs);
}

static constexpr Variant<HeadArgs> kVariants[] = {
    {"sm90", 90, 90, headSm90Takes, headSm90, MHCRT_PRECISION_BF16X3},
    {"tf32x3", 90, kMostTf32Arch, tilesTake, launchWith<Units::tiles>, MHCRT_PRECISION_TF32X3},
    {"generic", 0, kAnyArch, nullptr, launchWith<Units::scalar>, MHCRT_PRECISION_IEEE}};

mhcrt_status mhcrt::runHead(mhcrt_context &context, const HeadArgs &args) {
  if (!checkHead(context, args))
    return context.status;
  return args.M ? launchVariant(context, "head", kVariants, args) : context.status;
}
