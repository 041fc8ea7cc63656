//===- pre_gated_delta_rule.cpp - The front end of a gated delta net ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   a[n,c] = conv_bias[c] + sum_j conv_weight[c,j] * x[n-(k-1)+j,c]     u = a * sigmoid(a)
//   query = u / sqrt(sum u^2 + l2_eps) of q, repeated      key alike     value = u of v     gate = z
//   beta = sigmoid(b)     g = -exp(A_log) * softplus(alpha + dt_bias)
//
// Plan    A span of tokens goes head by head. The convolution takes lanes along channels, a pair of vectors down all
//         tokens, four at a time, with the weights in registers; the steps behind it take a token's channels in a row.
//         Each loop is short, so that the processor has the steps of several vectors under way: one long loop ran at
//         the time of its steps, not of its operations. A head's planes stay in the first-level cache. The loop of
//         the convolution asks for the channels of the head after next, that of SiLU copies a part of z. A tile is a
//         run of tokens, or a share of the heads where there are few. Large outputs bypass the caches.
// Bytes   per token D elements of x, 2*hv*(dk + dv) + hv of the results and 4*hv; 2*num_key_heads*dk more for silu,
//         2*hv*dv fewer without gate.
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

/// Heads from the one that is computed to the one that is asked for.
constexpr int64_t kHeadsAhead = 2;

/// A copy of z, of one row of each token of a span. Rows of 16 bits are copied a part at a time, so that memory is busy
/// during arithmetic; the streams of wider ones would be too many side by side.
template <typename T>
class GateCopy {
  static constexpr bool kIsMixed = sizeof(T) == 2;
  const GatedDeltaCall &args;
  const Piece *piece;
  HeadRange channels;
  int64_t part, at, n, left = 0;

  template <bool kStream>
  HWY_INLINE void copyPart() {
    const int64_t D = args.D, count = HWY_MIN(part, channels.last - at);
    const T *from = static_cast<const T *>(args.qkvzba) + piece->rowOf(n) * D + args.E + at;
    copyBits<kStream>(from, count, kIsMixed ? piece->step * D : kAheadBytes / 4,
                      static_cast<T *>(args.gate) + n * args.hv * args.dv + at);
    at += count;
    if (at < channels.last)
      return;
    at = channels.first;
    if (--left && ++n == piece->n + piece->count)
      n = (++piece)->n;
  }

public:
  /// z of some channels; next() will be called for each token of `heads` heads.
  GateCopy(const GatedDeltaCall &args, HeadRange channels, int64_t heads, const Piece *pieces, int64_t count)
      : args(args), piece(pieces), channels(channels), at(channels.first), n(pieces->n) {
    const int64_t width = channels.last - channels.first;
    part = kIsMixed ? roundUp(divideUp(width, heads), kAlignment) : width;
    for (int64_t i = 0; args.gate && width && i < count; ++i)
      left += pieces[i].count;
  }

  template <bool kStream>
  HWY_INLINE void next() {
    if (kIsMixed && left)
      copyPart<kStream>();
  }

  template <bool kStream>
  HWY_INLINE void rest() {
    while (left)
      copyPart<kStream>();
  }
};

/// a to u, not rounded, of neighbouring vectors.
template <typename T, int kCount>
HWY_INLINE void siluAt(const float *at, V (&u)[kCount]) {
  V s[kCount], e[kCount];
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i)
    u[i] = load(at + i * kLanes);
  silu<T>(u, s, e);
}

template <bool kStream, typename T, int kPairs>
HWY_INLINE void valuePairs(const float *a, int64_t c, int64_t width, T *to) {
  V u[2 * kPairs];
  siluAt<T>(a + c, u);
#pragma GCC unroll 4
  for (int i = 0; i < kPairs; ++i) {
    const int64_t at = c + i * kPair;
    storeQuiet<kStream>(u[2 * i], u[2 * i + 1], to + at, inPair<kPairs>(at, width));
  }
}

/// In place: a to u of q or k, rounded, with the sum of its squares.
template <bool kStream, typename T, int kPairs>
HWY_INLINE void keyPairs(float *a, int64_t c, int64_t width, T *silu, V &squares) {
  V u[2 * kPairs];
  siluAt<T>(a + c, u);
#pragma GCC unroll 4
  for (int i = 0; i < kPairs; ++i) {
    const int64_t at = c + i * kPair;
    const V uA = roundedQuiet<T>(u[2 * i]), uB = roundedQuiet<T>(u[2 * i + 1]);
    storePlane(uA, uB, a + at);
    squares = hn::MulAdd(uB, uB, hn::MulAdd(uA, uA, squares));
    if (silu)
      storeQuiet<kStream>(uA, uB, silu + at, inPair<kPairs>(at, width));
  }
}

template <bool kStream, typename T>
HWY_NOINLINE void storeValues(const GatedDeltaCall &args, const Piece &piece, int64_t head, const float *a,
                              GateCopy<T> &gate) {
  const Heads &heads = args.heads;
  const int64_t dv = args.dv;
  T *to = static_cast<T *>(args.value) + (piece.n * heads.values + head - 2 * heads.keys) * dv;
  for (int64_t t = 0; t < piece.count; ++t, a += heads.pad(head), to += heads.values * dv) {
    gate.template next<kStream>();
    int64_t c = 0;
    for (; c + kSide * kLanes <= dv; c += kSide * kLanes)
      valuePairs<kStream, T, kSide / 2>(a, c, dv, to);
    for (; c < dv; c += kPair)
      valuePairs<kStream, T, 1>(a, c, dv, to);
  }
}

