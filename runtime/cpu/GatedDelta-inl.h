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

/// The nearest bf16 of what arithmetic made, in the high 16 bits of each lane; the low ones are of no meaning. Of two
/// that are as near, the larger one: the order of two exact halves is of the errors of what was rounded. A NaN stays
/// one if its low 16 bits are zero, as those are that operations on values of 16 bits make. Of the operands here only
/// weights of f32 may bring others.
HWY_INLINE hn::Vec<DU> roundQuiet(V v) { return hn::Add(hn::BitCast(du, v), hn::Set(du, 0x8000)); }

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

/// Whether SiLU is made for what is stored as bf16: its error is then less than 9.1e-5 of it, 1/43 of half a unit of
/// the 8 bits that are stored. 3e-5 come from the exponential and 6.1e-5 = 2^-14 from the reciprocal.
template <typename T>
constexpr bool kIsShort = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3 && std::is_same_v<T, Bf16>;

/// 1 / x of numbers from 1 to 2^126, in place.
template <typename T, int kCount>
HWY_INLINE void reciprocals(V (&x)[kCount]) {
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
    // A step of Newton's doubles the 12 bits or more of the approximation. Divisions take as long as all the rest.
    const V y = hn::ApproximateReciprocal(x[i]);
    x[i] = kIsShort<T> ? y : hn::Mul(y, hn::NegMulAdd(x[i], y, hn::Set(d, 2.0f)));
#else
    x[i] = hn::Div(hn::Set(d, 1.0f), x[i]);
#endif
  }
}

/// The larger one, or a NaN in `v`.
HWY_INLINE V atLeast(V least, V v) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Max(least, v); // the second operand where one is NaN
#else
  return hn::IfThenElse(hn::Lt(v, least), least, v);
#endif
}

// Masks of AVX-512 are operands of the multiply-add; a compiler makes two operations of a selection behind one.

/// x*y + z where `yes`, else z.
HWY_INLINE V addWhere(hn::Mask<D> yes, V x, V y, V z) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return {_mm512_mask3_fmadd_ps(x.raw, y.raw, z.raw, yes.raw)};
#else
  return hn::IfThenElse(yes, hn::MulAdd(x, y, z), z);
#endif
}

/// Numbers from -87 to 87 to the nearest bf16, of two as near the even one; others stay. Twice the number's 2^16 and it
/// have 24 bits down to the last one of the bf16, and the product is exact and even there. Below 2^-126, where
/// bf16 has fewer, 8 bits stay.
HWY_INLINE V roundWhere(hn::Mask<D> yes, V v) {
  const V scale = hn::Set(d, 65536.0f), sum = hn::MulAdd(v, scale, v);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return {_mm512_mask_fnmadd_ps(v.raw, yes.raw, scale.raw, sum.raw)};
#else
  return hn::IfThenElse(yes, hn::NegMulAdd(v, scale, sum), v);
#endif
}

// exp(-a) = 2^(n + f). magic<T>() is a number that rounds a sum with it to a multiple of 2^-k, which is n: its low
// bits.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// n counts sixteenths, or thirty-seconds where SiLU is short.
template <typename T>
constexpr float magic() {
  return kIsShort<T> ? 393216.0f : 786432.0f; // 1.5 * 2^18, 1.5 * 2^19
}

/// 2^n. A table has 2^(i/16) or 2^(i/32) less what the shift makes of i. The latter's are larger by the 2.9e-5 that
/// halve the error of smallPowers.
template <typename T>
HWY_INLINE V powerOfTwo(V whole) {
  alignas(64) static const uint32_t kSixteenths[16] = {
      0x3F800000, 0x3F7DAAC3, 0x3F7B95C2, 0x3F79C3D3, 0x3F7837F0, 0x3F76F532, 0x3F75FED7, 0x3F75583F,
      0x3F7504F3, 0x3F7508A4, 0x3F75672A, 0x3F76248C, 0x3F7744FD, 0x3F78CCDF, 0x3F7AC0C7, 0x3F7D257D};
  alignas(64) static const uint32_t kThirtySeconds[32] = {
      0x3F8000F6, 0x3F7ECE82, 0x3F7DABC4, 0x3F7C9915, 0x3F7B96CE, 0x3F7AA54C, 0x3F79C4EC, 0x3F78F60E,
      0x3F783915, 0x3F778E65, 0x3F76F664, 0x3F76717B, 0x3F760016, 0x3F75A2A1, 0x3F75598C, 0x3F75254A,
      0x3F75064F, 0x3F74FD13, 0x3F750A0F, 0x3F752DC0, 0x3F7568A5, 0x3F75BB41, 0x3F762618, 0x3F76A9B2,
      0x3F77469A, 0x3F77FD5E, 0x3F78CE8F, 0x3F79BAC0, 0x3F7AC28A, 0x3F7BE687, 0x3F7D2754, 0x3F7E8594};
  const auto n = hn::BitCast(du, whole);
  if constexpr (kIsShort<T>) {
    const auto low = hn::Load(du, kThirtySeconds), high = hn::Load(du, kThirtySeconds + kLanes);
    const hn::Vec<DU> step = {_mm512_permutex2var_epi32(low.raw, n.raw, high.raw)};
    return hn::BitCast(d, hn::Add(step, hn::ShiftLeft<18>(n)));
  } else {
    const hn::Vec<DU> step = {_mm512_permutexvar_epi32(n.raw, hn::Load(du, kSixteenths).raw)};
    return hn::BitCast(d, hn::Add(step, hn::ShiftLeft<19>(n)));
  }
}

