//===- ContextState.h - Access to errors and counters of a context -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Definitions, for the one file of a backend that defines its context's functions; mhcrt_context is complete there.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_CONTEXTSTATE_H
#define MHCRT_SRC_CONTEXTSTATE_H

#include "mhcrt/sizes.h"

#include <utility>

extern "C" {

const char *mhcrt_last_error(const mhcrt_context *context) { return context->message; }

mhcrt_status mhcrt_last_status(const mhcrt_context *context) { return context->status; }

void mhcrt_set_location(mhcrt_context *context, const char *location) { context->location = location; }

void mhcrt_check_size(mhcrt_context *context, int64_t value, int64_t low, int64_t high, const char *what,
                      const char *location) {
  if (value >= low && value <= high)
    return;
  const char *before = std::exchange(context->location, location);
  const auto found = static_cast<long long>(value), least = static_cast<long long>(low);
  if (low == high)
    context->fail(MHCRT_INVALID_ARGUMENT, "%s is %lld; needed %lld", what, found, least);
  else if (low > high)
    context->fail(MHCRT_INVALID_ARGUMENT, "%s is %lld; no number is possible", what, found);
  else
    context->fail(MHCRT_INVALID_ARGUMENT, "%s is %lld; needed %lld to %lld", what, found, least,
                  static_cast<long long>(high));
  context->location = before;
}

void mhcrt_check_assertion(mhcrt_context *context, int32_t holds, const char *text, const char *location) {
  if (holds)
    return;
  const char *before = std::exchange(context->location, location);
  context->fail(MHCRT_INVALID_ARGUMENT, "an assertion fails: %s", text);
  context->location = before;
}

void mhcrt_clear_error(mhcrt_context *context) {
  context->status = MHCRT_OK;
  context->message[0] = '\0';
}

int64_t mhcrt_context_bytes(const mhcrt_context *context) {
  return context->workspace.bytes() + context->scratch.bytes() + context->between.bytes();
}

int64_t mhcrt_context_launches(const mhcrt_context *context) { return context->launches; }

int64_t mhcrt_context_allocations(const mhcrt_context *context) { return context->allocations; }

} // extern "C"

#endif // MHCRT_SRC_CONTEXTSTATE_H
