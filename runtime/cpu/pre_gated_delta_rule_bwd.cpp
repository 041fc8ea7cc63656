//===- pre_gated_delta_rule_bwd.cpp - Gradients of that front end ---------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   du = r*(dy - r^2*u*sum dy*u) of q and k, dy the sum over a head's copies, r = 1/sqrt(sum u^2 + l2_eps); d_value of
//   v da = du * s*(1 + a*(1 - s)), s = sigmoid(a)             dx[n,c]  = sum_j w[c,j] * da[n+(k-1)-j,c] dw[c,j] = sum_n
//   da[n,c]*x[n-(k-1)+j,c]                  db[c]    = sum_n da[n,c] d_b = d_beta * beta*(1 - beta) d_alpha  = d_g *
//   -exp(A_log) * sigmoid(alpha + dt_bias) d_A_log = sum d_g * g                                   d_dt_bias = sum
//   d_alpha
//
// Plan    Lanes along channels, four tokens at a time, as pre_gated_delta_rule computes them. A run of tokens keeps the
//         da of the last k - 1 tokens of each head and its partial sums in the second-level cache, so that x and the
//         gradients are read once; dx follows da by k - 1 tokens, so a run computes the da of k - 1 tokens more. A tile
//         is a run, or a share of its heads where there are few. Large results bypass the caches.
// Bytes   per token 2*hv*(dk + dv) + hv of the gradients, 4*hv, E + 2*hv of x and D of dx.
// Needs   scratch memory of 4*(k + 1)*E for each run and 4*(3*k + 1)*E for each thread; streaming stores need heads
//         and rows of a multiple of 64 bytes.
// Round   a and u as in pre_gated_delta_rule, each result once. Sums over tokens are those of 128 tokens, compensated.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pre_gated_delta_rule_bwd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/GatedDelta-inl.h"

#include "cpu/Entry.h"
#include "cpu/Partials.h"
#include "cpu/Tokens.h"
#include "src/Checks.h"

#ifndef MHCRT_CPU_PRE_GATED_DELTA_RULE_BWD_CALL
#define MHCRT_CPU_PRE_GATED_DELTA_RULE_BWD_CALL
namespace mhcrt {
struct GatedDeltaBwdCall : PreGatedDeltaRuleBwdArgs {
  Heads heads;
  float *planes; ///< of the weights
  bool bypasses; ///< the caches

  bool wantsInputs() const { return d_qkvzba || d_left_boundary; }
  bool wantsSums() const { return d_conv_weight || d_conv_bias; }
  /// Sums over tokens: planes of d_conv_weight and d_conv_bias as those of the weights, then d_A_log and d_dt_bias.
  int64_t gateSums() const { return (k + 1) * heads.plane(heads.count()); }
  int64_t sums() const { return gateSums() + 2 * Heads::padded(hv); }
};

/// Scratch memory of a thread.
struct GatedDeltaRoom {
  float *sums, *rests; ///< of a few tokens, and what the sums of the run have rounded away
  float *das;          ///< planes of each head: da of the last tokens, that of token n in row n % ring
  float *du;           ///< planes of a piece of one head
  int64_t ring;        ///< a power of two: a piece and the k - 1 tokens before it

  static int64_t ringOf(int64_t k) { return kTogether + k - 1 > 8 ? 16 : 8; }
  static int64_t floats(const GatedDeltaBwdCall &args) {
    const Heads &heads = args.heads;
    return 2 * args.sums() + ringOf(args.k) * heads.plane(heads.count()) +
           kTogether * std::max(heads.pad(0), heads.pad(2 * heads.keys));
  }
  GatedDeltaRoom(const GatedDeltaBwdCall &args, float *at)
      : sums(at), rests(sums + args.sums()), das(rests + args.sums()),
        du(das + ringOf(args.k) * args.heads.plane(args.heads.count())), ring(ringOf(args.k)) {}
};
} // namespace mhcrt
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// The tokens of a run whose results are stored.
struct Run {
  int64_t first, last;
};

