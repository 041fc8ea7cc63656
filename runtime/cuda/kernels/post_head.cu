//===- post_head.cu - The last sublayer's post and the contraction --------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y = post(f, bias, h_post, x, h_res)          out, h_pre, proj, stat = head(y)
//
// sm90: the launch of post_pre between small ones; head_sm90.cu. Separate: the launches of post and head, by the rows
// of their tables, with y between them in scratch memory where it is not wanted.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Variants.h"
#include "cuda/kernels/Head.h"
#include "cuda/kernels/Parts.h"
#include "src/Checks.h"
#include "src/PostPre.h"

using namespace mhcrt;

constexpr const char *kKernel = "mhcrt_post_head";

static cudaError_t launchSeparate(mhcrt_context &context, const PostHeadArgs &a) {
  void *y = a.y;
  if (!y)
    y = context.reserveBetween(kKernel, saturatingMul(a.M, a.K * mhcrt_dtype_bytes(a.x_type)));
  if (!y)
    return cudaSuccess;
  const PartsOf parts(context, kKernel);
  if (launchPost(context, postOf(a, y)) == MHCRT_OK)
    launchHead(context, headOf(a, y));
  return cudaSuccess;
}

static constexpr Variant<PostHeadArgs> kVariants[] = {
    {"sm90", 90, 90, postHeadSm90Takes, postHeadSm90, MHCRT_PRECISION_BF16X3},
    {"separate", 0, kAnyArch, nullptr, launchSeparate, MHCRT_PRECISION_IEEE}};

mhcrt_status mhcrt::runPostHead(mhcrt_context &context, const PostHeadArgs &args) {
  if (!checkPostHead(context, args))
    return context.status;
  return args.M ? launchVariant(context, "post_head", kVariants, args) : context.status;
}
