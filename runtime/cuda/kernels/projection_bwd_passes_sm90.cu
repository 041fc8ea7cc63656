//===- projection_bwd_passes_sm90.cu - Gradients of a projection ----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan    A small launch makes the tokens' scalars; then stream_bwd_sm90.cu (16C bytes per token, 24C with d_x_in) and
//         weight_grad_sm90.cu.
// Needs   n = 4, or 2, and n*n + 2n columns, layout nC, x, d_x_in and d_x in bf16.
// Time    one H200, us and percent of a copy's bandwidth in the same run, 16C and 24C: 146 (87), 203 (93) at
//         8192x4096; 247 (90), 374 (89) at 8192x7168; 96 (83), 142 (84) at 8192x2560; 35, 44 at 4096x1280; 552 (92),
//         775 (98) at 32768x4096.
//
//===------------------------------------------------------------------------===//
#include "cuda/algebra/NormBwd.cuh"
#include "cuda/host/LaunchOverlapping.h"
#include "cuda/kernels/ProjectionBwd.h"
#include "cuda/ptx/Overlap.cuh"
#include "cuda/stream/StreamBwd.h"

using namespace mhcrt;

namespace {

constexpr int kThreads = 128;

/// Where d_proj has fewer columns than 24, it is padded.
template <int kWidth>
__global__ void __launch_bounds__(kThreads)
    statisticKernel(const __grid_constant__ ProjectionBwdOperands args, float *scalars, float *padded) {
  beginOverlapped();
  const int64_t token = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x, mine = min(token, args.M - 1);
  float factor = 0.0f;
  if (args.dStat && args.statForm == MHCRT_STAT_MEAN_SQUARE)
    factor = 2.0f / static_cast<float>(args.n * args.C) * args.dStat[mine];
  else if (args.dStat)
    factor = statisticFactor({args.x, args.n * args.C, args.norm, args.normEps, args.n * args.C}, args.stat[mine],
                             args.dStat[mine], mine);
  if (token >= args.M)
    return;
  float most = 0.0f;
#pragma unroll
  for (int j = 0; j < kColumns; j += 4) {
    const float4 v = j < kWidth ? *reinterpret_cast<const float4 *>(args.dProj + token * kWidth + j) : float4();
    if (kWidth < kColumns)
      *reinterpret_cast<float4 *>(padded + token * kColumns + j) = v;
    most = fmaxf(fmaxf(most, fmaxf(fabsf(v.x), fabsf(v.y))), fmaxf(fabsf(v.z), fabsf(v.w)));
  }
  float4 *row = reinterpret_cast<float4 *>(scalars + token * kScalars);
  row[0] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  row[1] = make_float4(factor, scaleAbove(most), 0.0f, 0.0f);
}

/// Parts of the scratch memory.
struct Rooms {
  float *scalars, *padded, *products; ///< padded: d_proj with 24 columns, null where it has them
  int64_t bytes = 0;

  Rooms(const ProjectionBwdOperands &args, void *scratch) {
    const bool hasProduct = args.dPhi || args.dWeight;
    scalars = take(scratch, 1, args.M * kScalars);
    padded = take(scratch, args.N < kColumns, args.M * kColumns);
    products =
        take(scratch, hasProduct ? streamDivision(args.M, ofFour(args)).mostGroups() : 0, args.n * args.C * kColumns);
  }

  /// Channels of each of four streams.
  static int64_t ofFour(const ProjectionBwdOperands &args) { return args.n * args.C / 4; }

private:
  float *take(void *scratch, int64_t count, int64_t floats) {
    auto *at = count ? reinterpret_cast<float *>(static_cast<char *>(scratch) + bytes) : nullptr;
    bytes += alignBytes(4 * count * floats);
    return at;
  }
};

} // namespace

bool mhcrt::projectionBwdTakes(const ProjectionBwdOperands &args, Needs &needs) {
  return needs.that(args.n == 2 || args.n == 4, "2 or 4 streams") &&
         needs.equal("N", args.N, args.n * args.n + 2 * args.n) && needs.given("d_x", args.dx) &&
         needs.type("x", args.type, MHCRT_BF16) && needs.type("d_x", args.dxType, MHCRT_BF16) &&
         (args.dxInType == MHCRT_NONE || needs.type("d_x_in", args.dxInType, MHCRT_BF16)) &&
         needs.that(args.M > 0, "tokens") && needs.atMost("M", args.M, INT32_MAX - kSlotTokens) &&
         needs.multiple("C", args.C, kSlice * 4 / args.n) &&
         needs.atMost("C", args.C, kMostSlices * kSlice * 4 / args.n) &&
         needs.aligned({args.x, args.dxIn, args.dx, args.dProj});
}

int64_t mhcrt::projectionBwdScratchBytes(const ProjectionBwdOperands &args) { return Rooms(args, nullptr).bytes; }

cudaError_t mhcrt::projectionBwdPasses(const ProjectionBwdOperands &args, void *scratch, int multiprocessors,
                                       cudaStream_t stream) {
  const Rooms rooms(args, scratch);
  const unsigned blocks = static_cast<unsigned>((args.M + kThreads - 1) / kThreads);
  const auto statistic = args.N == kColumns ? statisticKernel<kColumns> : statisticKernel<kPairColumns>;
  if (const cudaError_t error =
          launchOverlapping(statistic, blocks, kThreads, 1, 0, stream, args, rooms.scalars, rooms.padded))
    return error;
  StreamBwdArgs pass = {};
  pass.x = args.x, pass.dxIn = args.dxIn, pass.dProj = rooms.padded ? rooms.padded : args.dProj;
  pass.scalars = rooms.scalars;
  pass.phi = {args.phi, args.weight, args.phiType, args.weightType, args.phiLayout};
  pass.columns = static_cast<int32_t>(args.N), pass.dx = args.dx, pass.partials = rooms.products;
  pass.M = args.M, pass.C = Rooms::ofFour(args);
  if (const cudaError_t error = streamBwd(pass, multiprocessors, stream))
    return error;
  WeightGradArgs rest = {};
  rest.partials = rooms.products, rest.division = streamDivision(args.M, pass.C);
  rest.phi = pass.phi, rest.columns = pass.columns, rest.dPhiIn = args.dPhiIn, rest.dWeightIn = args.dWeightIn;
  rest.dPhi = args.dPhi, rest.dWeight = args.dWeight, rest.K = args.n * args.C;
  return weightGrad(rest, stream);
}