/// a, its slope du/da, and u, of a pair of channels.
template <int kTokens, int kTaps, typename T>
HWY_INLINE void slopePair(const T *const *rows, int64_t c, const float *planes, int64_t pad, int64_t k,
                          int64_t firstTap, V (&slopeA)[kTokens], V (&slopeB)[kTokens], V (&uA)[kTokens],
                          V (&uB)[kTokens]) {
  convolvePair<kTokens, kTaps>(rows, c, planes, pad, k, firstTap, uA, uB);
  silu(uA, slopeA);
  silu(uB, slopeB);
  // du/da = s + u*(1 - s)
#pragma GCC unroll 4
  for (int t = 0; t < kTokens; ++t) {
    slopeA[t] = hn::Add(slopeA[t], hn::NegMulAdd(uA[t], slopeA[t], uA[t]));
    slopeB[t] = hn::Add(slopeB[t], hn::NegMulAdd(uB[t], slopeB[t], uB[t]));
  }
}

/// One pair of q or k: slope * dy to da and slope * u to du, with the sums of its head.
template <int kTokens, int kTaps, typename T>
HWY_INLINE void keyPair(const GatedDeltaBwdCall &args, const T *const *rows, int64_t at, const T *const *grads,
                        int64_t c, int64_t count, const float *planes, int64_t pad, int64_t firstTap, float *const *da,
                        float *du, V (&squares)[kTokens], V (&products)[kTokens]) {
  V slopeA[kTokens], slopeB[kTokens], uA[kTokens], uB[kTokens];
  slopePair<kTokens, kTaps>(rows, at, planes + c, pad, args.k, firstTap, slopeA, slopeB, uA, uB);
#pragma GCC unroll 4
  for (int t = 0; t < kTokens; ++t) {
    const V a = roundedQuiet<T>(uA[t]), b = roundedQuiet<T>(uB[t]);
    V sumA, sumB, gradA, gradB;
    loadSomePair(grads[t] + c, count, sumA, sumB);
    for (int64_t copy = 1; copy < args.heads.repeat; ++copy) {
      loadSomePair(grads[t] + copy * args.dk + c, count, gradA, gradB);
      sumA = hn::Add(sumA, gradA);
      sumB = hn::Add(sumB, gradB);
    }
    squares[t] = hn::MulAdd(b, b, hn::MulAdd(a, a, squares[t]));
    products[t] = hn::MulAdd(b, sumB, hn::MulAdd(a, sumA, products[t]));
    storePlane(hn::Mul(slopeA[t], sumA), hn::Mul(slopeB[t], sumB), da[t] + c);
    storePlane(hn::Mul(slopeA[t], a), hn::Mul(slopeB[t], b), du + t * pad + c);
  }
}

/// In place: da of one token's head without the norm to da with it. du is slope * u.
HWY_INLINE void normBwd(float squares, float product, float eps, int64_t width, const float *du, float *da) {
  const V r = hn::Div(hn::Set(d, 1.0f), hn::Sqrt(hn::Set(d, squares + eps)));
  const V scale = hn::Mul(hn::Mul(r, r), hn::Set(d, product));
  for (int64_t c = 0; c < width; c += kLanes)
    store(hn::Mul(r, hn::NegMulAdd(scale, load(du + c), load(da + c))), da + c);
}

/// da of a head of q or k.
template <int kTokens, int kTaps, typename T>
HWY_NOINLINE void keyHeadBwd(const GatedDeltaBwdCall &args, int64_t head, const TapRows<T> &taps, int64_t firstTap,
                             const T *const *grads, float *const *da, float *du) {
  const int64_t width = args.dk, pad = args.heads.pad(head), k = args.k, whole = width / kPair * kPair;
  const float *planes = args.planes + (k + 1) * args.heads.plane(head);
  V squares[kTokens], products[kTokens];
  for (int t = 0; t < kTokens; ++t)
    squares[t] = products[t] = hn::Zero(d);
  for (int64_t c = 0; c < whole; c += kPair) {
    for (int t = 0; t < kTokens; ++t) {
      prefetchPair(taps.rows[t + k - 1] + c + kAheadBytes / sizeof(T));
      for (int64_t copy = 0; copy < args.heads.repeat; ++copy)
        prefetchPair(grads[t] + copy * width + c + kAheadBytes / sizeof(T));
    }
    keyPair<kTokens, kTaps>(args, taps.rows, c, grads, c, kPair, planes, pad, firstTap, da, du, squares, products);
  }
  if (whole < width) {
    const PairRows<T> last(taps, kTokens + k - 1, whole, width);
    keyPair<kTokens, kTaps>(args, last.rows, 0, grads, whole, width - whole, planes, pad, firstTap, da, du, squares,
                            products);
  }
  const int64_t used = roundUp(width, kPair);
  for (int t = 0; t < kTokens && args.qk_l2norm; ++t)
    normBwd(sumLanes(squares[t]), sumLanes(products[t]), static_cast<float>(args.l2_eps), used, du + t * pad, da[t]);
}

