//===- projection_bwd.cu - Gradients of a projection ----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_x[m,k]   = d_x_in[m,k] + sum_j d_proj[m,j] * W[j,k] + t[m] * x[m,k]       W = phi * norm_weight
//   dW[j,k]    = sum_m d_proj[m,j] * x[m,k]
//   d_phi      = dW * norm_weight,   d_norm_weight[k] = sum_j dW[j,k] * phi[j,k]
//
// Generic: t, a warp per token; d_x, a thread per element of K and four tokens; dW, a thread per element of K, eight
// columns and a run of tokens; then the runs are added in order. f32 sums, those of dW compensated where they get long;
// one rounding of d_x, which may be d_x_in.
// Bytes a token: 2*n*C of x's type, and n*C per eight columns from the second-level cache.
//
// tf32x3: d_x and dW in one launch on matrix tiles (stream_tiles.cu), the rest as above. n8: the same of eight streams
// in launches of their own (stream_eight.cu).
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Phi.cuh"
#include "cuda/host/Variants.h"
#include "cuda/kernels/Generic.h"
#include "cuda/kernels/Projection.h"
#include "cuda/kernels/ProjectionBwd.h"
#include "cuda/stream/StreamTiles.h"
#include "cuda/tile/Sum.cuh"
#include "src/BoundedFactor.h"
#include "src/Checks.h"
#include "src/CompensatedSum.h"

using namespace mhcrt;
using generic::StreamShares;
using generic::TokenRuns;
using generic::Units;

