//===- post_pre_bwd.cu - Gradients of post_pre ----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dy = start + h_pre * d_u + d_proj W + t * y          d_phi, d_norm_weight, d_alpha, d_beta
//   d_x = A^T dy, d_f = h_post . dy, d_h_res = dy x^T, d_h_post = dy . f, d_bias
//
// sm90: post_pre_bwd_sm90.cu.
//
// Separate: the launches of pre_bwd and post_bwd, by the rows of their tables, with dy between them in scratch memory.
// All rows read y: where it is not given, post makes it first.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Variants.h"
#include "cuda/kernels/Parts.h"
#include "cuda/kernels/PostPreBwd.h"
#include "src/Checks.h"
#include "src/PostPre.h"

using namespace mhcrt;

constexpr const char *kKernel = "mhcrt_post_pre_bwd";

/// Bytes of the streams of all tokens.
static int64_t streamBytes(const PostPreBwdArgs &a) {
  return saturatingMul(a.M, roundUp(a.K * mhcrt_dtype_bytes(a.x_type), 256));
}

static cudaError_t launchSeparate(mhcrt_context &context, const PostPreBwdArgs &a) {
  void *dy = context.reserveBetween(kKernel, streamBytes(a));
  if (!dy)
    return cudaSuccess;
  const PartsOf parts(context, kKernel);
  if (launchPreBwd(context, preBwdOf(a, a.y, dy)) == MHCRT_OK)
    launchPostBwd(context, postBwdOf(a, dy));
  return cudaSuccess;
}

static constexpr Variant<PostPreBwdArgs> kVariants[] = {
    {"sm90", 90, 90, postPreBwdSm90Takes, postPreBwdSm90, MHCRT_PRECISION_BF16X3},
    {"separate", 0, kAnyArch, nullptr, launchSeparate, MHCRT_PRECISION_IEEE}};

/// Makes y, behind the place of dy.
static bool makeY(mhcrt_context &context, PostPreBwdArgs &a) {
  auto *between = static_cast<char *>(context.reserveBetween(kKernel, saturatingMul(2, streamBytes(a))));
  if (!between)
    return false;
  const PartsOf parts(context, kKernel);
  char *y = between + streamBytes(a);
  if (launchPost(context, postOf(a, y)) != MHCRT_OK)
    return false;
  a.y = y, a.y_type = a.x_type;
  return true;
}

mhcrt_status mhcrt::runPostPreBwd(mhcrt_context &context, const PostPreBwdArgs &args) {
  if (!checkPostPreBwd(context, args))
    return context.status;
  PostPreBwdArgs all = args;
  if (!all.y && all.M && !makeY(context, all))
    return context.status;
  return launchVariant(context, "post_pre_bwd", kVariants, all);
}
