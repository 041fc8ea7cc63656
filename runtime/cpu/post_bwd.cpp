//===- post_bwd.cpp - Gradients of post in one pass -----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_f[m,c]    = sum_o h_post[m,o] * drop(d_out[m,o,c])          d_bias[c]  = sum_m d_f[m,c]
//   d_h_post[o] = sum_c drop(d_out[m,o,c]) * (f[m,c] + bias[c])   drop is that of mhc.post
//   d_x[m,i,c]  = d_x_in[m,i,c] + sum_o A[m,o,i] * d_out[m,o,c]
//   dA[m,o,i]   = sum_c d_out[m,o,c] * x[m,i,c]                   A = h_res (oi) or its transpose (io)
//
// Plan    Lanes along C. nC with n=4 and no dropout, d_x wanted or not: the n*n + n sums of a token stay in registers
//         while two vectors of every stream pass, so that d_out and x are read once; large outputs bypass the caches.
//         Otherwise: blocks of 256 channels as f32 planes in the first-level cache. d_bias: one partial sum per run of
//         tokens, compensated every 128 tokens.
// Bytes   per token (2n+2)*C elements and 8*(n*n + n); n*C more for each of d_x and d_x_in, and (n-1)*C fewer
//         for each of d_out and x whose streams are equal.
// Needs   at most 2^34 elements with a dropout; streaming stores need rows of a multiple of 64 bytes.
// Round   f32 sums, one rounding at the store; d_bias adds d_f before it is rounded. d_x may be d_x_in.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/post_bwd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Dropout-inl.h"
#include "cpu/Tiles-inl.h"

#include "cpu/Partials.h"
#include "cpu/Parts.h"
#include "src/Checks.h"

#ifndef MHCRT_CPU_POST_BWD_ROWS
#define MHCRT_CPU_POST_BWD_ROWS
namespace mhcrt {
/// Rows of one token, or of a block of its channels; what is not wanted or absent is null.
template <typename T, typename A>
struct PostBwdRows {
  const T *dOut, *f, *bias;
  const float *bias32;
  const T *x;
  const A *dxIn;
  T *df;
  A *dx;
  float *dBias; ///< the run's partial sum
  int64_t stride, xStride, dOutStride;
  int64_t xAhead, dOutAhead, fAhead; ///< to the row to ask for behind the end of one; 0 for none
  const float *hPost, *mix;          ///< mix is A[o*n + i]
  bool wantsMix, wantsPost;
  const float *factors; ///< of the dropout
};
} // namespace mhcrt
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// One vector of `count` lanes of every row, from channel c on.
template <typename T, typename A>
HWY_INLINE void postBwdVector(const PostBwdRows<T, A> &rows, int64_t n, int64_t c, int64_t count, V *dMix, V *dPost) {
  V f = loadSome(rows.f + c, count);
  if (rows.bias)
    f = hn::Add(f, loadSome(rows.bias + c, count));
  if (rows.bias32)
    f = hn::Add(f, loadSome(rows.bias32 + c, count));
  V g[16], df = hn::Zero(d);
  for (int64_t o = 0; o < n; ++o) {
    g[o] = loadSome(rows.dOut + o * rows.dOutStride + c, count);
    const V kept = rows.factors ? drop(g[o], loadSome(rows.factors + o * rows.stride + c, count)) : g[o];
    if (rows.wantsPost)
      dPost[o] = hn::MulAdd(kept, f, dPost[o]);
    df = hn::MulAdd(hn::Set(d, rows.hPost[o]), kept, df);
  }
  if (rows.df)
    storeSome(df, rows.df + c, count);
  if (rows.dBias)
    storeSome(hn::Add(loadSome(rows.dBias + c, count), df), rows.dBias + c, count);
  for (int64_t i = 0; i < n; ++i) {
    if (rows.wantsMix) {
      const V x = loadSome(rows.x + i * rows.xStride + c, count);
      for (int64_t o = 0; o < n; ++o)
        dMix[o * n + i] = hn::MulAdd(g[o], x, dMix[o * n + i]);
    }
    if (rows.dx) {
      V sum = rows.dxIn ? loadSome(rows.dxIn + i * rows.stride + c, count) : hn::Zero(d);
      for (int64_t o = 0; o < n; ++o)
        sum = hn::MulAdd(hn::Set(d, rows.mix[o * n + i]), g[o], sum);
      storeSome(sum, rows.dx + i * rows.stride + c, count);
    }
  }
}

