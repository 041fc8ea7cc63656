//===- Simd-inl.h - Vectors of f32 over any storage type --------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads widen to f32, stores round once, to nearest even. Compiled once per instruction set (Highway's foreach_target),
// hence the toggling guard.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_SIMD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_SIMD_INL_H
#undef MHCRT_CPU_SIMD_INL_H
#else
#define MHCRT_CPU_SIMD_INL_H
#endif

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "mhcrt/mhcrt.h"

#include <cstring>
#include <type_traits>

// Highway emulates conversions to f16 by truncation where the instruction set has none.
#undef MHCRT_HAS_F16C
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_ARCH_ARM
#define MHCRT_HAS_F16C 1
#else
#define MHCRT_HAS_F16C 0
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using DU = hn::RebindToUnsigned<D>;
using D16 = hn::Rebind<uint16_t, D>;
constexpr D d;
constexpr DU du;
constexpr D16 d16;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));

using Bf16 = hwy::bfloat16_t;
using F16 = hwy::float16_t;

HWY_INLINE V load(const float *from) { return hn::LoadU(d, from); }

HWY_INLINE V load(const Bf16 *from) {
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(d16, reinterpret_cast<const uint16_t *>(from)))));
}

HWY_INLINE V load(const F16 *from) {
#if MHCRT_HAS_F16C
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<F16, D>(), from));
#else
  const auto half = hn::PromoteTo(du, hn::LoadU(d16, reinterpret_cast<const uint16_t *>(from)));
  const auto sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(du, 0x8000)));
  const auto magnitude = hn::And(half, hn::Set(du, 0x7FFF));
  const auto shifted = hn::ShiftLeft<13>(magnitude);
  // Exponents are 112 apart; that of infinity and NaN moves to the top of the f32 range.
  const auto rebias = hn::Set(du, 112u << 23);
  const auto normal = hn::Add(shifted, rebias);
  const auto special = hn::Add(normal, rebias);
  // A subnormal is its mantissa in units of 2^-24: put it below a leading 1 and subtract that.
  const auto one = hn::Set(du, 113u << 23);
  const auto tiny = hn::BitCast(du, hn::Sub(hn::BitCast(d, hn::Add(shifted, one)), hn::BitCast(d, one)));
  auto bits = hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, 0x7BFF)), special, normal);
  bits = hn::IfThenElse(hn::Lt(magnitude, hn::Set(du, 0x400)), tiny, bits);
  return hn::BitCast(d, hn::Or(bits, sign));
#endif
}

/// The nearest bf16 of each lane in its high 16 bits; the low ones are of no meaning.
HWY_INLINE hn::Vec<DU> roundBf16(V v) {
  const auto bits = hn::BitCast(du, v);
  // Half a unit of the last place; ties go to even.
  const auto half = hn::IfThenElse(hn::TestBit(bits, hn::Set(du, 0x10000)), hn::Set(du, 0x8000), hn::Set(du, 0x7FFF));
  const auto rounded = hn::Add(bits, half);
  // The addition could carry a NaN into infinity; setting its quiet bit keeps it NaN.
  const auto quiet = hn::Or(bits, hn::Set(du, 0x400000));
  return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), quiet, rounded);
}

/// The 16 bits of each lane as bf16 or f16, selected by the type of the pointer.
HWY_INLINE hn::Vec<D16> round16(V v, const Bf16 *) { return hn::TruncateTo(d16, hn::ShiftRight<16>(roundBf16(v))); }

HWY_INLINE hn::Vec<D16> round16(V v, const F16 *) {
#if MHCRT_HAS_F16C
  return hn::BitCast(d16, hn::DemoteTo(hn::Rebind<F16, D>(), v));
#else
  const auto bits = hn::BitCast(du, v);
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7FFFFFFF));
  const auto sign = hn::ShiftRight<16>(hn::Xor(bits, magnitude));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1));
  auto half = hn::ShiftRight<13>(hn::Add(magnitude, hn::Add(odd, hn::Set(du, 0xFFF))));
  half = hn::Min(hn::Sub(half, hn::Set(du, 112u << 10)), hn::Set(du, 0x7C00));
  // Below 2^-14 the result counts units of 2^-24, which is the last place of 0.5: the addition rounds to it.
  const auto unit = hn::Set(d, 0.5f);
  const auto tiny = hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(d, magnitude), unit)), hn::BitCast(du, unit));
  half = hn::IfThenElse(hn::Lt(magnitude, hn::Set(du, 0x38800000)), tiny, half);
  half = hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, 0x7F800000)), hn::Set(du, 0x7E00), half);
  return hn::TruncateTo(d16, hn::Or(half, sign));
