//===- pre_bwd.cpp - Gradients of pre and head ----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_h_pre += sum_c d_u * x           d_proj, d_stat = gates, residual map backwards
//   d_x      = d_x_in + h_pre * d_u + d_proj W + t * x           d_phi, d_norm_weight, d_alpha, d_beta: sums over m
//   or with sum_o A[o,i] * d_out[o] in place of d_x_in: mhc.post's share, from its operands
//
// Plan    d_proj needs the sums over all of a token's x, so x is read twice. First by tiles of 64 tokens: the sums of
//         aggregate_bwd, then the coefficients with one token per lane, and partial sums of d_alpha and d_beta per
//         tile. Then projection_bwd's plan, which adds h_pre * d_u before d_x is rounded. Keeping 16 tokens of x in the
//         caches between the two would cost more than reading x again: phi and its gradient pass by for every 16
//         tokens, 12*N bytes for 16 elements of x.
// Bytes   per token (3n+2)*C elements and 4*(2N + 2 + 2n + n*n), n*C more for d_x_in or d_out; 8*N*K per call.
// Needs   scratch memory of projection_bwd and 4*(N + n + 1) bytes per token, and n*C elements more for each of x and
//         d_out whose streams are equal: they are made first.
// Round   f32 sums; gates that are multiplied to their formats, d_x once. d_x may be d_x_in, a weight's gradient its
//         start.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pre_bwd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Permutation-inl.h"
#include "cpu/Tiles-inl.h"

#include "cpu/Parts.h"
#include "cpu/PreBwd.h"
#include "src/Checks.h"
#include "src/HeadBwd.h"

#include <optional>

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// h_res is mix - h_post h_pre^T: what its gradient takes from those of the gates.
HWY_INLINE void foldPreBwd(const float *dhRes, const float *hPre, const float *hPost, int64_t n, float *dhPre,
                           float *dhPost) {
  for (int64_t o = 0; o < n; ++o)
    for (int64_t i = 0; i < n; ++i) {
      const V grad = load(dhRes + (o * n + i) * kLanes);
      float *post = dhPost + o * kLanes, *pre = dhPre + i * kLanes;
      store(hn::NegMulAdd(grad, load(hPre + i * kLanes), load(post)), post);
      store(hn::NegMulAdd(grad, load(hPost + o * kLanes), load(pre)), pre);
    }
}

/// The planes of d_h_post and the logits' gradients; `gates` are the planes of mhc.gates' results, whose logits are
/// overwritten.
HWY_INLINE void residualBwd(const PreBwdArgs &args, int64_t m, int64_t count, float *gates, float *dz, float *history) {
  const int64_t n = args.n, R = args.N - 2 * n;
  float *logits = gates + 2 * n * kLanes, *dLogits = dz + 2 * n * kLanes;
  HWY_ALIGN float dhRes[256 * kLanes];
  rowsToPlanes(floats(args.d_h_res) + m * n * n, n * n, count, n * n, dhRes);
  rowsToPlanes(floats(args.d_h_post) + m * n, n, count, n, dz + n * kLanes);
  if (args.fold_pre)
    foldPreBwd(dhRes, gates, gates + n * kLanes, n, dz, dz + n * kLanes);
  const float *result = dhRes;
  if (args.res_map == MHCRT_RES_MAP_SINKHORN) {
    roundPlanes(logits, n * n, args.sk_format);
    sinkhornBwdPlanes(dhRes, logits, n, sinkhornOf(args), history);
  } else if (args.res_map == MHCRT_RES_MAP_PERMUTATION) {
    permutationBwdPlanes(dhRes, R, n, logits);
    result = logits;
  }
  std::memcpy(dLogits, result, R * kLanes * sizeof(float));
}