namespace {

constexpr int kTokens = 4, kColumns = 8;
constexpr int64_t kLeastRun = 64, kMostRuns = 64;
/// Tokens of a run whose products a plain sum adds.
constexpr int64_t kShortSum = 64;
/// Floats of all partial sums of dW, where a single one is not larger.
constexpr int64_t kMostPartials = 16 << 20;
/// sqrt(ms) is 1/s - eps, unless that is this close to nothing: then it is taken from x again.
constexpr double kLeastRoot = 16;

TokenRuns runsOf(const ProjectionBwdArgs &a) {
  const int64_t most = kMostPartials / std::max<int64_t>(1, saturatingMul(a.N, a.K));
  return TokenRuns(a.M, kLeastRun, std::clamp<int64_t>(most, 1, kMostRuns));
}

template <typename T>
__device__ inline double meanSquare(const T *row, int64_t K) {
  double sum = 0;
  for (int64_t k = threadIdx.x % kWarp; k < K; k += kWarp)
    sum += static_cast<double>(toFloat(row[k])) * toFloat(row[k]);
  for (int offset = kWarp / 2; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(~0u, sum, offset);
  return sum / static_cast<double>(K);
}

/// t of each token, from the gradient of its statistic: a warp per token.
template <typename T>
__global__ void projectionBwdFactorKernel(ProjectionBwdArgs a, float *factor) {
  const double K = static_cast<double>(a.K);
  for (int64_t m = firstItem() / kWarp; m < a.M; m += itemStep() / kWarp) {
    const float dStat = static_cast<const float *>(a.d_stat)[m];
    float bounded;
    if (a.stat_form == MHCRT_STAT_MEAN_SQUARE) {
      bounded = static_cast<float>(2 / K * dStat);
    } else {
      const double s = static_cast<const float *>(a.stat)[m];
      double t;
      double root = 1 / s - a.norm_eps;
      if (a.norm == MHCRT_NORM_OUTSIDE && root < kLeastRoot * a.norm_eps)
        root = sqrt(meanSquare(static_cast<const T *>(a.x) + m * a.K, a.K));
      if (a.norm == MHCRT_NORM_CLAMP && isClamped(static_cast<float>(s), static_cast<float>(a.norm_eps)))
        t = 0;
      else if (a.norm != MHCRT_NORM_OUTSIDE)
        t = -s * s * s / K * dStat;
      else
        t = root > 0 ? -s * s / (K * root) * dStat : 0.0;
      bounded = boundedFactor(static_cast<float>(t), static_cast<float>(s), dStat);
    }
    if (threadIdx.x % kWarp == 0)
      factor[m] = bounded;
  }
}

/// sum_o A[o,i] * d_out[o,c], A as in mhc.post.
template <typename T>
__device__ inline float mixed(const ProjectionBwdArgs &a, const StreamShares &shares, int64_t m, int64_t i, int64_t c) {
  const bool outputFirst = shares.orient == MHCRT_ORIENT_OI, channelsFirst = a.layout == MHCRT_LAYOUT_CN;
  const float *matrix = shares.hRes + m * a.n * a.n;
  const T *dOut = static_cast<const T *>(shares.dOut) + m * a.K;
  float sum = 0;
  for (int64_t o = 0; o < a.n; ++o)
    sum = fmaf(matrix[outputFirst ? o * a.n + i : i * a.n + o],
               toFloat(dOut[streamIndex(o, c, a.n, a.C, channelsFirst)]), sum);
  return sum;
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    projectionBwdInputKernel(ProjectionBwdArgs a, StreamShares shares, const float *factor) {
  const auto phi = phiElementsOf(a, a.N);
  const AnyInput dxIn = {a.d_x_in, a.d_x_in_type};
  const AnyOutput dx = {a.d_x, a.d_x_type};
  const float *dProj = static_cast<const float *>(a.d_proj);
  const int64_t blocks = (a.K + kThreads - 1) / kThreads, groups = (a.M + kTokens - 1) / kTokens;
  for (int64_t work = blockIdx.x; work < groups * blocks; work += gridDim.x) {
    const int64_t m0 = work / blocks * kTokens, k = work % blocks * kThreads + threadIdx.x;
    if (k >= a.K)
      continue;
    const bool channelsFirst = a.layout == MHCRT_LAYOUT_CN;
    const int64_t i = channelsFirst ? k % a.n : k / a.C, c = channelsFirst ? k / a.n : k % a.C;
    float sums[kTokens] = {}; // products first: beside what is larger each would be rounded
    const float scale = phi.scale(k);
    for (int64_t j = 0; j < a.N; ++j) {
      const float weight = phi.at(j, k) * scale;
#pragma unroll
      for (int t = 0; t < kTokens; ++t)
        sums[t] = fmaf(dProj[min(m0 + t, a.M - 1) * a.N + j], weight, sums[t]);
    }
#pragma unroll
    for (int t = 0; t < kTokens; ++t) {
      const int64_t m = min(m0 + t, a.M - 1), at = m * a.K + k;
      if (factor)
        sums[t] = fmaf(factor[m], toFloat(static_cast<const T *>(a.x)[at]), sums[t]);
      if (shares.hPre)
        sums[t] = fmaf(shares.hPre[m * a.n + i], toFloat(static_cast<const T *>(shares.du)[m * a.C + c]), sums[t]);
      sums[t] += dxIn ? dxIn[at] : shares.dOut ? mixed<T>(a, shares, m, i, c) : 0.0f;
      if (m0 + t < a.M)
        dx.store(at, sums[t]);
    }
  }
}

/// partials[run][j][k] of dW.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    projectionBwdWeightKernel(ProjectionBwdArgs a, int64_t length, int64_t runs, float *partials) {
  const T *x = static_cast<const T *>(a.x);
  const float *dProj = static_cast<const float *>(a.d_proj);
  const int64_t blocks = (a.K + kThreads - 1) / kThreads, panels = (a.N + kColumns - 1) / kColumns;
  for (int64_t work = blockIdx.x; work < runs * blocks * panels; work += gridDim.x) {
    const int64_t j0 = work % panels * kColumns, k = work / panels % blocks * kThreads + threadIdx.x;
    const int64_t run = work / (panels * blocks), last = min(a.M, (run + 1) * length);
    if (k >= a.K)
      continue;
    CompensatedSum sums[kColumns];
    for (int64_t m = run * length; m < last;) {
      float part[kColumns] = {};
#pragma unroll 1
      for (const int64_t end = min(last, m + kShortSum); m < end; ++m) {
        const float in = toFloat(x[m * a.K + k]);
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
          part[j] = fmaf(dProj[m * a.N + min(j0 + j, a.N - 1)], in, part[j]);
      }
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        sums[j].add(part[j]);
    }
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      if (j0 + j < a.N)
        partials[(run * a.N + j0 + j) * a.K + k] = sums[j].value();
  }
}

/// d_phi; and dW in the place of the first run for d_norm_weight.
__global__ void projectionBwdPhiKernel(ProjectionBwdArgs a, int64_t runs, float *partials, float *product) {
  const auto phi = phiElementsOf(a, a.N);
  const float *start = static_cast<const float *>(a.d_phi_in);
  for (int64_t item = firstItem(); item < a.N * a.K; item += itemStep()) {
    const int64_t j = phi.phi.rowsFirst() ? item / a.K : item % a.N, k = phi.phi.rowsFirst() ? item % a.K : item / a.N;
    CompensatedSum runSum;
    for (int64_t run = 0; run < runs; ++run)
      runSum.add(partials[(run * a.N + j) * a.K + k]);
    const float sum = runSum.value();
    if (a.d_norm_weight)
      product[j * a.K + k] = sum;
    if (a.d_phi)
      static_cast<float *>(a.d_phi)[item] = (start ? start[item] : 0.0f) + sum * phi.scale(k);
  }
}

__global__ void projectionBwdNormKernel(ProjectionBwdArgs a, const float *product) {
  const auto phi = phiElementsOf(a, a.N);
  const float *start = static_cast<const float *>(a.d_norm_weight_in);
  for (int64_t k = firstItem(); k < a.K; k += itemStep()) {
    float sum = 0;
    for (int64_t j = 0; j < a.N; ++j)
      sum = fmaf(product[j * a.K + k], phi.at(j, k), sum);
    static_cast<float *>(a.d_norm_weight)[k] = (start ? start[k] : 0.0f) + sum;
  }
}

/// The parts of the scratch memory.
struct Rooms {
  generic::ScratchPlan plan;
  TokenRuns runs;
  int64_t factor, partials, tiles;

  Rooms(const ProjectionBwdArgs &a, Units units) : runs(units == Units::tiles ? streamTilesRuns(a) : runsOf(a)) {
    factor = plan.addFloats(a.M, 1);
    // A sum over no tokens has a product too.
    const int64_t count = a.d_phi || a.d_norm_weight ? std::max<int64_t>(1, runs.count) : 0;
    partials = plan.addFloats(count, saturatingMul(a.N, a.K));
    tiles = plan.add(units == Units::tiles ? std::max(streamTilesBytes(a), streamEightBytes(a)) : 0);
  }
};

} // namespace

int64_t generic::projectionBwdBytes(const ProjectionBwdArgs &a, Units units) { return Rooms(a, units).plan.bytes(); }

/// d_x, and dW of each run where `partials` is not null.
template <typename T>
static cudaError_t launchScalar(mhcrt_context &context, const ProjectionBwdArgs &a, const StreamShares &shares,
                                const float *factor, const TokenRuns &runs, float *partials) {
  const int64_t blocks = divideUp(a.K, kThreads);
  cudaError_t error = cudaSuccess;
  if (a.d_x && a.M)
    error = launchKernel(projectionBwdInputKernel<T>, gridForBlocks(context, blocks * divideUp(a.M, kTokens)), kThreads,
                         0, context.stream, a, shares, factor);
  if (error == cudaSuccess && partials)
    error = launchKernel(projectionBwdWeightKernel<T>,
                         gridForBlocks(context, runs.count * blocks * divideUp(a.N, kColumns)), kThreads, 0,
                         context.stream, a, runs.length, runs.count, partials);
  return error;
}

template <typename T>
static cudaError_t launchTyped(mhcrt_context &context, const ProjectionBwdArgs &a, const StreamShares &shares,
                               char *scratch, Units units) {
  const Rooms rooms(a, units);
  const bool hasFactor =
      a.M && a.d_x && a.d_stat && (a.stat_form == MHCRT_STAT_MEAN_SQUARE || a.norm != MHCRT_NORM_NONE);
  auto *factor = hasFactor ? reinterpret_cast<float *>(scratch + rooms.factor) : nullptr;
  auto *partials = a.d_phi || a.d_norm_weight ? reinterpret_cast<float *>(scratch + rooms.partials) : nullptr;
  const cudaStream_t stream = context.stream;
  cudaError_t error = cudaSuccess;
  if (factor)
    error = launchKernel(projectionBwdFactorKernel<T>, gridFor(context, a.M * kWarp), kThreads, 0, stream, a, factor);
  Needs needs;
  if (error == cudaSuccess)
    error = units == Units::scalar ? launchScalar<T>(context, a, shares, factor, rooms.runs, partials)
            : streamTilesTake(a, shares, needs)
                ? streamTiles(a, shares, factor, partials, scratch + rooms.tiles, stream)
                : streamEight(a, shares, factor, partials, scratch + rooms.tiles, context.multiprocessors,
                              context.arch == 90, stream);
  if (error == cudaSuccess && partials)
    error = launchKernel(projectionBwdPhiKernel, gridFor(context, a.N * a.K), kThreads, 0, stream, a, rooms.runs.count,
                         partials, partials);
  if (error == cudaSuccess && partials && a.d_norm_weight)
    error = launchKernel(projectionBwdNormKernel, gridFor(context, a.K), kThreads, 0, stream, a, partials);
  return error;
}

cudaError_t generic::projectionBwd(mhcrt_context &context, const ProjectionBwdArgs &a, const StreamShares &shares,
                                   void *scratch, Units units) {
  return withFloatType(a.x_type, [&](auto type) {
    return launchTyped<decltype(type)>(context, a, shares, static_cast<char *>(scratch), units);
  });
}

template <Units kUnits>
static cudaError_t launchWith(mhcrt_context &context, const ProjectionBwdArgs &a) {
  void *scratch = context.reserveScratch("mhcrt_projection_bwd", generic::projectionBwdBytes(a, kUnits));
  return scratch ? generic::projectionBwd(context, a, {}, scratch, kUnits) : cudaSuccess;
}

static bool tilesTake(const ProjectionBwdArgs &a, Needs &needs) { return streamTilesTake(a, {}, needs); }
static bool eightTakes(const ProjectionBwdArgs &a, Needs &needs) { return streamEightTakes(a, {}, needs); }

static constexpr Variant<ProjectionBwdArgs> kVariants[] = {
    {"sm90", 90, 90, projectionBwdSm90Takes, projectionBwdSm90, MHCRT_PRECISION_BF16X3},
    {"tf32x3", 90, kAnyArch, tilesTake, launchWith<Units::tiles>, MHCRT_PRECISION_TF32X3, true},
    {"n8", 90, kMostTf32Arch, eightTakes, launchWith<Units::tiles>, MHCRT_PRECISION_BF16X3},
    {"generic", 0, kAnyArch, nullptr, launchWith<Units::scalar>, MHCRT_PRECISION_IEEE}};

mhcrt_status mhcrt::runProjectionBwd(mhcrt_context &context, const ProjectionBwdArgs &args) {
  if (!checkProjectionBwd(context, args))
    return context.status;
  return launchVariant(context, "projection_bwd", kVariants, args);
}
