//===- dropout.cpp - Drop elements at random ------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out[m,c] = u >= rate ? x[m,c] / (1 - rate) : 0, where u is the uniform number of element m*C + c (random.cpp)
//
// Plan    Runs of elements, widened and narrowed through a buffer in the first-level cache; their numbers are made in
//         between, four at a time.
// Bytes   2 elements per element. The rounds of Philox dominate.
// Needs   at most 2^34 elements.
// Round   one f32 product, one rounding at the store.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/dropout.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Simd-inl.h"

#include "cpu/Entry.h"
#include "cpu/Tokens.h"
#include "src/Checks.h"
#include "src/Philox.h"

#ifndef MHCRT_CPU_DROPOUT_CALL
#define MHCRT_CPU_DROPOUT_CALL
namespace mhcrt {
struct DropoutCall {
  Dropout dropout;
  const void *x;
  void *out;
  int32_t type;
};
} // namespace mhcrt
#endif

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// Elements [first, first + count); `first` is a multiple of 4.
void dropoutRun(const DropoutCall &args, int64_t first, int64_t count, float *buffer) {
  widenAny(args.x, args.type, first, count, buffer);
  for (int64_t i = 0; i < count; i += 4) {
    const Words words = args.dropout.philox((first + i) / 4);
    for (int64_t k = 0; k < HWY_MIN(4, count - i); ++k)
      buffer[i + k] = args.dropout(words[k], buffer[i + k]);
  }
  narrowAny(buffer, count, args.out, args.type, first);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(dropoutRun);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runDropout(mhcrt_context &context, const DropoutArgs &a) {
  if (!checkDropout(context, a))
    return context.status;

  constexpr int64_t kRun = 2048;
  const DropoutCall args = {Dropout(a.seed, a.rate, a.stream), a.x, a.out, a.x_type};
  context.parallelFor(divideUp(a.M * a.C, kRun), [&](int64_t tile, int) {
    alignas(kAlignment) float buffer[kRun];
    const int64_t first = tile * kRun;
    HWY_DYNAMIC_DISPATCH(dropoutRun)(args, first, std::min(kRun, a.M * a.C - first), buffer);
  });
  return MHCRT_OK;
}

MHCRT_ENTRY(dropout, Dropout)
#endif // HWY_ONCE
