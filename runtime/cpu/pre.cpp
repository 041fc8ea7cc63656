//===- pre.cpp - Coefficients and layer input in one pass -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   P = x phi^T, s = 1/rms(x)          h_pre, h_post, z = gates(s * P)
//   h_res = residual map of z          u[m,c] = sum_i h_pre[m,i] * x[m,i,c]
//
// Plan    projection.cpp's; then the coefficients of the tile with one token per lane, then
//         aggregate.cpp's loop over the same tokens, whose x is still in the caches that their size allows.
// Bytes   per token (n+1)*C elements and 4*(2n + n*n), 4*(N+1) more for proj and stat; 4*N*K for phi once
//         per call.
// Needs   nothing.
// Round   coefficients in f32, u rounded once. The same bits as the four kernels one after the other.
// Result  docs/performance.md.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pre.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Aggregate-inl.h"
#include "cpu/Permutation-inl.h"
#include "cpu/Projection-inl.h"
#include "cpu/Sinkhorn-inl.h"

#include "cpu/Tokens.h"

#ifndef MHCRT_CPU_PRE_CALL
#define MHCRT_CPU_PRE_CALL
namespace mhcrt {
struct PreCall {
  ProjectionCall projection;
  void *u;
  float *hPre, *hPost, *hRes;
  float *proj, *stat; ///< null when they are not wanted
  int64_t n, C;
  int32_t layout;
  NormOptions norm;
  GateOptions gates;
  int32_t resMap;
  SinkhornOptions sinkhorn;
  bool foldPre, stream;
};
} // namespace mhcrt
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

void prePack(const ProjectionCall &args, int64_t chunk, char *packed) { packPhi(args, chunk, packed); }

/// Tokens t .. t+count-1 of the tile that starts at `first`, one per lane.
HWY_INLINE void coefficients(const PreCall &args, int64_t first, int64_t t, int64_t count,
                             const ProjectionScratch &scratch) {
  const int64_t n = args.n, N = args.projection.N, R = N - 2 * n, m = first + t;
  float *hPre = scratch.planes, *hPost = hPre + n * kLanes, *logits = hPost + n * kLanes, *mix = logits;
  rowsToPlanes(scratch.proj + t * N, N, count, N, hPre);
  const V multiplier = normMultiplier(load(scratch.stat + t), args.norm);
  gateAll(hPre, multiplier, n, N, args.gates);

  HWY_ALIGN float permutationMix[256 * kLanes];
  if (args.resMap == MHCRT_RES_MAP_SINKHORN) {
    sinkhornPlanes(mix, n, args.sinkhorn);
  } else if (args.resMap == MHCRT_RES_MAP_PERMUTATION) {
    mix = permutationMix;
    permutationPlanes(logits, R, n, mix);
  }
  if (args.foldPre)
    for (int64_t o = 0; o < n; ++o)
      for (int64_t i = 0; i < n; ++i) {
        float *cell = mix + (o * n + i) * kLanes;
        store(hn::NegMulAdd(load(hPost + o * kLanes), load(hPre + i * kLanes), load(cell)), cell);
      }
  planesToRows(hPre, count, n, args.hPre + m * n);
  planesToRows(hPost, count, n, args.hPost + m * n);
  planesToRows(mix, count, n * n, args.hRes + m * n * n);
  if (args.proj)
    std::memcpy(args.proj + m * N, scratch.proj + t * N, count * N * sizeof(float));
  if (args.stat)
    storeSome(multiplier, args.stat + m, count);
}

template <typename T>
void preTyped(const PreCall &args, const char *packed, int64_t first, int64_t count, char *base) {
  const ProjectionScratch scratch(args.projection, base);
  projectTile<T>(args.projection, packed, first, count, scratch);
  for (int64_t t = 0; t < count; t += kLanes)
    coefficients(args, first, t, HWY_MIN(kLanes, count - t), scratch);
  for (int64_t m = first; m < first + count; ++m)
    aggregateToken(static_cast<const T *>(args.projection.x) + m * args.projection.K, args.hPre + m * args.n, args.n,
                   args.C, args.layout, static_cast<T *>(args.u) + m * args.C, args.stream);
  if (args.stream)
    hwy::FlushStream();
}

