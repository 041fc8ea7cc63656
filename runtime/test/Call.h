//===- Call.h - A kernel called by its arguments -----------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TEST_CALL_H
#define MHCRT_TEST_CALL_H

#include "mhcrt/kernels.h"

#include <type_traits>
#include <utility>

/// A value that becomes the type of a member where an expression of that value would.
template <typename Value>
struct Member {
  Value value;
  template <typename T, typename = std::enable_if_t<std::is_convertible_v<Value, T>>>
  operator T() const {
    return static_cast<T>(std::forward<Value>(value));
  }
};

// Members behind the last that is given are zero.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/// Calls a kernel with the members of its arguments, in their order behind the size.
template <typename Args, typename... Values>
mhcrt_status call(mhcrt_status (*kernel)(mhcrt_context *, const Args *), mhcrt_context *context, Values &&...values) {
  const Args args = {sizeof(Args), Member<Values &&>{std::forward<Values>(values)}...};
  return kernel(context, &args);
}

#endif // MHCRT_TEST_CALL_H
