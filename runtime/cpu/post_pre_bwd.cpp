//===- post_pre_bwd.cpp - Gradients of post_pre ---------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dy = start + h_pre * d_u + d_proj W + t * y          d_phi, d_norm_weight, d_alpha, d_beta
//   d_x = A^T dy, d_f = h_post . dy, d_h_res = dy x^T, d_h_post = dy . f, d_bias
//
// Plan    The kernels of pre_bwd and post_bwd one after the other, with dy between them in scratch memory; y, too,
// where
//         it is not given.
// Bytes   those of the two.
// Needs   n*C elements of scratch memory per token, twice without y.
// Round   dy once, and then as post_bwd.
//
//===------------------------------------------------------------------------===//
#include "cpu/Entry.h"
#include "cpu/Parts.h"
#include "src/Checks.h"
#include "src/PostPre.h"

using namespace mhcrt;

mhcrt_status mhcrt::runPostPreBwd(mhcrt_context &context, const PostPreBwdArgs &a) {
  if (!checkPostPreBwd(context, a))
    return context.status;
  const int64_t streamBytes = saturatingMul(a.M, roundUp(a.K * mhcrt_dtype_bytes(a.x_type), 64));
  char *dy = context.reserveBetween("mhcrt_post_pre_bwd", a.y ? streamBytes : saturatingMul(2, streamBytes));
  if (!dy)
    return context.status;
  char *y = dy + streamBytes;
  if (!a.y && computePost(context, postOf(a, y)) != MHCRT_OK)
    return context.status;
  if (computePreBwd(context, "mhcrt_post_pre_bwd", preBwdOf(a, a.y ? a.y : y, dy)) != MHCRT_OK)
    return context.status;
  return computePostBwd(context, postBwdOf(a, dy));
}

MHCRT_ENTRY(post_pre_bwd, PostPreBwd)
