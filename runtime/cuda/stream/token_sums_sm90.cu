//===- token_sums_sm90.cu - Partial sums to the gradients of a post -------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_h_res[m], d_h_post[m] = sum of the slices' sums of token m;   d_bias = d_bias_in + sum of the groups' sums
//
// Plan    A thread adds four sums of a token over the slices, in their order; behind them a channel of d_bias over the
//         groups.
// Bytes   80 per token and slice, or two of them where boundary_bwd_sm90.cu has added two, mostly from the second-level
//         cache; 80 per token.
// Round   all f32.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/LaunchOverlapping.h"
#include "cuda/ptx/CachePolicy.cuh"
#include "cuda/ptx/Overlap.cuh"
#include "cuda/stream/BoundaryBwd.h"
#include "cuda/tile/InOrder.cuh"
#include "cuda/tile/Vec.cuh"
#include "src/CompensatedSum.h"

using namespace mhcrt;

namespace {

constexpr int kThreads = 128, kTokenPieces = kTokenSums / 4;

struct Sums {
  const float4 *from;
  int64_t pieces; ///< of a slice
  bool inputFirst;
  const float *ofBias; ///< [most groups][C]
  StreamDivision division;
  int64_t C; ///< 0 without d_bias
  TokenSumResults to;
};

__device__ __forceinline__ float4 loadLast(const float4 *p) {
  const uint4 bits = loadOnce(p, keepShort());
  return reinterpret_cast<const float4 &>(bits);
}

__device__ __forceinline__ void addPiece(const Sums &sums, int64_t at) {
  float4 sum = loadLast(sums.from + at);
  inOrder(
      1, sums.division.slices, 1, [&](int slice) { return loadLast(sums.from + slice * sums.pieces + at); },
      [&](const float4 &v) { sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w; });
  const int64_t token = at / kTokenPieces;
  const int o = static_cast<int>(at % kTokenPieces);
  if (o == 4) {
    if (sums.to.dhPost)
      reinterpret_cast<float4 *>(sums.to.dhPost)[token] = sum;
  } else if (sums.to.dhRes) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      sums.to.dhRes[token * 16 + (sums.inputFirst ? i * 4 + o : o * 4 + i)] = part(sum, i);
  }
}

__device__ __forceinline__ void addBias(const Sums &sums, int64_t channel) {
  CompensatedSum sum;
  if (sums.to.dBiasIn)
    sum.add(sums.to.dBiasIn[channel]);
  const int groups = sums.division.groups(sums.division.sliceOf(channel));
  for (int group = 0; group < groups; ++group)
    sum.add(sums.ofBias[group * sums.C + channel]);
  sums.to.dBias[channel] = sum.value();
}

template <bool kBeside>
__device__ __forceinline__ void addTokens(const Sums &sums) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (!kBeside)
    waitForEarlierKernels();
  launchLaterKernels();
  if (at < sums.pieces)
    addPiece(sums, at);
  else if (at < sums.pieces + sums.C)
    addBias(sums, at - sums.pieces);
  waitForEarlierKernels();
}

template <bool kBeside>
__global__ void __launch_bounds__(kThreads) tokenSumsKernel(const __grid_constant__ Sums sums) {
  addTokens<kBeside>(sums);
}

} // namespace

// Starts before it waits: addTokens. With kBeside it runs beside the kernel before it, which neither makes the sums nor
// reads the results: it starts when that one has waited for all that came before. It ends after that one: what comes
// later waits for both.
cudaError_t mhcrt::tokenSums(const BoundaryBwdArgs &args, const TokenSumResults &to, bool beside, cudaStream_t stream) {
  const bool ofTokens = to.dhRes || to.dhPost;
  const Sums sums = {reinterpret_cast<const float4 *>(args.sums),
                     ofTokens ? args.M * kTokenPieces : 0,
                     args.inputFirst,
                     args.biasSums,
                     args.division,
                     to.dBias ? args.C : 0,
                     to};
  const int64_t threads = sums.pieces + sums.C;
  if (threads == 0)
    return cudaSuccess;
  return launchOverlapping(beside ? tokenSumsKernel<true> : tokenSumsKernel<false>,
                           static_cast<unsigned>((threads + kThreads - 1) / kThreads), kThreads, 1, 0, stream, sums);
}
