//===- aggregate_bwd.cpp - Gradients of aggregate in one pass -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_x[m,i,c]   = d_x_in[m,i,c] + h_pre[m,i] * d_u[m,c]
//   d_h_pre[m,i] = sum_c d_u[m,c] * x[m,i,c]
//
// Plan    Lanes along C; the n sums and n weights of a token in registers, one pass. nC: rows side by side. Cn: blocks
//         of 256 channels as planes of f32. Large outputs bypass the caches.
// Bytes   per token (2n+1)*C elements and 8*n; n*C more for d_x_in.
// Needs   nothing; streaming stores need rows of a multiple of 64 bytes.
// Round   f32 products and sums, one rounding at the store. d_x may be d_x_in.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/aggregate_bwd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/AggregateBwd-inl.h"

#include "cpu/Tokens.h"
#include "src/Checks.h"

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(aggregateBwdTokens);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runAggregateBwd(mhcrt_context &context, const AggregateBwdArgs &a) {
  if (!checkAggregateBwd(context, a))
    return context.status;

  const int64_t rowBytes = a.C * mhcrt_dtype_bytes(a.x_type);
  // Where d_x starts from d_x_in, its lines are in the caches already.
  const bool stream = !a.d_x_in && a.d_x_type == a.x_type && streams(a.d_x, a.M * a.n, rowBytes);
  const AggregateBwdCall args = {a, stream};
  forTokens(context, a.M, (2 * a.n + 1) * rowBytes,
            [&](int64_t first, int64_t last) { HWY_DYNAMIC_DISPATCH(aggregateBwdTokens)(args, first, last); });
  return MHCRT_OK;
}

MHCRT_ENTRY(aggregate_bwd, AggregateBwd)
#endif // HWY_ONCE
