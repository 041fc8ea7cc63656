//===- contract.cu - out[m,c] = sum_i x[m,i,c], or their mean -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generic: one thread per element of out. Sums in f32 from stream 0 up, a true division for the mean, one rounding.
// Bytes a token: (n+1)*C of x's type.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Launch.cuh"
#include "cuda/host/Variants.h"
#include "cuda/kernels/Elementwise.h"
#include "cuda/tile/Element.cuh"
#include "src/Checks.h"

using namespace mhcrt;

namespace {

template <typename T>
__global__ void contractKernel(const T *x, T *out, int64_t M, int64_t n, int64_t C, bool channelsFirst, float divisor) {
  for (int64_t item = firstItem(); item < M * C; item += itemStep()) {
    const int64_t m = item / C, c = item % C;
    const T *token = x + m * n * C;
    float sum = toFloat(token[streamIndex(0, c, n, C, channelsFirst)]);
    for (int64_t i = 1; i < n; ++i)
      sum += toFloat(token[streamIndex(i, c, n, C, channelsFirst)]);
    out[item] = fromFloat<T>(sum / divisor);
  }
}

cudaError_t launchGeneric(mhcrt_context &context, const ContractArgs &a) {
  return withFloatType(a.x_type, [&](auto type) {
    using T = decltype(type);
    return launchKernel(contractKernel<T>, gridFor(context, a.M * a.C), kThreads, 0, context.stream,
                        static_cast<const T *>(a.x), static_cast<T *>(a.out), a.M, a.n, a.C,
                        a.layout == MHCRT_LAYOUT_CN,
                        a.mode == MHCRT_CONTRACT_MODE_MEAN ? static_cast<float>(a.n) : 1.0f);
  });
}

} // namespace

static constexpr Variant<ContractArgs> kVariants[] = {
    {"n4", 80, kAnyArch, contractN4Takes,
     [](mhcrt_context &c, const ContractArgs &a) { return contractN4(a, c.stream); }},
    {"n2n8", 80, kAnyArch, contractN2N8Takes,
     [](mhcrt_context &c, const ContractArgs &a) { return contractN2N8(a, c.stream); }},
    {"cn4", 80, kAnyArch, contractCn4Takes,
     [](mhcrt_context &c, const ContractArgs &a) { return contractCn4(a, c.stream); }},
    {"generic", 0, kAnyArch, nullptr, launchGeneric}};

mhcrt_status mhcrt::runContract(mhcrt_context &context, const ContractArgs &args) {
  if (!checkContract(context, args))
    return context.status;
  return args.M ? launchVariant(context, "contract", kVariants, args) : context.status;
}
