//===- post_pre_norm_sm90.cu - post_pre with u normalised in one launch ---===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   u[c] = r * sum_i h[i] y[i,c] * w[c],  r = 1 / sqrt(mean over c of (sum_i h[i] y[i,c])^2 + u_norm_eps)
//
// Plan    post_pre_sm90.cu has the formula of the rest and the kernel. The mean square is h^T G h / C with
//         G[i,j] = sum_c y[i,c] y[j,c]: blocks send these ten sums beside the columns' in place of the sum of squares,
//         their trace, so that nothing is exchanged twice. The owner sends r * h to those that make u. Its work is the
//         longest of a tile: in clusters of 16, the two halves of the blocks own every other tile.
// Bytes   those of post_pre: u is not read again.
// Needs   those of post_pre; C of 7168 at most: calls of wider tokens have a launch of the norm alone.
// Round   u once. The mean square is good to 2^-18 of the mean over c of (sum_i |h[i] y[i,c]|)^2, so that r is not that
//         of a u which is less than a thousandth of its terms.
//
//===------------------------------------------------------------------------===//
#include "cuda/kernels/PostPre.h"
#include "cuda/ring/RingPostPre.cuh"

using namespace mhcrt;

bool mhcrt::postPreNormTakes(const PostPreArgs &a, Needs &needs) {
  return needs.that(a.u_norm_weight_type == MHCRT_F32 || a.u_norm_weight_type == MHCRT_BF16,
                    "u_norm_weight in f32 or bf16") &&
         postPreHasRoom<true>(a.C, needs);
}

cudaError_t mhcrt::postPreNorm(const PostPreArgs &a, uint32_t *counter, cudaStream_t stream) {
  return launchPostPreOf<true>(a, nullptr, counter, stream);
}
