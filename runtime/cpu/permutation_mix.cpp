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

#include "src/Context.h"
#include "src/KernelCall.h"

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

mhcrt_status mhcrt_permutation_mix(mhcrt_context *ctx, const void *logits, int32_t logits_type, void *mix,
                                   int32_t mix_type, int64_t M, int64_t R, int64_t n) {
  KernelCall call(ctx, "mhcrt_permutation_mix");
  call.dim("M", M, 0).dim("n", n, 1, kMaxStreams).equal("R", R, "n!", factorial(n));
  call.tensor("logits", logits, logits_type, kF32, M).tensor("mix", mix, mix_type, kF32, M);
  if (!call.begin() || !ctx->reserveScratch("mhcrt_permutation_mix", 0, saturatingMul(R, kMaxLanes * 4)))
    return call.status();

  ctx->parallelFor(divideUp(M, kSmallTile), [&](int64_t tile, int thread) {
    HWY_DYNAMIC_DISPATCH(permutationTokens)
    (static_cast<const float *>(logits), static_cast<float *>(mix), tile * kSmallTile,
     std::min(M, (tile + 1) * kSmallTile), R, n, reinterpret_cast<float *>(ctx->threadScratch(thread)));
  });
  return MHCRT_OK;
}
#endif // HWY_ONCE
