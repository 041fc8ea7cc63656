//===- expand.cu - streams[m,i,c] = x[m,c] --------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generic: one thread per element of the streams; elements are copied as bits. Bytes a token: (n+1)*C of x's type.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Launch.cuh"
#include "cuda/host/Variants.h"
#include "cuda/kernels/Elementwise.h"
#include "cuda/kernels/Parts.h"
#include "src/Checks.h"

using namespace mhcrt;

namespace {

template <typename Bits>
__global__ void expandKernel(const Bits *x, Bits *streams, int64_t M, int64_t C, int64_t n, bool channelsFirst) {
  for (int64_t item = firstItem(); item < M * n * C; item += itemStep()) {
    const int64_t m = item / (n * C), rest = item % (n * C);
    streams[item] = x[m * C + (channelsFirst ? rest / n : rest % C)];
  }
}

template <typename Bits>
cudaError_t launchBits(mhcrt_context &context, const ExpandArgs &a) {
  return launchKernel(expandKernel<Bits>, gridFor(context, a.M * a.n * a.C), kThreads, 0, context.stream,
                      static_cast<const Bits *>(a.x), static_cast<Bits *>(a.streams), a.M, a.C, a.n,
                      a.layout == MHCRT_LAYOUT_CN);
}

cudaError_t launchGeneric(mhcrt_context &context, const ExpandArgs &a) {
  return a.x_type == MHCRT_F32 ? launchBits<uint32_t>(context, a) : launchBits<uint16_t>(context, a);
}

} // namespace

static constexpr Variant<ExpandArgs> kVariants[] = {
    {"n4", 80, kAnyArch, expandN4Takes, [](mhcrt_context &c, const ExpandArgs &a) { return expandN4(a, c.stream); }},
    {"n2n8", 80, kAnyArch, expandN2N8Takes,
     [](mhcrt_context &c, const ExpandArgs &a) { return expandN2N8(a, c.stream); }},
    {"cn4", 80, kAnyArch, expandCn4Takes, [](mhcrt_context &c, const ExpandArgs &a) { return expandCn4(a, c.stream); }},
    {"generic", 0, kAnyArch, nullptr, launchGeneric}};

cudaError_t mhcrt::makeStreams(mhcrt_context &context, const ExpandArgs &args) {
  for (const Variant<ExpandArgs> &row : kVariants) {
    Needs needs;
    if (needs.arch(context.arch, row.leastArch, row.mostArch) && (!row.takes || row.takes(args, needs)))
      return row.launch(context, args);
  }
  return cudaErrorNotSupported; // the last row takes every call
}

mhcrt_status mhcrt::runExpand(mhcrt_context &context, const ExpandArgs &args) {
  if (!checkExpand(context, args))
    return context.status;
  return args.M ? launchVariant(context, "expand", kVariants, args) : context.status;
}
