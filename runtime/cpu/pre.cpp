//===- pre.cpp - Coefficients and layer input in one pass -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   P = x phi^T, s = 1/rms(x)          h_pre, h_post, z = gates(s * P)
//   h_res = residual map of z          u[m,c] = sum_i h_pre[m,i] * x[m,i,c], or by h_in in place of h_pre
//
// Plan    projection.cpp's; then the coefficients of the tile with one token per lane, then
//         aggregate.cpp's loop over the same tokens, whose x is still in the caches that their size allows.
//         Equal streams are made of their row in a tile's scratch memory.
// Bytes   per token (n+1)*C elements, 2*C where the streams are equal, and 4*(2n + n*n), 4*(N+1) more for proj and
//         stat; 4*N*K for phi once per call.
// Needs   nothing.
// Round   coefficients in f32, in registers to their formats; u rounded once. The same bits as the four kernels one
//         after the other.
// Result  docs/performance.md.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pre.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Aggregate-inl.h"
#include "cpu/Permutation-inl.h"
#include "cpu/Tiles-inl.h"

#include "cpu/Parts.h"
#include "src/Checks.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Tokens t .. t+count-1 of the tile that starts at `first`, one per lane.
static void coefficients(const PreCall &args, int64_t first, int64_t t, int64_t count,
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

template <typename T>
HWY_INLINE void aggregateTile(const PreCall &args, int64_t first, int64_t count, const void *x) {
  const float *weights = args.h_in ? floats(args.h_in) : args.hPre;
  for (int64_t m = first; m < first + count; ++m)
    aggregateToken(static_cast<const T *>(x) + (m - first) * args.K, weights + m * args.n, args.n, args.C, args.layout,
                   static_cast<T *>(args.u) + m * args.C, args.bypasses);
  if (args.bypasses)
    hwy::FlushStream();
}

void preTile(const PreCall &args, const char *packed, int64_t first, int64_t count, char *base, const void *x) {
  const ProjectionScratch scratch(args.projection, base);
  ProjectionCall tile = args.projection;
  tile.x = x;
  projectTile(tile, packed, 0, count, scratch);
  for (int64_t t = 0; t < count; t += kLanes)
    coefficients(args, first, t, HWY_MIN(kLanes, count - t), scratch);
  if (!args.u)
    return;
  if (args.x_type == MHCRT_F32)
    aggregateTile<float>(args, first, count, x);
  else if (args.x_type == MHCRT_BF16)
    aggregateTile<Bf16>(args, first, count, x);
  else
    aggregateTile<F16>(args, first, count, x);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(preTile);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runPre(mhcrt_context &context, const PreArgs &a) {
  if (!checkPre(context, a) || a.M == 0)
    return context.status;
  PreCall args(context, a);
  const int64_t tokenBytes = a.K * mhcrt_dtype_bytes(a.x_type);
  if (a.equal_x)
    args.projection.limitTile(kTileOfStreams / tokenBytes);
  const int64_t streamsAt = roundUp(ProjectionScratch::bytes(args.projection), kAlignment);
  const int64_t streamBytes = a.equal_x ? kAlignment + args.projection.tile * tokenBytes : 0;
  if (!args.reserve(context, "mhcrt_pre", streamBytes))
    return context.status;
  const ExpandArgs expand = {a.x, a.x_type, nullptr, a.x_type, a.M, a.C, a.n, a.layout};
  forProjectionTiles(context, args.projection, [&](const char *packed, int64_t first, int64_t count, char *scratch) {
    const char *x = static_cast<const char *>(a.x) + first * tokenBytes;
    if (a.equal_x) {
      expandTokens(expand, first, count, scratch + streamsAt);
      x = scratch + streamsAt;
    }
    HWY_DYNAMIC_DISPATCH(preTile)(args, packed, first, count, scratch, x);
  });
  return MHCRT_OK;
}

MHCRT_ENTRY(pre, Pre)
#endif // HWY_ONCE
