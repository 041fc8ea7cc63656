//===- projection_bwd.cpp - Gradients of a projection from one look at x --===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_x[m,k]   = d_x_in[m,k] + sum_j d_proj[m,j] * W[j,k] + t[m] * x[m,k]       W = phi * norm_weight
//   dW[j,k]    = sum_m d_proj[m,j] * x[m,k]
//   d_phi      = dW * norm_weight,   d_norm_weight[k] = sum_j dW[j,k] * phi[j,k]
//
// Plan    A tile is 2048 elements of K times a run of tokens; its slices of W and dW stay in the second-level cache.
//         With AMX (ProjectionBwdAmx-inl.h) 64 tokens x 256 elements at a time are cut into bf16 terms, which sums of
//         dW in matrix tiles meet; d_x takes its sums from matrix tiles and reads x once more, from the second-level
//         cache. Without, 16 tokens x 256 elements are widened to f32 in the first-level cache and used by a register
//         tile of d_x and one of dW. The products of 2048 tokens are added, compensated, to those before; those of the
//         runs likewise, in order, at the end.
// Bytes   per token 2*n*C elements and 4*(N+2), n*C more for d_x_in; 8*N*K per call.
// Needs   scratch memory of (1 + runs)*N*K floats, with AMX about half more for padding and three times as much for
//         phi; runs is 1 where K has 32 slices or more.
// Round   f32 sums; d_x rounded once. d_x may be d_x_in, d_phi d_phi_in.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/projection_bwd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/ProjectionBwdAmx-inl.h"

#include "cpu/Tokens.h"
#include "src/BoundedFactor.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

void projectionBwdPack(const ProjectionBwdCall &args, int64_t block, char *packed, float *scratch) {
  char *to = packed + block * args.packedBlockBytes();
  if (args.amx)
    packPhiTiles(args, block, scratch, reinterpret_cast<uint16_t *>(to));
  else
    packPhiBlock(args, block, /*scaled=*/true, reinterpret_cast<float *>(to));
}

/// The tokens [first, last) of a tile; the slice of `product` is what they alone give.
HWY_INLINE void multiplyPiece(const ProjectionBwdCall &args, const char *packed, float *product, int64_t slice,
                              int64_t first, int64_t last, char *scratch) {
  for (int64_t place = slice * kSliceBlocks; args.wantsProduct() && place < args.sliceEnd(slice); ++place)
    std::memset(product + args.blockAt(place) * args.blockFloats(), 0, args.blockFloats() * sizeof(float));
  if (args.amx)
    multiplyTileByAmx(args, packed, product, slice, first, last, scratch);
  else
    multiplyTile(args, reinterpret_cast<const float *>(packed), product, slice, first, last,
                 reinterpret_cast<float *>(scratch));
}

void projectionBwdTile(const ProjectionBwdCall &args, const char *packed, float *product, int64_t slice, int64_t first,
                       int64_t last, char *scratch) {
  if (args.pieceFloats() == 0)
    return multiplyPiece(args, packed, product, slice, first, last, scratch);
  float *sums = reinterpret_cast<float *>(scratch);
  const CompensatedSums total = {sums, sums + args.pieceFloats() / 2};
  char *rest = scratch + 4 * args.pieceFloats();
  const auto forBlocks = [&](auto body) {
    for (int64_t place = slice * kSliceBlocks; place < args.sliceEnd(slice); ++place) {
      const int64_t offset = (place - slice * kSliceBlocks) * args.blockFloats();
      body(CompensatedSums{total.sums + offset, total.rests + offset},
           product + args.blockAt(place) * args.blockFloats());
    }
  };
  total.clear(args.pieceFloats() / 2);
  for (int64_t m = first; m < last; m += kPieceTokens) {
    multiplyPiece(args, packed, product, slice, m, HWY_MIN(last, m + kPieceTokens), rest);
    forBlocks([&](CompensatedSums block, const float *piece) { block.add(piece, args.blockFloats()); });
  }
  forBlocks([&](CompensatedSums block, float *to) { block.store(to, args.blockFloats()); });
}

void projectionBwdFinish(const ProjectionBwdCall &args, const float *products, int64_t runs, int64_t block,
                         float *scratch) {
  finishProduct(args, products, runs, block, scratch);
}

