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
  float *carry;        ///< planes of each head: da of the last k - 1 tokens
  float *da;           ///< planes of a piece of one head, behind those k - 1
  float *u;            ///< planes of a piece of one head: a, then slope * u

  static int64_t pad(const Heads &heads) { return std::max(heads.pad(0), heads.pad(2 * heads.keys)); }
  static int64_t floats(const GatedDeltaBwdCall &args) {
    const Heads &heads = args.heads;
    return 2 * args.sums() + (args.k - 1) * heads.plane(heads.count()) + (2 * kSpanTokens + args.k - 1) * pad(heads);
  }
  GatedDeltaRoom(const GatedDeltaBwdCall &args, float *at)
      : sums(at), rests(sums + args.sums()), carry(rests + args.sums()),
        da(carry + (args.k - 1) * args.heads.plane(args.heads.count())),
        u(da + (kSpanTokens + args.k - 1) * pad(args.heads)) {}
};
} // namespace mhcrt
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// a to u, not rounded, and the slope du/da of neighbouring vectors.
template <typename T, int kCount>
HWY_INLINE void slopesAt(const float *at, V (&u)[kCount], V (&slope)[kCount]) {
  V e[kCount];
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i)
    u[i] = load(at + i * kLanes);
  silu<T>(u, slope, e);
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) // s + u*(1 - s), where 1 - s is taken from e: u may be large where s is close to 1
    slope[i] = hn::MulAdd(u[i], hn::Mul(e[i], slope[i]), slope[i]);
}

/// Pairs from channel c on of one token of a head of v: a to da. Asks for the gradient of the next head.
template <typename T, int kPairs>
HWY_INLINE void valuePairs(const T *grad, const float *a, int64_t c, int64_t width, float *da) {
  V u[2 * kPairs], slope[2 * kPairs];
  slopesAt<T>(a + c, u, slope);
#pragma GCC unroll 4
  for (int i = 0; i < kPairs; ++i) {
    const int64_t at = c + i * kPair;
    V gradA, gradB;
    prefetchPair(grad + at + width);
    loadSomePair(grad + at, inPair<kPairs>(at, width), gradA, gradB);
    storePlane(hn::Mul(slope[2 * i], gradA), hn::Mul(slope[2 * i + 1], gradB), da + at);
  }
}

/// Pairs from channel c on of one token of a head of q or k: slope * dy to da and slope * u in place of a, with the
/// sums of u^2 and dy*u.
template <typename T, int kPairs>
HWY_INLINE void keyPairs(const T *grad, int64_t copies, float *a, int64_t c, int64_t width, float *da, V &squares,
                         V &products) {
  V u[2 * kPairs], slope[2 * kPairs];
  slopesAt<T>(a + c, u, slope);
#pragma GCC unroll 4
  for (int i = 0; i < kPairs; ++i) {
    const int64_t at = c + i * kPair;
    V sumA, sumB;
    prefetchPair(grad + at + copies * width);
    loadSomePair(grad + at, inPair<kPairs>(at, width), sumA, sumB);
    for (int64_t copy = 1; copy < copies; ++copy) {
      V gradA, gradB;
      prefetchPair(grad + copy * width + at + copies * width);
      loadSomePair(grad + copy * width + at, inPair<kPairs>(at, width), gradA, gradB);
      sumA = hn::Add(sumA, gradA);
      sumB = hn::Add(sumB, gradB);
    }
    const V uA = roundedQuiet<T>(u[2 * i]), uB = roundedQuiet<T>(u[2 * i + 1]);
    squares = hn::MulAdd(uB, uB, hn::MulAdd(uA, uA, squares));
    products = hn::MulAdd(uB, sumB, hn::MulAdd(uA, sumA, products));
    storePlane(hn::Mul(slope[2 * i], sumA), hn::Mul(slope[2 * i + 1], sumB), da + at);
    storePlane(hn::Mul(slope[2 * i], uA), hn::Mul(slope[2 * i + 1], uB), a + at);
  }
}