template <bool kStream, typename T>
HWY_NOINLINE void storeKeys(const GatedDeltaCall &args, const Piece &piece, int64_t head, float *a, GateCopy<T> &gate) {
  const Heads &heads = args.heads;
  const int64_t dk = args.dk, pad = heads.pad(head);
  HWY_ALIGN float norms[HWY_MAX(kSpanTokens, kLanes)] = {}, sums[kSpanTokens * kLanes];
  for (int64_t t = 0; t < piece.count; ++t) {
    float *row = a + t * pad;
    gate.template next<kStream>();
    T *silu = args.silu ? static_cast<T *>(args.silu) + ((piece.n + t) * 2 * heads.keys + head) * dk : nullptr;
    V squares = hn::Zero(d);
    int64_t c = 0;
    for (; c + kSide * kLanes <= dk; c += kSide * kLanes)
      keyPairs<kStream, T, kSide / 2>(row, c, dk, silu, squares);
    for (; c < dk; c += kPair)
      keyPairs<kStream, T, 1>(row, c, dk, silu, squares);
    store(squares, sums + t * kLanes);
  }
  for (int64_t t = 0; t < piece.count; ++t)
    norms[t] = sumLanes(load(sums + t * kLanes));
  inverseNorms(norms, piece.count, static_cast<float>(args.l2_eps));
  T *to =
      static_cast<T *>(head < heads.keys ? args.query : args.key) + (piece.n * heads.values + heads.copy(head)) * dk;
  for (int64_t t = 0; t < piece.count; ++t, a += pad, to += heads.values * dk) {
    const V r = hn::Set(d, args.qk_l2norm ? norms[t] : 1.0f);
    for (int64_t c = 0; c < dk; c += kPair) {
      V uA, uB;
      loadPlane(a + c, uA, uB);
      storeQuiet<kStream>(hn::Mul(uA, r), hn::Mul(uB, r), to + c, dk - c, heads.repeat, dk);
    }
  }
}

template <bool kStream, typename T>
HWY_INLINE void oneHead(const GatedDeltaCall &args, const Piece &piece, int64_t head, int64_t ahead, float *planes,
                        GateCopy<T> &gate) {
  const TapRows<T> taps = tapRows<T>(args, piece, args.heads.channel(head));
  convolveHead(args, piece, head, taps.rows, ahead, planes);
  if (args.heads.isValue(head))
    storeValues<kStream>(args, piece, head, planes, gate);
  else
    storeKeys<kStream>(args, piece, head, planes, gate);
}

/// beta and g of token n.
template <typename T>
HWY_INLINE void gates(const GatedDeltaCall &args, const Piece &piece, int64_t n) {
  const int64_t hv = args.hv;
  const T *raw = static_cast<const T *>(args.qkvzba) + piece.rowOf(n) * args.D + args.E + hv * args.dv;
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

template <bool kStream, typename T>
HWY_INLINE void gatedDeltaTile(const GatedDeltaCall &args, HeadRange range, int64_t first, int64_t last,
                               float *planes) {
  constexpr int64_t kSpan = spanTokens(sizeof(T));
  Piece pieces[kSpanTokens];
  for (int64_t span = first; span < last; span += kSpan) {
    const int64_t count = spanPieces(args, span, HWY_MIN(last, span + kSpan), pieces);
    GateCopy<T> gate(args, args.heads.valueChannels(range), range.last - range.first, pieces, count);
    for (int64_t head = range.first; head < range.last; ++head)
      for (int64_t i = 0; i < count; ++i) {
        const int64_t ahead = aheadOf(args, range, head, kHeadsAhead, kSpan * pieces[i].step);
        oneHead<kStream, T>(args, pieces[i], head, ahead, planes, gate);
      }
    gate.template rest<kStream>();
    for (int64_t i = 0; range.last == args.heads.count() && i < count; ++i)
      for (int64_t t = 0; t < pieces[i].count; ++t)
        gates<T>(args, pieces[i], pieces[i].n + t);
  }
  if (kStream)
    hwy::FlushStream();
}

template <typename T>
HWY_INLINE void gatedDeltaTyped(const GatedDeltaCall &args, HeadRange range, int64_t first, int64_t last,
                                float *planes) {
  if (args.bypasses && kPair * sizeof(T) >= static_cast<size_t>(kAlignment))
    gatedDeltaTile<true, T>(args, range, first, last, planes);
  else
    gatedDeltaTile<false, T>(args, range, first, last, planes);
}

/// Tokens [first, last) of some heads; z goes with v, the gates with the last head. `planes` has room for one head of a
/// span.
void gatedDeltaTokens(const GatedDeltaCall &args, HeadRange range, int64_t first, int64_t last, float *planes) {
  if (args.qkvzba_type == MHCRT_F32)
    gatedDeltaTyped<float>(args, range, first, last, planes);
  else if (args.qkvzba_type == MHCRT_BF16)
    gatedDeltaTyped<Bf16>(args, range, first, last, planes);
  else
    gatedDeltaTyped<F16>(args, range, first, last, planes);
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
  const bool gate = !a.gate || streams(a.gate, heads, a.dv * size);
  return silu && gate && streams(a.query, heads, a.dk * size) && streams(a.key, heads, a.dk * size) &&
         streams(a.value, heads, a.dv * size);
}

mhcrt_status mhcrt::runPreGatedDeltaRule(mhcrt_context &context, const PreGatedDeltaRuleArgs &a) {
  if (!checkPreGatedDeltaRule(context, a, Ids::OnHost))
    return context.status;
  const Heads heads(a);
  const int64_t planeBytes = 4 * ((a.k + 1) * heads.plane(heads.count()) + 2 * Heads::padded(a.hv));
  const int64_t roomBytes = 4 * kSpanTokens * std::max(Heads::padded(a.dk), Heads::padded(a.dv));
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
