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
//         Since then mixers are at 1024 and 1280 channels, too, and at 2048 and 2560 where memory is an H200's: on an
//         H100 they took 132 and 167 there. docs/performance.md has an H200, and what 128x4096 consists of.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/PostPre.h"
#include "cuda/ring/RingPostPre.cuh"

using namespace mhcrt;

bool mhcrt::postPreSm90Takes(const PostPreArgs &a, Needs &needs) {
  const PreArgs pre = preOf(a);
  return needs.absent("seed", a.seed) && needs.equal("n", a.n, 4) && ringTakesMap(pre, needs) &&
         ringTakes(pre, needs) && needs.that(a.layout == MHCRT_LAYOUT_NC, "the layout [M,n,C]") &&
         ringTakesGates(pre, needs) && needs.aligned({a.f, a.bias, a.h_post, a.x, a.h_res}) &&
         (a.u_norm_weight && !hasNormApart(a) ? postPreNormTakes(a, needs) : postPreHasRoom<false>(a.C, needs));
}

int64_t mhcrt::postPreSm90Bytes(const PostPreArgs &a) {
  int64_t bytes = 0;
  withPostPreShape<false>(a.C, [&](auto shape) {
    using S = decltype(shape);
    if constexpr (S::kThroughMemory)
      bytes = gangBytes<S>(ringClustersFor<S, kPostPreKernel<S>>(a.M), a.M);
  });
  return bytes;
}

cudaError_t mhcrt::postPreSm90(const PostPreArgs &a, void *scratch, uint32_t *counter, cudaStream_t stream) {
  return a.u_norm_weight && !hasNormApart(a) ? postPreNorm(a, counter, stream)
                                             : launchPostPreOf<false>(a, scratch, counter, stream);
}
