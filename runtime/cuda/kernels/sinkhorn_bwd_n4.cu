//===- sinkhorn_bwd_n4.cu - Sinkhorn backwards, a thread per token --------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan    That of pre_bwd's reduction (SinkhornThreadBwd.cuh): a matrix in the registers of one thread, 4*n bytes a
//         step in shared memory, a warp a block.
// Bytes   per token 12*n*n.
// Needs   n = 4, or 2 or 8 without Newton's steps; 16-byte aligned tensors; steps that find room.
// Round   f32; the steps are inverted, not recorded.
// Result  H200, n = 4, M = 8192, 20 iterations: 8.3 us; 72 registers.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Newton4.cuh"
#include "cuda/algebra/SinkhornThreadBwd.cuh"
#include "cuda/kernels/Residual.h"
#include "cuda/tile/Columns.cuh"

using namespace mhcrt;

namespace {

constexpr int kTokens = 32;              ///< of a block
constexpr int64_t kMostBytes = 48 << 10; ///< of shared memory, which need no attribute

template <int n>
__global__ void __launch_bounds__(kTokens)
    sinkhornBwdN4Kernel(const float4 *dMix, const float4 *logits, float4 *dLogits, int64_t M, SinkhornOptions options) {
  extern __shared__ float4 memory[];
  beginOverlapped();
  constexpr int kVectors = n * n / 4;
  const int64_t token = int64_t(blockIdx.x) * kTokens + threadIdx.x;
  if (token >= M)
    return;
  auto *history = reinterpret_cast<LineRecord<n> *>(memory) + threadIdx.x; // [step][kTokens]
  const auto load = [&](float (&m)[n * n]) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      reinterpret_cast<float4 &>(m[4 * k]) = logits[token * kVectors + k];
  };
  float g[n * n];
#pragma unroll
  for (int k = 0; k < kVectors; ++k)
    reinterpret_cast<float4 &>(g[4 * k]) = dMix[token * kVectors + k];
  if (options.init == MHCRT_INIT_LOG)
    sinkhornBwdLog(g, load, options, history, kTokens);
  else
    sinkhornBwdLinear(g, load, options, history, kTokens);
#pragma unroll
  for (int k = 0; k < kVectors; ++k)
    dLogits[token * kVectors + k] = reinterpret_cast<const float4 &>(g[4 * k]);
}

/// The gradient of the limit by Newton's steps, which has no history.
__global__ void __launch_bounds__(kTokens)
    newtonBwdN4Kernel(const float4 *dMix, const float4 *logits, float4 *dLogits, int64_t M, int64_t iters) {
  beginOverlapped();
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

int64_t recordBytes(const SinkhornBwdArgs &a) { return 2 * a.iters * kTokens * a.n * int64_t(sizeof(float)); }

bool rowsFit(const SinkhornBwdArgs &a, Needs &needs) {
  return needs.that(a.M > 0, "tokens") && needs.atMost("M", a.M, int64_t{INT32_MAX} * kTokens) &&
         (a.solver == MHCRT_SOLVER_NEWTON ||
          needs.atMost("iters", a.iters, kMostBytes / (2 * kTokens * a.n * int64_t(sizeof(float))))) &&
         needs.aligned({a.d_mix, a.logits, a.d_logits});
}

} // namespace

bool mhcrt::sinkhornBwdN4Takes(const SinkhornBwdArgs &a, Needs &needs) {
  return needs.equal("n", a.n, 4) && rowsFit(a, needs);
}

bool mhcrt::sinkhornBwdN2N8Takes(const SinkhornBwdArgs &a, Needs &needs) {
  return needs.that(a.n == 2 || a.n == 8, "2 or 8 streams") &&
         needs.that(a.solver != MHCRT_SOLVER_NEWTON, "another solver than Newton's") && rowsFit(a, needs);
}

cudaError_t mhcrt::sinkhornBwdN4(const SinkhornBwdArgs &a, cudaStream_t stream) {
  const SinkhornOptions options = {a.init, a.order, a.denom, static_cast<float>(a.eps), a.iters};
  const auto blocks = static_cast<unsigned>((a.M + kTokens - 1) / kTokens);
  const auto *dMix = static_cast<const float4 *>(a.d_mix), *logits = static_cast<const float4 *>(a.logits);
  auto *dLogits = static_cast<float4 *>(a.d_logits);
  if (a.solver == MHCRT_SOLVER_NEWTON)
    return launchOverlapping(newtonBwdN4Kernel, blocks, kTokens, 1, 0, stream, dMix, logits, dLogits, a.M, a.iters);
  const auto launch = [&](auto n) {
    return launchOverlapping(sinkhornBwdN4Kernel<n()>, blocks, kTokens, 1, static_cast<size_t>(recordBytes(a)), stream,
                             dMix, logits, dLogits, a.M, options);
  };
  return a.n == 4 ? launch(std::integral_constant<int, 4>()) : withOtherStreams(a.n, launch);
}
