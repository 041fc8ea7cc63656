//===- head.cpp - Learned contraction -------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   h_pre[m,j] = sigmoid(alpha * s[m] * (x[m] . phi[j]) + beta[j]) + pre_eps,   out[m,c] = sum_j h_pre[m,j] x[m,j,c]
//
// Plan    That of pre with n columns instead of 2n + n*n, and no residual map.
// Bytes   per token (n+1)*C elements; phi once.
// Needs   nothing.
// Round   f32 sums, one rounding of out.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/head.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Aggregate-inl.h"
#include "cpu/Gates-inl.h"
#include "cpu/Projection-inl.h"

#include "cpu/Tokens.h"

#ifndef MHCRT_CPU_HEAD_CALL
#define MHCRT_CPU_HEAD_CALL
namespace mhcrt {
struct HeadCall {
  ProjectionCall projection;
  void *out;
  float *hPre;
  float *proj, *stat; ///< null when they are not wanted
  int64_t C;
  int32_t layout;
  NormOptions norm;
  GateOptions gates;
  bool stream;
};
} // namespace mhcrt
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

void headPack(const ProjectionCall &args, int64_t chunk, char *packed) { packPhi(args, chunk, packed); }

template <typename T>
void headTyped(const HeadCall &args, const char *packed, int64_t first, int64_t count, char *base) {
  const ProjectionScratch scratch(args.projection, base);
  projectTile<T>(args.projection, packed, first, count, scratch);
  const int64_t n = args.projection.N;
  for (int64_t t = 0; t < count; t += kLanes) {
    const int64_t lanes = HWY_MIN(kLanes, count - t);
    rowsToPlanes(scratch.proj + t * n, n, lanes, n, scratch.planes);
    const V multiplier = normMultiplier(load(scratch.stat + t), args.norm);
    gatePre(scratch.planes, multiplier, n, args.gates);
    planesToRows(scratch.planes, lanes, n, args.hPre + (first + t) * n);
    if (args.proj)
      std::memcpy(args.proj + (first + t) * n, scratch.proj + t * n, lanes * n * sizeof(float));
    if (args.stat)
      storeSome(multiplier, args.stat + first + t, lanes);
  }
  for (int64_t m = first; m < first + count; ++m)
    aggregateToken(static_cast<const T *>(args.projection.x) + m * args.projection.K, args.hPre + m * n, n, args.C,
                   args.layout, static_cast<T *>(args.out) + m * args.C, args.stream);
  if (args.stream)
    hwy::FlushStream();
}

void headTile(const HeadCall &args, const char *packed, int64_t first, int64_t count, char *base) {
  if (args.projection.type == MHCRT_F32)
    headTyped<float>(args, packed, first, count, base);
  else if (args.projection.type == MHCRT_BF16)
    headTyped<Bf16>(args, packed, first, count, base);
  else
    headTyped<F16>(args, packed, first, count, base);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(headPack);
HWY_EXPORT(headTile);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt_head(mhcrt_context *ctx, const void *x, int32_t x_type, const void *phi, int32_t phi_type,
                        const void *norm_weight, int32_t norm_weight_type, const void *alpha, int32_t alpha_type,
                        const void *beta, int32_t beta_type, void *out, int32_t out_type, void *h_pre,
                        int32_t h_pre_type, void *proj, int32_t proj_type, void *stat, int32_t stat_type, int64_t M,
                        int64_t n, int64_t C, int64_t K, int64_t A, int32_t layout, int32_t phi_layout, int32_t norm,
                        double norm_eps, double pre_eps, int32_t precision) {
  HeadCall args = {
      {x, x_type, phi, phi_type, norm_weight, norm_weight_type, M, K, n, phi_layout},
      out,
      static_cast<float *>(h_pre),
      static_cast<float *>(proj),
      static_cast<float *>(stat),
      C,
      layout,
      {norm, static_cast<float>(norm_eps)},
      {static_cast<const float *>(alpha), static_cast<const float *>(beta), static_cast<float>(pre_eps), 0.0f},
      streams(out, M, C * mhcrt_dtype_bytes(x_type))};
  KernelCall call(ctx, "mhcrt_head");
  checkProjection(call, args.projection, n, C, layout, norm, norm_eps, precision);
  call.equal("A", A, "the number of gates", 1);
  call.tensor("alpha", alpha, alpha_type, kF32, A).tensor("beta", beta, beta_type, kF32, n);
  call.tensor("out", out, out_type, {x_type}, M)
      .optional("h_pre", h_pre, h_pre_type, kF32, M)
      .optional("proj", proj, proj_type, kF32, M)
      .optional("stat", stat, stat_type, kF32, M)
      .epsilon("pre_eps", pre_eps);
  if (!call.begin() || M == 0)
    return call.status();
  args.projection.plan(mhcrt_context_threads(ctx), amxFor(ctx->amx, x_type, precision));
  // The kernel itself reads h_pre; a caller that does not want it gets it in scratch memory.
  const int64_t packedBytes = args.projection.packedBytes();
  if (!ctx->reserveScratch("mhcrt_head", packedBytes + (h_pre ? 0 : M * n * 4),
                           ProjectionScratch::bytes(args.projection)))
    return call.status();
  if (!h_pre)
    args.hPre = reinterpret_cast<float *>(ctx->sharedScratch() + packedBytes);

  char *packed = ctx->sharedScratch();
  ctx->parallelFor(args.projection.chunks,
                   [&](int64_t chunk, int) { HWY_DYNAMIC_DISPATCH(headPack)(args.projection, chunk, packed); });
  const int64_t tokens = args.projection.tile;
  ctx->parallelFor(divideUp(M, tokens), [&](int64_t tile, int thread) {
    const int64_t first = tile * tokens;
    HWY_DYNAMIC_DISPATCH(headTile)
    (args, packed, first, std::min(tokens, M - first), ctx->threadScratch(thread));
  });
  return MHCRT_OK;
}
#endif // HWY_ONCE
