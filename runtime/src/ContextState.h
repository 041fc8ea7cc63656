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

extern "C" {

const char *mhcrt_last_error(const mhcrt_context *context) { return context->message; }

mhcrt_status mhcrt_last_status(const mhcrt_context *context) { return context->status; }

void mhcrt_set_location(mhcrt_context *context, const char *location) { context->location = location; }

void mhcrt_clear_error(mhcrt_context *context) {
  context->status = MHCRT_OK;
  context->message[0] = '\0';
}

int64_t mhcrt_context_bytes(const mhcrt_context *context) {
  return context->workspace.bytes() + context->scratch.bytes();
}

int64_t mhcrt_context_launches(const mhcrt_context *context) { return context->launches; }

int64_t mhcrt_context_allocations(const mhcrt_context *context) { return context->allocations; }

} // extern "C"

#endif // MHCRT_SRC_CONTEXTSTATE_H
