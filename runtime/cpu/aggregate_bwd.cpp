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
#include "src/Context.h"
#include "src/KernelCall.h"

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(aggregateBwdTokens);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt_aggregate_bwd(mhcrt_context *ctx, const void *d_u, int32_t d_u_type, const void *x, int32_t x_type,
                                 const void *h_pre, int32_t h_pre_type, const void *d_x_in, int32_t d_x_in_type,
                                 void *d_x, int32_t d_x_type, void *d_h_pre, int32_t d_h_pre_type, int64_t M, int64_t C,
                                 int64_t n, int32_t layout) {
  KernelCall call(ctx, "mhcrt_aggregate_bwd");
  call.dim("M", M, 0).dim("C", C, 1).dim("n", n, 1, kMaxStreams);
  call.tensor("x", x, x_type, kFloats, M).tensor("d_u", d_u, d_u_type, {x_type}, M);
  call.tensor("h_pre", h_pre, h_pre_type, kF32, M);
  call.optional("d_x", d_x, d_x_type, {MHCRT_F32, x_type}, M).optional("d_h_pre", d_h_pre, d_h_pre_type, kF32, M);
  call.start("d_x_in", d_x_in, d_x_in_type, {MHCRT_F32, x_type}, M, "d_x", d_x_type);
  call.attribute("layout", layout, 2);
  if (!call.begin())
    return call.status();

  const int64_t rowBytes = C * mhcrt_dtype_bytes(x_type);
  // Where d_x starts from d_x_in, its lines are in the caches already.
  const bool stream = !d_x_in && d_x_type == x_type && streams(d_x, M * n, rowBytes);
  const AggregateBwdCall args = {d_u,         x,      x_type,   static_cast<const float *>(h_pre), d_x_in,
                                 d_x_in_type, d_x,    d_x_type, static_cast<float *>(d_h_pre),     n,
                                 C,           layout, stream};
  forTokens(ctx, M, (2 * n + 1) * rowBytes,
            [&](int64_t first, int64_t last) { HWY_DYNAMIC_DISPATCH(aggregateBwdTokens)(args, first, last); });
  return MHCRT_OK;
}
#endif // HWY_ONCE
