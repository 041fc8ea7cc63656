//===- GatedDeltaBwd-inl.h - Gradients of one head --------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The da of a piece of tokens of one head, and what follows from it: the sums of d_conv_weight and d_conv_bias, and dx.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_GATEDDELTABWD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_GATEDDELTABWD_INL_H
#undef MHCRT_CPU_GATEDDELTABWD_INL_H
#else
#define MHCRT_CPU_GATEDDELTABWD_INL_H
#endif

#include "cpu/GatedDelta-inl.h"

#ifndef MHCRT_CPU_GATEDDELTABWD_CALL
#define MHCRT_CPU_GATEDDELTABWD_CALL
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

/// s to du/da = s + u*(1 - s), where 1 - s is taken from e: u may be large where s is close to 1.
template <int kTokens>
HWY_INLINE void slopes(const V (&u)[kTokens], const V (&e)[kTokens], V (&s)[kTokens]) {
#pragma GCC unroll 4
  for (int t = 0; t < kTokens; ++t)
    s[t] = hn::MulAdd(u[t], hn::Mul(e[t], s[t]), s[t]);
}

/// The slope du/da, and u, of a pair of channels.
template <int kTokens, int kTaps, typename T>
HWY_INLINE void slopePair(const T *const *rows, int64_t c, const float *planes, int64_t pad, int64_t k,
                          int64_t firstTap, V (&slopeA)[kTokens], V (&slopeB)[kTokens], V (&uA)[kTokens],
                          V (&uB)[kTokens]) {
  convolvePair<kTokens, kTaps>(rows, c, planes, pad, k, firstTap, uA, uB);
  V e[kTokens];
  silu<T>(uA, slopeA, e);
  slopes(uA, e, slopeA);
  silu<T>(uB, slopeB, e);
  slopes(uB, e, slopeB);
}

/// One pair of q or k: slope * dy to da and slope * u to du, with the sums of its head.
template <int kTokens, int kTaps, int kCopies, typename T>
HWY_INLINE void keyPair(const GatedDeltaBwdCall &args, const T *const *rows, int64_t at, const T *const *grads,
                        int64_t c, int64_t count, const float *planes, int64_t pad, int64_t firstTap, float *const *da,
                        float *du, V (&squares)[kTokens], V (&products)[kTokens]) {
  const int64_t copies = kCopies ? kCopies : args.heads.repeat;
  V slopeA[kTokens], slopeB[kTokens], uA[kTokens], uB[kTokens];
  slopePair<kTokens, kTaps>(rows, at, planes + c, pad, args.k, firstTap, slopeA, slopeB, uA, uB);
#pragma GCC unroll 4
  for (int t = 0; t < kTokens; ++t) {
    const V a = roundedQuiet<T>(uA[t]), b = roundedQuiet<T>(uB[t]);
    V sumA, sumB, gradA, gradB;
    loadSomePair(grads[t] + c, count, sumA, sumB);
    for (int64_t copy = 1; copy < copies; ++copy) {
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

/// In place: da of a piece's head without the norm to da with it. du is slope * u. The steps of one token wait for each
/// other, so the tokens take them together.
template <int kTokens>
HWY_INLINE void normBwd(const V (&squares)[kTokens], const V (&products)[kTokens], float eps, int64_t width,
                        const float *du, int64_t pad, float *const *da) {
  V r[kTokens], scale[kTokens];
#pragma GCC unroll 4
  for (int t = 0; t < kTokens; ++t) {
    const float each = inverseNorm(squares[t], eps);
    r[t] = hn::Set(d, each);
    scale[t] = hn::Set(d, each * each * sumLanes(products[t]));
  }
  for (int64_t c = 0; c < width; c += kLanes) {
#pragma GCC unroll 4
    for (int t = 0; t < kTokens; ++t)
      store(hn::Mul(r[t], hn::NegMulAdd(scale[t], load(du + t * pad + c), load(da[t] + c))), da[t] + c);
  }
}

/// da of a head of q or k. kCopies: of each such head, or 0 where it is not known.
template <int kTokens, int kTaps, int kCopies, typename T>
HWY_NOINLINE void keyHeadBwd(const GatedDeltaBwdCall &args, int64_t head, const T *const *taps, int64_t firstTap,
                             const T *const *grads, float *const *da, float *du) {
  const int64_t width = args.dk, pad = args.heads.pad(head), k = args.k, whole = width / kPair * kPair;
  const int64_t copies = kCopies ? kCopies : args.heads.repeat;
  const float *planes = args.planes + (k + 1) * args.heads.plane(head);
  V squares[kTokens], products[kTokens];
  for (int t = 0; t < kTokens; ++t)
    squares[t] = products[t] = hn::Zero(d);
  for (int64_t c = 0; c < whole; c += kPair) {
    for (int t = 0; t < kTokens; ++t) {
      prefetchPair(taps[t + k - 1] + c + kAheadBytes / sizeof(T));
      for (int64_t copy = 0; copy < copies; ++copy)
        prefetchPair(grads[t] + copy * width + c + kAheadBytes / sizeof(T));
    }
    keyPair<kTokens, kTaps, kCopies>(args, taps, c, grads, c, kPair, planes, pad, firstTap, da, du, squares, products);
  }
  if (whole < width) {
    const PairRows<T> last(taps, kTokens + k - 1, whole, width);
    keyPair<kTokens, kTaps, kCopies>(args, last.rows, 0, grads, whole, width - whole, planes, pad, firstTap, da, du,
                                     squares, products);
  }
  if (args.qk_l2norm)
    normBwd(squares, products, static_cast<float>(args.l2_eps), roundUp(width, kPair), du, pad, da);
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
HWY_NOINLINE void valueHeadBwd(const GatedDeltaBwdCall &args, int64_t head, const T *const *taps, int64_t firstTap,
                               const T *const *grads, float *const *da) {
  const int64_t width = args.dv, pad = args.heads.pad(head), k = args.k, whole = width / kPair * kPair;
  const float *planes = args.planes + (k + 1) * args.heads.plane(head);
  for (int64_t c = 0; c < whole; c += kPair) {
    for (int t = 0; t < kTokens; ++t) {
      prefetchPair(taps[t + k - 1] + c + kAheadBytes / sizeof(T));
      prefetchPair(grads[t] + c + kAheadBytes / sizeof(T));
    }
    valuePair<kTokens, kTaps>(args, taps, c, grads, c, kPair, planes, pad, firstTap, da);
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
HWY_NOINLINE void sumHead(const T *const *taps, float *const *da, int64_t width, int64_t pad, int64_t k,
                          int64_t firstTap, float *sums) {
  int64_t c = 0;
  for (; c + kPair <= width; c += kPair)
    sumPair<kTokens, kTaps>(taps, c, da, c, pad, k, firstTap, sums);
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

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_GATEDDELTABWD_INL_H