/// f + bias of a pair of vectors of channels.
template <bool kBias, typename T, typename A>
HWY_INLINE void branchPair(const PostBwdRows<T, A> &rows, int64_t c, V &a, V &b) {
  loadPair(rows.f + c, a, b);
  V biasA = hn::Zero(d), biasB = hn::Zero(d);
  if (!kBias)
    return;
  if (rows.bias)
    loadPair(rows.bias + c, biasA, biasB);
  if (rows.bias32)
    loadPairAs<T>(rows.bias32 + c, biasA, biasB);
  a = hn::Add(a, biasA);
  b = hn::Add(b, biasB);
}

/// Four streams: a pair of vectors of every row at a time, with all sums in registers. For that their arrays are only
/// indexed by constants; the channels behind the last pair have sums of their own. kBias: there is one, or its
/// gradient is wanted.
template <bool kStream, bool kBias, typename T, typename A>
HWY_INLINE void postBwdFour(const PostBwdRows<T, A> &rows, int64_t C, V *dMixOut, V *dPostOut) {
  V dMix[16], dPost[4], gA[4], gB[4], a, b;
  for (int k = 0; k < 16; ++k)
    dMix[k] = hn::Zero(d);
  for (int o = 0; o < 4; ++o)
    dPost[o] = hn::Zero(d);
  const int64_t stride = rows.stride, xStride = rows.xStride, dOutStride = rows.dOutStride;
  int64_t c = 0;
  for (; c + 2 * kLanes <= C; c += 2 * kLanes) {
    V fA, fB, dfA = hn::Zero(d), dfB = hn::Zero(d);
    prefetchRow(rows.f, c, C, rows.fAhead);
    branchPair<kBias>(rows, c, fA, fB);
#pragma GCC unroll 4
    for (int o = 0; o < 4; ++o) {
      if (rows.dOutAhead)
        prefetchRow(rows.dOut + o * dOutStride, c, C, rows.dOutAhead);
      prefetchRow(rows.x + o * xStride, c, C, rows.xAhead);
      loadPair(rows.dOut + o * dOutStride + c, gA[o], gB[o]);
      dPost[o] = hn::MulAdd(gB[o], fB, hn::MulAdd(gA[o], fA, dPost[o]));
      const V weight = hn::Set(d, rows.hPost[o]);
      dfA = hn::MulAdd(weight, gA[o], dfA);
      dfB = hn::MulAdd(weight, gB[o], dfB);
    }
    storePair<kStream>(dfA, dfB, rows.df + c);
    if (kBias && rows.dBias) {
      loadPairAs<T>(rows.dBias + c, a, b);
      storePairAs<false, T>(hn::Add(a, dfA), hn::Add(b, dfB), rows.dBias + c);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      loadPair(rows.x + i * xStride + c, a, b);
#pragma GCC unroll 4
      for (int o = 0; o < 4; ++o)
        dMix[o * 4 + i] = hn::MulAdd(gB[o], b, hn::MulAdd(gA[o], a, dMix[o * 4 + i]));
    }
    if (!rows.dx)
      continue;
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      a = b = hn::Zero(d);
      if (rows.dxIn)
        loadPairAs<T>(rows.dxIn + i * stride + c, a, b);
#pragma GCC unroll 4
      for (int o = 0; o < 4; ++o) {
        const V weight = hn::Set(d, rows.mix[o * 4 + i]);
        a = hn::MulAdd(weight, gA[o], a);
        b = hn::MulAdd(weight, gB[o], b);
      }
      storePairAs<kStream, T>(a, b, rows.dx + i * stride + c);
    }
  }
  for (; c < C; c += kLanes)
    postBwdVector(rows, 4, c, HWY_MIN(kLanes, C - c), dMixOut, dPostOut);
#pragma GCC unroll 16
  for (int k = 0; k < 16; ++k)
    dMixOut[k] = hn::Add(dMixOut[k], dMix[k]);
#pragma GCC unroll 4
  for (int o = 0; o < 4; ++o)
    dPostOut[o] = hn::Add(dPostOut[o], dPost[o]);
}

