//===- pre_gated_delta_rule.cpp - The front end of a gated delta net ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   a[n,c] = conv_bias[c] + sum_j conv_weight[c,j] * x[n-(k-1)+j,c]     u = a * sigmoid(a)
//   query = u / sqrt(sum u^2 + l2_eps) of q, repeated      key alike     value = u of v     gate = z
//   beta = sigmoid(b)     g = -exp(A_log) * softplus(alpha + dt_bias)
//
// Plan    Lanes along channels, four tokens at a time: a row is read from memory once, by the four tokens that it is a
//         tap of from the caches. A head's u stays in the first-level cache until its norm is known. A tile is a run of
//         tokens, or a share of the heads where there are few. Large outputs bypass the caches.
// Bytes   per token D elements of x, 2*hv*(dk + dv) + hv of the results and 4*hv; 2*num_key_heads*dk more for silu.
// Needs   scratch memory of 4*(k + 1)*E; streaming stores need heads of a multiple of 64 bytes.
// Round   a, then u of q and k, then each result once. The order of a sum is that of the taps, and of the lanes of a
//         head: a token's bits depend on nothing but its taps.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pre_gated_delta_rule.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/GatedDelta-inl.h"

#include "cpu/Entry.h"
#include "cpu/Tokens.h"
#include "src/Checks.h"

#ifndef MHCRT_CPU_PRE_GATED_DELTA_RULE_CALL
#define MHCRT_CPU_PRE_GATED_DELTA_RULE_CALL
namespace mhcrt {
struct GatedDeltaCall : PreGatedDeltaRuleArgs {
  Heads heads;
  float *planes; ///< of the weights
  bool bypasses; ///< the caches
};
} // namespace mhcrt
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Where a piece of tokens is written: token t at to[t], and its copies of dk channels behind it.
template <typename T>
struct HeadOut {
  T *to[kTogether];
  T *silu[kTogether]; ///< null where it is not wanted
};

/// u of a pair of channels, not rounded.
template <int kTokens, int kTaps, typename T>
HWY_INLINE void siluPair(const GatedDeltaCall &args, const T *const *rows, int64_t c, const float *planes, int64_t pad,
                         int64_t firstTap, V (&a)[kTokens], V (&b)[kTokens]) {
  convolvePair<kTokens, kTaps>(rows, c, planes, pad, args.k, firstTap, a, b);
  V s[kTokens], e[kTokens];
  silu<T>(a, s, e);
  silu<T>(b, s, e);
}

/// u of q or k, rounded, to u[t][c]; adds its squares to `squares`.
template <int kTokens, bool kStream, typename T>
HWY_INLINE void keepPair(V (&a)[kTokens], V (&b)[kTokens], const HeadOut<T> &out, int64_t c, int64_t count, float *u,
                         int64_t pad, V (&squares)[kTokens]) {
#pragma GCC unroll 4
  for (int t = 0; t < kTokens; ++t) {
    a[t] = roundedQuiet<T>(a[t]);
    b[t] = roundedQuiet<T>(b[t]);
    storePlane(a[t], b[t], u + t * pad + c);
    squares[t] = hn::MulAdd(b[t], b[t], hn::MulAdd(a[t], a[t], squares[t]));
    if (out.silu[t])
      storeQuiet<kStream>(a[t], b[t], out.silu[t] + c, count);
  }
}

/// Multiplies by r and stores all copies of a piece's head.
template <int kTokens, bool kStream, typename T>
HWY_INLINE void storeCopies(const float *u, int64_t pad, int64_t width, const V (&r)[kTokens], int64_t copies,
                            T *const *to) {
  for (int64_t c = 0; c < width; c += kPair)
#pragma GCC unroll 4
    for (int t = 0; t < kTokens; ++t) {
      V a, b;
      loadPlane(u + t * pad + c, a, b);
      a = hn::Mul(a, r[t]);
      b = hn::Mul(b, r[t]);
      for (int64_t copy = 0; copy < copies; ++copy)
        storeQuiet<kStream>(a, b, to[t] + copy * width + c, width - c);
    }
}

template <int kTokens, int kTaps, bool kStream, typename T>
HWY_NOINLINE void keyHead(const GatedDeltaCall &args, int64_t head, const T *const *taps, int64_t firstTap,
                          const HeadOut<T> &out, int64_t ahead, float *u) {
  const int64_t width = args.dk, pad = args.heads.pad(head), k = args.k;
  const float *planes = args.planes + (k + 1) * args.heads.plane(head);
  V a[kTokens], b[kTokens], squares[kTokens];
  for (int t = 0; t < kTokens; ++t)
    squares[t] = hn::Zero(d);
  int64_t c = 0;
  for (; c + kPair <= width; c += kPair) {
    for (int t = 0; t < kTokens; ++t)
      prefetchPair(taps[t + k - 1] + c + ahead);
    siluPair<kTokens, kTaps>(args, taps, c, planes + c, pad, firstTap, a, b);
    keepPair<kTokens, kStream>(a, b, out, c, kPair, u, pad, squares);
  }
  if (c < width) {
    const PairRows<T> last(taps, kTokens + k - 1, c, width);
    siluPair<kTokens, kTaps>(args, last.rows, 0, planes + c, pad, firstTap, a, b);
    // The channels behind the last have no weights and no bias: their u is 0.
    keepPair<kTokens, kStream>(a, b, out, c, width - c, u, pad, squares);
  }
  V r[kTokens];
  for (int t = 0; t < kTokens; ++t)
    r[t] = hn::Set(d, args.qk_l2norm ? inverseNorm(squares[t], static_cast<float>(args.l2_eps)) : 1.0f);
  storeCopies<kTokens, kStream>(u, pad, width, r, args.heads.repeat, out.to);
}