template <int kTokens, int kTaps, typename T>
HWY_INLINE void valuePair(const GatedDeltaBwdCall &args, const T *const *rows, int64_t at, const T *const *grads,
                          int64_t c, int64_t count, const float *planes, int64_t pad, int64_t firstTap,
                          float *const *da) {
  V slopeA[kTokens], slopeB[kTokens], uA[kTokens], uB[kTokens];
  slopePair<kTokens, kTaps>(rows, at, planes + c, pad, args.k, firstTap, slopeA, slopeB, uA, uB);
#pragma GCC unroll 4
  for (int t = 0; t < kTokens; ++t) {
    V gradA, gradB;
    loadSomePair(grads[t] + c, count, gradA, gradB);
    storePlane(hn::Mul(slopeA[t], gradA), hn::Mul(slopeB[t], gradB), da[t] + c);
  }
}

/// da of a head of v.
template <int kTokens, int kTaps, typename T>
HWY_NOINLINE void valueHeadBwd(const GatedDeltaBwdCall &args, int64_t head, const TapRows<T> &taps, int64_t firstTap,
                               const T *const *grads, float *const *da) {
  const int64_t width = args.dv, pad = args.heads.pad(head), k = args.k, whole = width / kPair * kPair;
  const float *planes = args.planes + (k + 1) * args.heads.plane(head);
  for (int64_t c = 0; c < whole; c += kPair) {
    for (int t = 0; t < kTokens; ++t) {
      prefetchPair(taps.rows[t + k - 1] + c + kAheadBytes / sizeof(T));
      prefetchPair(grads[t] + c + kAheadBytes / sizeof(T));
    }
    valuePair<kTokens, kTaps>(args, taps.rows, c, grads, c, kPair, planes, pad, firstTap, da);
  }
  if (whole < width) {
    const PairRows<T> last(taps, kTokens + k - 1, whole, width);
    valuePair<kTokens, kTaps>(args, last.rows, 0, grads, whole, width - whole, planes, pad, firstTap, da);
  }
}

/// One pair of the sums of d_conv_weight and d_conv_bias.
template <int kTokens, int kTaps, typename T>
HWY_INLINE void sumPair(const T *const *rows, int64_t at, float *const *da, int64_t c, int64_t pad, int64_t k,
                        int64_t firstTap, float *sums) {
  sums += c;
  V daA[kTokens], daB[kTokens], a, b;
  loadPlane(sums + k * pad, a, b);
#pragma GCC unroll 4
  for (int t = 0; t < kTokens; ++t) {
    loadPlane(da[t] + c, daA[t], daB[t]);
    a = hn::Add(a, daA[t]);
    b = hn::Add(b, daB[t]);
  }
  storePlane(a, b, sums + k * pad);
  constexpr int kRows = kTokens + (kTaps ? kTaps : kMostTaps) - 1;
  V xA[kRows], xB[kRows];
  const int64_t first = kTaps ? 0 : firstTap, last = kTaps ? kTaps : k;
#pragma GCC unroll 8
  for (int64_t i = first; i < kTokens + last - 1; ++i)
    loadPair(rows[i] + at, xA[i], xB[i]);
#pragma GCC unroll 4
  for (int64_t j = first; j < last; ++j) {
    loadPlane(sums + j * pad, a, b);
#pragma GCC unroll 4
    for (int t = 0; t < kTokens; ++t) {
      a = hn::MulAdd(daA[t], xA[t + j], a);
      b = hn::MulAdd(daB[t], xB[t + j], b);
    }
    storePlane(a, b, sums + j * pad);
  }
}

template <int kTokens, int kTaps, typename T>
HWY_NOINLINE void sumHead(const TapRows<T> &taps, float *const *da, int64_t width, int64_t pad, int64_t k,
                          int64_t firstTap, float *sums) {
  int64_t c = 0;
  for (; c + kPair <= width; c += kPair)
    sumPair<kTokens, kTaps>(taps.rows, c, da, c, pad, k, firstTap, sums);
  if (c < width) {
    const PairRows<T> last(taps, kTokens + k - 1, c, width);
    sumPair<kTokens, kTaps>(last.rows, 0, da, c, pad, k, firstTap, sums);
  }
}

