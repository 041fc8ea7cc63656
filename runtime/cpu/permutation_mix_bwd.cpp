//===- permutation_mix_bwd.cpp - Gradient of mixtures of permutations -----===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_a[m,p] = sum_r d_mix[m, r, perm_p(r)],   d_logits = a * (d_a - sum_p a * d_a),   a = softmax(logits)
//
// Plan    One token per lane; two passes over the permutations, each of which makes d_a anew.
// Bytes   per token 4*(2*n! + n*n): the exponentials dominate.
// Needs   nothing.
// Round   all f32.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/permutation_mix_bwd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Permutation-inl.h"

#include "cpu/Entry.h"
#include "src/Checks.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

void permutationBwdTokens(const float *dMix, const float *logits, float *dLogits, int64_t first, int64_t last,
                          int64_t R, int64_t n, float *planes) {
  HWY_ALIGN float grad[256 * kLanes];
  for (int64_t m = first; m < last; m += kLanes) {
    const int64_t count = HWY_MIN(kLanes, last - m);
    rowsToPlanes(dMix + m * n * n, n * n, count, n * n, grad);
    rowsToPlanes(logits + m * R, R, count, R, planes);
    permutationBwdPlanes(grad, R, n, planes);
    planesToRows(planes, count, R, dLogits + m * R);
  }
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(permutationBwdTokens);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runPermutationMixBwd(mhcrt_context &context, const PermutationMixBwdArgs &a) {
  if (!checkPermutationMixBwd(context, a) ||
      !context.reserveScratch("mhcrt_permutation_mix_bwd", 0, saturatingMul(a.R, kMaxLanes * 4)))
    return context.status;

  context.parallelFor(divideUp(a.M, kSmallTile), [&](int64_t tile, int thread) {
    HWY_DYNAMIC_DISPATCH(permutationBwdTokens)
    (floats(a.d_mix), floats(a.logits), floats(a.d_logits), tile * kSmallTile, std::min(a.M, (tile + 1) * kSmallTile),
     a.R, a.n, reinterpret_cast<float *>(context.threadScratch(thread)));
  });
  return MHCRT_OK;
}

MHCRT_ENTRY(permutation_mix_bwd, PermutationMixBwd)
#endif // HWY_ONCE
