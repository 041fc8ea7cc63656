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
//         tile of d_x and one of dW. Four streams of pre_bwd in layout nC: the same 256 channels of all are written at
//         once, so that what they share is read once; post_bwd may take them there, in place of memory. The products
//         of 2048 tokens are added, compensated, to those before; those of the runs likewise, in order, at the end.
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

#include "src/BoundedFactor.h"
#include "src/Checks.h"

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
HWY_NOINLINE void multiplyPiece(const ProjectionBwdCall &args, const char *packed, float *product, int64_t slice,
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
  if (norm == MHCRT_NORM_CLAMP && isClamped(stat[m], static_cast<float>(eps)))
    return 0.0f;
  if (norm != MHCRT_NORM_OUTSIDE)
    return bounded(-s * s * s / K * dStat[m]);
  double root = 1 / s - eps;
  if (root < kLeastRoot * eps)
    root = std::sqrt(HWY_DYNAMIC_DISPATCH(tokenMeanSquare)(args.x, args.type, m, args.K));
  return root > 0 ? bounded(-s * s / (K * root) * dStat[m]) : 0.0f;
}

void projectionBackward(mhcrt_context &context, const ProjectionBwdCall &args, char *shared) {
  char *packed = shared;
  float *products = reinterpret_cast<float *>(packed + args.packedBytes());
  auto floats = [&](int thread) { return reinterpret_cast<float *>(context.threadScratch(thread)); };
  if (args.makesDx())
    context.parallelFor(args.blocks(), [&](int64_t block, int thread) {
      HWY_DYNAMIC_DISPATCH(projectionBwdPack)(args, block, packed, floats(thread));
    });
  const TokenRuns runs = args.runs();
  const int64_t slices = args.slices();
  context.parallelFor(runs.count * slices, [&](int64_t tile, int thread) {
    const int64_t run = tile / slices;
    HWY_DYNAMIC_DISPATCH(projectionBwdTile)
    (args, packed, products + run * args.productFloats(), tile % slices, runs.first(run), runs.last(run),
     context.threadScratch(thread));
  });
  if (args.wantsProduct())
    context.parallelFor(args.blocks(), [&](int64_t block, int thread) {
      HWY_DYNAMIC_DISPATCH(projectionBwdFinish)(args, products, runs.count, block, floats(thread));
    });
}
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runProjectionBwd(mhcrt_context &context, const ProjectionBwdArgs &a) {
  if (!checkProjectionBwd(context, a))
    return context.status;

  ProjectionBwdCall args = projectionBwdOf(a, context.amx);
  args.dProj = floats(a.d_proj);
  const bool hasFactor = a.d_stat && a.d_x && (a.stat_form == MHCRT_STAT_MEAN_SQUARE || a.norm != MHCRT_NORM_NONE);
  if (!context.reserveScratch("mhcrt_projection_bwd", saturatingAdd(args.sharedBytes(), saturatingMul(a.M, 4)),
                              args.threadBytes()))
    return context.status;
  float *factor = reinterpret_cast<float *>(context.sharedScratch() + args.sharedBytes());
  if (hasFactor) {
    args.factor = factor;
    context.parallelFor(divideUp(a.M, kSmallTile), [&](int64_t tile, int) {
      for (int64_t m = tile * kSmallTile; m < std::min(a.M, (tile + 1) * kSmallTile); ++m)
        factor[m] = statisticFactor(args, floats(a.d_stat), floats(a.stat), a.stat_form, a.norm, a.norm_eps, m);
    });
  }
  projectionBackward(context, args, context.sharedScratch());
  return MHCRT_OK;
}

MHCRT_ENTRY(projection_bwd, ProjectionBwd)
#endif // HWY_ONCE
