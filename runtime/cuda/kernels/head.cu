//===- head.cu - Learned contraction --------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   h_pre[m,j] = sigmoid(alpha * s[m] * (x[m] . phi[j]) + beta[j]) + pre_eps,   out[m,c] = sum_j h_pre[m,j] x[m,j,c]
//
// The launches of pre without its residual map: projection, gates and aggregate, and so their bits; tf32x3 with their
// fast rows.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Variants.h"
#include "cuda/kernels/Generic.h"
#include "cuda/kernels/Head.h"
#include "cuda/kernels/Parts.h"
#include "cuda/kernels/Projection.h"
#include "src/Checks.h"

using namespace mhcrt;
using generic::Units;

template <Units kUnits>
static cudaError_t launchWith(mhcrt_context &context, const HeadArgs &a) {
  return generic::pre(context, "mhcrt_head", preOf(a), /*isHead=*/true, kUnits);
}

static bool tilesTake(const HeadArgs &a, Needs &needs) { return generic::preTilesTake(preOf(a), needs); }

static constexpr Variant<HeadArgs> kVariants[] = {
    {"sm90", 90, 90, headSm90Takes, headSm90, MHCRT_PRECISION_BF16X3},
    {"tf32x3", 90, kMostTf32Arch, tilesTake, launchWith<Units::tiles>, MHCRT_PRECISION_TF32X3, true},
    {"generic", 0, kAnyArch, nullptr, launchWith<Units::scalar>, MHCRT_PRECISION_IEEE}};

mhcrt_status mhcrt::launchHead(mhcrt_context &context, const HeadArgs &args) {
  return args.M ? launchVariant(context, "head", kVariants, args) : context.status;
}

mhcrt_status mhcrt::runHead(mhcrt_context &context, const HeadArgs &args) {
  return checkHead(context, args) ? launchHead(context, args) : context.status;
}