template <int kTokens, int kTaps, bool kStream, typename T>
HWY_NOINLINE void valueHead(const GatedDeltaCall &args, int64_t head, const T *const *taps, int64_t firstTap,
                            const HeadOut<T> &out, int64_t ahead) {
  const int64_t width = args.dv, pad = args.heads.pad(head), k = args.k;
  const float *planes = args.planes + (k + 1) * args.heads.plane(head);
  V a[kTokens], b[kTokens];
  int64_t c = 0;
  for (; c + kPair <= width; c += kPair) {
    for (int t = 0; t < kTokens; ++t)
      prefetchPair(taps[t + k - 1] + c + ahead);
    siluPair<kTokens, kTaps>(args, taps, c, planes + c, pad, firstTap, a, b);
    for (int t = 0; t < kTokens; ++t)
      storeQuiet<kStream>(a[t], b[t], out.to[t] + c, kPair);
  }
  if (c < width) {
    const PairRows<T> last(taps, kTokens + k - 1, c, width);
    siluPair<kTokens, kTaps>(args, last.rows, 0, planes + c, pad, firstTap, a, b);
    for (int t = 0; t < kTokens; ++t)
      storeQuiet<false>(a[t], b[t], out.to[t] + c, width - c);
  }
}

template <typename T>
HWY_INLINE HeadOut<T> headOut(const GatedDeltaCall &args, const Piece &piece, int64_t head) {
  const Heads &heads = args.heads;
  HeadOut<T> out;
  for (int64_t t = 0; t < piece.count; ++t) {
    const int64_t n = piece.n + t;
    if (heads.isValue(head)) {
      out.to[t] = static_cast<T *>(args.value) + (n * heads.values + head - 2 * heads.keys) * heads.dv;
      continue;
    }
    out.to[t] =
        static_cast<T *>(head < heads.keys ? args.query : args.key) + (n * heads.values + heads.copy(head)) * heads.dk;
    out.silu[t] = args.silu ? static_cast<T *>(args.silu) + (n * 2 * heads.keys + head) * heads.dk : nullptr;
  }
  return out;
}

template <int kTokens, int kTaps, bool kStream, typename T>
HWY_INLINE void oneHead(const GatedDeltaCall &args, const Piece &piece, int64_t head, float *u) {
  const TapRows<T> taps = tapRows<T>(args, piece, args.heads.channel(head));
  const HeadOut<T> out = headOut<T>(args, piece, head);
  const int64_t ahead = kAheadBytes / static_cast<int64_t>(sizeof(T));
  if (args.heads.isValue(head))
    valueHead<kTokens, kTaps, kStream>(args, head, taps.rows, firstTapOf(args, piece), out, ahead);
  else
    keyHead<kTokens, kTaps, kStream>(args, head, taps.rows, firstTapOf(args, piece), out, ahead, u);
}

template <bool kStream, typename T>
HWY_INLINE void anyHead(const GatedDeltaCall &args, const Piece &piece, int64_t head, float *u) {
  if (piece.count == 1) {
    Piece one = piece;
    oneHead<1, 0, false, T>(args, one, head, u);
  } else if (args.k == 4)
    oneHead<kTogether, 4, kStream, T>(args, piece, head, u);
  else
    oneHead<kTogether, 0, kStream, T>(args, piece, head, u);
}

/// beta and g of token n, from its raw values.
template <typename T>
HWY_INLINE void gates(const GatedDeltaCall &args, int64_t n, const T *raw) {
  const int64_t hv = args.hv;
  const float *shift = args.planes + (args.k + 1) * args.heads.plane(args.heads.count());
  const float *rate = shift + Heads::padded(hv);
  const V threshold = hn::Set(d, static_cast<float>(args.softplus_threshold));
  for (int64_t h = 0; h < hv; h += kLanes) {
    const int64_t count = hv - h;
    const V p = hn::Add(loadSome(raw + hv + h, count), load(shift + h));
    storeSome(hn::Mul(load(rate + h), softplus(p, threshold)), floats(args.g) + n * hv + h, count);
    storeSome(sigmoid(loadSome(raw + h, count)), static_cast<T *>(args.beta) + n * hv + h, count);
  }
}

