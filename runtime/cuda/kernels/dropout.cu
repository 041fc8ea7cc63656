//===- dropout.cu - Drop elements at random -------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out[m,c] = u >= rate ? x[m,c] / (1 - rate) : 0, where u is the uniform number of element m*C + c (random.cu)
//
// Generic: one thread per four elements. The numbers and the rounding are those of the CPU: one f32 product, one
// rounding at the store. Bytes: 2 elements per element.
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Launch.cuh"
#include "cuda/host/Variants.h"
#include "cuda/tile/Element.cuh"
#include "src/Checks.h"
#include "src/Philox.h"

using namespace mhcrt;

namespace {

template <typename T>
__global__ void dropoutKernel(Dropout dropout, const T *x, T *out, int64_t count) {
  for (int64_t block = firstItem(); block < (count + 3) / 4; block += itemStep()) {
    const Words words = dropout.philox(block);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int64_t at = 4 * block + i;
      if (at < count)
        out[at] = fromFloat<T>(dropout(words[i], toFloat(x[at])));
    }
  }
}

cudaError_t launchGeneric(mhcrt_context &context, const DropoutArgs &a) {
  const int64_t count = a.M * a.C;
  return withFloatType(a.x_type, [&](auto type) {
    using T = decltype(type);
    return launchKernel(dropoutKernel<T>, gridFor(context, divideUp(count, 4)), kThreads, 0, context.stream,
                        Dropout(a.seed, a.rate, a.stream), static_cast<const T *>(a.x), static_cast<T *>(a.out), count);
  });
}

} // namespace

static constexpr Variant<DropoutArgs> kVariants[] = {{"generic", 0, kAnyArch, nullptr, launchGeneric}};

mhcrt_status mhcrt::runDropout(mhcrt_context &context, const DropoutArgs &args) {
  if (!checkDropout(context, args))
    return context.status;
  return args.M ? launchVariant(context, "dropout", kVariants, args) : context.status;
}
