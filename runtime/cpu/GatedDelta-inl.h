//===- GatedDelta-inl.h - The convolution and the gates ---------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps that the front end of a gated delta net and its gradient have in common. Channels are taken in pairs of
// vectors, in the pair's own order of their type (Simd-inl.h): planes[(k + 1)*plane(head)] has the weights of each head
// in that order, one row for each tap, then the bias.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_GATEDDELTA_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_GATEDDELTA_INL_H
#undef MHCRT_CPU_GATEDDELTA_INL_H
#else
#define MHCRT_CPU_GATEDDELTA_INL_H
#endif

#include "cpu/GatedDelta.h"
#include "cpu/Gates-inl.h"
#include "cpu/Silu-inl.h"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

constexpr int64_t kPair = 2 * kLanes;

/// Vectors that go through the steps of SiLU side by side.
constexpr int kSide = 4;

/// Elements of a pair at channel c of a head: all where pairs come several at a time.
template <int kPairs>
HWY_INLINE int64_t inPair(int64_t c, int64_t width) {
  return kPairs > 1 ? kPair : width - c;
}

/// A pair, or its first `count` elements and zeros.
template <typename T>
HWY_INLINE void loadSomePair(const T *from, int64_t count, V &a, V &b) {
  if (count >= kPair)
    return loadPair(from, a, b);
  HWY_ALIGN T buffer[kPair] = {};
  std::memcpy(buffer, from, count * sizeof(T));
  loadPair(buffer, a, b);
}

template <bool kStream, typename T>
HWY_INLINE void storeSomePair(V a, V b, T *to, int64_t count) {
  if (count >= kPair)
    return storePair<kStream>(a, b, to);
  HWY_ALIGN T buffer[kPair];
  storePair<false>(a, b, buffer);
  std::memcpy(to, buffer, count * sizeof(T));
}

/// A pair as f32 in the order of its registers, and back.
HWY_INLINE void loadPlane(const float *from, V &a, V &b) {
  a = load(from);
  b = load(from + kLanes);
}
HWY_INLINE void storePlane(V a, V b, float *to) {
  store(a, to);
  store(b, to + kLanes);
}

/// The nearest bf16 of what follows from SiLU, in the high 16 bits of each lane; the low ones are of no meaning. Where
/// SiLU is short, its error decides between two that are as near, so the larger one is as good as the even one. A NaN
/// stays one if its low 16 bits are zero, as those are that operations on values of 16 bits make. Of the operands here
/// only weights of f32 may bring others.
HWY_INLINE hn::Vec<DU> roundQuiet(V v) {
  const auto bits = hn::BitCast(du, v), half = hn::Set(du, 0x8000);
  if constexpr (kIsShort<Bf16>)
    return hn::Add(bits, half);
  else
    return hn::Add(bits, hn::IfThenElse(hn::TestBit(bits, hn::Set(du, 0x10000)), half, hn::Set(du, 0x7FFF)));
}

/// The value that storeQuiet stores.
template <typename T>
HWY_INLINE V roundedQuiet(V v) {
  if constexpr (std::is_same_v<T, Bf16>)
    return hn::BitCast(d, hn::And(roundQuiet(v), hn::Set(du, 0xFFFF0000u)));
  else
    return rounded(v, static_cast<const T *>(nullptr));
}

/// Stores the same `copies` times, `stride` elements apart.
template <bool kStream, typename T>
HWY_INLINE void storeQuiet(V a, V b, T *to, int64_t count, int64_t copies = 1, int64_t stride = 0) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_same_v<T, Bf16>) {
    const auto both =
        hn::BitCast(d16Pair, hn::OrAnd(hn::ShiftRight<16>(roundQuiet(a)), roundQuiet(b), hn::Set(du, 0xFFFF0000u)));
    if (count < kPair) {
      HWY_ALIGN uint16_t buffer[kPair];
      hn::Store(both, d16Pair, buffer);
      for (int64_t copy = 0; copy < copies; ++copy, to += stride)
        std::memcpy(to, buffer, count * sizeof(T));
      return;
    }
    for (int64_t copy = 0; copy < copies; ++copy, to += stride)
      if (kStream)
        hn::Stream(both, d16Pair, reinterpret_cast<uint16_t *>(to));
      else
        hn::StoreU(both, d16Pair, reinterpret_cast<uint16_t *>(to));
    return;
  }
