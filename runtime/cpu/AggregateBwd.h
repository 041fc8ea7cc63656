//===- AggregateBwd.h - A call of aggregate_bwd -----------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_AGGREGATE_BWD_H
#define MHCRT_CPU_AGGREGATE_BWD_H

#include "cpu/Entry.h"

namespace mhcrt {

struct AggregateBwdCall : AggregateBwdArgs {
  bool bypasses; ///< the caches
};

} // namespace mhcrt

#endif // MHCRT_CPU_AGGREGATE_BWD_H
