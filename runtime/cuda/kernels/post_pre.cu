//===- post_pre.cu - From one sublayer to the next ------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y = post(f, bias, h_post, x, h_res)          u, h_pre, next_h_post, next_h_res, proj, stat = pre(y)
//
// sm90: one launch. Separate: the launches of post and pre, by the rows of their tables, and that of the norm of u
// where there is one: it reads u as pre has rounded it.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Variants.h"
#include "cuda/kernels/Parts.h"
#include "cuda/kernels/PostPre.h"
#include "src/Checks.h"
#include "src/PostPre.h"

using namespace mhcrt;

static cudaError_t launchSeparate(mhcrt_context &context, const PostPreArgs &a) {
  const PartsOf parts(context, "mhcrt_post_pre");
  if (launchPost(context, postOf(a)) != MHCRT_OK || launchPre(context, preOf(a)) != MHCRT_OK)
    return cudaSuccess;
  return a.u_norm_weight ? normAfterPre(context, a) : cudaSuccess;
}

static cudaError_t launchSm90(mhcrt_context &context, const PostPreArgs &a) {
  const int64_t bytes = postPreSm90Bytes(a);
  void *scratch = bytes ? context.reserveScratch("mhcrt_post_pre", bytes) : nullptr;
  if (bytes && !scratch)
    return cudaSuccess;
  return postPreSm90(a, scratch, bytes ? nullptr : context.tileCounter("mhcrt_post_pre"), context.stream);
}

static constexpr Variant<PostPreArgs> kVariants[] = {
    {"sm90", 90, 90, postPreSm90Takes, launchSm90, MHCRT_PRECISION_BF16X3},
    {"separate", 0, kAnyArch, nullptr, launchSeparate, MHCRT_PRECISION_IEEE}};

mhcrt_status mhcrt::runPostPre(mhcrt_context &context, const PostPreArgs &args) {
  if (!checkPostPre(context, args))
    return context.status;
  return args.M ? launchVariant(context, "post_pre", kVariants, args) : context.status;
}