/// dx of kTokens tokens, the first of which has its da at das[0], of its terms [first, last) only; null rows are
/// not wanted.
template <int kTokens, int kTaps, bool kStream, typename T>
HWY_NOINLINE void inputHead(float *const *das, const float *planes, int64_t width, int64_t pad, int64_t k,
                            int64_t first, int64_t last, T *const *to) {
  constexpr int kRows = kTokens + (kTaps ? kTaps : kMostTaps) - 1;
  if (kTaps) {
    first = 0;
    last = k = kTaps;
  }
  for (int64_t c = 0; c < width; c += kPair) {
    V daA[kRows], daB[kRows];
#pragma GCC unroll 8
    for (int64_t i = first; i < kTokens + last - 1; ++i)
      loadPlane(das[i] + c, daA[i], daB[i]);
#pragma GCC unroll 4
    for (int t = 0; t < kTokens; ++t) {
      V a = hn::Zero(d), b = hn::Zero(d), weightA, weightB;
#pragma GCC unroll 4
      for (int64_t i = first; i < last; ++i) {
        loadPlane(planes + (k - 1 - i) * pad + c, weightA, weightB);
        a = hn::MulAdd(weightA, daA[t + i], a);
        b = hn::MulAdd(weightB, daB[t + i], b);
      }
      if (to[t])
        storeQuiet<kStream>(a, b, to[t] + c, width - c);
    }
  }
}

/// Where the gradient of the input of token n goes, one of a piece's sequence or of the k - 1 before it; null where it
/// is not wanted or another run's.
template <typename T>
HWY_INLINE T *inputRow(const GatedDeltaBwdCall &args, const Piece &piece, Run run, int64_t n, int64_t channel) {
  const int64_t owner = HWY_MAX(n, piece.begin);
  if (owner < run.first || owner >= run.last)
    return nullptr;
  if (n >= piece.begin)
    return args.d_qkvzba ? static_cast<T *>(args.d_qkvzba) + piece.rowOf(n) * args.D + channel : nullptr;
  return args.d_left_boundary
             ? static_cast<T *>(args.d_left_boundary) + boundaryRowOf(args, piece, piece.begin - n) * args.E + channel
             : nullptr;
}

/// dx of what has its last term in a piece, which is more where its sequence ends.
template <int kTokens, int kTaps, bool kStream, typename T>
HWY_INLINE void inputsBwd(const GatedDeltaBwdCall &args, const Piece &piece, Run run, int64_t head, float *const *das) {
  const int64_t k = args.k, pad = args.heads.pad(head), width = args.heads.width(head);
  const int64_t channel = args.heads.channel(head), start = piece.n - (k - 1);
  const float *planes = args.planes + (k + 1) * args.heads.plane(head);
  T *to[kTokens];
  for (int t = 0; t < kTokens; ++t)
    to[t] = inputRow<T>(args, piece, run, start + t, channel);
  inputHead<kTokens, kTaps, kStream>(das, planes, width, pad, k, HWY_MAX(piece.begin - start, 0), k, to);
  if (piece.n + kTokens < piece.end)
    return;
  for (int64_t n = start + kTokens; n < piece.end; ++n) {
    T *row = inputRow<T>(args, piece, run, n, channel);
    inputHead<1, 0, false>(das + (n - start), planes, width, pad, k, HWY_MAX(piece.begin - n, 0), piece.end - n, &row);
  }
}

template <typename T>
HWY_INLINE const T *gradRow(const GatedDeltaBwdCall &args, int64_t n, int64_t head) {
  const Heads &heads = args.heads;
  if (heads.isValue(head))
    return static_cast<const T *>(args.d_value) + (n * heads.values + head - 2 * heads.keys) * heads.dv;
  return static_cast<const T *>(head < heads.keys ? args.d_query : args.d_key) +
         (n * heads.values + heads.copy(head)) * heads.dk;
}

