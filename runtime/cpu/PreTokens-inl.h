//===- PreTokens-inl.h - Tiles of tokens of pre -----------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by pre and post_pre, so that the two agree bit for bit.
//
//===------------------------------------------------------------------------===//
#if defined(MHCRT_CPU_PRE_TOKENS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MHCRT_CPU_PRE_TOKENS_INL_H
#undef MHCRT_CPU_PRE_TOKENS_INL_H
#else
#define MHCRT_CPU_PRE_TOKENS_INL_H
#endif

#include "cpu/Aggregate-inl.h"
#include "cpu/Permutation-inl.h"
#include "cpu/Pre.h"
#include "cpu/Projection-inl.h"
#include "cpu/Sinkhorn-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Tokens t .. t+count-1 of the tile that starts at `first`, one per lane.
HWY_INLINE void coefficients(const PreCall &args, int64_t first, int64_t t, int64_t count,
                             const ProjectionScratch &scratch) {
  const int64_t n = args.n, N = args.projection.N, R = N - 2 * n, m = first + t;
  float *hPre = scratch.planes, *hPost = hPre + n * kLanes, *logits = hPost + n * kLanes, *mix = logits;
  rowsToPlanes(scratch.proj + t * N, N, count, N, hPre);
  const V multiplier = normMultiplier(load(scratch.stat + t), normOf(args));
  gateAll(hPre, multiplier, n, N, gatesOf(args));
  roundPlanes(hPre, n, args.h_pre_format);
  roundPlanes(hPost, n, args.h_post_format);

  HWY_ALIGN float permutationMix[256 * kLanes];
  if (args.res_map == MHCRT_RES_MAP_SINKHORN) {
    SinkhornOptions options = sinkhornOf(args);
    options.format = args.sk_format;
    sinkhornPlanes(mix, n, options);
  } else if (args.res_map == MHCRT_RES_MAP_PERMUTATION) {
    mix = permutationMix;
    permutationPlanes(logits, R, n, mix);
  }
  if (args.fold_pre)
    for (int64_t o = 0; o < n; ++o)
      for (int64_t i = 0; i < n; ++i) {
        float *cell = mix + (o * n + i) * kLanes;
        store(hn::NegMulAdd(load(hPost + o * kLanes), load(hPre + i * kLanes), load(cell)), cell);
      }
  roundPlanes(mix, n * n, args.h_res_format);
  planesToRows(hPre, count, n, args.hPre + m * n);
  planesToRows(hPost, count, n, floats(args.h_post) + m * n);
  planesToRows(mix, count, n * n, floats(args.h_res) + m * n * n);
  if (args.proj)
    std::memcpy(floats(args.proj) + m * N, scratch.proj + t * N, count * N * sizeof(float));
  if (args.stat)
    storeSome(multiplier, floats(args.stat) + m, count);
}

/// Tokens [first, first+count), whose streams are at `x`.
template <typename T>
void preTyped(const PreCall &args, const char *packed, int64_t first, int64_t count, char *base, const T *x) {
  const ProjectionScratch scratch(args.projection, base);
  ProjectionCall tile = args.projection;
  tile.x = x;
  projectTile<T>(tile, packed, 0, count, scratch);
  for (int64_t t = 0; t < count; t += kLanes)
    coefficients(args, first, t, HWY_MIN(kLanes, count - t), scratch);
  const float *weights = args.h_in ? floats(args.h_in) : args.hPre;
  for (int64_t m = first; args.u && m < first + count; ++m)
    aggregateToken(x + (m - first) * args.projection.K, weights + m * args.n, args.n, args.C, args.layout,
                   static_cast<T *>(args.u) + m * args.C, args.bypasses);
  if (args.bypasses)
    hwy::FlushStream();
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#endif // MHCRT_CPU_PRE_TOKENS_INL_H
