//===- StreamPlaces.h - Where the streams of a token lie --------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CPU_STREAMPLACES_H
#define MHCRT_CPU_STREAMPLACES_H

#include "mhcrt/kernels.h"

namespace mhcrt {

/// Equal streams are one row: in layout nC, at a distance of 0 from one another.
struct StreamPlaces {
  int32_t layout;
  int64_t token;  ///< elements of a token
  int64_t stream; ///< elements from one stream to the next, in layout nC

  StreamPlaces(int32_t layout, int64_t n, int64_t C, bool equal)
      : layout(equal ? int32_t(MHCRT_LAYOUT_NC) : layout), token(equal ? C : n * C), stream(equal ? 0 : C) {}
};

} // namespace mhcrt

#endif // MHCRT_CPU_STREAMPLACES_H