template <int kTokens, int kTaps, bool kStream, typename T>
HWY_INLINE void headBwd(const GatedDeltaBwdCall &args, const Piece &piece, Run run, int64_t head,
                        const GatedDeltaRoom &room) {
  const Heads &heads = args.heads;
  const int64_t k = args.k, pad = heads.pad(head), plane = heads.plane(head), firstTap = firstTapOf(args, piece);
  const TapRows<T> taps = tapRows<T>(args, piece, heads.channel(head));
  const T *grads[kTokens];
  for (int t = 0; t < kTokens; ++t)
    grads[t] = gradRow<T>(args, piece.n + t, head);
  float *das[kTogether + kMostTaps - 1], **da = das + (k - 1); // da of the k - 1 tokens before the piece, and its own
  for (int64_t i = 0; i < kTokens + k - 1; ++i)
    das[i] = room.das + room.ring * plane + ((piece.n - (k - 1) + i) & (room.ring - 1)) * pad;
  if (heads.isValue(head))
    valueHeadBwd<kTokens, kTaps>(args, head, taps, firstTap, grads, da);
  else
    keyHeadBwd<kTokens, kTaps>(args, head, taps, firstTap, grads, da, room.du);
  if (args.wantsSums() && piece.n < run.last)
    sumHead<kTokens, kTaps>(taps, da, heads.width(head), pad, k, firstTap, room.sums + (k + 1) * plane);
  if (args.wantsInputs())
    inputsBwd<kTokens, kTaps, kStream, T>(args, piece, run, head, das);
}

template <bool kStream, typename T>
HWY_INLINE void anyHeadBwd(const GatedDeltaBwdCall &args, const Piece &piece, Run run, int64_t head,
                           const GatedDeltaRoom &room) {
  if (piece.count == 1)
    headBwd<1, 0, false, T>(args, piece, run, head, room);
  else if (args.k == 4)
    headBwd<kTogether, 4, kStream, T>(args, piece, run, head, room);
  else
    headBwd<kTogether, 0, kStream, T>(args, piece, run, head, room);
}

/// The gradients of one token's beta and g, and what they add to sums[2][padded hv].
template <typename T>
HWY_INLINE void gatesBwd(const GatedDeltaBwdCall &args, const Piece &piece, int64_t n, float *sums) {
  const int64_t hv = args.hv, row = piece.rowOf(n) * args.D + args.E + hv * args.dv;
  const T *raw = static_cast<const T *>(args.qkvzba) + row, *dBeta = static_cast<const T *>(args.d_beta) + n * hv;
  T *to = args.d_qkvzba ? static_cast<T *>(args.d_qkvzba) + row : nullptr;
  const V one = hn::Set(d, 1.0f), threshold = hn::Set(d, static_cast<float>(args.softplus_threshold));
  float *shifts = sums + Heads::padded(hv);
  const float *shift = args.planes + args.gateSums(), *rate = shift + Heads::padded(hv);
  for (int64_t h = 0; h < hv; h += kLanes) {
    const int64_t count = hv - h;
    const V p = hn::Add(loadSome(raw + hv + h, count), load(shift + h));
    const V grad = hn::Mul(load(rate + h), loadSome(floats(args.d_g) + n * hv + h, count));
    const V dAlpha = hn::Mul(grad, hn::IfThenElse(hn::Gt(p, threshold), one, sigmoid(p)));
    const V beta = sigmoid(loadSome(raw + h, count));
    store(hn::MulAdd(grad, softplus(p, threshold), load(sums + h)), sums + h);
    store(hn::Add(dAlpha, load(shifts + h)), shifts + h);
    if (!to)
      continue;
    storeSome(hn::Mul(loadSome(dBeta + h, count), hn::Mul(beta, hn::Sub(one, beta))), to + h, count);
    storeSome(dAlpha, to + hv + h, count);
  }
}

/// What is not convolved of token n.
template <bool kStream, typename T>
HWY_INLINE void restOfTokenBwd(const GatedDeltaBwdCall &args, const Piece &piece, HeadRange range, int64_t n,
                               float *sums) {
  const int64_t values = 2 * args.heads.keys, dv = args.dv;
  const int64_t first = HWY_MAX(range.first - values, 0) * dv, last = HWY_MAX(range.last - values, 0) * dv;
  if (args.d_qkvzba)
    copyBits<kStream>(static_cast<const T *>(args.d_gate) + n * args.hv * dv + first, last - first,
                      static_cast<T *>(args.d_qkvzba) + piece.rowOf(n) * args.D + args.E + first);
  if (range.last == args.heads.count())
    gatesBwd<T>(args, piece, n, sums);
}

