//===- post_pre.cu - From one sublayer to the next ------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y = post(f, bias, h_post, x, h_res)          u, h_pre, next_h_post, next_h_res, proj, stat = pre(y)
//
// sm90: one launch, and of 8192 channels and more one for the norm of u where there is one. Separate: the launches of
// post and pre, by the rows of their tables, and that of the norm. Behind another launch the norm reads u as it was
// rounded there.
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
  uint32_t *counter = bytes ? nullptr : context.tileCounter("mhcrt_post_pre");
  const cudaError_t error = postPreSm90(a, scratch, counter, context.stream);
  return error == cudaSuccess && hasNormApart(a) ? normAfterPre(context, a) : error;
}

static constexpr Variant<PostPreArgs> kVariants[] = {
    {"sm90", 90, 90, postPreSm90Takes, launchSm90, MHCRT_PRECISION_BF16X3},
    {"separate", 0, kAnyArch, nullptr, launchSeparate, MHCRT_PRECISION_IEEE}};

mhcrt_status mhcrt::runPostPre(mhcrt_context &context, const PostPreArgs &args) {
  if (!checkPostPre(context, args))
    return context.status;
  return args.M ? launchVariant(context, "post_pre", kVariants, args) : context.status;
}
