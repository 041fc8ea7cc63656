//===- stream_bwd_sm90.cu - d_x and d_phi from one look at x --------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_x[i,c] = start[i,c] + h_pre[i] * d_u[c] + sum_j d_proj[j] W[j,i,c] + t * x[i,c]          W = phi * norm_weight
//   start    = nothing, d_x_in[i,c], or sum_o mix[o,i] * d_x_in[o,c]
//   product[i,c,j] = sum_m x[m,i,c] * d_proj[m,j]                     one partial sum per group of blocks
//
// Plan    A block owns 128 channels of the four streams and walks over tiles of 8 tokens, the last tile first: the
//         pass before it left the last tokens in the second-level cache. C/128 slices times groups of blocks fill the
//         device; blocks exchange nothing. Tiles come and go by bulk tensor copies through a ring of slots, x with
//         128-byte swizzle; d_x is written over the slot's start. 16 warps:
//           0-3   product, one stream each: 96 sums per thread. x^T by transposing loads, k = tokens; a 16x8x16
//                 product takes two tiles, once with the first bf16 terms of d_proj and once with the second. Every 32
//                 tiles the sums are added to 96 others, and those every 1024 tiles in global memory: sums stay short
//                 where matrix units cut them off, and where f32 additions round them.
//           4-11  d_x: a warp has 16 channels, whose W stays in registers for the whole launch, a lane one token and 4
//                 channels of each stream. Rows 0-7 of A are the first f16 terms of the tokens' d_proj, 8-15 the
//                 second; B is W, in an order that makes the lane's channel pairs its columns of the result. Powers of
//                 two, per token and per warp, keep both below 1.
//           12    stores        13   loads        14, 15   idle
// Bytes   per token 8C for x, 8C for d_x_in, 2C for d_u, 8C for d_x; 128 (with mix 192) per slice from the
//         second-level cache; 384C per group for the partial sums.
// Needs   C a multiple of 128 up to 16384; rows of tokens aligned to 16 bytes. One block per multiprocessor: 232, 120
//         and 40 registers a thread by role, no spills.
// Round   f32 sums, d_x rounded once. d_x: W in f16, 2^-11 of it (2^-24 of the largest in the warp's channels, where
//         that is more), an eighth of what d_x loses when it is stored; d_proj to 2^-23. d_phi: d_proj to 2^-17, x
//         exactly; the sums over a million tokens to 1e-5. This is bf16x3 of mhc.projection_bwd for d_x in bf16.
// Time    one H200, us and percent of a copy's bandwidth in the same run, with the product:
//           M x C              8192x4096  8192x7168  8192x5120  8192x2560  4096x1280  65536x768  32768x4096
//           26C, d_x_in        217  95    396  91    288  89    151  85    43   75    325  95    832  99
//           26C, mix           217  95    366  98    263  98    138  93    44   73    318  97    842  98
//
//===------------------------------------------------------------------------===//
#include "cuda/host/LaunchOverlapping.h"
#include "cuda/host/TensorMap.h"
#include "cuda/ptx/Overlap.cuh"
#include "cuda/ptx/Registers.cuh"
#include "cuda/stream/StreamBwdGrads.cuh"
#include "cuda/stream/StreamBwdProduct.cuh"

#include <algorithm>

using namespace mhcrt;

