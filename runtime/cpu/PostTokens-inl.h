//===- PostTokens-inl.h - Tokens of post ------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by post and post_pre, so that the two agree bit for bit.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_POST_TOKENS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_POST_TOKENS_INL_H
#undef MHCRT_CPU_POST_TOKENS_INL_H
#else
#define MHCRT_CPU_POST_TOKENS_INL_H
#endif

#include "cpu/Post-inl.h"
#include "cpu/Post.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// One token in layout nC with four streams: everything of a pair of vectors of channels in registers.
template <bool kStream, typename T>
HWY_INLINE void postFour(const PostCall &args, const float *hPost, const float *mix, const T *f, const T *x, T *out) {
  const int64_t C = args.C;
  int64_t c = 0;
  V inA[4], inB[4], sumsA[4], sumsB[4], a, b;
  for (; c + 2 * kLanes <= C; c += 2 * kLanes) {
    for (int i = 0; i < 4; ++i) {
      prefetchRow(x + i * C, c, C, 4 * C);
      loadPair(x + i * C + c, inA[i], inB[i]);
    }
    loadBranch(f, args.bias, args.bias_type, c, a, b);
    mixFour(hPost, mix, a, inA, sumsA);
    mixFour(hPost, mix, b, inB, sumsB);
    for (int o = 0; o < 4; ++o)
      storePair<kStream>(sumsA[o], sumsB[o], out + o * C + c);
  }
  for (; c < C; c += kLanes) {
    const int64_t count = HWY_MIN(kLanes, C - c);
    for (int i = 0; i < 4; ++i)
      inA[i] = loadSome(x + i * C + c, count);
    a = loadBranch(f, args.bias, args.bias_type, c, count);
    mixFour(hPost, mix, a, inA, sumsA);
    for (int o = 0; o < 4; ++o)
      storeSome(sumsA[o], out + o * C + c, count);
  }
}

template <typename T>
HWY_INLINE void postBlocks(const PostCall &args, int64_t m, const float *hPost, const float *mix, const T *f,
                           const T *x, T *out) {
  const int64_t n = args.n, C = args.C;
  Planes in, sums, factors;
  const bool drops = args.drop.isOn();
  for (int64_t first = 0; first < C; first += kBlock) {
    const int64_t blockCount = HWY_MIN(kBlock, C - first);
    loadPlanes(x, args.layout, n, C, first, blockCount, in);
    if (drops)
      dropoutPlanes(args.drop, m, args.layout, n, C, first, blockCount, factors);
    mixBlock(f, args.bias, args.bias_type, hPost, mix, n, first, blockCount, in, drops ? &factors : nullptr, sums);
    storePlanes(sums, args.layout, n, C, first, blockCount, out);
  }
}

/// Tokens [first, last), whose streams behind go to `out`.
template <typename T>
void postTyped(const PostCall &args, int64_t first, int64_t last, T *out) {
  const int64_t n = args.n, C = args.C;
  float mix[16 * 16];
  for (int64_t m = first; m < last; ++m, out += n * C) {
    outputFirst(floats(args.h_res) + m * n * n, n, args.orient, mix);
    const float *hPost = floats(args.h_post) + m * n;
    const T *f = static_cast<const T *>(args.f) + m * C;
    const T *x = static_cast<const T *>(args.x) + m * n * C;
    if (n != 4 || args.layout != MHCRT_LAYOUT_NC || args.drop.isOn())
      postBlocks(args, m, hPost, mix, f, x, out);
    else if (args.bypasses)
      postFour<true>(args, hPost, mix, f, x, out);
    else
      postFour<false>(args, hPost, mix, f, x, out);
  }
  if (args.bypasses)
    hwy::FlushStream();
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_POST_TOKENS_INL_H
