//===- post.cpp - Write a layer output back to n streams ------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out[m,o,c] = drop(h_post[m,o] * (f[m,c] + bias[c])) + sum_i A[m,o,i] * x[m,i,c]
//   A = h_res (oi) or its transpose (io); drop is the dropout of mhc.dropout on [M,n,C], or nothing
//
// Plan    Lanes along C. nC with n=4 and no dropout: the n*n + n coefficients of a token and two vectors of every
//         stream in registers, so that x is read once and out written once; large outputs bypass the caches, a whole
//         cache line per store.
//         Otherwise: blocks of 256 channels as f32 planes in the first-level cache, and those of the dropout. out may
//         be x.
// Bytes   per token (2n+1)*C elements and 4*(n*n + n).
// Needs   at most 2^34 elements with a dropout; streaming stores need rows of a multiple of 64 bytes.
// Round   f32: f + bias, times h_post, then the products in the order of i; one rounding at the store.
// Result  2026-11-21, Xeon 2.5 GHz Cascade Lake, 2 cores, M=4096, n=4, C=1280..7168: f32 102 to 108 % of the copy
//         speed of the same run; bf16 91 to 95 %, and 80 % at C=1280.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/post.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/PostTokens-inl.h"

#include "cpu/Parts.h"
#include "cpu/Tokens.h"
#include "src/Checks.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

void postTokens(const PostCall &args, int64_t first, int64_t last) {
  if (args.x_type == MHCRT_F32)
    postTyped(args, first, last, static_cast<float *>(args.out) + first * args.n * args.C);
  else if (args.x_type == MHCRT_BF16)
    postTyped(args, first, last, static_cast<Bf16 *>(args.out) + first * args.n * args.C);
  else
    postTyped(args, first, last, static_cast<F16 *>(args.out) + first * args.n * args.C);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(postTokens);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::computePost(mhcrt_context &context, const PostArgs &a) {
  const int64_t rowBytes = a.C * mhcrt_dtype_bytes(a.x_type);
  const PostCall args = {a, streams(a.out, a.M * a.n, rowBytes), Dropout(a.seed, a.rate, a.stream)};
  forTokens(context, a.M, (2 * a.n + 1) * rowBytes,
            [&](int64_t first, int64_t last) { HWY_DYNAMIC_DISPATCH(postTokens)(args, first, last); });
  return MHCRT_OK;
}

mhcrt_status mhcrt::runPost(mhcrt_context &context, const PostArgs &a) {
  return checkPost(context, a) ? computePost(context, a) : context.status;
}

MHCRT_ENTRY(post, Post)
#endif // HWY_ONCE
