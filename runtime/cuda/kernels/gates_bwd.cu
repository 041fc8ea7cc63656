//===- gates_bwd.cu - Gradients of the gates ------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   z = s * proj * a + beta           a = alpha[0], alpha[1], alpha[2] on the columns of pre, post and res
//   dz = d_h_pre * g (1 - g), d_h_post * post_mult * g (1 - g) with g = sigmoid(z), d_logits
//   d_beta = sum_m dz                 d_alpha = sum over m and the columns of a group of dz * s * proj
//   d_proj = dz * a * s               d_stat = sum_j dz * a * proj, times -s^3/2 for mean_square
//
// Generic: one thread per token; a block of 128 tokens, so that few tokens meet many multiprocessors, has a partial sum
// of d_alpha and d_beta, and a warp per column adds those. All f32. z is computed again: the gate itself would not give
// g (1 - g) back where g is close to 0 or 1. Bytes a token: 4*(3*N + 2).
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Gate.cuh"
#include "cuda/algebra/Norm.cuh"
#include "cuda/host/Variants.h"
#include "cuda/kernels/Generic.h"
#include "cuda/tile/InOrder.cuh"
#include "cuda/tile/Sum.cuh"
#include "src/Checks.h"
#include "src/CompensatedSum.h"

using namespace mhcrt;

namespace {

/// d_alpha stands before d_beta in a partial sum.
constexpr int kGroups = 3;
/// Columns whose sums over a block are made at a time, and those that are loaded at once.
constexpr int kPanel = 32, kAhead = 8;
constexpr int kTokens = 128, kTokenWarps = kTokens / kWarp; ///< of a block, which has a thread for each

/// The gradient of column j of what mhc.gates returns; one that is absent is zero. Without a branch, so that several
/// loads are under way.
__device__ inline float gateGradient(const GatesBwdArgs &a, int64_t m, int64_t j) {
  const int group = gateGroup(j, a.n);
  const auto *rows = static_cast<const float *>(group == 0 ? a.d_h_pre : group == 1 ? a.d_h_post : a.d_logits);
  const int64_t width = group == 2 ? a.N - 2 * a.n : a.n;
  const float value = *(rows ? rows + m * width + j - group * a.n : static_cast<const float *>(a.proj));
  return rows ? value : 0.0f;
}

/// Columns of a warp's tokens: a lane has those of its token, or item step * 32 + lane of the rows one behind the
/// other, so that reads and writes of memory are of neighbours.
struct Stage {
  float rows[kWarp][kAhead + 1];

  __device__ inline static int item(int step) { return step * kWarp + threadIdx.x % kWarp; }
  template <int kCount>
  __device__ inline void toTokens(float (&v)[kCount]) {
    __syncwarp();
#pragma unroll
    for (int step = 0; step < kCount; ++step)
      rows[item(step) / kCount][item(step) % kCount] = v[step];
    __syncwarp();
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      v[e] = rows[threadIdx.x % kWarp][e];
  }
  template <int kCount>
  __device__ inline void toItems(float (&v)[kCount]) {
    __syncwarp();
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      rows[threadIdx.x % kWarp][e] = v[e];
    __syncwarp();
#pragma unroll
    for (int step = 0; step < kCount; ++step)
      v[step] = rows[item(step) / kCount][item(step) % kCount];
  }
};

/// A token's part of kCount columns from j0 on, side by side. `sums`: those of the gradients of z over the warp.
template <int kCount>
__device__ inline void addColumns(const GatesBwdArgs &a, int64_t m, int64_t j0, float s, Stage &stage, float &dStat,
                                  float (&alphaSums)[kGroups], float *sums) {
  const float *alpha = static_cast<const float *>(a.alpha), *beta = static_cast<const float *>(a.beta);
  const int64_t first = m - threadIdx.x % kWarp;
  float proj[kCount], dz[kCount];
#pragma unroll
  for (int step = 0; step < kCount; ++step) {
    const int item = Stage::item(step);
    const int64_t token = min(first + item / kCount, a.M - 1), j = j0 + item % kCount;
    proj[step] = static_cast<const float *>(a.proj)[token * a.N + j];
    dz[step] = gateGradient(a, token, j);
  }
  stage.toTokens(proj), stage.toTokens(dz);
  if (m >= a.M)
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      proj[e] = dz[e] = 0.0f;
#pragma unroll
  for (int e = 0; e < kCount; ++e) {
    const int group = gateGroup(j0 + e, a.n);
    const float scaled = s * proj[e], weight = alpha[group];
    if (group < 2) {
      const float gate = sigmoid(fmaf(scaled, weight, beta[j0 + e]));
      dz[e] *= (group == 0 ? 1.0f : static_cast<float>(a.post_mult)) * (gate * (1.0f - gate));
    }
#pragma unroll
    for (int k = 0; k < kGroups; ++k)
      alphaSums[k] = k == group ? fmaf(dz[e], scaled, alphaSums[k]) : alphaSums[k];
    dStat = fmaf(dz[e] * weight, proj[e], dStat);
    proj[e] = dz[e] * weight * s;
  }
  if (a.d_proj) {
    stage.toItems(proj);
#pragma unroll
    for (int step = 0; step < kCount; ++step) {
      const int item = Stage::item(step);
      if (first + item / kCount < a.M)
        static_cast<float *>(a.d_proj)[(first + item / kCount) * a.N + j0 + item % kCount] = proj[step];
    }
  }
  if (!a.d_beta)
    return;
#pragma unroll
  for (int offset = kWarp / 2; offset > 0; offset /= 2)
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      dz[e] += __shfl_xor_sync(~0u, dz[e], offset);
  if (threadIdx.x % kWarp == 0)
#pragma unroll
    for (int e = 0; e < kCount; ++e)
      sums[e] = dz[e];
}

__global__ void __launch_bounds__(kTokens) gatesBwdKernel(GatesBwdArgs a, int64_t tiles, float *partials) {
  __shared__ float panel[kTokenWarps][kPanel];
  __shared__ BlockRoom<kGroups, kTokens> groupRoom;
  __shared__ Stage stages[kTokenWarps];
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64_t m = tile * kTokens + threadIdx.x;
    const bool isToken = m < a.M;
    const float s = isToken ? tokenMultiplier(a.stat, m, a.stat_form, static_cast<float>(a.norm_eps)) : 1.0f;
    float dStat = 0, alphaSums[kGroups] = {};
    float *partial = partials + tile * (kGroups + a.N);
    for (int64_t j0 = 0; j0 < a.N; j0 += kPanel) {
      const int64_t columns = min(int64_t{kPanel}, a.N - j0);
      float *sums = panel[threadIdx.x / kWarp];
      int64_t j = 0;
      for (; j + kAhead <= columns; j += kAhead)
        addColumns<kAhead>(a, m, j0 + j, s, stages[threadIdx.x / kWarp], dStat, alphaSums, sums + j);
      for (; j < columns; ++j)
        addColumns<1>(a, m, j0 + j, s, stages[threadIdx.x / kWarp], dStat, alphaSums, sums + j);
      if (!a.d_beta)
        continue;
      __syncthreads();
      if (threadIdx.x < columns) {
        float sum = panel[0][threadIdx.x];
        for (int w = 1; w < kTokenWarps; ++w)
          sum += panel[w][threadIdx.x];
        partial[kGroups + j0 + threadIdx.x] = sum;
      }
      __syncthreads();
    }
    if (isToken && a.d_stat)
      static_cast<float *>(a.d_stat)[m] = a.stat_form == MHCRT_STAT_MEAN_SQUARE ? -0.5f * dStat * (s * (s * s)) : dStat;
    if (!a.d_alpha)
      continue;
    blockSum(alphaSums, groupRoom);
    if (threadIdx.x < kGroups)
      partial[threadIdx.x] = groupRoom.totals[threadIdx.x];
  }
}