#endif
}

/// The value that a store through a pointer of this type and a load would give.
HWY_INLINE V rounded(V v, const float *) { return v; }
HWY_INLINE V rounded(V v, const Bf16 *) { return hn::BitCast(d, hn::And(roundBf16(v), hn::Set(du, 0xFFFF0000u))); }
HWY_INLINE V rounded(V v, const F16 *type) {
  HWY_ALIGN F16 buffer[kLanes];
  hn::StoreU(round16(v, type), d16, reinterpret_cast<uint16_t *>(buffer));
  return load(buffer);
}

HWY_INLINE void store(V v, float *to) { hn::StoreU(v, d, to); }

template <typename T>
HWY_INLINE void store(V v, T *to) {
  hn::StoreU(round16(v, to), d16, reinterpret_cast<uint16_t *>(to));
}

// Pairs: two vectors of 2 * kLanes neighbouring elements. Which lane holds which element is the type's own affair, the
// same for loads and stores: bf16 puts the even elements in `a` and the odd ones in `b`, at one operation a vector
// where the natural order takes a shuffle more. kStream: past the caches, then `to` must be aligned to both vectors,
// and hwy::FlushStream must follow before another thread may read. A streaming store should fill a whole cache line:
// parts of lines cost a memory transaction each.

template <typename T>
HWY_INLINE void loadPair(const T *from, V &a, V &b) {
  a = load(from);
  b = load(from + kLanes);
}

#if HWY_TARGET == HWY_SCALAR
template <typename T, typename From>
HWY_INLINE void loadPairAs(const From *from, V &a, V &b) {
  loadPair(from, a, b);
}

template <bool kStream, typename T>
HWY_INLINE void storePair(V a, V b, T *to) {
  store(a, to);
  store(b, to + kLanes);
}

template <bool kStream, typename T, typename To>
HWY_INLINE void storePairAs(V a, V b, To *to) {
  storePair<kStream>(a, b, to);
}
#else
using D16Pair = hn::Repartition<uint16_t, D>;
constexpr D16Pair d16Pair;

HWY_INLINE void loadPair(const Bf16 *from, V &a, V &b) {
  const auto both = hn::BitCast(du, hn::LoadU(d16Pair, reinterpret_cast<const uint16_t *>(from)));
  a = hn::BitCast(d, hn::ShiftLeft<16>(both));
  b = hn::BitCast(d, hn::And(both, hn::Set(du, 0xFFFF0000u)));
}

/// A pair in T's order from elements of T or of f32.
template <typename T, typename From>
HWY_INLINE void loadPairAs(const From *from, V &a, V &b) {
  if constexpr (std::is_same_v<T, Bf16> && std::is_same_v<From, float>)
    hn::LoadInterleaved2(d, from, a, b);
  else
    loadPair(from, a, b);
}

template <bool kStream>
HWY_INLINE void storePair(V a, V b, float *to) {
  if (kStream) {
    hn::Stream(a, d, to);
    hn::Stream(b, d, to + kLanes);
    return;
  }
  store(a, to);
  store(b, to + kLanes);
}

template <bool kStream, typename T>
HWY_INLINE void storePair(V a, V b, T *to) {
  hn::Vec<D16Pair> both;
  if constexpr (std::is_same_v<T, Bf16>)
    both = hn::OddEven(hn::BitCast(d16Pair, roundBf16(b)), hn::BitCast(d16Pair, hn::ShiftRight<16>(roundBf16(a))));
  else
    both = hn::Combine(d16Pair, round16(b, to), round16(a, to));
  if (kStream)
    hn::Stream(both, d16Pair, reinterpret_cast<uint16_t *>(to));
  else
    hn::StoreU(both, d16Pair, reinterpret_cast<uint16_t *>(to));
}