/// Mean square of one token's x.
double tokenMeanSquare(const void *x, int32_t type, int64_t m, int64_t K) {
  HWY_ALIGN float row[256];
  double sum = 0;
  for (int64_t k = 0; k < K; k += 256) {
    const int64_t count = HWY_MIN(256, K - k);
    widenAny(x, type, m * K + k, count, row);
    for (int64_t i = 0; i < count; ++i)
      sum += static_cast<double>(row[i]) * row[i];
  }
  return sum / static_cast<double>(K);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(projectionBwdPack);
HWY_EXPORT(projectionBwdTile);
HWY_EXPORT(projectionBwdFinish);
HWY_EXPORT(tokenMeanSquare);

/// sqrt(ms) is 1/s - eps, unless that is this close to nothing: then it is taken from x again.
static constexpr double kLeastRoot = 16;

float statisticFactor(const ProjectionBwdCall &args, const float *dStat, const float *stat, int32_t statForm,
                      int32_t norm, double eps, int64_t m) {
  const double K = static_cast<double>(args.K);
  if (statForm == MHCRT_STAT_MEAN_SQUARE)
    return static_cast<float>(2 / K * dStat[m]);
  const double s = stat[m];
  auto bounded = [&](double t) { return boundedFactor(static_cast<float>(t), stat[m], dStat[m]); };
  if (norm == MHCRT_NORM_INSIDE)
    return bounded(-s * s * s / K * dStat[m]);
  double root = 1 / s - eps;
  if (root < kLeastRoot * eps)
    root = std::sqrt(HWY_DYNAMIC_DISPATCH(tokenMeanSquare)(args.x, args.type, m, args.K));
  return root > 0 ? bounded(-s * s / (K * root) * dStat[m]) : 0.0f;
}

void projectionBackward(mhcrt_context *ctx, const ProjectionBwdCall &args, char *shared) {
  char *packed = shared;
  float *products = reinterpret_cast<float *>(packed + args.packedBytes());
  auto floats = [&](int thread) { return reinterpret_cast<float *>(ctx->threadScratch(thread)); };
  if (args.dx)
    ctx->parallelFor(args.blocks(), [&](int64_t block, int thread) {
      HWY_DYNAMIC_DISPATCH(projectionBwdPack)(args, block, packed, floats(thread));
    });
  const TokenRuns runs = args.runs();
  const int64_t slices = args.slices();
  ctx->parallelFor(runs.count * slices, [&](int64_t tile, int thread) {
    const int64_t run = tile / slices;
    HWY_DYNAMIC_DISPATCH(projectionBwdTile)
    (args, packed, products + run * args.productFloats(), tile % slices, runs.first(run), runs.last(run),
     ctx->threadScratch(thread));
  });
  if (args.wantsProduct())
    ctx->parallelFor(args.blocks(), [&](int64_t block, int thread) {
      HWY_DYNAMIC_DISPATCH(projectionBwdFinish)(args, products, runs.count, block, floats(thread));
    });
}
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt_projection_bwd(mhcrt_context *ctx, const void *d_proj, int32_t d_proj_type, const void *d_stat,
                                  int32_t d_stat_type, const void *x, int32_t x_type, const void *phi, int32_t phi_type,
                                  const void *norm_weight, int32_t norm_weight_type, const void *stat,
                                  int32_t stat_type, const void *d_x_in, int32_t d_x_in_type, const void *d_phi_in,
                                  int32_t d_phi_in_type, const void *d_norm_weight_in, int32_t d_norm_weight_in_type,
                                  void *d_x, int32_t d_x_type, void *d_phi, int32_t d_phi_type, void *d_norm_weight,
                                  int32_t d_norm_weight_type, int64_t M, int64_t N, int64_t n, int64_t C, int64_t K,
                                  int32_t layout, int32_t phi_layout, int32_t norm, double norm_eps, int32_t stat_form,
                                  int32_t precision) {
  KernelCall call(ctx, "mhcrt_projection_bwd");
  checkProjection(call, {x, x_type, phi, phi_type, norm_weight, norm_weight_type, M, K, N, phi_layout}, n, C, layout,
                  norm, norm_eps, precision);
  call.attribute("stat_form", stat_form, 2).tensor("d_proj", d_proj, d_proj_type, kF32, M);
  call.optional("d_stat", d_stat, d_stat_type, kF32, M);
  if (d_stat && stat_form == MHCRT_STAT_INV_RMS)
    call.tensor("stat", stat, stat_type, kF32, M);
  call.optional("d_x", d_x, d_x_type, {MHCRT_F32, x_type}, M).optional("d_phi", d_phi, d_phi_type, kF32, N);
  if (norm_weight_type == MHCRT_NONE)
    call.absent("d_norm_weight", d_norm_weight_type, "absent norm_weight");
  else
    call.optional("d_norm_weight", d_norm_weight, d_norm_weight_type, kF32, K);
  call.start("d_x_in", d_x_in, d_x_in_type, {MHCRT_F32, x_type}, M, "d_x", d_x_type);
  call.start("d_phi_in", d_phi_in, d_phi_in_type, kF32, N, "d_phi", d_phi_type);
  call.start("d_norm_weight_in", d_norm_weight_in, d_norm_weight_in_type, kF32, K, "d_norm_weight", d_norm_weight_type);
  if (!call.begin())
    return call.status();

  ProjectionBwdCall args = {static_cast<const float *>(d_proj),
                            nullptr,
                            x,
                            x_type,
                            phi,
                            phi_type,
                            norm_weight,
                            norm_weight_type,
                            d_x_in,
                            d_x_in_type,
                            d_x,
                            d_x_type,
                            static_cast<const float *>(d_phi_in),
                            static_cast<const float *>(d_norm_weight_in),
                            static_cast<float *>(d_phi),
                            static_cast<float *>(d_norm_weight),
                            M,
                            K,
                            N,
                            phi_layout,
                            nullptr,
                            nullptr,
                            n,
                            C,
                            layout,
                            amxForGradients(ctx->amx, precision),
                            d_x && !d_x_in && streams(d_x, M, K * mhcrt_dtype_bytes(d_x_type)),
                            nullptr,
                            nullptr,
                            0};
  const bool hasFactor = d_stat && d_x && (stat_form == MHCRT_STAT_MEAN_SQUARE || norm != MHCRT_NORM_NONE);
  if (!ctx->reserveScratch("mhcrt_projection_bwd", saturatingAdd(args.sharedBytes(), saturatingMul(M, 4)),
                           args.threadBytes()))
    return call.status();
  float *factor = reinterpret_cast<float *>(ctx->sharedScratch() + args.sharedBytes());
  if (hasFactor) {
    args.factor = factor;
    ctx->parallelFor(divideUp(M, kSmallTile), [&](int64_t tile, int) {
      for (int64_t m = tile * kSmallTile; m < std::min(M, (tile + 1) * kSmallTile); ++m)
        factor[m] = statisticFactor(args, static_cast<const float *>(d_stat), static_cast<const float *>(stat),
                                    stat_form, norm, norm_eps, m);
    });
  }
  projectionBackward(ctx, args, ctx->sharedScratch());
  return MHCRT_OK;
}
#endif // HWY_ONCE