template <bool kStream, typename T>
HWY_INLINE void gatedDeltaBwdTyped(const GatedDeltaBwdCall &args, HeadRange range, Run run, int64_t first, int64_t last,
                                   const GatedDeltaRoom &room) {
  const bool isConvolved = args.wantsSums() || args.wantsInputs();
  Piece pieces[kSpanTokens];
  for (int64_t span = first; span < last; span += kSpanTokens) {
    const int64_t count = spanPieces(args, span, HWY_MIN(last, span + kSpanTokens), pieces);
    for (int64_t head = range.first; isConvolved && head < range.last; ++head)
      for (int64_t i = 0; i < count; ++i)
        anyHeadBwd<kStream, T>(args, pieces[i], run, head, room);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t t = 0; t < pieces[i].count && pieces[i].n < run.last; ++t)
        restOfTokenBwd<kStream, T>(args, pieces[i], range, pieces[i].n + t, room.sums + args.gateSums());
  }
  if (kStream)
    hwy::FlushStream();
}

/// Tokens [first, last) of some heads, which follow those of the call before. Behind the run's last there is no more
/// than the dx of the run. z goes with v, the gates with the last head.
void gatedDeltaBwdTokens(const GatedDeltaBwdCall &args, HeadRange range, int64_t runFirst, int64_t runLast,
                         int64_t first, int64_t last, const GatedDeltaRoom &room) {
  const Run run = {runFirst, runLast};
  const bool streams = args.bypasses && kPair * mhcrt_dtype_bytes(args.qkvzba_type) >= kAlignment;
  if (args.qkvzba_type == MHCRT_F32)
    streams ? gatedDeltaBwdTyped<true, float>(args, range, run, first, last, room)
            : gatedDeltaBwdTyped<false, float>(args, range, run, first, last, room);
  else if (args.qkvzba_type == MHCRT_BF16)
    streams ? gatedDeltaBwdTyped<true, Bf16>(args, range, run, first, last, room)
            : gatedDeltaBwdTyped<false, Bf16>(args, range, run, first, last, room);
  else
    gatedDeltaBwdTyped<false, F16>(args, range, run, first, last, room);
}

void gatedDeltaBwdWeights(const GatedDeltaBwdCall &args, int64_t head) {
  if (args.qkvzba_type == MHCRT_BF16)
    headPlanes<Bf16>(args, args.heads, head, args.planes);
  else
    headPlanes<float>(args, args.heads, head, args.planes);
}

/// One head's planes of sums to its rows of d_conv_weight and d_conv_bias.
template <typename T>
HWY_INLINE void storeSums(const GatedDeltaBwdCall &args, int64_t head, const float *sums) {
  const int64_t k = args.k, pad = args.heads.pad(head), width = args.heads.width(head);
  const int64_t first = args.heads.channel(head);
  float *weight = floats(args.d_conv_weight), *bias = floats(args.d_conv_bias);
  for (int64_t c = 0; c < width; c += kPair)
    for (int64_t j = 0; j <= k; ++j) {
      HWY_ALIGN float row[kPair];
      V a, b;
      loadPlane(sums + j * pad + c, a, b);
      storePairAs<false, T>(a, b, row);
      float *to = j < k ? weight : bias;
      const int64_t step = j < k ? k : 1, at = (first + c) * step + (j < k ? j : 0);
      for (int64_t i = 0; to && i < HWY_MIN(kPair, width - c); ++i)
        to[at + i * step] = row[i];
    }
}

void gatedDeltaBwdSums(const GatedDeltaBwdCall &args, int64_t head, const float *sums) {
  sums += (args.k + 1) * args.heads.plane(head);
  if (args.qkvzba_type == MHCRT_BF16)
    storeSums<Bf16>(args, head, sums);
  else
    storeSums<float>(args, head, sums);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(gatedDeltaBwdTokens);
HWY_EXPORT(gatedDeltaBwdWeights);
HWY_EXPORT(gatedDeltaBwdSums);
} // namespace mhcrt

using namespace mhcrt;

/// Runs of tokens that have partial sums, whole multiples of kRunTokens.
static constexpr int64_t kRuns = 16;
/// Tokens of a run that plain sums add.
static constexpr int64_t kSumTokens = 128;

/// The sums of a head range's tile: a part of those of its run, and of the gates where it has the last head.
static HeadRange sumsOf(const GatedDeltaBwdCall &args, HeadRange range) {
  const int64_t first = (args.k + 1) * args.heads.plane(range.first);
  return {first, range.last == args.heads.count() ? args.sums() : (args.k + 1) * args.heads.plane(range.last)};
}

