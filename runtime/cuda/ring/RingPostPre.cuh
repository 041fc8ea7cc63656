//===- RingPostPre.cuh - The kernel of post_pre, its shapes -----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kernels/post_pre_sm90.cu explains it, and post_pre_norm_sm90.cu has those that normalise u.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_RING_RINGPOSTPRE_CUH
#define MHCRT_CUDA_RING_RINGPOSTPRE_CUH

#include "cuda/ring/RingLaunch.cuh"
#include "cuda/ring/RingMixMultiply.cuh"
#include "src/PostPre.h"

namespace mhcrt {

template <typename S>
__global__ void __launch_bounds__(S::kThreads, 1)
    postPreKernel(const __grid_constant__ RingArgs args, const __grid_constant__ RingMixArgs mix,
                  const __grid_constant__ RingMixMaps maps) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const RingBlock<S> block = ringBlock<S>(memory);
  prefetchFirst(args, block, maps);
  startRing(block, S::kMultipliersMix ? 1 : S::kAggregators + S::kMixers);
  beginOverlapped();
  if constexpr (S::kMultipliersMix)
    takeMixMultiplyRoles(args, mix, block, maps);
  else
    takeRoles<S, true>(
        args, block, [&] { mixLoaderRole(args, mix, block, maps); }, [&] { mixRole(args, mix, block, maps); });
}

/// The same of a gang of blocks.
template <typename S>
__global__ void __launch_bounds__(S::kThreads, 1)
    postPreGangKernel(const __grid_constant__ RingArgs args, const __grid_constant__ GangMessages messages,
                      const __grid_constant__ RingMixArgs mix, const __grid_constant__ RingMixMaps maps) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const RingBlock<S> block = gangBlock<S>(memory);
  prefetchFirst(args, block, maps);
  block.bars.init(S::kAggregators + S::kMixers);
  __syncthreads();
  beginOverlapped();
  takeGangRoles<S, true>(
      args, messages, block, [&] { mixLoaderRole(args, mix, block, maps); }, [&] { mixRole(args, mix, block, maps); });
}

/// The kernel of a shape.
template <typename S, bool kThroughMemory = S::kThroughMemory>
constexpr auto *kPostPreKernel = postPreKernel<S>;
template <typename S>
constexpr auto *kPostPreKernel<S, true> = postPreGangKernel<S>;

/// Whether memory brings more than warps that multiply can mix beside it: an H200's bus has 6144 bits, an H100's 5120.
inline bool isMemoryWide() {
  int device = 0, bits = 0;
  return !cudaGetDevice(&device) && !cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device) &&
         bits > 5120;
}

/// Calls body(S()) with the shape of C; false where there is none, as for gangs where u is normalised. Split and warps
/// are those of pre, which decide the order of the sums.
template <bool kNorms, typename Body>
bool withPostPreShape(int64_t C, Body body) {
  const auto call = [&](auto shape) {
    using S = decltype(shape);
    if constexpr (!kNorms)
      body(shape);
    else if constexpr (!S::kThroughMemory)
      body(NormShape<S>());
    return !kNorms || !S::kThroughMemory;
  };
  switch (C) {
  case 768:
    return call(MixingShape<2, 12, 1, 480, 128>());
  case 1024:
    return call(MixersShape<4, 8, 2, 12, 640, 112>());
  case 1280:
    return call(MixersShape<4, 10, 1, 0, 768, 80>());
  case 1536:
    return call(MixingShape<4, 12, 1, 480, 128>());
  case 2048:
    return kNorms || isMemoryWide() ? call(MixersShape<8, 8, 2, 12, 640, 112>())
                                    : call(MixingShape<8, 8, 2, 320, 168>());
  case 2560:
    return kNorms || isMemoryWide() ? call(MixersShape<8, 10, 1, 0, 768, 80>())
                                    : call(MixingShape<8, 10, 2, 384, 168>());
  case 3072:
    return call(MixingShape<8, 12, 1, 480, 128>());
  case 3584:
    return call(MixingShape<8, 14, 1, 512, 128>());
  case 4096:
    return call(MixersShape<16, 8, 2, 12, 640, 112>());
  case 5120:
    return call(MixingShape<16, 10, 2, 384, 168>());
  case 6144:
    return call(MixingShape<16, 12, 1, 480, 128>());
  case 6656:
    return call(PaddedMixingShape<6656, 16, 14, 1, 512, 128>());
  case 7168:
    return call(MixingShape<16, 14, 1, 512, 128>());
  case 8192:
    return call(MixersGangShape<32, 8, 2, 12, 640, 112>());
  case 12288:
    return call(MixersGangShape<64, 6, 3, 12, 512, 144>());
  case 16384:
    return call(MixersGangShape<64, 8, 2, 12, 640, 104>());
  }
  return false;
}

/// A width that the kernels take needs room for a cluster, or a gang.
template <bool kNorms>
bool postPreHasRoom(int64_t C, Needs &needs) {
  bool found = false;
  withPostPreShape<kNorms>(C, [&](auto shape) {
    using S = decltype(shape);
    found = needs.clusters(ringClusters<S, kPostPreKernel<S>>(), S::kSplit);
  });
  return found;
}

template <typename S>
cudaError_t launchPostPre(const RingArgs &args, const RingMixArgs &mix, const PostPreArgs &a, void *scratch,
                          cudaStream_t stream) {
  const TileShape shape = {args.M, S::kWidth, S::kTokens, 1};
  const auto xMap = a.equal_x ? equalStreamsMap : streamsMap;
  RingMixMaps maps = {};
  for (const cudaError_t error :
       {xMap(maps.x, a.x, shape), channelsMap(maps.f, a.f, shape), a.y ? streamsMap(maps.y, a.y, shape) : cudaSuccess})
    if (error)
      return error;
  if constexpr (S::kThroughMemory)
    return launchGang<S, kPostPreKernel<S>>(args, scratch, stream, mix, maps);
  else if constexpr (!S::kNorms)
    return args.counter ? launchClusters<S, kPostPreKernel<CountedShape<S>>>(args, stream, mix, maps)
                        : launchClusters<S, kPostPreKernel<S>>(args, stream, mix, maps);
  else
    return launchClusters<S, kPostPreKernel<S>>(args, stream, mix, maps);
}

template <bool kNorms>
cudaError_t launchPostPreOf(const PostPreArgs &a, void *scratch, uint32_t *counter, cudaStream_t stream) {
  RingArgs args = ringArgsOfPre(preOf(a));
  args.counter = counter;
  args.uWeight = a.u_norm_weight, args.uWeightType = a.u_norm_weight_type;
  args.uEps = static_cast<float>(a.u_norm_eps);
  const RingMixArgs mix = {static_cast<const float *>(a.h_post),
                           static_cast<const float *>(a.h_res),
                           a.bias,
                           a.bias_type,
                           a.orient == MHCRT_ORIENT_OI,
                           a.y != nullptr};
  cudaError_t error = cudaErrorNotSupported;
  withPostPreShape<kNorms>(a.C,
                           [&](auto shape) { error = launchPostPre<decltype(shape)>(args, mix, a, scratch, stream); });
  return error;
}

} // namespace mhcrt

#endif // MHCRT_CUDA_RING_RINGPOSTPRE_CUH