#endif
  for (int64_t copy = 0; copy < copies; ++copy, to += stride)
    storeSomePair<kStream>(a, b, to, count);
}

/// The weights of one head to its planes.
template <typename T, typename Args>
HWY_INLINE void weightPlanes(const Args &args, const Heads &heads, int64_t head, float *planes) {
  const int64_t k = args.k, pad = heads.pad(head), width = heads.width(head), first = heads.channel(head);
  planes += (k + 1) * heads.plane(head);
  std::fill_n(planes, (k + 1) * pad, 0.0f);
  for (int64_t c = 0; c < width; c += kPair) {
    const int64_t count = HWY_MIN(kPair, width - c);
    HWY_ALIGN float rows[kPair * kMostTaps], taps[(kMostTaps + 1) * kPair] = {};
    widenAny(args.conv_weight, args.conv_weight_type, (first + c) * k, count * k, rows);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < k; ++j)
        taps[j * kPair + i] = rows[i * k + j];
    if (args.conv_bias)
      widenAny(args.conv_bias, args.conv_bias_type, first + c, count, taps + k * kPair);
    for (int64_t j = 0; j <= k; ++j) {
      V a, b;
      loadPairAs<T>(taps + j * kPair, a, b);
      const V quiet = hn::Set(d, NAN); // of roundQuiet
      storePlane(hn::IfThenElse(hn::IsNaN(a), quiet, a), hn::IfThenElse(hn::IsNaN(b), quiet, b), planes + j * pad + c);
    }
  }
}

/// In place: sums of squares of a span's tokens to 1 / sqrt(sum + eps).
HWY_INLINE void inverseNorms(float *sums, int64_t count, float eps) {
  for (int64_t t = 0; t < count; t += kLanes)
    store(hn::Div(hn::Set(d, 1.0f), hn::Sqrt(hn::Add(load(sums + t), hn::Set(d, eps)))), sums + t);
}

constexpr int64_t kMostRows = kSpanTokens + kMostTaps - 1;

/// Where the tokens of a piece find their taps: token piece.n + t has tap j at rows[t + j].
template <typename T>
struct TapRows {
  const T *rows[kMostRows];
};

/// The rows of a piece from `channel` on. One that is missing is null, and is left out by firstTap.
template <typename T, typename Args>
HWY_INLINE TapRows<T> tapRows(const Args &args, const Piece &piece, int64_t channel) {
  TapRows<T> taps;
  const int64_t k = args.k;
  for (int64_t i = 0; i < piece.count + k - 1; ++i) {
    const int64_t n = piece.n - (k - 1) + i;
    if (n >= piece.begin)
      taps.rows[i] = static_cast<const T *>(args.qkvzba) + piece.rowOf(n) * args.D + channel;
    else if (args.left_boundary)
      taps.rows[i] =
          static_cast<const T *>(args.left_boundary) + boundaryRowOf(args, piece, piece.begin - n) * args.E + channel;
    else
      taps.rows[i] = nullptr;
  }
  return taps;
}

/// The pair at channel c of each row; the last one of a head is copied to `room`, since it may end with the tensor.
template <typename T>
struct PairRows {
  const T *rows[kMostRows];
  HWY_ALIGN T room[kMostRows][kPair];

  PairRows(const T *const *taps, int64_t count, int64_t c, int64_t width) : room() {
    for (int64_t i = 0; i < count; ++i) {
      rows[i] = room[i];
      if (taps[i])
        std::memcpy(room[i], taps[i] + c, (width - c) * sizeof(T));
    }
  }
};

/// The pairs of channels from `at` on of the rows that a group of kTokens tokens and its kTaps taps read. The group
/// behind it has the last of them for its first.
template <int kTokens, int kTaps>
class PairWindow {
  V a[kTokens + kTaps - 1], b[kTokens + kTaps - 1];

public:
  template <typename T>
  HWY_INLINE PairWindow(const T *const *rows, int64_t at) {
#pragma GCC unroll 8
    for (int i = 0; i < kTaps - 1; ++i)
      loadPair(rows[i] + at, a[kTokens + i], b[kTokens + i]);
  }

