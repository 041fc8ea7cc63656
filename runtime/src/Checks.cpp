//===- Checks.cpp - What each kernel needs of its arguments ---------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Checks.h"
#include "KernelCall.h"

using namespace mhcrt;

bool mhcrt::checkAggregate(CallState &state, const AggregateArgs &a) {
  KernelCall call(&state, "mhcrt_aggregate");
  call.dim("M", a.M, 0).dim("n", a.n, 1, kMaxStreams).dim("C", a.C, 1);
  call.tensor("x", a.x, a.x_type, kFloats, a.M)
      .tensor("h_pre", a.h_pre, a.h_pre_type, kF32, a.M)
      .tensor("u", a.u, a.u_type, {a.x_type}, a.M);
  call.attribute("layout", a.layout, 2);
  return call.begin();
}