/// 2^f of numbers up to 1/32; of those up to 1/64 less 2.9e-5, within 3e-5, where SiLU is short.
template <typename T, int kCount>
HWY_INLINE void smallPowers(const V (&f)[kCount], V (&power)[kCount]) {
  constexpr bool kIsExact = sizeof(T) == 4; // 16 bits need no better than 4e-7
  const V square = hn::Set(d, 2.40226507e-1f);
  const V linear = hn::Set(d, kIsExact ? 6.93147182e-1f : kIsShort<T> ? 6.93140388e-1f : 6.93187800e-1f);
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i)
    power[i] = kIsExact ? hn::MulAdd(f[i], hn::Set(d, 5.55041087e-2f), square) : square;
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i)
    power[i] = kIsShort<T> ? linear : hn::MulAdd(f[i], power[i], linear);
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i)
    power[i] = hn::MulAdd(f[i], power[i], hn::Set(d, 1.0f));
}
#else
template <typename T>
constexpr float magic() {
  return 12582912.0f + 127.0f; // 1.5 * 2^23 and the bias of exponents
}

template <typename T>
HWY_INLINE V powerOfTwo(V whole) {
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(du, whole)));
}

/// 2^f of numbers up to 1/2.
template <typename T, int kCount>
HWY_INLINE void smallPowers(const V (&f)[kCount], V (&power)[kCount]) {
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i)
    power[i] = hn::MulAdd(f[i], hn::Set(d, 1.33813021e-3f), hn::Set(d, 9.66636837e-3f));
  for (const float coefficient : {5.55038117e-2f, 2.40223497e-1f, 6.93147182e-1f, 1.0f})
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i)
      power[i] = hn::MulAdd(f[i], power[i], hn::Set(d, coefficient));
}
#endif

/// In place: a, which is rounded to T first, to u = a*s, s = sigmoid(a) = 1/(1 + e), e = exp(-a), to a few units in the
/// last place of f32 where T is f32. Below -87, where s is 1e-38 and less, a counts as -87; from 87 on e is 0. Step by
/// step for all vectors: one after the other, each would wait for its own steps.
template <typename T, int kCount>
HWY_INLINE void silu(V (&a)[kCount], V (&s)[kCount], V (&e)[kCount]) {
  const V least = hn::Set(d, -87.0f), most = hn::Set(d, 87.0f), one = hn::Set(d, 1.0f);
  const V log2e = hn::Set(d, -1.44269504f), rounder = hn::Set(d, magic<T>());
  V whole[kCount], f[kCount];
  hn::Mask<D> isLess[kCount]; // not where a is a NaN
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
    a[i] = atLeast(least, a[i]);
    isLess[i] = hn::Lt(a[i], most);
    if constexpr (std::is_same_v<T, Bf16>)
      a[i] = roundWhere(isLess[i], a[i]);
    else
      a[i] = rounded(a[i], static_cast<const T *>(nullptr));
  }
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i)
    whole[i] = hn::MulAdd(a[i], log2e, rounder);
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i)
    f[i] = hn::MulSub(a[i], log2e, hn::Sub(whole[i], rounder));
  smallPowers<T>(f, s);
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
    const V scale = powerOfTwo<T>(whole[i]);
    e[i] = hn::IfThenElseZero(isLess[i], hn::Mul(s[i], scale));
    s[i] = addWhere(isLess[i], s[i], scale, one);
  }
  reciprocals<T>(s);
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i)
    a[i] = hn::Mul(a[i], s[i]);
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
/// not known and taps may be missing. Asks for what is `ahead` of them in the tokens' rows: no other pass is as short
/// of memory's work.
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