  template <typename T>
  HWY_INLINE void next(const T *const *rows, int64_t at) {
#pragma GCC unroll 8
    for (int i = 0; i < kTaps - 1; ++i) {
      a[i] = a[kTokens + i];
      b[i] = b[kTokens + i];
    }
#pragma GCC unroll 8
    for (int i = kTaps - 1; i < kTokens + kTaps - 1; ++i)
      loadPair(rows[i] + at, a[i], b[i]);
  }

  HWY_INLINE V first(int i) const { return a[i]; }
  HWY_INLINE V second(int i) const { return b[i]; }
};

/// a of a pair of channels, not rounded, to planes to[t*pad], of groups of kTokens tokens. kTaps: k, or 0 where it is
/// not known and taps may be missing. Asks for what is `ahead` of them in the tokens' rows, in a pass that
/// leaves memory idle else.
template <int kTokens, int kTaps, typename T>
HWY_INLINE void convolvePair(const T *const *rows, int64_t c, int64_t ahead, const float *planes, int64_t pad,
                             int64_t k, int64_t firstTap, int64_t groups, float *to) {
  V biasA, biasB;
  loadPlane(planes + k * pad, biasA, biasB);
  if constexpr (kTaps > 0) {
    V weightA[kTaps], weightB[kTaps];
#pragma GCC unroll 4
    for (int j = 0; j < kTaps; ++j)
      loadPlane(planes + j * pad, weightA[j], weightB[j]);
    PairWindow<kTokens, kTaps> x(rows, c);
    for (int64_t group = 0; group < groups; ++group, rows += kTokens) {
      x.next(rows, c);
#pragma GCC unroll 4
      for (int t = 0; t < kTokens; ++t, to += pad) {
        V a = biasA, b = biasB;
        prefetchPair(rows[t + kTaps - 1] + c + ahead);
#pragma GCC unroll 4
        for (int j = 0; j < kTaps; ++j) {
          a = hn::MulAdd(weightA[j], x.first(t + j), a);
          b = hn::MulAdd(weightB[j], x.second(t + j), b);
        }
        storePlane(a, b, to);
      }
    }
    return;
  }
  for (int64_t group = 0; group < groups; ++group, rows += kTokens, to += kTokens * pad) {
    V a[kTokens], b[kTokens];
    std::fill_n(a, kTokens, biasA);
    std::fill_n(b, kTokens, biasB);
    for (int64_t j = firstTap; j < k; ++j) {
      V weightA, weightB;
      loadPlane(planes + j * pad, weightA, weightB);
#pragma GCC unroll 4
      for (int t = 0; t < kTokens; ++t) {
        V xA, xB;
        loadPair(rows[t + j] + c, xA, xB);
        a[t] = hn::MulAdd(weightA, xA, a[t]);
        b[t] = hn::MulAdd(weightB, xB, b[t]);
      }
    }
#pragma GCC unroll 4
    for (int t = 0; t < kTokens; ++t) {
      prefetchPair(rows[t + k - 1] + c + ahead);
      storePlane(a[t], b[t], to + t * pad);
    }
  }
}

/// a of a head to planes to[t*pad + c], 0 behind the last channel, of groups of kTokens tokens.
template <int kTokens, int kTaps, typename T>
HWY_NOINLINE void convolveTokens(const T *const *taps, int64_t ahead, const float *planes, int64_t width, int64_t pad,
                                 int64_t k, int64_t firstTap, int64_t groups, float *to) {
  int64_t c = 0;
  for (; c + kPair <= width; c += kPair)
    convolvePair<kTokens, kTaps>(taps, c, ahead, planes + c, pad, k, firstTap, groups, to + c);
  if (c < width) {
    const PairRows<T> last(taps, kTokens * groups + k - 1, c, width);
    convolvePair<kTokens, kTaps>(last.rows, 0, 0, planes + c, pad, k, firstTap, groups, to + c);
  }
}

