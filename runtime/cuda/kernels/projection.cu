//===- projection.cu - Streams times phi, and their mean square -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   proj[m,j] = sum_k x[m,k] * phi[j,k] * norm_weight[k]
//   stat[m]   = (1/K) sum_k x[m,k]^2, or the multiplier s made of it; applied: proj is s * the sum, no stat
//
// Generic: a block takes four tokens and eight columns at a time; a thread adds every 256th element of K in registers,
// and the threads' sums are added in a tree. All f32, in an order that only K decides.
// Bytes a token: n*C of x's type once per eight columns, from the second-level cache after the first; phi once per four
// tokens.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Norm.cuh"
#include "cuda/algebra/Phi.cuh"
#include "cuda/host/Variants.h"
#include "cuda/kernels/Generic.h"
#include "cuda/kernels/Projection.h"
#include "cuda/tile/Sum.cuh"
#include "src/Checks.h"

using namespace mhcrt;

namespace {

constexpr int kTokens = 4, kColumns = 8;

template <typename T>
__global__ void __launch_bounds__(kThreads) projectionKernel(ProjectionArgs a) {
  constexpr int kValues = kColumns + 1; // and the squares
  __shared__ BlockRoom<kTokens * kValues> room;
  const auto phi = phiElementsOf(a, a.N);
  const T *x = static_cast<const T *>(a.x);
  const int64_t panels = (a.N + kColumns - 1) / kColumns, groups = (a.M + kTokens - 1) / kTokens;
  for (int64_t work = blockIdx.x; work < groups * panels; work += gridDim.x) {
    // Rows and columns behind the last are the last again; their sums are not stored.
    const int64_t m0 = work / panels * kTokens, j0 = work % panels * kColumns;
    float sums[kTokens * kValues] = {};
    for (int64_t k = threadIdx.x; k < a.K; k += kThreads) {
      float in[kTokens];
#pragma unroll
      for (int t = 0; t < kTokens; ++t) {
        in[t] = toFloat(x[min(m0 + t, a.M - 1) * a.K + k]);
        sums[t * kValues + kColumns] = fmaf(in[t], in[t], sums[t * kValues + kColumns]);
      }
      const float scale = phi.scale(k);
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        const float weight = phi.at(min(j0 + j, a.N - 1), k) * scale;
#pragma unroll
        for (int t = 0; t < kTokens; ++t)
          sums[t * kValues + j] = fmaf(in[t], weight, sums[t * kValues + j]);
      }
    }
    blockSum(sums, room);
    const int t = threadIdx.x / kValues, j = threadIdx.x % kValues;
    const int64_t m = m0 + t;
    if (t >= kTokens || m >= a.M)
      continue;
    const float meanSquare = room.totals[t * kValues + kColumns] / static_cast<float>(a.K);
    const float s = normMultiplier(meanSquare, a.norm, static_cast<float>(a.norm_eps));
    if (j < kColumns && j0 + j < a.N)
      static_cast<float *>(a.proj)[m * a.N + j0 + j] =
          a.stat_form == MHCRT_STAT_APPLIED ? s * room.totals[threadIdx.x] : room.totals[threadIdx.x];
    if (j == kColumns && j0 == 0 && a.stat_form != MHCRT_STAT_APPLIED)
      static_cast<float *>(a.stat)[m] = a.stat_form == MHCRT_STAT_INV_RMS ? s : meanSquare;
  }
}

cudaError_t launchScalar(mhcrt_context &context, const ProjectionArgs &a) {
  const int64_t work = divideUp(a.M, kTokens) * divideUp(a.N, kColumns);
  return withFloatType(a.x_type, [&](auto type) {
    return launchKernel(projectionKernel<decltype(type)>, gridForBlocks(context, work), kThreads, 0, context.stream, a);
  });
}

} // namespace

/// Whether tiles are those of projection_eight_sm90.cu, as far as the precision allows them.
static bool eightTakes(const mhcrt_context &context, const ProjectionArgs &a) {
  Needs needs;
  return context.arch == 90 && needs.precision(a.precision, MHCRT_PRECISION_BF16X3) && projectionEightTakes(a, needs);
}

int64_t generic::projectionBytes(const ProjectionArgs &a, Units units) {
  Needs needs;
  if (units == Units::scalar)
    return 0;
  return std::max(projectionTf32Bytes(a), projectionEightTakes(a, needs) ? projectionEightBytes(a) : 0);
}

cudaError_t generic::projection(mhcrt_context &context, const ProjectionArgs &a, void *scratch, Units units) {
  if (units == Units::scalar)
    return launchScalar(context, a);
  return eightTakes(context, a) ? projectionEight(a, scratch, context.stream)
                                : projectionTf32(a, scratch, context.multiprocessors, context.stream);
}

static cudaError_t launchTiles(mhcrt_context &context, const ProjectionArgs &a) {
  void *scratch = context.reserveScratch("mhcrt_projection", projectionTf32Bytes(a));
  return scratch ? projectionTf32(a, scratch, context.multiprocessors, context.stream) : cudaSuccess;
}

static cudaError_t launchEight(mhcrt_context &context, const ProjectionArgs &a) {
  void *scratch = context.reserveScratch("mhcrt_projection", projectionEightBytes(a));
  return scratch ? projectionEight(a, scratch, context.stream) : cudaSuccess;
}

static cudaError_t launchSm90(mhcrt_context &context, const ProjectionArgs &a) {
  const int64_t bytes = projectionSm90Bytes(a);
  void *scratch = bytes ? context.reserveScratch("mhcrt_projection", bytes) : nullptr;
  if (bytes && !scratch)
    return cudaSuccess;
  return projectionSm90(a, scratch, bytes ? nullptr : context.tileCounter("mhcrt_projection"), context.stream);
}

static constexpr Variant<ProjectionArgs> kVariants[] = {
    {"sm90", 90, 90, projectionSm90Takes, launchSm90, MHCRT_PRECISION_BF16X3},
    {"n8", 90, 90, projectionEightTakes, launchEight, MHCRT_PRECISION_BF16X3},
    {"tf32x3", 90, kMostTf32Arch, projectionTf32Takes, launchTiles, MHCRT_PRECISION_TF32X3, true},
    {"generic", 0, kAnyArch, nullptr, launchScalar, MHCRT_PRECISION_IEEE}};

mhcrt_status mhcrt::runProjection(mhcrt_context &context, const ProjectionArgs &args) {
  if (!checkProjection(context, args))
    return context.status;
  return args.M ? launchVariant(context, "projection", kVariants, args) : context.status;
}