/// The general path: blocks of channels as planes of f32.
HWY_INLINE void postBwdBlocks(const PostBwdCall &args, int64_t m, const float *mix, float *dBias, V *dMix, V *dPost) {
  const int64_t n = args.n, C = args.C;
  Planes dOut, x, dx, factors;
  HWY_ALIGN float f[kBlock], df[kBlock], bias[kBlock];
  for (int64_t first = 0; first < C; first += kBlock) {
    const int64_t count = HWY_MIN(kBlock, C - first);
    loadPlanesAny(args.d_out, args.x_type, m, args.dOutPlaces, n, first, count, dOut);
    if (args.d_h_res)
      loadPlanesAny(args.x, args.x_type, m, args.xPlaces, n, first, count, x);
    if (args.d_x_in)
      loadPlanesAny(args.d_x_in, args.d_x_in_type, m, args.layout, n, C, first, count, dx);
    widenAny(args.f, args.x_type, m * C + first, count, f);
    if (args.bias)
      widenAny(args.bias, args.bias_type, first, count, bias);
    if (args.drop.isOn())
      dropoutPlanes(args.drop, m, args.layout, n, C, first, count, factors);
    const PostBwdRows<float, float> rows = {dOut.values,
                                            f,
                                            nullptr,
                                            args.bias ? bias : nullptr,
                                            x.values,
                                            args.d_x_in ? dx.values : nullptr,
                                            args.d_f ? df : nullptr,
                                            args.d_x ? dx.values : nullptr,
                                            dBias ? dBias + first : nullptr,
                                            kBlock,
                                            kBlock,
                                            kBlock,
                                            0,
                                            0,
                                            0,
                                            floats(args.h_post) + m * n,
                                            mix,
                                            args.d_h_res != nullptr,
                                            args.d_h_post != nullptr,
                                            args.drop.isOn() ? factors.values : nullptr};
    for (int64_t c = 0; c < count; c += kLanes)
      postBwdVector(rows, n, c, HWY_MIN(kLanes, count - c), dMix, dPost);
    if (args.d_f)
      narrowAny(df, count, args.d_f, args.x_type, m * C + first);
    if (args.d_x)
      storePlanesAny(dx, args.d_x_type, m, args.layout, n, C, first, count, args.d_x);
  }
}

/// `count` channels of token m from channel c on; `dOut` has those of its first stream.
template <bool kBias, typename T, typename A>
HWY_NOINLINE void postBwdFourAs(const PostBwdCall &args, int64_t m, int64_t c, int64_t count, const void *dOut,
                                const float *mix, float *dBias, V *dMix, V *dPost) {
  const int64_t C = args.C, at = m * 4 * C + c;
  const bool bias32 = args.bias && args.bias_type == MHCRT_F32;
  const PostBwdRows<T, A> rows = {static_cast<const T *>(dOut),
                                  static_cast<const T *>(args.f) + m * C + c,
                                  args.bias && !bias32 ? static_cast<const T *>(args.bias) + c : nullptr,
                                  bias32 ? static_cast<const float *>(args.bias) + c : nullptr,
                                  static_cast<const T *>(args.x) + m * args.xPlaces.token + c,
                                  args.d_x_in ? static_cast<const A *>(args.d_x_in) + at : nullptr,
                                  static_cast<T *>(args.d_f) + m * C + c,
                                  args.d_x ? static_cast<A *>(args.d_x) + at : nullptr,
                                  dBias,
                                  C,
                                  args.xPlaces.stream,
                                  args.dOutPlaces.stream,
                                  args.tokensAhead * args.xPlaces.token,
                                  args.tokensAhead * args.dOutPlaces.token,
                                  args.tokensAhead * C,
                                  floats(args.h_post) + m * 4,
                                  mix,
                                  true,
                                  true,
                                  nullptr};
  if (args.bypasses)
    postBwdFour<true, kBias>(rows, count, dMix, dPost);
  else
    postBwdFour<false, kBias>(rows, count, dMix, dPost);
}

template <bool kBias>
HWY_INLINE void postBwdFourAny(const PostBwdCall &args, int64_t m, int64_t c, int64_t count, const void *dOut,
                               const float *mix, float *dBias, V *dMix, V *dPost) {
  if (args.x_type == MHCRT_F32)
    postBwdFourAs<kBias, float, float>(args, m, c, count, dOut, mix, dBias, dMix, dPost);
  else if (args.d_x && args.d_x_type == MHCRT_F32)
    postBwdFourAs<kBias, Bf16, float>(args, m, c, count, dOut, mix, dBias, dMix, dPost);
  else
    postBwdFourAs<kBias, Bf16, Bf16>(args, m, c, count, dOut, mix, dBias, dMix, dPost);
}

HWY_INLINE void postBwdFourAny(const PostBwdCall &args, int64_t m, int64_t c, int64_t count, const void *dOut,
                               const float *mix, float *dBias, V *dMix, V *dPost) {
  if (args.bias || dBias)
    postBwdFourAny<true>(args, m, c, count, dOut, mix, dBias, dMix, dPost);
  else
    postBwdFourAny<false>(args, m, c, count, dOut, mix, nullptr, dMix, dPost);
}

