//===- Post.h - A call of post ----------------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_POST_H
#define MHCRT_CPU_POST_H

#include "cpu/Entry.h"
#include "src/Philox.h"

namespace mhcrt {

struct PostCall : PostArgs {
  bool bypasses; ///< the caches
  Dropout drop;
};

} // namespace mhcrt

#endif // MHCRT_CPU_POST_H
