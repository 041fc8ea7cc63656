//===- aggregate_bwd.cu - Gradients of aggregate in one pass --------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   d_x[m,i,c]   = d_x_in[m,i,c] + h_pre[m,i] * d_u[m,c]
//   d_h_pre[m,i] = sum_c d_u[m,c] * x[m,i,c]
//
// Generic: a block takes a token at a time; a thread adds every 256th channel of all streams in registers, and the
// threads' sums are added in a tree. One rounding of d_x, which may be d_x_in. Bytes a token: (2n+1)*C of x's type.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Variants.h"
#include "cuda/kernels/Elementwise.h"
#include "cuda/kernels/Generic.h"
#include "cuda/tile/Element.cuh"
#include "cuda/tile/Sum.cuh"
#include "src/Checks.h"
#include "src/KernelCall.h"

using namespace mhcrt;

namespace {

template <typename T>
__global__ void __launch_bounds__(kThreads, 3) aggregateBwdKernel(AggregateBwdArgs a) {
  __shared__ BlockRoom<kMaxStreams> room;
  const AnyInput dxIn = {a.d_x_in, a.d_x_in_type};
  const AnyOutput dx = {a.d_x, a.d_x_type};
  const T *du = static_cast<const T *>(a.d_u), *x = static_cast<const T *>(a.x);
  const float *h = static_cast<const float *>(a.h_pre);
  float *dh = static_cast<float *>(a.d_h_pre);
  const bool channelsFirst = a.layout == MHCRT_LAYOUT_CN;
  for (int64_t m = blockIdx.x; m < a.M; m += gridDim.x) {
    float sums[kMaxStreams] = {};
    for (int64_t c = threadIdx.x; c < a.C; c += kThreads) {
      const float u = toFloat(du[m * a.C + c]);
#pragma unroll
      for (int i = 0; i < kMaxStreams; ++i) {
        if (i == a.n)
          break;
        const int64_t at = m * a.n * a.C + streamIndex(i, c, a.n, a.C, channelsFirst);
        if (dh)
          sums[i] = fmaf(u, toFloat(x[at]), sums[i]);
        if (dx)
          dx.store(at, fmaf(h[m * a.n + i], u, dxIn ? dxIn[at] : 0.0f));
      }
    }
    if (!dh)
      continue;
    blockSum(sums, room);
    if (threadIdx.x < a.n)
      dh[m * a.n + threadIdx.x] = room.totals[threadIdx.x];
  }
}

cudaError_t launchGeneric(mhcrt_context &context, const AggregateBwdArgs &a) {
  return withFloatType(a.x_type, [&](auto type) {
    return launchKernel(aggregateBwdKernel<decltype(type)>, gridForBlocks(context, a.M), kThreads, 0, context.stream,
                        a);
  });
}

} // namespace

cudaError_t generic::aggregateBwd(mhcrt_context &context, const AggregateBwdArgs &a, Units units) {
  Needs needs;
  if (units == Units::tiles && aggregateBwdN4Takes(a, needs))
    return aggregateBwdN4(a, context.stream);
  if (units == Units::tiles && aggregateBwdN2N8Takes(a, needs))
    return aggregateBwdN2N8(a, context.stream);
  if (units == Units::tiles && aggregateBwdCn4Takes(a, needs))
    return aggregateBwdCn4(a, context.stream);
  return launchGeneric(context, a);
}

static constexpr Variant<AggregateBwdArgs> kVariants[] = {
    {"n4", 80, kAnyArch, aggregateBwdN4Takes,
     [](mhcrt_context &c, const AggregateBwdArgs &a) { return aggregateBwdN4(a, c.stream); }},
    {"n2n8", 80, kAnyArch, aggregateBwdN2N8Takes,
     [](mhcrt_context &c, const AggregateBwdArgs &a) { return aggregateBwdN2N8(a, c.stream); }},
    {"cn4", 80, kAnyArch, aggregateBwdCn4Takes,
     [](mhcrt_context &c, const AggregateBwdArgs &a) { return aggregateBwdCn4(a, c.stream); }},
    {"generic", 0, kAnyArch, nullptr, launchGeneric}};

mhcrt_status mhcrt::runAggregateBwd(mhcrt_context &context, const AggregateBwdArgs &args) {
  if (!checkAggregateBwd(context, args))
    return context.status;
  return args.M ? launchVariant(context, "aggregate_bwd", kVariants, args) : context.status;
}