/// The channels of token n that are not convolved, z of the v heads [first, last).
template <bool kStream, typename T>
HWY_INLINE void restOfToken(const GatedDeltaCall &args, const Piece &piece, int64_t n, int64_t first, int64_t last,
                            bool hasGates) {
  const int64_t vc = args.hv * args.dv;
  const T *row = static_cast<const T *>(args.qkvzba) + piece.rowOf(n) * args.D + args.E;
  copyBits<kStream>(row + first * args.dv, (last - first) * args.dv,
                    static_cast<T *>(args.gate) + n * vc + first * args.dv);
  if (hasGates)
    gates(args, n, row + vc);
}

template <bool kStream, typename T>
HWY_INLINE void gatedDeltaTile(const GatedDeltaCall &args, HeadRange range, int64_t first, int64_t last, float *u) {
  const int64_t firstValue = HWY_MAX(range.first - 2 * args.heads.keys, 0);
  const int64_t lastValue = HWY_MAX(range.last - 2 * args.heads.keys, 0);
  Piece pieces[kSpanTokens];
  for (int64_t span = first; span < last; span += kSpanTokens) {
    const int64_t count = spanPieces(args, span, HWY_MIN(last, span + kSpanTokens), pieces);
    for (int64_t head = range.first; head < range.last; ++head)
      for (int64_t i = 0; i < count; ++i)
        anyHead<kStream, T>(args, pieces[i], head, u);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t t = 0; t < pieces[i].count; ++t)
        restOfToken<kStream, T>(args, pieces[i], pieces[i].n + t, firstValue, lastValue,
                                range.last == args.heads.count());
  }
  if (kStream)
    hwy::FlushStream();
}

template <typename T>
HWY_INLINE void gatedDeltaTyped(const GatedDeltaCall &args, HeadRange range, int64_t first, int64_t last, float *u) {
  if (args.bypasses && kPair * sizeof(T) >= static_cast<size_t>(kAlignment))
    gatedDeltaTile<true, T>(args, range, first, last, u);
  else
    gatedDeltaTile<false, T>(args, range, first, last, u);
}

/// Tokens [first, last) of some heads; z goes with v, the gates with the last head. `u` has room for kTogether heads.
void gatedDeltaTokens(const GatedDeltaCall &args, HeadRange range, int64_t first, int64_t last, float *u) {
  if (args.qkvzba_type == MHCRT_F32)
    gatedDeltaTyped<float>(args, range, first, last, u);
  else if (args.qkvzba_type == MHCRT_BF16)
    gatedDeltaTyped<Bf16>(args, range, first, last, u);
  else
    gatedDeltaTyped<F16>(args, range, first, last, u);
}

void gatedDeltaWeights(const GatedDeltaCall &args, int64_t head) {
  if (args.qkvzba_type == MHCRT_BF16)
    headPlanes<Bf16>(args, args.heads, head, args.planes);
  else
    headPlanes<float>(args, args.heads, head, args.planes);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(gatedDeltaTokens);
HWY_EXPORT(gatedDeltaWeights);
} // namespace mhcrt

using namespace mhcrt;

/// Whether all outputs may bypass the caches; small ones need not, but go the way of the rest.
static bool bypassesCaches(const PreGatedDeltaRuleArgs &a) {
  const int64_t size = mhcrt_dtype_bytes(a.qkvzba_type), heads = a.M * a.b * a.hv;
  const bool silu = !a.silu || streams(a.silu, a.M * a.b * 2 * a.num_key_heads, a.dk * size);
  return silu && streams(a.query, heads, a.dk * size) && streams(a.key, heads, a.dk * size) &&
         streams(a.value, heads, a.dv * size) && streams(a.gate, heads, a.dv * size);
}

mhcrt_status mhcrt::runPreGatedDeltaRule(mhcrt_context &context, const PreGatedDeltaRuleArgs &a) {
  if (!checkPreGatedDeltaRule(context, a, Ids::OnHost))
    return context.status;
  const Heads heads(a);
  const int64_t planeBytes = 4 * ((a.k + 1) * heads.plane(heads.count()) + 2 * Heads::padded(a.hv));
  const int64_t roomBytes = 4 * kTogether * std::max(Heads::padded(a.dk), Heads::padded(a.dv));
  if (!context.reserveScratch("mhcrt_pre_gated_delta_rule", planeBytes, roomBytes))
    return context.status;

  const GatedDeltaCall args = {a, heads, reinterpret_cast<float *>(context.sharedScratch()), bypassesCaches(a)};
  context.parallelFor(heads.count() + 1,
                      [&](int64_t head, int) { HWY_DYNAMIC_DISPATCH(gatedDeltaWeights)(args, head); });
  const int64_t tokens = a.M * a.b;
  const GatedDeltaTiles tiles(heads, divideUp(tokens, kRunTokens), context.pool.threads());
  context.parallelFor(tiles.count(), [&](int64_t tile, int thread) {
    const int64_t first = tiles.run(tile) * kRunTokens;
    HWY_DYNAMIC_DISPATCH(gatedDeltaTokens)
    (args, tiles.heads(tile), first, std::min(tokens, first + kRunTokens),
     reinterpret_cast<float *>(context.threadScratch(thread)));
  });
  return MHCRT_OK;
}

MHCRT_ENTRY(pre_gated_delta_rule, PreGatedDeltaRule)
#endif // HWY_ONCE
