//===- head_bwd.cu - Gradients of a learned contraction -------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launches of pre_bwd, with n columns and one gate.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Variants.h"
#include "cuda/kernels/Generic.h"
#include "cuda/kernels/Head.h"
#include "cuda/kernels/Projection.h"
#include "src/Checks.h"
#include "src/HeadBwd.h"

using namespace mhcrt;

template <generic::Units kUnits>
static cudaError_t launchWith(mhcrt_context &context, const HeadBwdArgs &a) {
  return generic::preBwd(context, "mhcrt_head_bwd", preBwdOf(a), /*isHead=*/true, kUnits);
}

static bool tilesTake(const HeadBwdArgs &a, Needs &needs) { return generic::preBwdTilesTake(preBwdOf(a), needs); }

static bool eightTakes(const HeadBwdArgs &a, Needs &needs) { return generic::preBwdEightTakes(preBwdOf(a), needs); }

static constexpr Variant<HeadBwdArgs> kVariants[] = {
    {"sm90", 90, 90, headBwdSm90Takes, headBwdSm90, MHCRT_PRECISION_BF16X3},
    {"tf32x3", 90, kAnyArch, tilesTake, launchWith<generic::Units::tiles>, MHCRT_PRECISION_TF32X3, true},
    {"n8", 90, kMostTf32Arch, eightTakes, launchWith<generic::Units::tiles>, MHCRT_PRECISION_BF16X3},
    {"generic", 0, kAnyArch, nullptr, launchWith<generic::Units::scalar>, MHCRT_PRECISION_IEEE}};

mhcrt_status mhcrt::runHeadBwd(mhcrt_context &context, const HeadBwdArgs &args) {
  if (!checkHeadBwd(context, args))
    return context.status;
  return launchVariant(context, "head_bwd", kVariants, args);
}
