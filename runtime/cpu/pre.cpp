//===- pre.cpp - Coefficients and layer input in one pass -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   P = x phi^T, s = 1/rms(x)          h_pre, h_post, z = gates(s * P)
//   h_res = residual map of z          u[m,c] = sum_i h_pre[m,i] * x[m,i,c], or by h_in in place of h_pre
//
// Plan    projection.cpp's; then the coefficients of the tile with one token per lane, then
//         aggregate.cpp's loop over the same tokens, whose x is still in the caches that their size allows.
// Bytes   per token (n+1)*C elements and 4*(2n + n*n), 4*(N+1) more for proj and stat; 4*N*K for phi once
//         per call.
// Needs   nothing.
// Round   coefficients in f32, in registers to their formats; u rounded once. The same bits as the four kernels one
//         after the other.
// Result  docs/performance.md.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pre.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/PreTokens-inl.h"

#include "src/Checks.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

void prePack(const ProjectionCall &args, int64_t chunk, char *packed) { packPhi(args, chunk, packed); }

void preTile(const PreCall &args, const char *packed, int64_t first, int64_t count, char *base) {
  if (args.projection.type == MHCRT_F32)
    preTyped(args, packed, first, count, base, static_cast<const float *>(args.x) + first * args.K);
  else if (args.projection.type == MHCRT_BF16)
    preTyped(args, packed, first, count, base, static_cast<const Bf16 *>(args.x) + first * args.K);
  else
    preTyped(args, packed, first, count, base, static_cast<const F16 *>(args.x) + first * args.K);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(prePack);
HWY_EXPORT(preTile);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runPre(mhcrt_context &context, const PreArgs &a) {
  if (!checkPre(context, a) || a.M == 0)
    return context.status;
  PreCall args(context, a);
  if (!args.reserve(context, "mhcrt_pre"))
    return context.status;
  forProjectionTiles(
      context, args.projection,
      [](const ProjectionCall &call, int64_t chunk, char *packed) {
        HWY_DYNAMIC_DISPATCH(prePack)(call, chunk, packed);
      },
      [&](const char *packed, int64_t first, int64_t count, char *scratch) {
        HWY_DYNAMIC_DISPATCH(preTile)(args, packed, first, count, scratch);
      });
  return MHCRT_OK;
}

MHCRT_ENTRY(pre, Pre)
#endif // HWY_ONCE