/// Adds the tiles' sums to the starts of d_alpha, of A values, and of d_beta: a warp per column.
__global__ void __launch_bounds__(kThreads) gatesBwdSumKernel(GatesBwdArgs a, int64_t tiles, const float *partials) {
  const int64_t column = firstItem() / kWarp;
  const bool isAlpha = column < kGroups;
  const int64_t at = isAlpha ? column : column - kGroups;
  auto *to = static_cast<float *>(isAlpha ? a.d_alpha : a.d_beta);
  if (!to || at >= (isAlpha ? a.A : a.N))
    return;
  const auto *start = static_cast<const float *>(isAlpha ? a.d_alpha_in : a.d_beta_in);
  CompensatedSum sum;
  inOrder<8, int64_t>(
      threadIdx.x % kWarp, tiles, kWarp, [&](int64_t tile) { return partials[tile * (kGroups + a.N) + column]; },
      [&](float v) { sum.add(v); });
  const float total = warpSum(sum.value());
  if (threadIdx.x % kWarp == 0)
    to[at] = (start ? start[at] : 0.0f) + total;
}

} // namespace

int64_t generic::gatesBwdBytes(const GatesBwdArgs &a) {
  ScratchPlan plan;
  plan.addFloats(divideUp(a.M, kTokens), kGroups + a.N);
  return plan.bytes();
}

cudaError_t generic::gatesBwd(mhcrt_context &context, const GatesBwdArgs &a, void *scratch) {
  const int64_t tiles = divideUp(a.M, kTokens);
  auto *partials = static_cast<float *>(scratch);
  const cudaError_t error =
      launchKernel(gatesBwdKernel, gridForBlocks(context, tiles), kTokens, 0, context.stream, a, tiles, partials);
  if (error || (!a.d_alpha && !a.d_beta))
    return error;
  return launchKernel(gatesBwdSumKernel, static_cast<unsigned>(divideUp((kGroups + a.N) * kWarp, kThreads)), kThreads,
                      0, context.stream, a, tiles, static_cast<const float *>(partials));
}

static cudaError_t launchGeneric(mhcrt_context &context, const GatesBwdArgs &a) {
  void *scratch = context.reserveScratch("mhcrt_gates_bwd", generic::gatesBwdBytes(a));
  return scratch ? generic::gatesBwd(context, a, scratch) : cudaSuccess;
}

static constexpr Variant<GatesBwdArgs> kVariants[] = {{"generic", 0, kAnyArch, nullptr, launchGeneric}};

mhcrt_status mhcrt::runGatesBwd(mhcrt_context &context, const GatesBwdArgs &args) {
  if (!checkGatesBwd(context, args))
    return context.status;
  return launchVariant(context, "gates_bwd", kVariants, args);
}
