//===- RingEntries.cpp - Entries at widths of clusters and gangs ----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "../Call.h"
#include "Boundary.h"
#include "Entries.h"

using namespace mhcrt::test;

namespace {

mhcrt_status callProjection(mhcrt_context *context, int64_t M, int64_t n, int64_t C) {
  return call(mhcrt_projection, context, t, B, t, F, t, F, t, F, t, F, M, n, C, 24, n * C, 0, 0, 0, 1e-6, 0,
              MHCRT_PRECISION_BF16X3);
}

mhcrt_status callPre(mhcrt_context *context, int64_t M, int64_t n, int64_t C) {
  return call(mhcrt_pre, context, t, B, t, F, t, F, t, F, t, F, t, B, t, F, t, F, t, F, t, F, t, F, M, n, C, 24, n * C,
              3, 0, 0, 0, 1e-6, 1e-6, 2, 0, 0, 0, 0, 1e-6, 20, 0, MHCRT_PRECISION_BF16X3);
}

mhcrt_status callPostPre(mhcrt_context *context, int64_t M, int64_t, int64_t C) {
  mhcrt_post_pre_args args = postPreArgs(B, C);
  args.M = M;
  return mhcrt_post_pre(context, &args);
}

mhcrt_status callNormed(mhcrt_context *context, int64_t M, int64_t, int64_t C) {
  mhcrt_post_pre_args args = postPreArgs(B, C);
  args.M = M;
  args.u_norm_weight = t, args.u_norm_weight_type = F, args.u_norm_eps = 1e-6;
  return mhcrt_post_pre(context, &args);
}

/// Makes y.
mhcrt_status callPostPreBwd(mhcrt_context *context, int64_t M, int64_t, int64_t C) {
  mhcrt_post_pre_bwd_args args = postPreBwdArgs(B, C);
  args.M = M;
  args.y = nullptr, args.y_type = none;
  return mhcrt_post_pre_bwd(context, &args);
}

mhcrt_status callPostHead(mhcrt_context *context, int64_t M, int64_t n, int64_t C) {
  return call(mhcrt_post_head, context, t, B, nullptr, none, t, F, t, B, t, F, nullptr, none, t, F, t, F, t, F, t, F, t,
              B, t, B, t, F, t, F, t, F, M, C, n, 0, n * C, 1, 0, 0, 0.0, 0, 0, 0, 1e-6, 1e-6, MHCRT_PRECISION_BF16X3);
}

const std::vector<Entry> all = {
    {"projection", callProjection, 1280},
    {"projection", callProjection, 8192},
    {"pre", callPre, 1280},
    {"pre", callPre, 8192},
    {"post_pre", callPostPre, 1280},
    {"post_pre", callPostPre, 8192},
    {"post_pre", callNormed, 1280},
    {"post_pre", callNormed, 8192},
    {"post_pre_bwd", callPostPreBwd, 1280},
    {"post_pre_bwd", callPostPreBwd, 8192},
    {"post_head", callPostHead, 1280},
    {"post_head", callPostHead, 8192},
};

} // namespace

const std::vector<Entry> &mhcrt::test::ringEntries() { return all; }
