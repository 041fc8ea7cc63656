//===- contract.cpp - Sum or mean of n streams ----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   out[m,c] = sum_i x[m,i,c]          mode sum
//   out[m,c] = (1/n) sum_i x[m,i,c]    mode mean
//
// Plan    That of aggregate, without weights.
// Bytes   per token (n+1)*C elements.
// Needs   nothing; streaming stores need rows of a multiple of 64 bytes.
// Round   f32 sums in the order of i, a true division for mean, one rounding at the store.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/contract.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/Contract-inl.h"
#include "cpu/Planes-inl.h"

#include "cpu/Entry.h"
#include "cpu/Tokens.h"
#include "src/Checks.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

template <bool kStream, typename T>
void contractTyped(const T *x, T *out, int64_t first, int64_t last, int64_t n, int64_t C, int32_t layout, bool mean) {
  const V divisor = hn::Set(d, mean ? static_cast<float>(n) : 1.0f);
  Planes planes;
  for (int64_t m = first; m < last; ++m) {
    if (layout == MHCRT_LAYOUT_NC) {
      contractRows<kStream>(x + m * n * C, C, n, C, divisor, out + m * C);
      continue;
    }
    for (int64_t c = 0; c < C; c += kBlock) {
      const int64_t count = HWY_MIN(kBlock, C - c);
      loadPlanes(x + m * n * C, layout, n, C, c, count, planes);
      contractRows<kStream>(planes.values, kBlock, n, count, divisor, out + m * C + c);
    }
  }
  if (kStream)
    hwy::FlushStream();
}

void contractTokens(const void *x, int32_t type, void *out, int64_t first, int64_t last, int64_t n, int64_t C,
                    int32_t layout, bool mean, bool stream) {
  const auto run = [&](auto element) {
    using T = decltype(element);
    if (stream)
      contractTyped<true>(static_cast<const T *>(x), static_cast<T *>(out), first, last, n, C, layout, mean);
    else
      contractTyped<false>(static_cast<const T *>(x), static_cast<T *>(out), first, last, n, C, layout, mean);
  };
  if (type == MHCRT_F32)
    run(float());
  else if (type == MHCRT_BF16)
    run(Bf16());
  else
    run(F16());
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(contractTokens);
} // namespace mhcrt

using namespace mhcrt;

mhcrt_status mhcrt::runContract(mhcrt_context &context, const ContractArgs &a) {
  if (!checkContract(context, a))
    return context.status;

  const int64_t rowBytes = a.C * mhcrt_dtype_bytes(a.x_type);
  const bool stream = streams(a.out, a.M, rowBytes);
  forTokens(context, a.M, (a.n + 1) * rowBytes, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(contractTokens)
    (a.x, a.x_type, a.out, first, last, a.n, a.C, a.layout, a.mode == MHCRT_CONTRACT_MODE_MEAN, stream);
  });
  return MHCRT_OK;
}

MHCRT_ENTRY(contract, Contract)
#endif // HWY_ONCE
