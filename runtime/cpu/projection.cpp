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
#include "cpu/Projection-inl.h"

#ifndef MHCRT_CPU_PROJECTION_OUTPUTS
#define MHCRT_CPU_PROJECTION_OUTPUTS
namespace mhcrt {
struct ProjectionOutputs {
  float *proj, *stat;
  int32_t statForm;
  NormOptions norm;
};
} // namespace mhcrt
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

void projectionPack(const ProjectionCall &args, int64_t chunk, char *packed) { packPhi(args, chunk, packed); }

void projectionTile(const ProjectionCall &args, const ProjectionOutputs &outputs, const char *packed, int64_t first,
                    int64_t count, char *base) {
  const ProjectionScratch scratch(args, base);
  if (args.type == MHCRT_F32)
    projectTile<float>(args, packed, first, count, scratch);
  else if (args.type == MHCRT_BF16)
    projectTile<Bf16>(args, packed, first, count, scratch);
  else
    projectTile<F16>(args, packed, first, count, scratch);

  if (outputs.statForm != MHCRT_STAT_MEAN_SQUARE)
    for (int64_t t = 0; t < count; t += kLanes)
      store(normMultiplier(load(scratch.stat + t), outputs.norm), scratch.stat + t);
  float *proj = outputs.proj + first * args.N;
  for (int64_t t = 0; t < count; ++t) {
    const float s = outputs.statForm == MHCRT_STAT_APPLIED ? scratch.stat[t] : 1.0f;
    for (int64_t j = 0; j < args.N; ++j)
      proj[t * args.N + j] = s * scratch.proj[t * args.N + j];
  }
  if (outputs.statForm != MHCRT_STAT_APPLIED)
    std::memcpy(outputs.stat + first, scratch.stat, count * sizeof(float));
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(projectionPack);
HWY_EXPORT(projectionTile);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt_projection(mhcrt_context *ctx, const void *x, int32_t x_type, const void *phi, int32_t phi_type,
                              const void *norm_weight, int32_t norm_weight_type, void *proj, int32_t proj_type,
                              void *stat, int32_t stat_type, int64_t M, int64_t n, int64_t C, int64_t N, int64_t K,
                              int32_t layout, int32_t phi_layout, int32_t norm, double norm_eps, int32_t stat_form,
                              int32_t precision) {
  ProjectionCall args = {x, x_type,     phi, phi_type, norm_weight, norm_weight_type, M, K,
                         N, phi_layout, 0,   0,        0,           nullptr};
  KernelCall call(ctx, "mhcrt_projection");
  checkProjection(call, args, n, C, layout, norm, norm_eps, precision);
  call.tensor("proj", proj, proj_type, kF32, M).attribute("stat_form", stat_form, 3);
  if (stat_form == MHCRT_STAT_APPLIED)
    call.absent("stat", stat_type, "stat_form applied");
  else
    call.tensor("stat", stat, stat_type, kF32, M);
  if (!call.begin() || M == 0)
    return call.status();
  args.plan(mhcrt_context_threads(ctx), amxFor(ctx->amx, x_type, precision));
  if (!ctx->reserveScratch("mhcrt_projection", args.packedBytes(), ProjectionScratch::bytes(args)))
    return call.status();

  char *packed = ctx->sharedScratch();
  ctx->parallelFor(args.chunks, [&](int64_t chunk, int) { HWY_DYNAMIC_DISPATCH(projectionPack)(args, chunk, packed); });
  const ProjectionOutputs outputs = {
      static_cast<float *>(proj), static_cast<float *>(stat), stat_form, {norm, static_cast<float>(norm_eps)}};
  ctx->parallelFor(divideUp(M, args.tile), [&](int64_t tile, int thread) {
    const int64_t first = tile * args.tile;
    HWY_DYNAMIC_DISPATCH(projectionTile)
    (args, outputs, packed, first, std::min(args.tile, M - first), ctx->threadScratch(thread));
  });
  return MHCRT_OK;
}
#endif // HWY_ONCE
