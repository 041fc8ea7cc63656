//===- contract.cpp - Sum or mean of n streams ----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out[m,c] = sum_i x[m,i,c]          mode sum
//   out[m,c] = (1/n) sum_i x[m,i,c]    mode mean
//
// Plan    Blocks of channels as f32 planes in the first-level cache, then a sum over planes, lanes along C.
// Bytes   per token (n+1)*C elements.
// Needs   nothing.
// Round   f32 sums in the order of i, a true division for mean, one rounding at the store.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/contract.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Planes-inl.h"

#include "cpu/Tokens.h"
#include "src/KernelCall.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

template <typename T>
void contractTyped(const void *x, void *out, int64_t first, int64_t last, int64_t n, int64_t C, int32_t layout,
                   bool mean) {
  const V divisor = hn::Set(d, mean ? static_cast<float>(n) : 1.0f);
  Planes planes, sums;
  for (int64_t m = first; m < last; ++m) {
    for (int64_t c = 0; c < C; c += kBlock) {
      const int64_t count = HWY_MIN(kBlock, C - c);
      loadPlanes(static_cast<const T *>(x) + m * n * C, layout, n, C, c, count, planes);
      for (int64_t k = 0; k < count; k += kLanes) {
        V sum = load(planes[0] + k);
        for (int64_t i = 1; i < n; ++i)
          sum = hn::Add(sum, load(planes[i] + k));
        store(hn::Div(sum, divisor), sums[0] + k);
      }
      narrow(sums[0], count, static_cast<T *>(out) + m * C + c);
    }
  }
}

void contractTokens(const void *x, int32_t type, void *out, int64_t first, int64_t last, int64_t n, int64_t C,
                    int32_t layout, bool mean) {
  if (type == MHCRT_F32)
    contractTyped<float>(x, out, first, last, n, C, layout, mean);
  else if (type == MHCRT_BF16)
    contractTyped<Bf16>(x, out, first, last, n, C, layout, mean);
  else
    contractTyped<F16>(x, out, first, last, n, C, layout, mean);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(contractTokens);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt_contract(mhcrt_context *ctx, const void *x, int32_t x_type, void *out, int32_t out_type, int64_t M,
                            int64_t n, int64_t C, int32_t layout, int32_t mode) {
  KernelCall call(ctx, "mhcrt_contract");
  call.dim("M", M, 0).dim("n", n, 1, kMaxStreams).dim("C", C, 1);
  call.tensor("x", x, x_type, kFloats, M).tensor("out", out, out_type, {x_type}, M);
  call.attribute("layout", layout, 2).attribute("mode", mode, 2);
  if (!call.begin())
    return call.status();

  forTokens(ctx, M, (n + 1) * C * mhcrt_dtype_bytes(x_type), [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(contractTokens)
    (x, x_type, out, first, last, n, C, layout, mode == MHCRT_CONTRACT_MODE_MEAN);
  });
  return MHCRT_OK;
}
#endif // HWY_ONCE