void preTile(const PreCall &args, const char *packed, int64_t first, int64_t count, char *base) {
  if (args.projection.type == MHCRT_F32)
    preTyped<float>(args, packed, first, count, base);
  else if (args.projection.type == MHCRT_BF16)
    preTyped<Bf16>(args, packed, first, count, base);
  else
    preTyped<F16>(args, packed, first, count, base);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(prePack);
HWY_EXPORT(preTile);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt_pre(mhcrt_context *ctx, const void *x, int32_t x_type, const void *phi, int32_t phi_type,
                       const void *norm_weight, int32_t norm_weight_type, const void *alpha, int32_t alpha_type,
                       const void *beta, int32_t beta_type, void *u, int32_t u_type, void *h_pre, int32_t h_pre_type,
                       void *h_post, int32_t h_post_type, void *h_res, int32_t h_res_type, void *proj,
                       int32_t proj_type, void *stat, int32_t stat_type, int64_t M, int64_t n, int64_t C, int64_t N,
                       int64_t K, int64_t A, int32_t layout, int32_t phi_layout, int32_t norm, double norm_eps,
                       double pre_eps, double post_mult, int32_t res_map, int32_t init, int32_t order, int32_t denom,
                       double sk_eps, int64_t iters, int32_t fold_pre, int32_t precision) {
  PreCall args = {{x, x_type, phi, phi_type, norm_weight, norm_weight_type, M, K, N, phi_layout},
                  u,
                  static_cast<float *>(h_pre),
                  static_cast<float *>(h_post),
                  static_cast<float *>(h_res),
                  static_cast<float *>(proj),
                  static_cast<float *>(stat),
                  n,
                  C,
                  layout,
                  {norm, static_cast<float>(norm_eps)},
                  {static_cast<const float *>(alpha), static_cast<const float *>(beta), static_cast<float>(pre_eps),
                   static_cast<float>(post_mult)},
                  res_map,
                  {init, order, denom, static_cast<float>(sk_eps), iters},
                  fold_pre != 0,
                  streams(u, M, C * mhcrt_dtype_bytes(x_type))};
  KernelCall call(ctx, "mhcrt_pre");
  checkProjection(call, args.projection, n, C, layout, norm, norm_eps, precision);
  call.attribute("res_map", res_map, 3).attribute("fold_pre", fold_pre, 2);
  if (res_map == MHCRT_RES_MAP_PERMUTATION)
    call.equal("N", N, "2*n + n!", factorial(n) < 0 ? -1 : saturatingAdd(2 * n, factorial(n)));
  else
    call.equal("N", N, "2*n + n*n", 2 * n + n * n);
  call.equal("A", A, "the number of gates", 3);
  call.tensor("alpha", alpha, alpha_type, kF32, A).tensor("beta", beta, beta_type, kF32, N);
  call.tensor("u", u, u_type, {x_type}, M).optional("h_pre", h_pre, h_pre_type, kF32, M);
  call.tensor("h_post", h_post, h_post_type, kF32, M).tensor("h_res", h_res, h_res_type, kF32, M);
  call.optional("proj", proj, proj_type, kF32, M).optional("stat", stat, stat_type, kF32, M);
  call.epsilon("pre_eps", pre_eps).finite("post_mult", post_mult);
  if (res_map == MHCRT_RES_MAP_SINKHORN)
    call.sinkhorn(init, order, denom, "sk_eps", sk_eps, iters);
  if (!call.begin() || M == 0)
    return call.status();
  args.projection.plan(mhcrt_context_threads(ctx), amxFor(ctx->amx, x_type, precision));
  // The kernel itself reads h_pre; a caller that does not want it gets it in scratch memory.
  const int64_t packedBytes = args.projection.packedBytes();
  if (!ctx->reserveScratch("mhcrt_pre", packedBytes + (h_pre ? 0 : M * n * 4),
                           ProjectionScratch::bytes(args.projection)))
    return call.status();
  if (!h_pre)
    args.hPre = reinterpret_cast<float *>(ctx->sharedScratch() + packedBytes);

  char *packed = ctx->sharedScratch();
  ctx->parallelFor(args.projection.chunks,
                   [&](int64_t chunk, int) { HWY_DYNAMIC_DISPATCH(prePack)(args.projection, chunk, packed); });
  const int64_t tokens = args.projection.tile;
  ctx->parallelFor(divideUp(M, tokens), [&](int64_t tile, int thread) {
    const int64_t first = tile * tokens;
    HWY_DYNAMIC_DISPATCH(preTile)
    (args, packed, first, std::min(tokens, M - first), ctx->threadScratch(thread));
  });
  return MHCRT_OK;
}
#endif // HWY_ONCE
