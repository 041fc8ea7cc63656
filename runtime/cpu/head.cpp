//===- head.cpp - Learned contraction -------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   h_pre[m,j] = sigmoid(alpha * s[m] * (x[m] . phi[j]) + beta[j]) + pre_eps,   out[m,c] = sum_j h_pre[m,j] x[m,j,c]
//
// Plan    That of pre with n columns instead of 2n + n*n, and no residual map.
// Bytes   per token (n+1)*C elements; phi once.
// Needs   nothing.
// Round   f32 sums, one rounding of out.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/head.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Aggregate-inl.h"
#include "cpu/Gates-inl.h"
#include "cpu/Tiles-inl.h"

#include "src/Checks.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

template <typename T>
HWY_INLINE void contractTile(const HeadCall &args, int64_t first, int64_t count, const void *x) {
  for (int64_t m = first; m < first + count; ++m)
    aggregateToken(static_cast<const T *>(x) + (m - first) * args.K, args.hPre + m * args.n, args.n, args.C,
                   args.layout, static_cast<T *>(args.out) + m * args.C, args.bypasses);
  if (args.bypasses)
    hwy::FlushStream();
}

void headTile(const HeadCall &args, const char *packed, int64_t first, int64_t count, char *base, const void *x) {
  const ProjectionScratch scratch(args.projection, base);
  ProjectionCall tile = args.projection;
  tile.x = x;
  projectTile(tile, packed, 0, count, scratch);
  const int64_t n = args.n;
  const GateOptions gates = {floats(args.alpha), floats(args.beta), static_cast<float>(args.pre_eps), 0.0f};
  for (int64_t t = 0; t < count; t += kLanes) {
    const int64_t lanes = HWY_MIN(kLanes, count - t);
    rowsToPlanes(scratch.proj + t * n, n, lanes, n, scratch.planes);
    const V multiplier = normMultiplier(load(scratch.stat + t), normOf(args));
    gatePre(scratch.planes, multiplier, n, gates);
    roundPlanes(scratch.planes, n, args.h_pre_format);
    planesToRows(scratch.planes, lanes, n, args.hPre + (first + t) * n);
    if (args.proj)
      std::memcpy(floats(args.proj) + (first + t) * n, scratch.proj + t * n, lanes * n * sizeof(float));
    if (args.stat)
      storeSome(multiplier, floats(args.stat) + first + t, lanes);
  }
  if (args.x_type == MHCRT_F32)
    contractTile<float>(args, first, count, x);
  else if (args.x_type == MHCRT_BF16)
    contractTile<Bf16>(args, first, count, x);
  else
    contractTile<F16>(args, first, count, x);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(headTile);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runHead(mhcrt_context &context, const HeadArgs &a) {
  if (!checkHead(context, a) || a.M == 0)
    return context.status;
  HeadCall args(context, a);
  if (!args.reserve(context, "mhcrt_head"))
    return context.status;
  const int64_t tokenBytes = a.K * mhcrt_dtype_bytes(a.x_type);
  forProjectionTiles(context, args.projection, [&](const char *packed, int64_t first, int64_t count, char *scratch) {
    const char *x = static_cast<const char *>(a.x) + first * tokenBytes;
    HWY_DYNAMIC_DISPATCH(headTile)(args, packed, first, count, scratch, x);
  });
  return MHCRT_OK;
}

MHCRT_ENTRY(head, Head)
#endif // HWY_ONCE
