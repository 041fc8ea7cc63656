//===- post_head.cpp - The last sublayer's post and the learned contraction -===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y = post(f, bias, h_post, x, h_res)          out, h_pre, proj, stat = head(y)
//
// Plan    That of post_pre.cpp. Where y is not wanted, a tile of it is in scratch memory and nowhere else.
// Bytes   per token (2n+2)*C elements, (n+2)*C without y, and 4*(n*n + n); 4*(n+1) more for proj and stat; 4*n*K for
//         phi once per call.
// Needs   what post needs.
// Round   y once, and then as post and head one after the other, bit for bit.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/post_head.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Simd-inl.h"
#include "cpu/Tiles-inl.h"

#include "src/Checks.h"
#include "src/PostPre.h"

#ifndef MHCRT_CPU_POST_HEAD_CALL
#define MHCRT_CPU_POST_HEAD_CALL
namespace mhcrt {
struct PostHeadCall {
  PostCall post; ///< without out where y is not wanted
  HeadCall head;
  int64_t scratchBytes; ///< of head; y of a tile is behind it where it is not wanted or bypasses the caches

  PostHeadCall(const mhcrt_context &context, const PostHeadArgs &a)
      : post(postOf(a, a.y)), head(context, headOf(a, a.y)) {
    post.bypasses &= a.y != nullptr;
    head.projection.limitTile(kTileOfStreams / tokenBytes());
    scratchBytes = roundUp(ProjectionScratch::bytes(head.projection), kAlignment);
  }

  int64_t tokenBytes() const { return head.K * mhcrt_dtype_bytes(head.x_type); }
  bool keeps() const { return !post.out || post.bypasses; }
  int64_t keptBytes() const { return keeps() ? kAlignment + head.projection.tile * tokenBytes() : 0; }
};
} // namespace mhcrt
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

void postHeadTile(const PostHeadCall &args, const char *packed, int64_t first, int64_t count, char *base) {
  char *kept = args.keeps() ? base + args.scratchBytes : nullptr;
  char *y = args.post.out ? static_cast<char *>(args.post.out) + first * args.tokenBytes() : kept;
  postTile(args.post, first, first + count, y, args.post.bypasses ? kept : nullptr);
  headTile(args.head, packed, first, count, base, kept ? kept : y);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(postHeadTile);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runPostHead(mhcrt_context &context, const PostHeadArgs &a) {
  if (!checkPostHead(context, a) || a.M == 0)
    return context.status;
  PostHeadCall args(context, a);
  if (!args.head.reserve(context, "mhcrt_post_head", args.keptBytes()))
    return context.status;
  forProjectionTiles(context, args.head.projection,
                     [&](const char *packed, int64_t first, int64_t count, char *scratch) {
                       HWY_DYNAMIC_DISPATCH(postHeadTile)(args, packed, first, count, scratch);
                     });
  return MHCRT_OK;
}

MHCRT_ENTRY(post_head, PostHead)
#endif // HWY_ONCE
