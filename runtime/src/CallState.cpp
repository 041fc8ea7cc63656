//===- CallState.cpp - Errors and names of element types ------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "CallState.h"

#include <cstdarg>
#include <cstdio>

mhcrt_status mhcrt::CallState::fail(mhcrt_status newStatus, const char *format, ...) {
  if (status != MHCRT_OK)
    return status;
  status = newStatus;
  va_list arguments;
  va_start(arguments, format);
  const size_t length = std::vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  if (location[0] && length < sizeof(message))
    std::snprintf(message + length, sizeof(message) - length, " (at %s)", location);
  return status;
}

extern "C" {

int64_t mhcrt_dtype_bytes(int32_t dtype) {
  switch (dtype) {
  case MHCRT_BF16:
  case MHCRT_F16:
    return 2;
  case MHCRT_F32:
  case MHCRT_I32:
    return 4;
  case MHCRT_F64:
  case MHCRT_I64:
    return 8;
  default:
    return 0;
  }
}

const char *mhcrt_dtype_name(int32_t dtype) {
  switch (dtype) {
  case MHCRT_NONE:
    return "none";
  case MHCRT_F32:
    return "f32";
  case MHCRT_BF16:
    return "bf16";
  case MHCRT_F16:
    return "f16";
  case MHCRT_F64:
    return "f64";
  case MHCRT_I32:
    return "i32";
  case MHCRT_I64:
    return "i64";
  default:
    return "unknown";
  }
}

} // extern "C"
