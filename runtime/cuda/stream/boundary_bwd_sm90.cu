//===- boundary_bwd_sm90.cu - d_x and d_f from one look at x --------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y[o,c]   = h_post[o] * (f[c] + bias[c]) + sum_i A[o,i] * x[i,c]
//   dy[o,c]  = start[o,c] + h_pre[o] * d_u[c] + sum_j d_proj[j] W[j,o,c] + t * y[o,c]        start as in stream_bwd
//   d_x[i,c] = sum_o A[o,i] * dy[o,c],   d_f[c] = sum_o h_post[o] * dy[o,c]
//   d_h_res[o,i] = sum_c dy[o,c] * x[i,c],   d_h_post[o] = sum_c dy[o,c] * (f[c] + bias[c])
//   d_bias[c] = sum_m d_f[m,c]                                        one partial sum per group of blocks
//   product[o,c,j] = sum_m y[m,o,c] * d_proj[m,j]                     one partial sum per group of blocks
//
// Plan    As stream_bwd_sm90.cu, with the post before in the same walk; what differs:
//           0-3   product: reads y, which the next warps write over x. Its long sums are in shared memory.
//           4-11  y and the mixes by multiply-adds, so that y has the bits of mhc.post; d_h_res and d_h_post by matrix
//                 tiles, of which only the places count where rows and columns have the same token: 10 tiles take the
//                 place of 80 multiply-adds a lane and of the sums over lanes.
//           14-15 add the 8 warps' sums of a tile's tokens, half of them each; token_sums_sm90.cu adds the slices.
//         Two blocks with slices side by side are a cluster and take the same tiles: each adds the sums of half the
//         tokens, which the other sends it. With an odd number of slices each block is alone. Where turns would leave
//         an eighth of 132 blocks' time unused, each has a run of tiles, of up to two slices.
// Bytes   per token 8C for x, 8C for start, 2C for f, 2C for d_u, 8C for d_x, 2C for d_f; 304 (with mix 368) per slice
//         from the second-level cache, and 40 out, 80 where it is alone; 384C per group for the partial sums.
// Needs   as stream_bwd; d_u. One block per multiprocessor: 152, 160 and 40 registers a thread by role, no spills.
// Round   y and dy to bf16, as where they are stored; the rest as in stream_bwd. d_h_res and d_h_post: f32 sums; the
//         bias in two bf16 terms there. d_bias: compensated sums of d_f before it is rounded.
// Tried   The mixes by tiles, too, four tokens in each sum: 500 instructions a slot and warp in place of 550, no faster
//         on an H100, and zero times the NaN of one token reached the others. The last of the slices to come adds all,
//         by a counter of each tile: its fences take ten times as long as the tile. 5 or 7 slots: as fast as 6 on an
//         H100. The first slots loaded before the wait: as fast. Lines of x, f and start given up first by the
//         second-level cache, or those of d_x: 5 percent slower. On an H200: one warp for the tokens' sums, 7 percent
//         slower; both columns of a token's place stored, for the sums' warps to choose, 17 instructions less but 5
//         slots, 8 percent slower; the next slot's first loads before this one's sums are stored, or fewer stores in
//         flight, so that slots are free sooner: as fast; runs at 120 blocks: 0 to 4 percent slower; sums of all
//         slices of a tile side by side in memory: up to 1.5 percent slower. No slice's sums stored but the first's,
//         which no design reaches: 1 percent faster than clusters of two at 4096 channels, none at 7168. Clusters of
//         four find no place on 4 of 132 multiprocessors.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/LaunchOverlapping.h"
#include "cuda/host/TensorMap.h"
#include "cuda/ptx/Overlap.cuh"
#include "cuda/ptx/Registers.cuh"
#include "cuda/stream/BoundaryBwdGrads.cuh"

using namespace mhcrt;

