//===- post_pre.cpp - From one sublayer to the next in one pass -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y = post(f, bias, h_post, x, h_res)          u, h_pre, next_h_post, next_h_res, proj, stat = pre(y)
//   u = u / sqrt(mean over c of u^2 + u_norm_eps) * u_norm_weight, where there is one
//
// Plan    Tiles of tokens as in pre.cpp, as many as the second-level cache holds: post writes y, pre reads it. Where y
//         bypasses the caches, post writes it to scratch memory, too, and pre reads it there. The norm of u is made in
//         place while the tile's u is in the caches, which it does not bypass then.
// Bytes   per token (2n+2)*C elements and 4*(2*(n*n + n) + n), 4*(N+1) more for proj and stat; 4*N*K for phi once per
//         call.
// Needs   what post needs.
// Round   y once, and then as post and pre one after the other, bit for bit; with a norm u before it and behind it.
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

#include <cmath>

#ifndef MHCRT_CPU_POST_PRE_CALL
#define MHCRT_CPU_POST_PRE_CALL
namespace mhcrt {
struct PostPreCall {
  PostCall post;
  PreCall pre;
  int64_t scratchBytes;   ///< of pre; y of a tile is behind it where the other one bypasses the caches
  const void *normWeight; ///< null where u has no norm
  int32_t normWeightType;
  float normEps;
};
} // namespace mhcrt
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

template <typename T, typename Weight>
static void normalize(T *u, const Weight *weight, int64_t C, float eps) {
  V squares = hn::Zero(d), more = squares;
  int64_t c = 0;
  for (; c + 2 * kLanes <= C; c += 2 * kLanes) {
    V a, b;
    loadPair(u + c, a, b);
    squares = hn::MulAdd(a, a, squares);
    more = hn::MulAdd(b, b, more);
  }
  for (; c < C; c += kLanes) {
    const V v = loadSome(u + c, C - c);
    squares = hn::MulAdd(v, v, squares);
  }
  const V scale = hn::Set(d, 1 / std::sqrt(sumLanes(hn::Add(squares, more)) / static_cast<float>(C) + eps));
  for (c = 0; c < C; c += kLanes)
    storeSome(hn::Mul(hn::Mul(scale, loadSome(u + c, C - c)), loadSome(weight + c, C - c)), u + c, C - c);
}

template <typename T>
static void normalizeTile(const PostPreCall &args, int64_t first, int64_t count) {
  for (int64_t m = first; m < first + count; ++m) {
    T *u = static_cast<T *>(args.pre.u) + m * args.pre.C;
    if (args.normWeightType == MHCRT_F32)
      normalize(u, static_cast<const float *>(args.normWeight), args.pre.C, args.normEps);
    else
      normalize(u, static_cast<const T *>(args.normWeight), args.pre.C, args.normEps);
  }
}

void postPreTile(const PostPreCall &args, const char *packed, int64_t first, int64_t count, char *base) {
  const int64_t tokenBytes = args.pre.K * mhcrt_dtype_bytes(args.post.x_type);
  char *y = static_cast<char *>(args.post.out) + first * tokenBytes;
  char *kept = args.post.bypasses ? base + args.scratchBytes : nullptr;
  postTile(args.post, first, first + count, y, kept);
  preTile(args.pre, packed, first, count, base, kept ? kept : y);
  if (!args.normWeight)
    return;
  if (args.pre.x_type == MHCRT_F32)
    normalizeTile<float>(args, first, count);
  else if (args.pre.x_type == MHCRT_BF16)
    normalizeTile<Bf16>(args, first, count);
  else
    normalizeTile<F16>(args, first, count);
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
  PostPreCall args = {PostCall(postOf(a)), PreCall(context, preOf(a)), 0,
                      a.u_norm_weight,     a.u_norm_weight_type,       static_cast<float>(a.u_norm_eps)};
  args.pre.bypasses &= !args.normWeight;
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