/// Tokens m .. m+count-1, one per lane.
HWY_INLINE void coefficientsBwd(const PreBwdArgs &args, const PreBwdFirstPass &rows, int64_t m, int64_t count,
                                float *planes, float *sums, float *history) {
  const int64_t n = args.n, N = args.N;
  float *proj = planes, *gates = proj + N * kLanes, *dz = gates + N * kLanes;
  rowsToPlanes(floats(args.proj) + m * N, N, count, N, proj);
  // Lanes without a token have a multiplier of 1, so that their zeros stay zeros.
  HWY_ALIGN float stat[kLanes];
  for (int64_t lane = 0; lane < kLanes; ++lane)
    stat[lane] = lane < count ? floats(args.stat)[m + lane] : 1.0f;
  const V s = load(stat);
  std::memcpy(gates, proj, N * kLanes * sizeof(float));
  const GateOptions options = gatesOf(args);
  rowsToPlanes(rows.hPre + m * n, n, count, n, dz);
  if (args.d_h_pre)
    for (int64_t lane = 0; lane < count; ++lane)
      for (int64_t i = 0; i < n; ++i)
        dz[i * kLanes + lane] += floats(args.d_h_pre)[(m + lane) * n + i];
  if (isHead(args)) {
    gatePre(gates, s, n, options);
    roundPlanes(gates, n, args.h_pre_format);
  } else {
    gateAll(gates, s, n, N, options);
    roundPlanes(gates, n, args.h_pre_format);
    roundPlanes(gates + n * kLanes, n, args.h_post_format);
    residualBwd(args, m, count, gates, dz, history);
    for (int64_t j = 0; count < kLanes && j < N; ++j) // logits of lanes without a token are those of beta alone
      store(hn::IfThenElseZero(hn::FirstN(d, count), load(dz + j * kLanes)), dz + j * kLanes);
  }
  planesToRows(gates, count, n, rows.hPre + m * n);
  storeSome(gatesBwdPlanes(proj, s, n, N, options, dz, sums), rows.dStat + m, count);
  planesToRows(proj, count, N, rows.dProj + m * N);
}

