//===- sinkhorn_bwd_n4.cu - Sinkhorn backwards, a thread per token --------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan    That of pre_bwd's reduction (Sinkhorn4Bwd.cuh): a 4x4 matrix in the registers of one thread, 16 bytes a
//         step in shared memory, a warp a block.
// Bytes   per token 192.
// Needs   n = 4, 16-byte aligned tensors, at most kMostSteps half iterations.
// Round   f32; the steps are inverted, not recorded.
// Result  H200, M = 8192, 20 iterations: 8.3 us; 72 registers.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Newton4.cuh"
#include "cuda/algebra/Sinkhorn4Bwd.cuh"
#include "cuda/host/Launch.cuh"
#include "cuda/kernels/Residual.h"

using namespace mhcrt;

namespace {

constexpr int kTokens = 32;    ///< of a block
constexpr int kMostSteps = 96; ///< 48 KiB of shared memory, which need no attribute

__global__ void __launch_bounds__(kTokens)
    sinkhornBwdN4Kernel(const float4 *dMix, const float4 *logits, float4 *dLogits, int64_t M, SinkhornOptions options) {
  extern __shared__ float4 history[]; // [step][kTokens]
  const int64_t token = int64_t(blockIdx.x) * kTokens + threadIdx.x;
  if (token >= M)
    return;
  const auto load = [&](float (&m)[16]) {
#pragma unroll
    for (int k = 0; k < 4; ++k)
      reinterpret_cast<float4 &>(m[4 * k]) = logits[token * 4 + k];
  };
  float g[16];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    reinterpret_cast<float4 &>(g[4 * k]) = dMix[token * 4 + k];
  if (options.init == MHCRT_INIT_LOG)
    sinkhorn4BwdLog(g, load, options, history + threadIdx.x, kTokens);
  else
    sinkhorn4BwdLinear(g, load, options, history + threadIdx.x, kTokens);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    dLogits[token * 4 + k] = reinterpret_cast<const float4 &>(g[4 * k]);
}

/// The gradient of the limit by Newton's steps, which has no history.
__global__ void __launch_bounds__(kTokens)
    newtonBwdN4Kernel(const float4 *dMix, const float4 *logits, float4 *dLogits, int64_t M, int64_t iters) {
  const int64_t token = int64_t(blockIdx.x) * kTokens + threadIdx.x;
  if (token >= M)
    return;
  float m[16], g[16];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    reinterpret_cast<float4 &>(m[4 * k]) = logits[token * 4 + k];
  newtonLimit(m, iters);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    reinterpret_cast<float4 &>(g[4 * k]) = dMix[token * 4 + k];
  newtonGradient(g, m);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    dLogits[token * 4 + k] = reinterpret_cast<const float4 &>(g[4 * k]);
}

} // namespace

bool mhcrt::sinkhornBwdN4Takes(const SinkhornBwdArgs &a, Needs &needs) {
  return needs.equal("n", a.n, 4) && needs.that(a.M > 0, "tokens") &&
         needs.atMost("M", a.M, int64_t{INT32_MAX} * kTokens) &&
         (a.solver == MHCRT_SOLVER_NEWTON || needs.atMost("iters", a.iters, kMostSteps / 2)) &&
         needs.aligned({a.d_mix, a.logits, a.d_logits});
}

cudaError_t mhcrt::sinkhornBwdN4(const SinkhornBwdArgs &a, cudaStream_t stream) {
  const SinkhornOptions options = {a.init, a.order, a.denom, static_cast<float>(a.eps), a.iters};
  const auto blocks = static_cast<unsigned>((a.M + kTokens - 1) / kTokens);
  if (a.solver == MHCRT_SOLVER_NEWTON)
    return launchKernel(newtonBwdN4Kernel, blocks, kTokens, 0, stream, static_cast<const float4 *>(a.d_mix),
                        static_cast<const float4 *>(a.logits), static_cast<float4 *>(a.d_logits), a.M, a.iters);
  const size_t shared = 2 * a.iters * kTokens * sizeof(float4);
  return launchKernel(sinkhornBwdN4Kernel, blocks, kTokens, shared, stream, static_cast<const float4 *>(a.d_mix),
                      static_cast<const float4 *>(a.logits), static_cast<float4 *>(a.d_logits), a.M, options);
}
