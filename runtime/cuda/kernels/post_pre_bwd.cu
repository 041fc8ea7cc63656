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
// Separate: the launches of pre_bwd and post_bwd, by the rows of their tables, with dy between them in scratch memory;
// y, too, where it is not given, from post.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Variants.h"
#include "cuda/kernels/Parts.h"
#include "cuda/kernels/PostPreBwd.h"
#include "src/Checks.h"
#include "src/PostPre.h"

using namespace mhcrt;

static cudaError_t launchSeparate(mhcrt_context &context, const PostPreBwdArgs &a) {
  const int64_t streamBytes = saturatingMul(a.M, roundUp(a.K * mhcrt_dtype_bytes(a.x_type), 256));
  auto *dy = static_cast<char *>(
      context.reserveBetween("mhcrt_post_pre_bwd", a.y ? streamBytes : saturatingMul(2, streamBytes)));
  if (!dy)
    return cudaSuccess;
  const PartsOf parts(context, "mhcrt_post_pre_bwd");
  char *y = dy + streamBytes;
  if (!a.y && launchPost(context, postOf(a, y)) != MHCRT_OK)
    return cudaSuccess;
  if (launchPreBwd(context, preBwdOf(a, a.y ? a.y : y, dy)) == MHCRT_OK)
    launchPostBwd(context, postBwdOf(a, dy));
  return cudaSuccess;
}

static constexpr Variant<PostPreBwdArgs> kVariants[] = {
    {"sm90", 90, 90, postPreBwdSm90Takes, postPreBwdSm90, MHCRT_PRECISION_BF16X3},
    {"separate", 0, kAnyArch, nullptr, launchSeparate, MHCRT_PRECISION_IEEE}};

mhcrt_status mhcrt::runPostPreBwd(mhcrt_context &context, const PostPreBwdArgs &args) {
  if (!checkPostPreBwd(context, args))
    return context.status;
  return launchVariant(context, "post_pre_bwd", kVariants, args);
}