/// da of a piece's head of v. Rows of gradients are `stride` elements apart.
template <typename T>
HWY_NOINLINE void valueHeadBwd(const T *grad, int64_t stride, int64_t count, int64_t width, int64_t pad, const float *a,
                               float *da) {
  for (int64_t t = 0; t < count; ++t, grad += stride, a += pad, da += pad) {
    int64_t c = 0;
    for (; c + kSide * kLanes <= width; c += kSide * kLanes)
      valuePairs<T, kSide / 2>(grad, a, c, width, da);
    for (; c < width; c += kPair)
      valuePairs<T, 1>(grad, a, c, width, da);
  }
}

/// da of a piece's head of q or k. a is overwritten.
template <typename T>
HWY_NOINLINE void keyHeadBwd(const GatedDeltaBwdCall &args, const T *grad, int64_t stride, int64_t count, int64_t pad,
                             float *a, float *da) {
  const int64_t width = args.dk, copies = args.heads.repeat;
  HWY_ALIGN float norms[HWY_MAX(kSpanTokens, kLanes)] = {}, scales[HWY_MAX(kSpanTokens, kLanes)] = {};
  for (int64_t t = 0; t < count; ++t, grad += stride) {
    V squares = hn::Zero(d), products = hn::Zero(d);
    int64_t c = 0;
    for (; c + kSide * kLanes <= width; c += kSide * kLanes)
      keyPairs<T, kSide / 2>(grad, copies, a + t * pad, c, width, da + t * pad, squares, products);
    for (; c < width; c += kPair)
      keyPairs<T, 1>(grad, copies, a + t * pad, c, width, da + t * pad, squares, products);
    norms[t] = sumLanes(squares);
    scales[t] = sumLanes(products);
  }
  if (!args.qk_l2norm)
    return;
  inverseNorms(norms, count, static_cast<float>(args.l2_eps));
  for (int64_t t = 0; t < count; ++t, da += pad, a += pad) {
    const V r = hn::Set(d, norms[t]), scale = hn::Set(d, norms[t] * norms[t] * scales[t]);
    for (int64_t c = 0; c < width; c += kPair) {
      V daA, daB, duA, duB;
      loadPlane(da + c, daA, daB);
      loadPlane(a + c, duA, duB);
      storePlane(hn::Mul(r, hn::NegMulAdd(scale, duA, daA)), hn::Mul(r, hn::NegMulAdd(scale, duB, daB)), da + c);
    }
  }
}

/// One pair of the sums of d_conv_weight and, where kBias, of d_conv_bias, of groups of kTokens tokens.
template <int kTokens, int kTaps, bool kBias, typename T>
HWY_INLINE void sumPair(const T *const *rows, int64_t at, const float *da, int64_t pad, int64_t k, int64_t firstTap,
                        int64_t groups, float *sums) {
  V biasA, biasB, daA, daB;
  if (kBias)
    loadPlane(sums + k * pad, biasA, biasB);
  if constexpr (kTaps > 0) {
    V sumA[kTaps], sumB[kTaps];
#pragma GCC unroll 4
    for (int j = 0; j < kTaps; ++j)
      loadPlane(sums + j * pad, sumA[j], sumB[j]);
    PairWindow<kTokens, kTaps> x(rows, at);
    for (int64_t group = 0; group < groups; ++group, rows += kTokens) {
      x.next(rows, at);
#pragma GCC unroll 4
      for (int t = 0; t < kTokens; ++t, da += pad) {
        loadPlane(da, daA, daB);
        if (kBias) {
          biasA = hn::Add(biasA, daA);
          biasB = hn::Add(biasB, daB);
        }
#pragma GCC unroll 4
        for (int j = 0; j < kTaps; ++j) {
          sumA[j] = hn::MulAdd(daA, x.first(t + j), sumA[j]);
          sumB[j] = hn::MulAdd(daB, x.second(t + j), sumB[j]);
        }
      }
    }
#pragma GCC unroll 4
    for (int j = 0; j < kTaps; ++j)
      storePlane(sumA[j], sumB[j], sums + j * pad);
  } else {
    for (int64_t t = 0; t < kTokens * groups; ++t, da += pad) {
      loadPlane(da, daA, daB);
      if (kBias) {
        biasA = hn::Add(biasA, daA);
        biasB = hn::Add(biasB, daB);
      }
      for (int64_t j = firstTap; j < k; ++j) {
        V sumA, sumB, xA, xB;
        loadPlane(sums + j * pad, sumA, sumB);
        loadPair(rows[t + j] + at, xA, xB);
        storePlane(hn::MulAdd(daA, xA, sumA), hn::MulAdd(daB, xB, sumB), sums + j * pad);
      }
    }
  }
  if (kBias)
    storePlane(biasA, biasB, sums + k * pad);
}

