//===- post_pre_sm90.cu - post and the pre behind it in one launch --------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y = post(f, bias, h_post, x, h_res)          u, h_pre, next_h_post, next_h_res, proj, stat = pre(y)
//
// Plan    The ring of pre (ring/RingKernel.cuh) with f in its slots beside x. Where blocks have 8 or 10 warps that
//         multiply, others write y over x in the slot, from where tensor copies store it and the others read it
//         (ring/RingMix.cuh), and so they do in the gangs of blocks of 8192 channels and more (ring/RingGang.cuh). At
//         5120 channels and with 12 or 14 warps those that multiply do it, keep y for u and free the slot at once
//         (ring/RingMixMultiply.cuh).
// Bytes   per token 8C of x, 2C of f, 8C of y, 2C of u, 4*(n + n*n) in, 4*(2n + n*n) out; phi once per cluster.
// Needs   those of pre, no dropout; room for a cluster, or a gang, of this kernel.
// Round   as post and pre one after the other, bit by bit: y is rounded before it is multiplied and before u.
// Result  One H100, graph replay over inputs beyond the caches, us (% of the fewest bytes at the speed of a 1 GiB copy
//         of the same run, 3.0 TB/s), and post and pre as launches of their own in the same run:
//           C, M = 8192  1024    1280    1536    2048      2560      3072      3584      4096      5120      6144
//           one launch   70 (81) 82 (86) 99 (86) 126 (89)  158 (89)  187 (90)  215 (91)  242 (93)  300 (93)  359 (94)
//           two                  119             174       212                           329       411       491
//         8192x7168: 416 (94) and 569. Another run, M = 8192 and C = 6656, 8192, 12288, 16384: 395 (92), 527 (85),
//         809 (83), 1082 (83); two: 531, 654, 997, 1328.
//         32768x4096: 946 (95) and 1267. 65536x768: 378 (90) and 512. 4096x1280: 47 (75) and 64. 128x4096: 13.0 and 17.
//         Where multipliers mix, u two tiles late was as fast. Fewer slots were up to 2 % faster at C = 4096, copies of
//         every tile into the second-level cache ahead of its load 12 to 40 % slower.
//         The H100 was measured before mixers were at 1024, 1280, 2048 and 2560 channels. docs/performance.md has an
//         H200 since, and what 128x4096 consists of.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/PostPre.h"
#include "cuda/ring/RingLaunch.cuh"
#include "cuda/ring/RingMixMultiply.cuh"
#include "src/PostPre.h"

using namespace mhcrt;

namespace {

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
constexpr auto *kKernel = postPreKernel<S>;
template <typename S>
constexpr auto *kKernel<S, true> = postPreGangKernel<S>;

/// Calls body(S()) with the shape of C; false where there is none. Split and warps are those of pre, which decide the
/// order of the sums.
template <typename Body>
bool withShape(int64_t C, Body body) {
  const auto call = [&](auto shape) {
    body(shape);
    return true;
  };
  switch (C) {
  case 768:
    return call(MixingShape<2, 12, 1, 448, 128>());
  case 1024:
    return call(MixersShape<4, 8, 2, 12, 640, 112>());
  case 1280:
    return call(MixersShape<4, 10, 1, 0, 768, 80>());
  case 1536:
    return call(MixingShape<4, 12, 1, 448, 128>());
  case 2048:
    return call(MixersShape<8, 8, 2, 12, 640, 112>());
  case 2560:
    return call(MixersShape<8, 10, 1, 0, 768, 80>());
  case 3072:
    return call(MixingShape<8, 12, 1, 448, 128>());
  case 3584:
    return call(MixingShape<8, 14, 1, 512, 128>());
  case 4096:
    return call(MixersShape<16, 8, 2, 12, 640, 112>());
  case 5120:
    return call(MixingShape<16, 10, 2, 384, 168>());
  case 6144:
    return call(MixingShape<16, 12, 1, 448, 128>());
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

bool hasRoom(int64_t C, Needs &needs) {
  bool found = false;
  withShape(C, [&](auto shape) {
    using S = decltype(shape);
    found = needs.clusters(ringClusters<S, kKernel<S>>(), S::kSplit);
  });
  return found;
}

template <typename S>
cudaError_t launch(const RingArgs &args, const RingMixArgs &mix, const PostPreArgs &a, void *scratch,
                   cudaStream_t stream) {
  const TileShape shape = {args.M, S::kWidth, S::kTokens, 1};
  const auto xMap = a.equal_x ? equalStreamsMap : streamsMap;
  RingMixMaps maps = {};
  for (const cudaError_t error :
       {xMap(maps.x, a.x, shape), channelsMap(maps.f, a.f, shape), a.y ? streamsMap(maps.y, a.y, shape) : cudaSuccess})
    if (error)
      return error;
  if constexpr (S::kThroughMemory)
    return launchGang<S, kKernel<S>>(args, scratch, stream, mix, maps);
  else
    return launchClusters<S, kKernel<S>>(args, stream, mix, maps);
}

} // namespace

bool mhcrt::postPreSm90Takes(const PostPreArgs &a, Needs &needs) {
  const PreArgs pre = preOf(a);
  return needs.absent("seed", a.seed) && needs.equal("n", a.n, 4) && ringTakes(pre, needs) &&
         ringTakesGates(pre, needs) && needs.aligned({a.f, a.bias, a.h_post, a.x, a.h_res}) && hasRoom(a.C, needs);
}

int64_t mhcrt::postPreSm90Bytes(const PostPreArgs &a) {
  int64_t bytes = 0;
  withShape(a.C, [&](auto shape) {
    using S = decltype(shape);
    if constexpr (S::kThroughMemory)
      bytes = gangBytes<S>(ringClustersFor<S, kKernel<S>>(a.M), a.M);
  });
  return bytes;
}

cudaError_t mhcrt::postPreSm90(const PostPreArgs &a, void *scratch, cudaStream_t stream) {
  const RingArgs args = ringArgsOfPre(preOf(a));
  const RingMixArgs mix = {static_cast<const float *>(a.h_post),
                           static_cast<const float *>(a.h_res),
                           a.bias,
                           a.bias_type,
                           a.orient == MHCRT_ORIENT_OI,
                           a.y != nullptr};
  cudaError_t error = cudaErrorNotSupported;
  withShape(a.C, [&](auto shape) { error = launch<decltype(shape)>(args, mix, a, scratch, stream); });
  return error;
}
