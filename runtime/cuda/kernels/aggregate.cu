//===- aggregate.cu - u[m,c] = sum_i h_pre[m,i] x[m,i,c] ------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generic: one thread per element of u, which reads its n elements of x. Sums in f32 from stream 0 up, one rounding.
// Bytes a token: (n+1)*C of x's type.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Launch.cuh"
#include "cuda/host/Variants.h"
#include "cuda/kernels/Elementwise.h"
#include "cuda/kernels/Generic.h"
#include "cuda/tile/Element.cuh"
#include "src/Checks.h"

using namespace mhcrt;

namespace {

template <typename T>
__global__ void aggregateKernel(const T *x, const float *h, T *u, int64_t M, int64_t C, int64_t n, bool channelsFirst) {
  for (int64_t item = firstItem(); item < M * C; item += itemStep()) {
    const int64_t m = item / C, c = item % C;
    float sum = 0;
    for (int64_t i = 0; i < n; ++i)
      sum = fmaf(h[m * n + i], toFloat(x[m * n * C + streamIndex(i, c, n, C, channelsFirst)]), sum);
    u[item] = fromFloat<T>(sum);
  }
}

cudaError_t launchGeneric(mhcrt_context &context, const AggregateArgs &a) {
  return withFloatType(a.x_type, [&](auto type) {
    using T = decltype(type);
    return launchKernel(aggregateKernel<T>, gridFor(context, a.M * a.C), kThreads, 0, context.stream,
                        static_cast<const T *>(a.x), static_cast<const float *>(a.h_pre), static_cast<T *>(a.u), a.M,
                        a.C, a.n, a.layout == MHCRT_LAYOUT_CN);
  });
}

} // namespace

cudaError_t generic::aggregate(mhcrt_context &context, const AggregateArgs &a, Units units) {
  Needs needs;
  if (units == Units::tiles && aggregateN4Takes(a, needs))
    return aggregateN4(a, context.stream);
  if (units == Units::tiles && aggregateN2N8Takes(a, needs))
    return aggregateN2N8(a, context.stream);
  if (units == Units::tiles && aggregateCn4Takes(a, needs))
    return aggregateCn4(a, context.stream);
  return launchGeneric(context, a);
}

static constexpr Variant<AggregateArgs> kVariants[] = {
    {"n4", 80, kAnyArch, aggregateN4Takes,
     [](mhcrt_context &c, const AggregateArgs &a) { return aggregateN4(a, c.stream); }},
    {"n2n8", 80, kAnyArch, aggregateN2N8Takes,
     [](mhcrt_context &c, const AggregateArgs &a) { return aggregateN2N8(a, c.stream); }},
    {"cn4", 80, kAnyArch, aggregateCn4Takes,
     [](mhcrt_context &c, const AggregateArgs &a) { return aggregateCn4(a, c.stream); }},
    {"generic", 0, kAnyArch, nullptr, launchGeneric}};

mhcrt_status mhcrt::runAggregate(mhcrt_context &context, const AggregateArgs &args) {
  if (!checkAggregate(context, args))
    return context.status;
  return args.M ? launchVariant(context, "aggregate", kVariants, args) : context.status;
}
