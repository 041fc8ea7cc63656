//===- permutation_mix.cpp - Logits to mixtures of permutations -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   mix[m] = sum_p softmax(logits[m])[p] * permutation_p     p = 0 .. n!-1 in lexicographic order
//
// Plan    One token per lane; one pass for the largest logit, one that adds exp(logit) to the n cells of its
//         permutation, one division per cell at the end.
// Bytes   per token 4*(n! + n*n): the exponentials dominate.
// Needs   nothing; n above 8 is legal, and as large as n! says.
// Round   all f32.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/permutation_mix.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Permutation-inl.h"

#include "cpu/Entry.h"
#include "src/Checks.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

void permutationTokens(const float *logits, float *mix, int64_t first, int64_t last, int64_t R, int64_t n,
                       float *planes) {
  HWY_ALIGN float mixPlanes[256 * kLanes];
  for (int64_t m = first; m < last; m += kLanes) {
    const int64_t count = HWY_MIN(kLanes, last - m);
    rowsToPlanes(logits + m * R, R, count, R, planes);
    permutationPlanes(planes, R, n, mixPlanes);
    planesToRows(mixPlanes, count, n * n, mix + m * n * n);
  }
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(permutationTokens);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runPermutationMix(mhcrt_context &context, const PermutationMixArgs &a) {
  if (!checkPermutationMix(context, a) ||
      !context.reserveScratch("mhcrt_permutation_mix", 0, saturatingMul(a.R, kMaxLanes * 4)))
    return context.status;

  context.parallelFor(divideUp(a.M, kSmallTile), [&](int64_t tile, int thread) {
    HWY_DYNAMIC_DISPATCH(permutationTokens)
    (floats(a.logits), floats(a.mix), tile * kSmallTile, std::min(a.M, (tile + 1) * kSmallTile), a.R, a.n,
     reinterpret_cast<float *>(context.threadScratch(thread)));
  });
  return MHCRT_OK;
}

MHCRT_ENTRY(permutation_mix, PermutationMix)
#endif // HWY_ONCE
