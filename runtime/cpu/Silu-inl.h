//===- Silu-inl.h - x * sigmoid(x) of several vectors -----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As exact as the type that the result is stored in needs, and in few operations: they bound the front end of a gated
// delta net.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_SILU_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_SILU_INL_H
#undef MHCRT_CPU_SILU_INL_H
#else
#define MHCRT_CPU_SILU_INL_H
#endif

#include "cpu/Simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Whether SiLU is made for what is stored as bf16: its error is then less than 9.1e-5 of it, 1/43 of half a unit of
/// the 8 bits that are stored. 3e-5 come from the exponential and 6.1e-5 = 2^-14 from the reciprocal.
template <typename T>
constexpr bool kIsShort = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3 && std::is_same_v<T, Bf16>;

/// 1 / x of numbers from 1 to 2^126, in place.
template <typename T, int kCount>
HWY_INLINE void reciprocals(V (&x)[kCount]) {
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    // A step of Newton's doubles the 14 bits of the approximation. Makers of processors agree on its bits, but not on
    // those of AVX2's. Divisions take as long as all the rest.
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

/// Numbers from -87 to 87 to the nearest bf16, of two as near the even one; others stay. A number's 65535-fold has 24
/// bits down to the last one of the bf16, and its 65536-fold is exact and even there. Below 2^-126, where bf16 has
/// fewer, 8 bits stay.
HWY_INLINE V roundWhere(hn::Mask<D> yes, V v) {
  const V scale = hn::Set(d, 65536.0f), rest = hn::MulSub(v, scale, v);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return {_mm512_mask_fmsub_ps(v.raw, yes.raw, scale.raw, rest.raw)};
#else
  return hn::IfThenElse(yes, hn::MulSub(v, scale, rest), v);
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

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_SILU_INL_H
