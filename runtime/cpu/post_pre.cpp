//===- post_pre.cpp - From one sublayer to the next in one pass -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y = post(f, bias, h_post, x, h_res)          u, h_pre, next_h_post, next_h_res, proj, stat = pre(y)
//
// Plan    Tiles of tokens as in pre.cpp, as many as the second-level cache holds: post writes y, pre reads it. Where y
//         bypasses the caches, post writes it to scratch memory, too, and pre reads it there.
// Bytes   per token (2n+2)*C elements and 4*(2*(n*n + n) + n), 4*(N+1) more for proj and stat; 4*N*K for phi once per
//         call.
// Needs   what post needs.
// Round   y once, and then as post and pre one after the other, bit for bit.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/post_pre.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Simd-inl.h"
#include "cpu/Tiles-inl.h"

#include "src/Checks.h"
#include "src/PostPre.h"

#ifndef MHCRT_CPU_POST_PRE_CALL
#define MHCRT_CPU_POST_PRE_CALL
namespace mhcrt {
struct PostPreCall {
  PostCall post;
  PreCall pre;
  int64_t scratchBytes; ///< of pre; y of a tile is behind it where the other one bypasses the caches
};
} // namespace mhcrt
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

void postPreTile(const PostPreCall &args, const char *packed, int64_t first, int64_t count, char *base) {
  const int64_t tokenBytes = args.pre.K * mhcrt_dtype_bytes(args.post.x_type);
  char *y = static_cast<char *>(args.post.out) + first * tokenBytes;
  char *kept = args.post.bypasses ? base + args.scratchBytes : nullptr;
  postTile(args.post, first, first + count, y, kept);
  preTile(args.pre, packed, first, count, base, kept ? kept : y);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(postPreTile);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runPostPre(mhcrt_context &context, const PostPreArgs &a) {
  if (!checkPostPre(context, a) || a.M == 0)
    return context.status;
  const int64_t tokenBytes = a.K * mhcrt_dtype_bytes(a.x_type);
  PostPreCall args = {PostCall(postOf(a)), PreCall(context, preOf(a)), 0};
  args.pre.projection.limitTile(kTileOfStreams / tokenBytes);
  args.scratchBytes = roundUp(ProjectionScratch::bytes(args.pre.projection), kAlignment);
  const int64_t keptBytes = args.post.bypasses ? kAlignment + args.pre.projection.tile * tokenBytes : 0;
  if (!args.pre.reserve(context, "mhcrt_post_pre", keptBytes))
    return context.status;

  forProjectionTiles(context, args.pre.projection,
                     [&](const char *packed, int64_t first, int64_t count, char *scratch) {
                       HWY_DYNAMIC_DISPATCH(postPreTile)(args, packed, first, count, scratch);
                     });
  return MHCRT_OK;
}

MHCRT_ENTRY(post_pre, PostPre)
#endif // HWY_ONCE
