//===- post.cpp - Write a layer output back to n streams ------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out[m,o,c] = drop(h_post[m,o] * (f[m,c] + bias[c])) + sum_i A[m,o,i] * x[m,i,c]
//   A = h_res (oi) or its transpose (io); drop is the dropout of mhc.dropout on [M,n,C], or nothing
//   contracted: out[m,c] is the sum or the mean over o of those
//
// Plan    Lanes along C. nC with n=4 and no dropout: the n*n + n coefficients of a token and two vectors of every
//         stream in registers, so that x is read once and out written once; large outputs bypass the caches, a whole
//         cache line per store.
//         Otherwise: blocks of 256 channels as f32 planes in the first-level cache, and those of the dropout. out may
//         be x. Contracted streams are blocks, too, and rounded into one of their type.
// Bytes   per token (2n+1)*C elements and 4*(n*n + n); (n+2)*C where the streams of x are equal or contracted.
// Needs   at most 2^34 elements with a dropout; streaming stores need rows of a multiple of 64 bytes.
// Round   f32: f + bias, times h_post, then the products in the order of i; one rounding at the store.
//         Contracted: rounded as they would be stored, then as contract.
// Result  2026-11-21, Xeon 2.5 GHz Cascade Lake, 2 cores, M=4096, n=4, C=1280..7168: f32 102 to 108 % of the copy
//         speed of the same run; bf16 91 to 95 %, and 80 % at C=1280.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/post.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Contract-inl.h"
#include "cpu/Post-inl.h"
#include "cpu/Tiles-inl.h"

#include "cpu/Parts.h"
#include "src/Checks.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// One token in layout nC with four streams: everything of a pair of vectors of channels in registers. Where `out`
/// bypasses the caches, `kept` gets the same, unless it is null.
template <bool kStream, typename T>
HWY_INLINE void postFour(const PostCall &args, const float *hPost, const float *mix, const T *f, const T *x, T *out,
                         T *kept) {
  const int64_t C = args.C, step = args.xPlaces.stream;
  int64_t c = 0;
  V inA[4], inB[4], sumsA[4], sumsB[4], a, b;
  for (; c + 2 * kLanes <= C; c += 2 * kLanes) {
    for (int i = 0; i < 4; ++i) {
      prefetchRow(x + i * step, c, C, args.xPlaces.token);
      loadPair(x + i * step + c, inA[i], inB[i]);
    }
    loadBranch(f, args.bias, args.bias_type, c, a, b);
    mixFour(hPost, mix, a, inA, sumsA);
    mixFour(hPost, mix, b, inB, sumsB);
    for (int o = 0; o < 4; ++o) {
      storePair<kStream>(sumsA[o], sumsB[o], out + o * C + c);
      if (kStream && kept)
        storePair<false>(sumsA[o], sumsB[o], kept + o * C + c);
    }
  }
  for (; c < C; c += kLanes) {
    const int64_t count = HWY_MIN(kLanes, C - c);
    for (int i = 0; i < 4; ++i)
      inA[i] = loadSome(x + i * step + c, count);
    a = loadBranch(f, args.bias, args.bias_type, c, count);
    mixFour(hPost, mix, a, inA, sumsA);
    for (int o = 0; o < 4; ++o) {
      storeSome(sumsA[o], out + o * C + c, count);
      if (kStream && kept)
        storeSome(sumsA[o], kept + o * C + c, count);
    }
  }
}

/// Channels of one token whose streams are added up.
template <typename T>
HWY_INLINE void contractBlock(const PostCall &args, Planes &sums, int64_t count, T *out) {
  HWY_ALIGN T rounded[16 * kBlock];
  storePlanes(sums, MHCRT_LAYOUT_NC, args.n, kBlock, /*first=*/0, count, rounded);
  const V divisor = hn::Set(d, args.contracted == MHCRT_CONTRACTED_MEAN ? static_cast<float>(args.n) : 1.0f);
  if (args.bypasses)
    contractRows<true>(rounded, kBlock, args.n, count, divisor, out);
  else
    contractRows<false>(rounded, kBlock, args.n, count, divisor, out);
}

template <typename T>
HWY_INLINE void postBlocks(const PostCall &args, int64_t m, const float *hPost, const float *mix, const T *f,
                           const T *x, T *out) {
  const int64_t n = args.n, C = args.C;
  Planes in, sums, factors;
  const bool drops = args.drop.isOn();
  for (int64_t first = 0; first < C; first += kBlock) {
    const int64_t blockCount = HWY_MIN(kBlock, C - first);
    loadPlanes(x, args.xPlaces, n, first, blockCount, in);
    if (drops)
      dropoutPlanes(args.drop, m, args.layout, n, C, first, blockCount, factors);
    mixBlock(f, args.bias, args.bias_type, hPost, mix, n, first, blockCount, in, drops ? &factors : nullptr, sums);
    if (args.contracted)
      contractBlock(args, sums, blockCount, out + first);
    else
      storePlanes(sums, args.layout, n, C, first, blockCount, out);
  }
}

/// Tokens [first, last), whose streams behind go to `out` and, where that bypasses the caches, to `kept`.
template <typename T>
void postTyped(const PostCall &args, int64_t first, int64_t last, T *out, T *kept) {
  const int64_t n = args.n, C = args.C;
  float mix[16 * 16];
  for (int64_t m = first; m < last; ++m, out += args.outRows() * C, kept += kept ? n * C : 0) {
    outputFirst(floats(args.h_res) + m * n * n, n, args.orient, mix);
    const float *hPost = floats(args.h_post) + m * n;
    const T *f = static_cast<const T *>(args.f) + m * C;
    const T *x = static_cast<const T *>(args.x) + m * args.xPlaces.token;
    if (!args.isFour)
      postBlocks(args, m, hPost, mix, f, x, out);
    else if (args.bypasses)
      postFour<true>(args, hPost, mix, f, x, out, kept);
    else
      postFour<false>(args, hPost, mix, f, x, out, kept);
  }
  if (args.bypasses)
    hwy::FlushStream();
}

void postTile(const PostCall &args, int64_t first, int64_t last, void *out, void *kept) {
  if (args.x_type == MHCRT_F32)
    postTyped(args, first, last, static_cast<float *>(out), static_cast<float *>(kept));
  else if (args.x_type == MHCRT_BF16)
    postTyped(args, first, last, static_cast<Bf16 *>(out), static_cast<Bf16 *>(kept));
  else
    postTyped(args, first, last, static_cast<F16 *>(out), static_cast<F16 *>(kept));
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(postTile);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::computePost(mhcrt_context &context, const PostArgs &a) {
  const int64_t rowBytes = a.C * mhcrt_dtype_bytes(a.x_type);
  const PostCall args(a);
  forTokens(context, a.M, (2 * a.n + 1) * rowBytes, [&](int64_t first, int64_t last) {
    char *out = static_cast<char *>(a.out) + first * args.outRows() * rowBytes;
    HWY_DYNAMIC_DISPATCH(postTile)(args, first, last, out, nullptr);
  });
  return MHCRT_OK;
}

mhcrt_status mhcrt::runPost(mhcrt_context &context, const PostArgs &a) {
  return checkPost(context, a) ? computePost(context, a) : context.status;
}

MHCRT_ENTRY(post, Post)
#endif // HWY_ONCE
