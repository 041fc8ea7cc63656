//===- post_pre_sm90.cu - post and the pre behind it in one launch --------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y = post(f, bias, h_post, x, h_res)          u, h_pre, next_h_post, next_h_res, proj, stat = pre(y)
//
// Plan    The ring of pre (ring/RingKernel.cuh) with f in its slots beside x, and warps between load and product that
//         write y over x in the slot (ring/RingMix.cuh). From there tensor copies store it, and the others read it.
// Bytes   per token 8C of x, 2C of f, 8C of y, 2C of u, 4*2*(2n + n*n); phi once per cluster.
// Needs   those of pre, no dropout, C of the list below.
// Round   as post and pre one after the other, bit by bit: y is rounded before it is multiplied and before u.
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
  if constexpr (S::kMultipliersMix)
    takeMixMultiplyRoles(args, mix, block, maps);
  else
    takeRoles<S, true>(
        args, block, [&] { mixLoaderRole(args, mix, block, maps); }, [&] { mixRole(args, mix, block, maps); });
}

/// Calls body(S()) with the shape of C; false where there is none. Split and warps are those of pre, which decide the
/// order of the sums.
template <typename Body>
bool withShape(int64_t C, Body body) {
  const auto call = [&](auto shape) {
    body(shape);
    return true;
  };
  switch (C) {
  case 1280:
    return call(RingShape<4, 10, 1, 2, 10, 384, 168, Mixing::multipliers>());
  case 2048:
    return call(RingShape<8, 8, 1, 2, 8, 320, 168, Mixing::multipliers>());
  case 2560:
    return call(RingShape<8, 10, 1, 2, 10, 384, 168, Mixing::multipliers>());
  case 4096:
    return call(RingShape<16, 8, 1, 2, 12, 640, 112, Mixing::mixers>());
  case 5120:
    return call(RingShape<16, 10, 1, 2, 10, 384, 168, Mixing::multipliers>());
  case 6144:
    return call(RingShape<16, 12, 1, 1, 12, 448, 128, Mixing::multipliers>());
  case 7168:
    return call(RingShape<16, 14, 1, 1, 14, 512, 128, Mixing::multipliers>());
  }
  return false;
}

template <typename S>
int clustersOf(S) {
  return ringClusters<S, postPreKernel<S>>();
}

template <typename S>
cudaError_t launch(const RingArgs &args, const RingMixArgs &mix, const PostPreArgs &a, cudaStream_t stream) {
  const int64_t tiles = (args.M + S::kTokens - 1) / S::kTokens;
  const unsigned blocks = S::kSplit * static_cast<unsigned>(std::min<int64_t>(clustersOf(S()), tiles));
  const TileShape shape = {args.M, S::kWidth, S::kTokens, 1};
  RingMixMaps maps;
  for (const cudaError_t error :
       {streamsMap(maps.x, a.x, shape), channelsMap(maps.f, a.f, shape), streamsMap(maps.y, a.y, shape)})
    if (error)
      return error;
  return launchOverlapping(postPreKernel<S>, blocks, S::kThreads, S::kSplit, S::kBytes, stream, args, mix, maps);
}

} // namespace

bool mhcrt::postPreSm90Takes(const PostPreArgs &a, Needs &needs) {
  const PreArgs pre = preOf(a);
  return needs.absent("seed", a.seed) &&
         needs.that(withShape(a.C, [](auto) {}), "C = 1280, 2048, 2560, 4096, 5120, 6144 or 7168") &&
         ringTakes(pre, needs) && ringTakesGates(pre, needs) && needs.aligned({a.f, a.bias, a.h_post, a.x, a.h_res}) &&
         withShape(a.C, [&](auto shape) { needs.clusters(clustersOf(shape), decltype(shape)::kSplit); });
}

cudaError_t mhcrt::postPreSm90(const PostPreArgs &a, cudaStream_t stream) {
  const RingArgs args = ringArgsOfPre(preOf(a));
  const RingMixArgs mix = {static_cast<const float *>(a.h_post), static_cast<const float *>(a.h_res), a.bias,
                           a.bias_type, a.orient == MHCRT_ORIENT_OI};
  cudaError_t error = cudaErrorNotSupported;
  withShape(a.C, [&](auto shape) { error = launch<decltype(shape)>(args, mix, a, stream); });
  return error;
}
