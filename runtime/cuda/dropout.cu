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
#include "Variants.h"
#include "prim/element.cuh"
#include "prim/launch.cuh"
#include "src/Checks.h"
#include "src/Philox.h"

#include <cmath>

using namespace mhcrt;

template <typename T>
__global__ void dropoutKernel(PhiloxStream philox, const T *x, T *out, int64_t count, uint32_t threshold, float scale) {
  for (int64_t block = firstItem(); block < (count + 3) / 4; block += itemStep()) {
    const Words words = philox(block);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int64_t at = 4 * block + i;
      if (at < count)
        out[at] = fromFloat<T>(uniformBits(words[i]) >= threshold ? toFloat(x[at]) * scale : 0.0f);
    }
  }
}

static cudaError_t launchGeneric(mhcrt_context &context, const DropoutArgs &a) {
  // In f64, as the reference: a float next to the rate would drop other elements.
  const double threshold = std::ceil(std::ldexp(a.rate, kUniformBits));
  const int64_t count = a.M * a.C;
  return withFloatType(a.x_type, [&](auto type) {
    using T = decltype(type);
    dropoutKernel<<<gridFor(context, divideUp(count, 4)), kThreads, 0, context.stream>>>(
        {static_cast<const int64_t *>(a.seed), a.stream}, static_cast<const T *>(a.x), static_cast<T *>(a.out), count,
        static_cast<uint32_t>(threshold), static_cast<float>(1 / (1 - a.rate)));
    return cudaGetLastError();
  });
}

static constexpr Variant<DropoutArgs> kVariants[] = {{"generic", 0, kAnyArch, nullptr, launchGeneric}};

mhcrt_status mhcrt::runDropout(mhcrt_context &context, const DropoutArgs &args) {
  if (!checkDropout(context, args))
    return context.status;
  return args.M ? launchVariant(context, "dropout", kVariants, args) : context.status;
}
