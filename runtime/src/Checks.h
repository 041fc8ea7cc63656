//===- Checks.h - What each kernel needs of its arguments -------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same for every backend. False with the state's error set when a need is not met; else the call is counted.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_CHECKS_H
#define MHCRT_SRC_CHECKS_H

#include "CallState.h"
#include "KernelArgs.h"

namespace mhcrt {

bool checkAggregate(CallState &state, const AggregateArgs &a);

} // namespace mhcrt

#endif // MHCRT_SRC_CHECKS_H
