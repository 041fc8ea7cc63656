//===- sinkhorn_n4.cu - Sinkhorn's iteration, a thread per token ----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan    A matrix in the registers of one thread (SinkhornThread.cuh): no shuffles, and the lines of a step overlap.
//         Small blocks, so that few tokens use all multiprocessors.
// Bytes   per token 8*n*n.
// Needs   n = 4, or 2 or 8 without Newton's steps; 16-byte aligned tensors.
// Round   f32, or every result to the format; reciprocals within one unit in the last place.
// Result  H200, M = 8192, 20 iterations: 4.4 us, half of it the launch; 32 registers.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Newton4.cuh"
#include "cuda/kernels/Residual.h"
#include "cuda/tile/Columns.cuh"

using namespace mhcrt;

namespace {

constexpr int kTokens = 64; ///< of a block

/// A round that marks the limit by Newton's steps, which has a kernel of its own.
struct Newton {};

template <int n, typename Round>
__global__ void __launch_bounds__(kTokens)
    sinkhornN4Kernel(const float4 *logits, float4 *mix, int64_t M, SinkhornOptions options, Round round) {
  beginOverlapped();
  const int64_t token = int64_t(blockIdx.x) * kTokens + threadIdx.x;
  if (token >= M)
    return;
  constexpr int kVectors = n * n / 4;
  float m[n * n];
#pragma unroll
  for (int k = 0; k < kVectors; ++k)
    reinterpret_cast<float4 &>(m[4 * k]) = logits[token * kVectors + k];
  if constexpr (std::is_same_v<Round, Newton>)
    newtonLimit(m, options.iters);
  else
    sinkhornMix(m, options, round);
#pragma unroll
  for (int k = 0; k < kVectors; ++k)
    mix[token * kVectors + k] = reinterpret_cast<const float4 &>(m[4 * k]);
}

bool rowsFit(const SinkhornArgs &a, Needs &needs) {
  return needs.that(a.M > 0, "tokens") && needs.atMost("M", a.M, int64_t{INT32_MAX} * kTokens) &&
         needs.aligned({a.logits, a.mix});
}

} // namespace

bool mhcrt::sinkhornN4Takes(const SinkhornArgs &a, Needs &needs) {
  return needs.equal("n", a.n, 4) && rowsFit(a, needs);
}

bool mhcrt::sinkhornN2N8Takes(const SinkhornArgs &a, Needs &needs) {
  return needs.that(a.n == 2 || a.n == 8, "2 or 8 streams") &&
         needs.that(a.solver != MHCRT_SOLVER_NEWTON, "another solver than Newton's") && rowsFit(a, needs);
}

cudaError_t mhcrt::sinkhornN4(const SinkhornArgs &a, cudaStream_t stream) {
  const SinkhornOptions options = {a.init, a.order, a.denom, static_cast<float>(a.eps), a.iters, a.format, a.solver};
  const auto blocks = static_cast<unsigned>((a.M + kTokens - 1) / kTokens);
  const auto launch = [&](auto n, auto round) {
    return launchOverlapping(sinkhornN4Kernel<n(), decltype(round)>, blocks, kTokens, 1, 0, stream,
                             static_cast<const float4 *>(a.logits), static_cast<float4 *>(a.mix), a.M, options, round);
  };
  const auto launchRounded = [&](auto n) {
    return options.format == MHCRT_FORMAT_F32 ? launch(n, KeepF32())
                                              : launch(n, RoundTo{static_cast<int32_t>(options.format)});
  };
  using Four = std::integral_constant<int, 4>;
  if (options.isNewton())
    return launch(Four(), Newton());
  return a.n == 4 ? launchRounded(Four()) : withOtherStreams(a.n, launchRounded);
}
