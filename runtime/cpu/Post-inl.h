//===- Post-inl.h - Streams of one token after a sublayer -------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// out[o] = drop(h_post[o] * (f + bias)) + sum_i mix[o,i] * x[i], shared by post and rebuild, so that the two agree bit
// for bit.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_POST_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_POST_INL_H
#undef MHCRT_CPU_POST_INL_H
#else
#define MHCRT_CPU_POST_INL_H
#endif

#include "cpu/Dropout-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// f + bias of one vector, `count` of its lanes. The bias is null, or f32, or of f's type.
template <typename T>
HWY_INLINE V loadBranch(const T *f, const void *bias, int32_t biasType, int64_t c, int64_t count) {
  const V branch = loadSome(f + c, count);
  if (!bias)
    return branch;
  if (biasType == MHCRT_F32)
    return hn::Add(branch, loadSome(static_cast<const float *>(bias) + c, count));
  return hn::Add(branch, loadSome(static_cast<const T *>(bias) + c, count));
}

/// The same of a pair of vectors.
template <typename T>
HWY_INLINE void loadBranch(const T *f, const void *bias, int32_t biasType, int64_t c, V &a, V &b) {
  loadPair(f + c, a, b);
  if (!bias)
    return;
  V biasA, biasB;
  if (biasType == MHCRT_F32)
    loadPairAs<T>(static_cast<const float *>(bias) + c, biasA, biasB);
  else
    loadPair(static_cast<const T *>(bias) + c, biasA, biasB);
  a = hn::Add(a, biasA);
  b = hn::Add(b, biasB);
}

/// h_res of one token with the output stream as its first index.
HWY_INLINE void outputFirst(const float *hRes, int64_t n, int32_t orient, float *mix) {
  for (int64_t o = 0; o < n; ++o)
    for (int64_t i = 0; i < n; ++i)
      mix[o * n + i] = orient == MHCRT_ORIENT_OI ? hRes[o * n + i] : hRes[i * n + o];
}

HWY_INLINE void mixFour(const float *hPost, const float *mix, V branch, const V (&in)[4], V (&sums)[4]) {
  for (int o = 0; o < 4; ++o) {
    sums[o] = hn::Mul(hn::Set(d, hPost[o]), branch);
    for (int i = 0; i < 4; ++i)
      sums[o] = hn::MulAdd(hn::Set(d, mix[o * 4 + i]), in[i], sums[o]);
  }
}

/// Channels [first, first+blockCount) of any number of streams. `factors` are those of the dropout, or null.
template <typename T>
HWY_INLINE void mixBlock(const T *f, const void *bias, int32_t biasType, const float *hPost, const float *mix,
                         int64_t n, int64_t first, int64_t blockCount, Planes &in, Planes *factors, Planes &sums) {
  for (int64_t k = 0; k < blockCount; k += kLanes) {
    const V branch = loadBranch(f, bias, biasType, first + k, HWY_MIN(kLanes, blockCount - k));
    for (int64_t o = 0; o < n; ++o) {
      V sum = hn::Mul(hn::Set(d, hPost[o]), branch);
      if (factors)
        sum = drop(sum, load((*factors)[o] + k));
      for (int64_t i = 0; i < n; ++i)
        sum = hn::MulAdd(hn::Set(d, mix[o * n + i]), load(in[i] + k), sum);
      store(sum, sums[o] + k);
    }
  }
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_POST_INL_H
