//===- sinkhorn_n4.cu - Sinkhorn's iteration, a thread per token ----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan    A 4x4 matrix in the registers of one thread (Sinkhorn4.cuh): no shuffles, and the four lines of a
//         step overlap. Small blocks, so that few tokens use all multiprocessors.
// Bytes   per token 128.
// Needs   n = 4, 16-byte aligned tensors.
// Round   f32, or every result to the format; reciprocals within one unit in the last place.
// Result  H200, M = 8192, 20 iterations: 4.4 us, half of it the launch; 32 registers.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/Newton4.cuh"
#include "cuda/host/Launch.cuh"
#include "cuda/kernels/Residual.h"

using namespace mhcrt;

namespace {

constexpr int kTokens = 64; ///< of a block

/// A round that marks the limit by Newton's steps, which has a kernel of its own.
struct Newton {};

template <typename Round>
__global__ void __launch_bounds__(kTokens)
    sinkhornN4Kernel(const float4 *logits, float4 *mix, int64_t M, SinkhornOptions options, Round round) {
  const int64_t token = int64_t(blockIdx.x) * kTokens + threadIdx.x;
  if (token >= M)
    return;
  float m[16];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    reinterpret_cast<float4 &>(m[4 * k]) = logits[token * 4 + k];
  if constexpr (std::is_same_v<Round, Newton>)
    newtonLimit(m, options.iters);
  else
    sinkhornMix(m, options, round);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    mix[token * 4 + k] = reinterpret_cast<const float4 &>(m[4 * k]);
}

} // namespace

bool mhcrt::sinkhornN4Takes(const SinkhornArgs &a, Needs &needs) {
  return needs.equal("n", a.n, 4) && needs.that(a.M > 0, "tokens") &&
         needs.atMost("M", a.M, int64_t{INT32_MAX} * kTokens) && needs.aligned({a.logits, a.mix});
}

cudaError_t mhcrt::sinkhornN4(const SinkhornArgs &a, cudaStream_t stream) {
  const SinkhornOptions options = {a.init, a.order, a.denom, static_cast<float>(a.eps), a.iters, a.format, a.solver};
  const auto blocks = static_cast<unsigned>((a.M + kTokens - 1) / kTokens);
  const auto launch = [&](auto round) {
    return launchKernel(sinkhornN4Kernel<decltype(round)>, blocks, kTokens, 0, stream,
                        static_cast<const float4 *>(a.logits), static_cast<float4 *>(a.mix), a.M, options, round);
  };
  if (options.isNewton())
    return launch(Newton());
  return options.format == MHCRT_FORMAT_F32 ? launch(KeepF32()) : launch(RoundTo{static_cast<int32_t>(options.format)});
}