namespace {

template <Start kStart, bool kBias, bool kRuns>
__global__ void __launch_bounds__(kStreamThreads, 1)
    boundaryBwdKernel(const __grid_constant__ BoundaryBwdArgs args, const __grid_constant__ BoundaryMaps maps) {
  using L = BoundaryLayout<kStart, kRuns>;
  extern __shared__ __align__(1024) char shared[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  Walk walk = Walk::of(args, L::kMostSlots, shared, L());
  walk.ready = walk.done;
  if (threadIdx.x == 0) {
    walk.init<kRuns>(args, 1 + kSumWarps + (args.partials ? kProductWarps : 0));
    SumsExchange<L>(walk, 0).init();
  }
  __syncthreads();
  if (args.division.together > 1) {
    clusterArrive();
    clusterWait(); // the other block has initialised its barriers, which sums are sent to
  }
  if (warp >= kStoreWarp) {
    lowerRegisters<40>();
    if (warp == kStoreWarp && lane == 0)
      storeTiles<L>(walk, maps);
    else if (warp == kLoadWarp && lane == 0)
      loadTiles<L, kStart>(args, walk, maps);
    else if (warp >= kSumWarp)
      storeTokenSums<L>(args, walk, warp - kSumWarp);
  } else if (warp < kProductWarps) {
    raiseRegisters<152>();
    if (args.partials)
      sumProduct<L>(args, walk, warp, SharedSums(walk.base + L::kProductAt));
  } else {
    raiseRegisters<160>();
    makeGrads<L, kStart, kBias>(args, walk, warp - kProductWarps);
  }
}

template <Start kStart, bool kBias, bool kRuns>
cudaError_t launchOf(const BoundaryBwdArgs &args, cudaStream_t stream) {
  using L = BoundaryLayout<kStart, kRuns>;
  const TileShape shape = {args.M, args.C, kSlotTokens, kSlice / 64};
  const auto xMap = args.equalX ? equalStreamsMap : streamsMap,
             startMap = args.equalDxIn ? equalStreamsMap : streamsMap;
  BoundaryMaps maps = {};
  cudaError_t error = xMap(maps.x, args.x, shape);
  if (!error)
    error = channelsMap(maps.f, args.f, shape);
  if (!error && kStart != Start::kNone)
    error = startMap(maps.start, args.dxIn, shape);
  if (!error)
    error = channelsMap(maps.du, args.du, shape);
  if (!error)
    error = streamsMap(maps.dx, args.dx, shape);
  if (!error)
    error = channelsMap(maps.df, args.df, shape);
  constexpr auto *kKernel = boundaryBwdKernel<kStart, kBias, kRuns>;
  if (!error)
    error = allowShared<kKernel>(L::kTotal);
  if (error)
    return error;
  return launchOverlapping(kKernel, args.division.blocks * args.division.together, kStreamThreads,
                           args.division.together, L::kTotal, stream, args, maps);
}

template <Start kStart>
cudaError_t launch(const BoundaryBwdArgs &args, cudaStream_t stream) {
  return args.bias                ? launchOf<kStart, true, false>(args, stream)
         : args.division.inTurn() ? launchOf<kStart, false, false>(args, stream)
                                  : launchOf<kStart, false, true>(args, stream);
}

} // namespace

// Runs have costs of their own: a second slice's phi, the blocks' common step through the tokens, and registers, of
// which a bias leaves none.
StreamDivision mhcrt::boundaryDivision(int64_t M, int64_t C, bool hasBias) {
  constexpr int64_t kLeastSaved = 4;
  const StreamDivision turns = streamDivision(M, C);
  const int64_t groups = turns.blocks / turns.slices, longest = (turns.tiles + groups - 1) / groups;
  const int64_t saved = longest - (int64_t(turns.slices) * turns.tiles + kSumPlaces - 1) / kSumPlaces;
  const bool hasRuns = !hasBias && saved > kLeastSaved && 8 * saved > longest;
  const int32_t blocks = hasRuns ? kSumPlaces : turns.blocks, together = turns.slices % 2 == 0 ? 2 : 1;
  return {turns.slices / together, turns.tiles, blocks / together, together};
}

// Starts before it waits: loadTiles. As streamBwd(), behind preBwdReduce.
cudaError_t mhcrt::boundaryBwd(const BoundaryBwdArgs &args, cudaStream_t stream) {
  return args.mix    ? launch<Start::kMix>(args, stream)
         : args.dxIn ? launch<Start::kAdd>(args, stream)
                     : launch<Start::kNone>(args, stream);
}
