//===- Planes-inl.h - One token's streams as planes of f32 ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of channels of one token in either layout, to and from planes[i][c] in the first-level cache. The general
// path of the elementwise kernels: they then see one layout and one element type.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_PLANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_PLANES_INL_H
#undef MHCRT_CPU_PLANES_INL_H
#else
#define MHCRT_CPU_PLANES_INL_H
#endif

#include "cpu/Simd-inl.h"
#include "cpu/StreamPlaces.h"
#include "mhcrt/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Channels of one block, and the distance between planes.
constexpr int kBlock = 256;
static_assert(kBlock % kLanes == 0, "a block is whole vectors");

/// Room for 16 streams.
struct Planes {
  HWY_ALIGN float values[16 * kBlock];
  float *operator[](int64_t i) { return values + i * kBlock; }
};

/// planes[i][c] = flat[c*n + i]. Whole vectors for 2 and 4 streams: writes up to a vector behind `count`, within the
/// block, and reads as far behind count*n, so flat has room for kBlock*n.
HWY_INLINE void deinterleave(const float *flat, int64_t n, int64_t count, Planes &planes) {
  if (n == 4) {
    for (int64_t c = 0; c < count; c += kLanes) {
      V a, b, e, f;
      hn::LoadInterleaved4(d, flat + c * 4, a, b, e, f);
      store(a, planes[0] + c);
      store(b, planes[1] + c);
      store(e, planes[2] + c);
      store(f, planes[3] + c);
    }
  } else if (n == 2) {
    for (int64_t c = 0; c < count; c += kLanes) {
      V a, b;
      hn::LoadInterleaved2(d, flat + c * 2, a, b);
      store(a, planes[0] + c);
      store(b, planes[1] + c);
    }
  } else {
    for (int64_t c = 0; c < count; ++c)
      for (int64_t i = 0; i < n; ++i)
        planes[i][c] = flat[c * n + i];
  }
}

HWY_INLINE void interleave(Planes &planes, int64_t n, int64_t count, float *flat) {
  if (n == 4) {
    for (int64_t c = 0; c < count; c += kLanes)
      hn::StoreInterleaved4(load(planes[0] + c), load(planes[1] + c), load(planes[2] + c), load(planes[3] + c), d,
                            flat + c * 4);
  } else if (n == 2) {
    for (int64_t c = 0; c < count; c += kLanes)
      hn::StoreInterleaved2(load(planes[0] + c), load(planes[1] + c), d, flat + c * 2);
  } else {
    for (int64_t c = 0; c < count; ++c)
      for (int64_t i = 0; i < n; ++i)
        flat[c * n + i] = planes[i][c];
  }
}

/// Channels [first, first+count) of one token to planes.
template <typename T>
HWY_INLINE void loadPlanes(const T *token, const StreamPlaces &places, int64_t n, int64_t first, int64_t count,
                           Planes &planes) {
  if (places.layout == MHCRT_LAYOUT_NC) {
    for (int64_t i = 0; i < n; ++i)
      widen(token + i * places.stream + first, count, planes[i]);
    return;
  }
  Planes flat;
  widen(token + first * n, count * n, flat.values);
  deinterleave(flat.values, n, count, planes);
}

template <typename T>
HWY_INLINE void loadPlanes(const T *token, int32_t layout, int64_t n, int64_t C, int64_t first, int64_t count,
                           Planes &planes) {
  loadPlanes(token, StreamPlaces(layout, n, C, /*equal=*/false), n, first, count, planes);
}

template <typename T>
HWY_INLINE void storePlanes(Planes &planes, int32_t layout, int64_t n, int64_t C, int64_t first, int64_t count,
                            T *token) {
  if (layout == MHCRT_LAYOUT_NC) {
    for (int64_t i = 0; i < n; ++i)
      narrow(planes[i], count, token + i * C + first);
    return;
  }
  Planes flat;
  interleave(planes, n, count, flat.values);
  narrow(flat.values, count * n, token + first * n);
}

/// The same with a run-time dtype, for token `m` of a tensor.
HWY_INLINE void loadPlanesAny(const void *streams, int32_t type, int64_t m, const StreamPlaces &places, int64_t n,
                              int64_t first, int64_t count, Planes &planes) {
  if (type == MHCRT_F32)
    loadPlanes(static_cast<const float *>(streams) + m * places.token, places, n, first, count, planes);
  else if (type == MHCRT_BF16)
    loadPlanes(static_cast<const Bf16 *>(streams) + m * places.token, places, n, first, count, planes);
  else
    loadPlanes(static_cast<const F16 *>(streams) + m * places.token, places, n, first, count, planes);
}
HWY_INLINE void loadPlanesAny(const void *streams, int32_t type, int64_t m, int32_t layout, int64_t n, int64_t C,
                              int64_t first, int64_t count, Planes &planes) {
  loadPlanesAny(streams, type, m, StreamPlaces(layout, n, C, /*equal=*/false), n, first, count, planes);
}

HWY_INLINE void storePlanesAny(Planes &planes, int32_t type, int64_t m, int32_t layout, int64_t n, int64_t C,
                               int64_t first, int64_t count, void *streams) {
  if (type == MHCRT_F32)
    storePlanes(planes, layout, n, C, first, count, static_cast<float *>(streams) + m * n * C);
  else if (type == MHCRT_BF16)
    storePlanes(planes, layout, n, C, first, count, static_cast<Bf16 *>(streams) + m * n * C);
  else
    storePlanes(planes, layout, n, C, first, count, static_cast<F16 *>(streams) + m * n * C);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_PLANES_INL_H
