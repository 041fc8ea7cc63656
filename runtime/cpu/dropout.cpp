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

#include "cpu/Tokens.h"
#include "mhcrt/kernels.h"
#include "src/Context.h"
#include "src/KernelCall.h"
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

mhcrt_status mhcrt_dropout(mhcrt_context *ctx, const void *x, int32_t x_type, const void *seed, int32_t seed_type,
                           void *out, int32_t out_type, int64_t M, int64_t C, int64_t S, double rate, int64_t stream) {
  KernelCall call(ctx, "mhcrt_dropout");
  call.dim("M", M, 0).dim("C", C, 1).equal("S", S, "2", 2);
  call.tensor("x", x, x_type, kFloats, M).tensor("out", out, out_type, {x_type}, M);
  call.tensor("seed", seed, seed_type, {MHCRT_I64}, S);
  call.dropout(rate, stream, "M*C", saturatingMul(M, C));
  if (!call.begin())
    return call.status();

  constexpr int64_t kRun = 2048;
  const DropoutCall args = {Dropout(seed, rate, stream), x, out, x_type};
  ctx->parallelFor(divideUp(M * C, kRun), [&](int64_t tile, int) {
    alignas(kAlignment) float buffer[kRun];
    const int64_t first = tile * kRun;
    HWY_DYNAMIC_DISPATCH(dropoutRun)(args, first, std::min(kRun, M * C - first), buffer);
  });
  return MHCRT_OK;
}
#endif // HWY_ONCE
