//===- CallFunction.h - Calls of functions that a model is given --*- C++ -*- ===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_CALLFUNCTION_H
#define MHCRT_SRC_CALLFUNCTION_H

#include "CallState.h"
#include "mhcrt/functions.h"

#include <cstring>

namespace mhcrt {

/// `state` is the context's, which has no error.
inline void callFunction(CallState &state, const mhcrt_binding &binding, mhcrt_call call) {
  if (!binding.function) {
    if (std::strcmp(binding.name, MHCRT_GRADIENT_COMPLETE) != 0)
      state.fail(MHCRT_NOT_FOUND, "the model calls the function '%s', which it was not given", binding.name);
    return;
  }
  mhcrt_message message = {};
  call.message = &message;
  const mhcrt_status status = binding.function(binding.user, &call);
  if (status != MHCRT_OK)
    state.fail(status, "the function '%s' fails: %.400s", binding.name,
               message.text[0] ? message.text : "it does not say why");
}

} // namespace mhcrt

#endif // MHCRT_SRC_CALLFUNCTION_H