/// A pair in T's order to elements of T or of f32; only T's own may bypass the caches.
template <bool kStream, typename T, typename To>
HWY_INLINE void storePairAs(V a, V b, To *to) {
  if constexpr (std::is_same_v<T, Bf16> && std::is_same_v<To, float>)
    hn::StoreInterleaved2(a, b, d, to);
  else if constexpr (std::is_same_v<T, float> && sizeof(To) == 2) {
    const auto both = hn::Combine(d16Pair, round16(b, to), round16(a, to));
    if (kStream)
      hn::Stream(both, d16Pair, reinterpret_cast<uint16_t *>(to));
    else
      hn::StoreU(both, d16Pair, reinterpret_cast<uint16_t *>(to));
  } else
    storePair<kStream && std::is_same_v<T, To>>(a, b, to);
}
#endif

/// Asks for a pair's worth of elements.
template <typename T>
HWY_INLINE void prefetchPair(const T *at) {
  __builtin_prefetch(at);
  if (sizeof(T) == 4)
    __builtin_prefetch(at + kLanes);
}

/// Rows up to this size are asked for a token ahead; of longer ones, the piece this far ahead of the loads.
constexpr int64_t kShortRowBytes = 4096;
constexpr int64_t kAheadBytes = 2048;

/// Asks for a pair's worth of a row of `count` elements ahead of c; past its end, of the same row of the next token,
/// `token` elements behind. One core gets more from memory this way than from its prefetchers alone, which start anew
/// with every row and every page.
template <typename T>
HWY_INLINE void prefetchRow(const T *row, int64_t c, int64_t count, int64_t token) {
  constexpr int64_t kSize = sizeof(T);
  const int64_t distance = count * kSize <= kShortRowBytes ? count : kAheadBytes / kSize;
  const T *at = row + (c + distance < count ? c + distance : c + distance - count + token);
  prefetchPair(at);
}

/// The first `count` elements, fewer than kLanes, and zeros. Reads nothing behind them.
template <typename T>
HWY_INLINE V loadPartial(const T *from, int64_t count) {
  HWY_ALIGN T buffer[kLanes] = {};
  std::memcpy(buffer, from, count * sizeof(T));
  return load(buffer);
}

template <typename T>
HWY_INLINE void storePartial(V v, T *to, int64_t count) {
  HWY_ALIGN T buffer[kLanes];
  store(v, buffer);
  std::memcpy(to, buffer, count * sizeof(T));
}

/// A vector, or its first `count` elements.
template <typename T>
HWY_INLINE V loadSome(const T *from, int64_t count) {
  return count >= kLanes ? load(from) : loadPartial(from, count);
}

template <typename T>
HWY_INLINE void storeSome(V v, T *to, int64_t count) {
  if (count >= kLanes)
    store(v, to);
  else
    storePartial(v, to, count);
}

HWY_INLINE float sumLanes(V v) { return hn::GetLane(hn::SumOfLanes(d, v)); }

/// Contiguous elements to f32.
template <typename T>
HWY_INLINE void widen(const T *from, int64_t count, float *to) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    store(load(from + i), to + i);
  if (i < count)
    storePartial(loadPartial(from + i, count - i), to + i, count - i);
}

template <typename T>
HWY_INLINE void narrow(const float *from, int64_t count, T *to) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    store(load(from + i), to + i);
  if (i < count)
    storePartial(loadPartial(from + i, count - i), to + i, count - i);
}

/// `count` elements of a tensor with a run-time dtype, from element `offset`.
HWY_INLINE void widenAny(const void *from, int32_t type, int64_t offset, int64_t count, float *to) {
  if (type == MHCRT_F32)
    widen(static_cast<const float *>(from) + offset, count, to);
  else if (type == MHCRT_BF16)
    widen(static_cast<const Bf16 *>(from) + offset, count, to);
  else
    widen(static_cast<const F16 *>(from) + offset, count, to);
}

HWY_INLINE void narrowAny(const float *from, int64_t count, void *to, int32_t type, int64_t offset) {
  if (type == MHCRT_F32)
    narrow(from, count, static_cast<float *>(to) + offset);
  else if (type == MHCRT_BF16)
    narrow(from, count, static_cast<Bf16 *>(to) + offset);
  else
    narrow(from, count, static_cast<F16 *>(to) + offset);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_SIMD_INL_H
