//===- post_pre_bwd.cpp - Gradients of post_pre ---------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dy = start + h_pre * d_u + d_proj W + t * y          d_phi, d_norm_weight, d_alpha, d_beta
//   d_x = A^T dy, d_f = h_post . dy, d_h_res = dy x^T, d_h_post = dy . f, d_bias
//
// Plan    The kernels of pre_bwd and post_bwd one after the other, with dy between them in scratch memory; y, too,
//         where it is not given. nC with n=4, C a multiple of 256, and neither dropout nor d_bias: post_bwd takes dy of
//         a token and 256 channels, all streams of them, where projection_bwd's tiles make it.
// Bytes   those of the two; (2n+1)*C elements fewer where dy stays in the caches.
// Needs   n*C elements of scratch memory per token, twice without y; where dy stays in the caches n*C without y, and
//         4*(n*n + n) bytes per 512 channels.
// Round   dy once, and then as post_bwd, but for sums over channels: where dy stays in the caches those of 512 channels
//         each, and then their sum.
//
//===------------------------------------------------------------------------===//
#include "cpu/Entry.h"
#include "cpu/Parts.h"
#include "cpu/ProjectionBwd.h"
#include "src/Checks.h"
#include "src/PostPre.h"

using namespace mhcrt;

/// Whether post_bwd takes dy from projection_bwd's tiles.
static bool joins(const PostPreBwdArgs &a) {
  return PostBwdCall(postBwdOf(a, nullptr)).isFour && !a.d_bias && a.C % kGradBlock == 0 &&
         (!a.d_y || a.d_y_type == a.x_type);
}

mhcrt_status mhcrt::runPostPreBwd(mhcrt_context &context, const PostPreBwdArgs &a) {
  static const char *const kName = "mhcrt_post_pre_bwd";
  if (!checkPostPreBwd(context, a))
    return context.status;
  const bool joined = joins(a);
  const int64_t streamBytes = saturatingMul(a.M, roundUp(a.K * mhcrt_dtype_bytes(a.x_type), 64));
  const int64_t between = saturatingMul(!joined + !a.y, streamBytes);
  char *dy = between ? context.reserveBetween(kName, between) : nullptr;
  if (between && !dy)
    return context.status;
  char *y = joined ? dy : dy + streamBytes;
  if (!a.y && computePost(context, postOf(a, y)) != MHCRT_OK)
    return context.status;
  const void *streams = a.y ? a.y : y;
  if (joined) {
    const PostBwdArgs post = postBwdOf(a, nullptr);
    return computePreBwd(context, kName, preBwdOf(a, streams, nullptr), &post);
  }
  if (computePreBwd(context, kName, preBwdOf(a, streams, dy)) != MHCRT_OK)
    return context.status;
  return computePostBwd(context, postBwdOf(a, dy));
}

MHCRT_ENTRY(post_pre_bwd, PostPreBwd)
