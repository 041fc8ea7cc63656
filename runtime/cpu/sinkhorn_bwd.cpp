//===- sinkhorn_bwd.cpp - Gradient of the Sinkhorn iterations -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y = x / d:  d_x = (d_y - sum(d_y * y)) / d, every step of sinkhorn from the last to the first
//
// Plan    One matrix per lane. The iterations run again and leave the result of each step in the second-level cache;
//         then the steps run backwards. Nothing is approximated, for any number of iterations.
// Bytes   per token 12*n*n.
// Needs   scratch memory of 2*iters*(n*n + 2n) vectors per thread.
// Round   all f32.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/sinkhorn_bwd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/SinkhornBwd-inl.h"

#include "cpu/Entry.h"
#include "src/Checks.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

void sinkhornBwdTokens(const float *dMix, const float *logits, float *dLogits, int64_t first, int64_t last, int64_t n,
                       const SinkhornOptions &options, float *history) {
  HWY_ALIGN float planes[256 * kLanes], start[256 * kLanes];
  for (int64_t m = first; m < last; m += kLanes) {
    const int64_t count = HWY_MIN(kLanes, last - m);
    rowsToPlanes(dMix + m * n * n, n * n, count, n * n, planes);
    rowsToPlanes(logits + m * n * n, n * n, count, n * n, start);
    sinkhornBwdPlanes(planes, start, n, options, history);
    planesToRows(planes, count, n * n, dLogits + m * n * n);
  }
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(sinkhornBwdTokens);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runSinkhornBwd(mhcrt_context &context, const SinkhornBwdArgs &a) {
  if (!checkSinkhornBwd(context, a) || a.M == 0 ||
      !context.reserveScratch("mhcrt_sinkhorn_bwd", 0, sinkhornHistoryBytes(a.n, a.iters, a.solver)))
    return context.status;

  const SinkhornOptions options = {a.init,  a.order,          a.denom, static_cast<float>(a.eps),
                                   a.iters, MHCRT_FORMAT_F32, a.solver};
  context.parallelFor(divideUp(a.M, kSmallTile), [&](int64_t tile, int thread) {
    HWY_DYNAMIC_DISPATCH(sinkhornBwdTokens)
    (floats(a.d_mix), floats(a.logits), floats(a.d_logits), tile * kSmallTile, std::min(a.M, (tile + 1) * kSmallTile),
     a.n, options, reinterpret_cast<float *>(context.threadScratch(thread)));
  });
  return MHCRT_OK;
}

MHCRT_ENTRY(sinkhorn_bwd, SinkhornBwd)
#endif // HWY_ONCE