/// The tokens of one tile; `sums` takes d_alpha, then d_beta.
void preBwdTile(const PreBwdArgs &args, const PreBwdFirstPass &rows, int64_t first, int64_t last, float *sums,
                float *planes) {
  AggregateBwdCall aggregate = {};
  aggregate.d_u = args.d_u, aggregate.x = args.x, aggregate.x_type = args.x_type;
  aggregate.h_pre = aggregate.d_h_pre = rows.hPre;
  aggregate.n = args.n, aggregate.C = args.C, aggregate.layout = args.layout;
  if (args.d_u)
    aggregateBwdTokens(aggregate, first, last);
  else
    std::memset(rows.hPre + first * args.n, 0, (last - first) * args.n * sizeof(float));
  const int64_t width = args.N + 3;
  float *sumPlanes = planes + 3 * args.N * kLanes, *history = sumPlanes + width * kLanes;
  std::memset(sumPlanes, 0, width * kLanes * sizeof(float));
  for (int64_t m = first; m < last; m += kLanes)
    coefficientsBwd(args, rows, m, HWY_MIN(kLanes, last - m), planes, sumPlanes, history);
  for (int64_t k = 0; k < width; ++k)
    sums[k] = sumLanes(load(sumPlanes + k * kLanes));
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(preBwdTile);

/// Planes of a vector of tokens, and what Sinkhorn backwards keeps.
static int64_t planeBytes(const PreBwdArgs &a) {
  const bool replays = !isHead(a) && a.res_map == MHCRT_RES_MAP_SINKHORN;
  return saturatingAdd((4 * a.N + 3) * kMaxLanes * 4, replays ? sinkhornHistoryBytes(a.n, a.iters, a.solver) : 0);
}

/// Equal streams of all tokens, from their rows.
static const void *madeStreams(mhcrt_context &context, const PreBwdArgs &a, const void *rows, char *to) {
  const ExpandArgs expand = {rows, a.x_type, nullptr, a.x_type, a.M, a.C, a.n, a.layout};
  const int64_t tokenBytes = a.K * mhcrt_dtype_bytes(a.x_type);
  forTokens(context, a.M, tokenBytes,
            [&](int64_t first, int64_t last) { expandTokens(expand, first, last - first, to + first * tokenBytes); });
  return to;
}

/// The gradients of post's coefficients, from their sums over the channels of each slice.
static void addSlices(mhcrt_context &context, const PostBwdShare &post, int64_t slices) {
  const int64_t M = post.call.M;
  context.parallelFor(divideUp(M, kSmallTile), [&](int64_t tile, int) {
    for (int64_t m = tile * kSmallTile; m < std::min(M, (tile + 1) * kSmallTile); ++m)
      for (int64_t k = 0; k < kPostBwdSums; ++k) {
        float sum = 0;
        for (int64_t slice = 0; slice < slices; ++slice)
          sum += post.sums[(slice * M + m) * kPostBwdSums + k];
        if (k < 16)
          floats(post.call.d_h_res)[m * 16 + placeInMix(post.call.orient, k)] = sum;
        else
          floats(post.call.d_h_post)[m * 4 + k - 16] = sum;
      }
  });
}

mhcrt_status computePreBwd(mhcrt_context &context, const char *kernel, const PreBwdArgs &given,
                           const PostBwdArgs *postArgs) {
  PreBwdArgs a = given;
  const int64_t M = a.M, tiles = divideUp(M, kPreBwdTile), width = a.N + 3;
  ProjectionBwdCall projection = projectionBwdOf(a, context.amx);
  projection.du = a.d_u;
  projection.dOut = a.d_out, projection.hRes = floats(a.h_res), projection.orient = a.orient;
  std::optional<PostBwdShare> post;
  if (postArgs)
    projection.post = &post.emplace(*postArgs);
  if (a.x_type == MHCRT_F32 && projection.joinsStreams())
    projection.amx = nullptr; // three terms of x take longer than multiply-adds: docs/performance.md
  const int64_t postFloats = post ? saturatingMul(projection.slices() * kPostBwdSums, M) : 0;
  const int64_t rowFloats = saturatingMul(M, a.N + a.n + 1), sumFloats = saturatingMul(tiles, width);
  const int64_t streamsAt = saturatingMul(saturatingAdd(saturatingAdd(rowFloats, sumFloats), postFloats), 4);
  const int64_t streamBytes = saturatingMul(M, a.K * mhcrt_dtype_bytes(a.x_type));
  const int64_t made = (a.equal_x != 0) + (a.equal_d_out != 0);
  const int64_t ownBytes = saturatingAdd(streamsAt, saturatingMul(made, streamBytes));
  if (!context.reserveScratch(kernel, saturatingAdd(projection.sharedBytes(), ownBytes),
                              std::max(projection.threadBytes(), planeBytes(a))))
    return context.status;
  float *shared = reinterpret_cast<float *>(context.sharedScratch() + projection.sharedBytes());
  char *streams = reinterpret_cast<char *>(shared) + streamsAt;
  if (a.equal_d_out)
    projection.dOut = madeStreams(context, a, a.d_out, streams + (made - 1) * streamBytes);
  if (a.equal_x)
    projection.x = a.x = madeStreams(context, a, a.x, streams);
  const PreBwdFirstPass rows = {shared, shared + M * a.N, shared + M * (a.N + a.n)};
  float *sums = shared + rowFloats;
  if (post)
    post->sums = sums + sumFloats;
  const bool hasFactor = projection.makesDx() && a.norm != MHCRT_NORM_NONE;
  context.parallelFor(tiles, [&](int64_t tile, int thread) {
    const int64_t first = tile * kPreBwdTile, last = std::min(M, first + kPreBwdTile);
    HWY_DYNAMIC_DISPATCH(preBwdTile)
    (a, rows, first, last, sums + tile * width, reinterpret_cast<float *>(context.threadScratch(thread)));
    for (int64_t m = first; hasFactor && m < last; ++m) // in the place of d_stat
      rows.dStat[m] =
          statisticFactor(projection, rows.dStat, floats(a.stat), MHCRT_STAT_INV_RMS, a.norm, a.norm_eps, m);
  });
  if (a.d_alpha)
    addPartials(sums, tiles, width, 0, a.A, floats(a.d_alpha_in), floats(a.d_alpha));
  if (a.d_beta)
    addPartials(sums + 3, tiles, width, 0, a.N, floats(a.d_beta_in), floats(a.d_beta));
  projection.dProj = rows.dProj;
  projection.factor = hasFactor ? rows.dStat : nullptr;
  projection.hPre = a.d_u ? rows.hPre : nullptr;
  if (projection.makesDx() || projection.wantsProduct())
    projectionBackward(context, projection, context.sharedScratch());
  if (post)
    addSlices(context, *post, projection.slices());
  return MHCRT_OK;
}
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runPreBwd(mhcrt_context &context, const PreBwdArgs &a) {
  return checkPreBwd(context, a) ? computePreBwd(context, "mhcrt_pre_bwd", a) : context.status;
}

mhcrt_status mhcrt::runHeadBwd(mhcrt_context &context, const HeadBwdArgs &a) {
  return checkHeadBwd(context, a) ? computePreBwd(context, "mhcrt_head_bwd", preBwdOf(a)) : context.status;
}

MHCRT_ENTRY(pre_bwd, PreBwd)
MHCRT_ENTRY(head_bwd, HeadBwd)
#endif // HWY_ONCE
