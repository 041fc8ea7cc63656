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

#include "src/Context.h"
#include "src/KernelCall.h"

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

mhcrt_status mhcrt_permutation_mix_bwd(mhcrt_context *ctx, const void *d_mix, int32_t d_mix_type, const void *logits,
                                       int32_t logits_type, void *d_logits, int32_t d_logits_type, int64_t M, int64_t n,
                                       int64_t R) {
  KernelCall call(ctx, "mhcrt_permutation_mix_bwd");
  call.dim("M", M, 0).dim("n", n, 1, kMaxStreams).equal("R", R, "n!", factorial(n));
  call.tensor("d_mix", d_mix, d_mix_type, kF32, M).tensor("logits", logits, logits_type, kF32, M);
  call.tensor("d_logits", d_logits, d_logits_type, kF32, M);
  if (!call.begin() || !ctx->reserveScratch("mhcrt_permutation_mix_bwd", 0, saturatingMul(R, kMaxLanes * 4)))
    return call.status();

  ctx->parallelFor(divideUp(M, kSmallTile), [&](int64_t tile, int thread) {
    HWY_DYNAMIC_DISPATCH(permutationBwdTokens)
    (static_cast<const float *>(d_mix), static_cast<const float *>(logits), static_cast<float *>(d_logits),
     tile * kSmallTile, std::min(M, (tile + 1) * kSmallTile), R, n,
     reinterpret_cast<float *>(ctx->threadScratch(thread)));
  });
  return MHCRT_OK;
}
#endif // HWY_ONCE
