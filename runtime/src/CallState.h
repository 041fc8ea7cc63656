//===- CallState.h - Errors and counters of one caller ----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State of the context of every backend; the checks of a kernel entry (KernelCall.h) need no more.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_CALLSTATE_H
#define MHCRT_SRC_CALLSTATE_H

#include "mhcrt/mhcrt.h"

namespace mhcrt {

struct CallState {
  int64_t launches = 0;
  int64_t allocations = 0;
  mhcrt_status status = MHCRT_OK;
  char message[512] = {};
  const char *location = ""; ///< of the calls in the model's source; "" where it is not known

  /// Keeps the first error only.
  mhcrt_status fail(mhcrt_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
};

/// a * b, or INT64_MAX where that overflows. Both are at least 0.
inline int64_t saturatingMul(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}
inline int64_t saturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}
/// n!, or INT64_MAX where it does not fit.
inline int64_t factorial(int64_t n) {
  int64_t product = 1;
  for (int64_t k = 2; k <= n && product < INT64_MAX; ++k)
    product = saturatingMul(product, k);
  return product;
}
inline int64_t divideUp(int64_t a, int64_t b) { return a / b + (a % b != 0); }
inline int64_t roundUp(int64_t a, int64_t b) { return divideUp(a, b) * b; }

} // namespace mhcrt

#endif // MHCRT_SRC_CALLSTATE_H