static void runTile(const GatedDeltaBwdCall &args, const TokenRuns &runs, int64_t run, HeadRange range,
                    const GatedDeltaRoom &room, float *partials) {
  const int64_t first = runs.first(run), last = runs.last(run), behind = std::min(runs.M, last + args.k - 1);
  const HeadRange part = sumsOf(args, range);
  const int64_t count = part.last - part.first;
  const CompensatedSums sums = {partials + part.first, room.rests + part.first};
  const auto tokens = [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(gatedDeltaBwdTokens)(args, range, first, last, begin, end, room);
  };
  sums.clear(count);
  const int64_t planes = room.ring * args.heads.plane(range.first);
  std::fill_n(room.das + planes, room.ring * args.heads.plane(range.last) - planes, 0.0f);
  for (int64_t n = first; n < last; n += kSumTokens) {
    std::fill_n(room.sums + part.first, count, 0.0f);
    tokens(n, std::min(last, n + kSumTokens));
    sums.add(room.sums + part.first, count);
  }
  sums.store(sums.sums, count);
  if (args.wantsInputs())
    tokens(last, behind);
}

/// Adds the partial sums up, to those of the first run, and stores them.
static void addRuns(mhcrt_context &context, const GatedDeltaBwdCall &args, int64_t runs, float *partials) {
  const int64_t gates = args.gateSums(), stride = args.sums();
  if (args.wantsSums())
    context.parallelFor(args.heads.count(), [&](int64_t head, int) {
      const HeadRange part = {(args.k + 1) * args.heads.plane(head), (args.k + 1) * args.heads.plane(head + 1)};
      addPartials(partials, runs, stride, part.first, part.last, nullptr, partials);
      HWY_DYNAMIC_DISPATCH(gatedDeltaBwdSums)(args, head, partials);
    });
  if (args.d_A_log)
    addPartials(partials + gates, runs, stride, 0, args.hv, nullptr, floats(args.d_A_log));
  if (args.d_dt_bias)
    addPartials(partials + gates + Heads::padded(args.hv), runs, stride, 0, args.hv, nullptr, floats(args.d_dt_bias));
}

mhcrt_status mhcrt::runPreGatedDeltaRuleBwd(mhcrt_context &context, const PreGatedDeltaRuleBwdArgs &a) {
  if (!checkPreGatedDeltaRuleBwd(context, a, Ids::OnHost))
    return context.status;
  const int64_t tokens = a.M * a.b, size = mhcrt_dtype_bytes(a.qkvzba_type);
  const bool bypasses = a.d_qkvzba && streams(a.d_qkvzba, tokens, a.D * size) && a.dk * size % kAlignment == 0 &&
                        a.dv * size % kAlignment == 0;
  GatedDeltaBwdCall args = {a, Heads(a), nullptr, bypasses};
  const TokenRuns runs(tokens, kRunTokens, kRuns);
  const int64_t planes = args.sums(), sums = saturatingMul(std::max<int64_t>(1, runs.count), args.sums());
  if (!context.reserveScratch("mhcrt_pre_gated_delta_rule_bwd", saturatingMul(4, saturatingAdd(planes, sums)),
                              4 * GatedDeltaRoom::floats(args)))
    return context.status;

  args.planes = reinterpret_cast<float *>(context.sharedScratch());
  float *partials = args.planes + planes;
  context.parallelFor(args.heads.count() + 1,
                      [&](int64_t head, int) { HWY_DYNAMIC_DISPATCH(gatedDeltaBwdWeights)(args, head); });
  const GatedDeltaTiles tiles(args.heads, runs.count, context.pool.threads());
  context.parallelFor(tiles.count(), [&](int64_t tile, int thread) {
    const int64_t run = tiles.run(tile);
    const GatedDeltaRoom room(args, reinterpret_cast<float *>(context.threadScratch(thread)));
    runTile(args, runs, run, tiles.heads(tile), room, partials + run * args.sums());
  });
  addRuns(context, args, runs.count, partials);
  if (tokens == 0 && a.d_left_boundary)
    std::memset(a.d_left_boundary, 0, a.p * a.b * a.E * size);
  return MHCRT_OK;
}

MHCRT_ENTRY(pre_gated_delta_rule_bwd, PreGatedDeltaRuleBwd)
#endif // HWY_ONCE
