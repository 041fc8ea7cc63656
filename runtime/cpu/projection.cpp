//===- projection.cpp - Streams times phi, and their mean square ----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   proj[m,j] = sum_k x[m,k] * phi[j,k] * norm_weight[k]
//   stat[m]   = (1/K) sum_k x[m,k]^2, or the multiplier s made of it; applied: proj is s * the sum, no stat
//
// Plan    phi * norm_weight is packed once per call. A thread owns 64 tokens (16 of f32 without AMX).
//         With AMX (ProjectionAmx-inl.h) phi is three bf16 terms, exactly, and 16 tokens meet 80 columns in matrix
//         tiles over 4096 elements of K; x is cut into bf16 terms and squared meanwhile. phi comes from the
//         second-level cache per 16 tokens and from the last-level cache per 64.
//         Without (ProjectionFma-inl.h) phi is f32, in chunks of 512 along K and panels of 6 outputs; per chunk and 4
//         tokens x is widened in the first-level cache, adding the squares, and 4 tokens by 6 outputs multiply in 24
//         registers with lanes along K.
// Bytes   per token n*C elements and 4*(N+1); for phi once per call 4*N*K, or 6*N*K as terms.
// Needs   nothing.
// Round   f32, in an order that only K decides. Bounds for the terms are in ProjectionAmx-inl.h.
// Result  docs/performance.md.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/projection.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Gates-inl.h"
#include "cpu/ProjectionAmx-inl.h"
#include "cpu/ProjectionFma-inl.h"
#include "cpu/Tiles-inl.h"

#include "src/Checks.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

void packChunkOf(const ProjectionCall &args, int64_t chunk, char *packed) {
  char *to = packed + chunk * args.chunkBytes();
  if (args.amx)
    packTiles(args, chunk, reinterpret_cast<uint16_t *>(to));
  else
    packChunk(args, chunk, reinterpret_cast<float *>(to));
}

template <typename T>
HWY_INLINE void projectTyped(const ProjectionCall &args, const char *packed, int64_t first, int64_t count,
                             const ProjectionScratch &scratch) {
  if (args.amx)
    projectByAmx<T>(args, packed, first, count, scratch);
  else
    projectByFma<T>(
        args,
        [&](int64_t chunk) HWY_ATTR { return reinterpret_cast<const float *>(packed + chunk * args.chunkBytes()); },
        first, count, scratch);
}

void projectTile(const ProjectionCall &args, const char *packed, int64_t first, int64_t count,
                 const ProjectionScratch &scratch) {
  if (args.type == MHCRT_F32)
    projectTyped<float>(args, packed, first, count, scratch);
  else if (args.type == MHCRT_BF16)
    projectTyped<Bf16>(args, packed, first, count, scratch);
  else
    projectTyped<F16>(args, packed, first, count, scratch);
}

void projectionTile(const ProjectionCall &call, const ProjectionArgs &args, const char *packed, int64_t first,
                    int64_t count, char *base) {
  const ProjectionScratch scratch(call, base);
  const NormOptions norm = normOf(args);
  projectTile(call, packed, first, count, scratch);
  if (args.stat_form != MHCRT_STAT_MEAN_SQUARE)
    for (int64_t t = 0; t < count; t += kLanes)
      store(normMultiplier(load(scratch.stat + t), norm), scratch.stat + t);
  float *proj = floats(args.proj) + first * args.N;
  for (int64_t t = 0; t < count; ++t) {
    const float s = args.stat_form == MHCRT_STAT_APPLIED ? scratch.stat[t] : 1.0f;
    for (int64_t j = 0; j < args.N; ++j)
      proj[t * args.N + j] = s * scratch.proj[t * args.N + j];
  }
  if (args.stat_form != MHCRT_STAT_APPLIED)
    std::memcpy(floats(args.stat) + first, scratch.stat, count * sizeof(float));
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(packChunkOf);
HWY_EXPORT(projectionTile);
} // namespace mhcrt

using namespace mhcrt;

void mhcrt::packPhi(const ProjectionCall &args, int64_t chunk, char *packed) {
  HWY_DYNAMIC_DISPATCH(packChunkOf)(args, chunk, packed);
}

mhcrt_status mhcrt::runProjection(mhcrt_context &context, const ProjectionArgs &a) {
  if (!checkProjection(context, a) || a.M == 0)
    return context.status;
  ProjectionCall call = projectionOf(a, a.N);
  call.plan(context.pool.threads(), amxFor(context.amx, a.x_type, a.precision));
  if (!context.reserveScratch("mhcrt_projection", call.packedBytes(), ProjectionScratch::bytes(call)))
    return context.status;

  forProjectionTiles(context, call, [&](const char *packed, int64_t first, int64_t count, char *scratch) {
    HWY_DYNAMIC_DISPATCH(projectionTile)(call, a, packed, first, count, scratch);
  });
  return MHCRT_OK;
}

MHCRT_ENTRY(projection, Projection)
#endif // HWY_ONCE