void postBwdChannels(const PostBwdCall &args, int64_t m, int64_t c, int64_t count, const void *dOut, float *dBias,
                     float *sums) {
  float mix[16];
  V dMix[16], dPost[4];
  for (int64_t k = 0; k < 16; ++k) {
    mix[k] = floats(args.h_res)[m * 16 + placeInMix(args.orient, k)];
    dMix[k] = load(sums + k * kLanes);
  }
  for (int64_t o = 0; o < 4; ++o)
    dPost[o] = load(sums + (16 + o) * kLanes);
  postBwdFourAny(args, m, c, count, dOut, mix, dBias, dMix, dPost);
  for (int64_t k = 0; k < 16; ++k)
    store(dMix[k], sums + k * kLanes);
  for (int64_t o = 0; o < 4; ++o)
    store(dPost[o], sums + (16 + o) * kLanes);
}

void postBwdTokens(const PostBwdCall &args, float *dBias, int64_t first, int64_t last) {
  const int64_t n = args.n;
  const bool oi = args.orient == MHCRT_ORIENT_OI;
  const int64_t dOutBytes = args.dOutPlaces.token * mhcrt_dtype_bytes(args.x_type);
  float mix[256];
  V dMix[256], dPost[16];
  for (int64_t m = first; m < last; ++m) {
    for (int64_t o = 0; o < n; ++o)
      for (int64_t i = 0; i < n; ++i) {
        mix[o * n + i] = floats(args.h_res)[m * n * n + (oi ? o * n + i : i * n + o)];
        dMix[o * n + i] = hn::Zero(d);
      }
    for (int64_t o = 0; o < n; ++o)
      dPost[o] = hn::Zero(d);
    if (args.isFour)
      postBwdFourAny(args, m, 0, args.C, static_cast<const char *>(args.d_out) + m * dOutBytes, mix, dBias, dMix,
                     dPost);
    else
      postBwdBlocks(args, m, mix, dBias, dMix, dPost);
    if (args.d_h_post)
      for (int64_t o = 0; o < n; ++o)
        floats(args.d_h_post)[m * n + o] = sumLanes(dPost[o]);
    if (args.d_h_res)
      for (int64_t o = 0; o < n; ++o)
        for (int64_t i = 0; i < n; ++i)
          floats(args.d_h_res)[m * n * n + (oi ? o * n + i : i * n + o)] = sumLanes(dMix[o * n + i]);
  }
  if (args.bypasses)
    hwy::FlushStream();
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(postBwdTokens);
} // namespace mhcrt

using namespace mhcrt;

/// Runs of tokens that have a partial sum of d_bias: enough for all threads, few enough to add up.
static constexpr int64_t kBiasRuns = 128;
static constexpr int64_t kBiasChannels = 1024;
/// Tokens of a run whose d_f a plain sum adds.
static constexpr int64_t kBiasTokens = 128;

mhcrt_status mhcrt::computePostBwd(mhcrt_context &context, const PostBwdArgs &a) {
  const int64_t M = a.M, n = a.n, C = a.C, rowBytes = C * mhcrt_dtype_bytes(a.x_type);
  const PostBwdCall args(a);
  if (!a.d_bias) {
    forTokens(context, M, (2 * n + 2 + (a.d_x ? n : 0)) * rowBytes,
              [&](int64_t first, int64_t last) { HWY_DYNAMIC_DISPATCH(postBwdTokens)(args, nullptr, first, last); });
    return MHCRT_OK;
  }
  const TokenRuns runs(M, 1, kBiasRuns);
  if (!context.reserveScratch("mhcrt_post_bwd", saturatingMul(runs.count * 4, C), saturatingMul(8, C)))
    return context.status;
  float *partials = reinterpret_cast<float *>(context.sharedScratch());
  context.parallelFor(runs.count, [&](int64_t run, int thread) {
    float *piece = reinterpret_cast<float *>(context.threadScratch(thread));
    const CompensatedSums sums = {partials + run * C, piece + C};
    sums.clear(C);
    for (int64_t m = runs.first(run); m < runs.last(run); m += kBiasTokens) {
      std::fill_n(piece, C, 0.0f);
      HWY_DYNAMIC_DISPATCH(postBwdTokens)(args, piece, m, std::min(runs.last(run), m + kBiasTokens));
      sums.add(piece, C);
    }
    sums.store(sums.sums, C);
  });
  context.parallelFor(divideUp(C, kBiasChannels), [&](int64_t tile, int) {
    addPartials(partials, runs.count, C, tile * kBiasChannels, std::min(C, (tile + 1) * kBiasChannels),
                floats(a.d_bias_in), floats(a.d_bias));
  });
  return MHCRT_OK;
}

mhcrt_status mhcrt::runPostBwd(mhcrt_context &context, const PostBwdArgs &a) {
  return checkPostBwd(context, a) ? computePostBwd(context, a) : context.status;
}

MHCRT_ENTRY(post_bwd, PostBwd)
#endif // HWY_ONCE
