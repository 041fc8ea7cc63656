//===- sizes.h - Checks of compiled models --------------------------*- C -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of compiled models where sizes and offsets are known only when they run.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SIZES_H
#define MHCRT_SIZES_H

#include "mhcrt/mhcrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Sets the error where `value` is not from `low` to `high`. `what` says what it is; `location` as in
/// mhcrt_set_location, for this error alone.
void mhcrt_check_size(mhcrt_context *context, int64_t value, int64_t low, int64_t high, const char *what,
                      const char *location);
/// Sets the error where an assertion of the program does not hold.
void mhcrt_check_assertion(mhcrt_context *context, int32_t holds, const char *text, const char *location);

#ifdef __cplusplus
}
#endif

#endif // MHCRT_SIZES_H