template <int kTokens, int kTaps, bool kBias, typename T>
HWY_NOINLINE void sumTokens(const T *const *taps, const float *da, int64_t width, int64_t pad, int64_t k,
                            int64_t firstTap, int64_t groups, float *sums) {
  int64_t c = 0;
  for (; c + kPair <= width; c += kPair)
    sumPair<kTokens, kTaps, kBias>(taps, c, da + c, pad, k, firstTap, groups, sums + c);
  if (c < width) {
    const PairRows<T> last(taps, kTokens * groups + k - 1, c, width);
    sumPair<kTokens, kTaps, kBias>(last.rows, 0, da + c, pad, k, firstTap, groups, sums + c);
  }
}

/// Adds what a piece's head gives to the sums of d_conv_weight and, where kBias, of d_conv_bias.
template <bool kBias, typename T>
HWY_INLINE void sumHead(const GatedDeltaBwdCall &args, const Piece &piece, int64_t head, const T *const *taps,
                        const float *da, float *sums) {
  const int64_t k = args.k, width = args.heads.width(head), pad = args.heads.pad(head);
  forTogether(args, piece, [&](int64_t n, int64_t tokens, int64_t groups) {
    const int64_t t = n - piece.n;
    if (tokens == 1)
      sumTokens<1, 0, kBias>(taps + t, da + t * pad, width, pad, k, firstTapOf(args, piece, n), groups, sums);
    else if (k == 4)
      sumTokens<kTogether, 4, kBias>(taps + t, da + t * pad, width, pad, k, 0, groups, sums);
    else
      sumTokens<kTogether, 0, kBias>(taps + t, da + t * pad, width, pad, k, 0, groups, sums);
  });
}

/// dx of groups of kTokens tokens, the first of which has its da at `das`, of its terms [first, last) only; null rows
/// are not wanted.
template <int kTokens, int kTaps, bool kStream, typename T>
HWY_NOINLINE void inputTokens(const float *das, const float *planes, int64_t width, int64_t pad, int64_t k,
                              int64_t first, int64_t last, int64_t groups, T *const *to) {
  if (kTaps) {
    first = 0;
    last = k = kTaps;
  }
  for (int64_t c = 0; c < width; c += kPair) {
    V weightA[kTaps + 1], weightB[kTaps + 1];
#pragma GCC unroll 4
    for (int j = 0; j < kTaps; ++j)
      loadPlane(planes + j * pad + c, weightA[j], weightB[j]);
    for (int64_t group = 0; group < groups; ++group) {
      const float *da = das + group * kTokens * pad + c;
      V a[kTokens], b[kTokens];
#pragma GCC unroll 4
      for (int t = 0; t < kTokens; ++t)
        a[t] = b[t] = hn::Zero(d);
#pragma GCC unroll 4
      for (int64_t i = first; i < last; ++i) {
        if (!kTaps)
          loadPlane(planes + (k - 1 - i) * pad + c, weightA[0], weightB[0]);
#pragma GCC unroll 4
        for (int t = 0; t < kTokens; ++t) {
          V daA, daB;
          loadPlane(da + (t + i) * pad, daA, daB);
          a[t] = hn::MulAdd(weightA[kTaps ? k - 1 - i : 0], daA, a[t]);
          b[t] = hn::MulAdd(weightB[kTaps ? k - 1 - i : 0], daB, b[t]);
        }
      }
#pragma GCC unroll 4
      for (int t = 0; t < kTokens; ++t)
        if (T *row = to[group * kTokens + t])
          storeQuiet<kStream>(a[t], b[t], row + c, width - c);
    }
  }
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_GATEDDELTABWD_INL_H
