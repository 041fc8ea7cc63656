//===- weight_grad_sm90.cu - Partial sums to the gradients of weights -----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_phi = d_phi_in + dW * norm_weight,   d_norm_weight[k] = d_norm_weight_in[k] + sum_j dW[j,k] * phi[j,k]
//   dW = sum of the groups' partial sums;   d_alpha, d_beta: of the tiles' partial sums
//
// Plan    A block has 32 rows of K: a thread adds 4 columns of a row over the groups, in their order; the tile turns in
//         shared memory. The last blocks add the gates' sums, one column per warp: one block with three a warp took
//         longer than all others. Compensated sums: there may be 31250 of a million tokens.
// Bytes   96 * groups + 96 (192 with d_phi_in) per row of K, mostly from the second-level cache.
// Needs   K a multiple of 32. d_phi may be d_phi_in.
// Round   all f32.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/LaunchOverlapping.h"
#include "cuda/ptx/Overlap.cuh"
#include "cuda/stream/StreamBwd.h"
#include "cuda/tile/InOrder.cuh"
#include "src/CompensatedSum.h"

using namespace mhcrt;

namespace {

constexpr int kRows = 32;
constexpr int kThreads = kRows * kColumns / 4, kWarps = kThreads / 32;

using Elements = PhiElements<WideOrBf16Input>;

__device__ __forceinline__ float startOf(const float *in, int64_t at) { return in ? in[at] : 0.0f; }

__device__ void addGroups(const WeightGradArgs &args, int64_t k0, float (&tile)[kRows][kColumns + 1]) {
  const auto *from = reinterpret_cast<const float4 *>(args.partials + k0 * kColumns) + threadIdx.x;
  const int64_t stride = args.K * kColumns / 4;
  const int groups = args.division.groups(args.division.sliceOf(blockIdx.x * kRows) % args.division.slices);
  CompensatedSum sums[4];
  inOrder(
      0, groups, 1, [&](int group) { return from[group * stride]; },
      [&](const float4 &v) { sums[0].add(v.x), sums[1].add(v.y), sums[2].add(v.z), sums[3].add(v.w); });
  float *to = &tile[threadIdx.x / 6][threadIdx.x % 6 * 4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    to[k] = sums[k].value();
}

__device__ void storePhi(const WeightGradArgs &args, int64_t k0, const float (&tile)[kRows][kColumns + 1]) {
  const Elements phi = {args.phi, args.columns, args.K};
  const bool outIn = args.phi.rowsFirst();
  for (int i = threadIdx.x; i < kRows * args.columns; i += kThreads) {
    const int row = outIn ? i % kRows : i / args.columns, column = outIn ? i / kRows : i % args.columns;
    const int64_t k = k0 + row, at = phi.index(column, k);
    args.dPhi[at] = fmaf(tile[row][column], phi.scale(k), startOf(args.dPhiIn, at));
  }
}

__device__ void storeWeight(const WeightGradArgs &args, int64_t k0, const float (&tile)[kRows][kColumns + 1]) {
  const Elements phi = {args.phi, args.columns, args.K};
  if (threadIdx.x >= kRows)
    return;
  const int64_t k = k0 + threadIdx.x;
  float sum = 0.0f;
  for (int j = 0; j < args.columns; ++j)
    sum = fmaf(tile[threadIdx.x][j], phi.at(j, k), sum);
  args.dWeight[k] = startOf(args.dWeightIn, k) + sum;
}

/// `block` counts those that add the gates' sums.
__device__ void addGates(const WeightGradArgs &args, int block) {
  const int column = block * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (column >= 3 + args.columns)
    return;
  const float *from = args.gatePartials + static_cast<int64_t>(column) * args.tiles;
  CompensatedSum ofLane;
  inOrder(lane, args.tiles, 32, [&](int tile) { return from[tile]; }, [&](float v) { ofLane.add(v); });
  float sum = ofLane.value();
#pragma unroll
  for (int offset = 16; offset; offset /= 2)
    sum += __shfl_xor_sync(~0u, sum, offset);
  if (lane != 0)
    return;
  if (column < 3 && args.dAlpha)
    args.dAlpha[column] = startOf(args.dAlphaIn, column) + sum;
  if (column >= 3 && args.dBeta)
    args.dBeta[column - 3] = startOf(args.dBetaIn, column - 3) + sum;
}

/// Blocks that add dW.
__host__ __device__ __forceinline__ int64_t productBlocks(const WeightGradArgs &args) {
  return args.partials ? args.K / kRows : 0;
}

__global__ void __launch_bounds__(kThreads) weightGradKernel(const __grid_constant__ WeightGradArgs args) {
  __shared__ float tile[kRows][kColumns + 1];
  beginOverlapped();
  const int64_t k0 = static_cast<int64_t>(blockIdx.x) * kRows;
  if (!args.partials || k0 >= args.K) {
    addGates(args, static_cast<int>(blockIdx.x - productBlocks(args)));
    return;
  }
  addGroups(args, k0, tile);
  __syncthreads();
  if (args.dPhi)
    storePhi(args, k0, tile);
  if (args.dWeight)
    storeWeight(args, k0, tile);
}

} // namespace

cudaError_t mhcrt::weightGrad(const WeightGradArgs &args, cudaStream_t stream) {
  const int gateBlocks = args.gatePartials ? (3 + args.columns + kWarps - 1) / kWarps : 0;
  const int64_t blocks = productBlocks(args) + gateBlocks;
  if (blocks == 0)
    return cudaSuccess;
  return launchOverlapping(weightGradKernel, static_cast<unsigned>(blocks), kThreads, 1, 0, stream, args);
}