/// Calls body(n, kTogether, groups) for tokens of a piece that have all their taps, and body(n, 1, 1) for the rest.
/// Inline: a copy of what `body` refers to would wait for all streaming stores that are under way, and stop their
/// overlap with arithmetic.
template <typename Args, typename Body>
HWY_INLINE void forTogether(const Args &a, const Piece &piece, Body body) {
  const int64_t last = piece.n + piece.count;
  for (int64_t n = piece.n; n < last;) {
    const int64_t groups = n - (a.k - 1) >= piece.begin ? (last - n) / kTogether : 0, tokens = groups ? kTogether : 1;
    body(n, tokens, std::max<int64_t>(groups, 1));
    n += tokens * std::max<int64_t>(groups, 1);
  }
}

/// a of a piece's head to planes, not rounded. Asks for what is `ahead` in its rows of x.
template <typename T, typename Args>
HWY_INLINE void convolveHead(const Args &args, const Piece &piece, int64_t head, const T *const *taps, int64_t ahead,
                             float *to) {
  const Heads &heads = args.heads;
  const int64_t k = args.k, width = heads.width(head), pad = heads.pad(head);
  const float *planes = args.planes + (k + 1) * heads.plane(head);
  forTogether(args, piece, [&](int64_t n, int64_t tokens, int64_t groups) {
    const int64_t t = n - piece.n;
    if (tokens == 1)
      convolveTokens<1, 0>(taps + t, ahead, planes, width, pad, k, firstTapOf(args, piece, n), groups, to + t * pad);
    else if (k == 4)
      convolveTokens<kTogether, 4>(taps + t, ahead, planes, width, pad, k, 0, groups, to + t * pad);
    else
      convolveTokens<kTogether, 0>(taps + t, ahead, planes, width, pad, k, 0, groups, to + t * pad);
  });
}

/// Copies elements as bits, and asks for those that are `ahead` of them.
template <bool kStream, typename T>
HWY_INLINE void copyBits(const T *from, int64_t count, int64_t ahead, T *to) {
  const hn::ScalableTag<uint8_t> d8;
  constexpr int64_t kBytes = hn::MaxLanes(d8);
  const uint8_t *source = reinterpret_cast<const uint8_t *>(from);
  uint8_t *target = reinterpret_cast<uint8_t *>(to);
  const int64_t bytes = count * sizeof(T);
  int64_t i = 0;
  for (; kStream && i + kBytes <= bytes; i += kBytes) {
    __builtin_prefetch(source + i + ahead * static_cast<int64_t>(sizeof(T)));
    hn::Stream(hn::LoadU(d8, source + i), d8, target + i);
  }
  if (i < bytes)
    std::memcpy(target + i, source + i, bytes - i);
}

/// log(1 + exp(p)), p where it is above the threshold.
HWY_INLINE V softplus(V p, V threshold) {
  const V tail = hn::Log1p(d, expOfNegative(hn::Neg(hn::Abs(p))));
  const V sum = hn::Add(hn::Max(p, hn::Zero(d)), tail);
  return keepNaN(p, hn::IfThenElse(hn::Gt(p, threshold), p, sum));
}

/// dt_bias, then -exp(A_log), padded and as f32.
template <typename Args>
HWY_INLINE void gatePlanes(const Args &args, float *gates) {
  const int64_t pad = Heads::padded(args.hv);
  std::fill_n(gates, 2 * pad, 0.0f);
  widenAny(args.dt_bias, args.dt_bias_type, 0, args.hv, gates);
  widenAny(args.A_log, args.A_log_type, 0, args.hv, gates + pad);
  for (int64_t h = 0; h < pad; h += kLanes)
    store(hn::Neg(expV(load(gates + pad + h))), gates + pad + h);
}

/// The weights of all heads and gates; those of the gates are behind the last head's.
template <typename T, typename Args>
HWY_INLINE void headPlanes(const Args &args, const Heads &heads, int64_t head, float *planes) {
  if (head < heads.count())
    weightPlanes<T>(args, heads, head, planes);
  else
    gatePlanes(args, planes + (args.k + 1) * heads.plane(head));
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_GATEDDELTA_INL_H
