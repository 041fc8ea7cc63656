//===- ModelCall.h - Methods that a model calls ------------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TRAIN_MODELCALL_H
#define MHCRT_TRAIN_MODELCALL_H

#include "mhcrt/functions.h"

#include <cstdio>
#include <exception>
#include <string>

namespace mhcrt {

/// An mhcrt_function whose `user` is an object with this method.
template <typename Object, mhcrt_status (Object::*method)(const mhcrt_call &, std::string &)>
mhcrt_status callMethod(void *user, const mhcrt_call *call) {
  std::string error;
  mhcrt_status status = MHCRT_OUT_OF_MEMORY;
  try {
    status = (static_cast<Object *>(user)->*method)(*call, error);
  } catch (const std::exception &problem) {
    error = problem.what();
  }
  if (status != MHCRT_OK)
    std::snprintf(call->message->text, sizeof(call->message->text), "%s", error.c_str());
  return status;
}

inline mhcrt_status statusOf(bool good) { return good ? MHCRT_OK : MHCRT_DEVICE_ERROR; }

} // namespace mhcrt

#endif // MHCRT_TRAIN_MODELCALL_H