namespace {

template <Start kStart, bool kHasDu, bool kPairs>
__global__ void __launch_bounds__(kStreamThreads, 1)
    streamBwdKernel(const __grid_constant__ StreamBwdArgs args, int slots, const __grid_constant__ CUtensorMap mapX,
                    const __grid_constant__ CUtensorMap mapDxIn, const __grid_constant__ CUtensorMap mapDu,
                    const __grid_constant__ CUtensorMap mapDx) {
  using L = Layout<kStart, kHasDu, kPairs>;
  extern __shared__ __align__(1024) char shared[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const Walk walk = Walk::of(args, slots, shared, L());
  if (threadIdx.x == 0)
    walk.init<L::kRuns>(args, 1 + (args.partials ? kProductWarps : 0));
  __syncthreads();
  if (warp >= kStoreWarp) {
    lowerRegisters<40>();
    if (warp == kStoreWarp && lane == 0)
      storeTiles<L>(walk, &mapDx);
    else if (warp == kLoadWarp && lane == 0)
      loadTiles<L, kStart, kHasDu>(args, walk, &mapX, &mapDxIn, &mapDu);
  } else if (warp < kProductWarps) {
    raiseRegisters<232>();
    if (args.partials)
      sumProduct<L>(args, walk, warp, RegisterSums());
  } else {
    lowerRegisters<120>();
    makeGrads<L, kStart, kHasDu>(args, walk, warp - kProductWarps);
  }
}

/// Slots that keep the memory busy; with more, reads and writes get in each other's way. Each block needs more where
/// fewer run. With and without d_x_in, the best are: 128 blocks 6 and 9, 120 blocks 7 and 10, 112 blocks 8 and 10; two
/// slots more or less cost up to 10 %.
int slotsFor(bool hasStart, int blocks, int multiprocessors) {
  return (hasStart ? 6 : 9) + std::max(0, multiprocessors - blocks) / 8;
}

template <Start kStart, bool kHasDu, bool kPairs>
cudaError_t launch(const StreamBwdArgs &args, int multiprocessors, cudaStream_t stream) {
  using L = Layout<kStart, kHasDu, kPairs>;
  const TileShape shape = {args.M, args.C, kSlotTokens, kSlice / 64};
  const auto xMap = args.equalX ? equalStreamsMap : streamsMap,
             startMap = args.equalDxIn ? equalStreamsMap : streamsMap;
  CUtensorMap x, dxIn = {}, du = {}, dx;
  cudaError_t error = xMap(x, args.x, shape);
  if (!error)
    error = streamsMap(dx, args.dx, shape);
  if (!error && kStart != Start::kNone)
    error = startMap(dxIn, args.dxIn, shape);
  if (!error && kHasDu)
    error = channelsMap(du, args.du, {args.M, args.C * (kPairs ? 2 : 1), kSlotTokens, kSlice / 64});
  constexpr auto *kKernel = streamBwdKernel<kStart, kHasDu, kPairs>;
  if (!error)
    error = allowShared<kKernel>(L::kTotal);
  if (error)
    return error;
  const int blocks = streamDivision(args.M, args.C).blocks;
  const int slots = std::min(L::kMostSlots, slotsFor(kStart != Start::kNone, blocks, multiprocessors));
  return launchOverlapping(kKernel, blocks, kStreamThreads, 1, L::kTotal, stream, args, slots, x, dxIn, du, dx);
}

template <bool kPairs>
cudaError_t launchStart(const StreamBwdArgs &args, int multiprocessors, cudaStream_t stream) {
  if (args.du)
    return args.mix    ? launch<Start::kMix, true, kPairs>(args, multiprocessors, stream)
           : args.dxIn ? launch<Start::kAdd, true, kPairs>(args, multiprocessors, stream)
                       : launch<Start::kNone, true, kPairs>(args, multiprocessors, stream);
  return args.mix    ? launch<Start::kMix, false, kPairs>(args, multiprocessors, stream)
         : args.dxIn ? launch<Start::kAdd, false, kPairs>(args, multiprocessors, stream)
                     : launch<Start::kNone, false, kPairs>(args, multiprocessors, stream);
}

} // namespace

StreamDivision mhcrt::streamDivision(int64_t M, int64_t C) {
  const int64_t tiles = (M + kSlotTokens - 1) / kSlotTokens, slices = C / kSlice;
  const int64_t groups = std::min(tiles, std::max<int64_t>(1, kSumPlaces / slices));
  return {static_cast<int32_t>(slices), static_cast<int32_t>(tiles), static_cast<int32_t>(slices * groups)};
}

// Starts before it waits: loadTiles. The warps that make d_x read phi and norm_weight meanwhile. The launch before this
// one in the stream is preBwdReduce's or projectionBwdPasses' own, which writes neither and lets this one start only
// when it has waited for all that came before: whoever may have written them is done.
cudaError_t mhcrt::streamBwd(const StreamBwdArgs &args, int multiprocessors, cudaStream_t stream) {
  return args.columns == kPairColumns ? launchStart<true>(args, multiprocessors, stream)
                                      : launchStart<false>(args, multiprocessors, stream);
}
