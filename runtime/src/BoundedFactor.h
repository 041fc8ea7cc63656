//===- BoundedFactor.h - The statistic's factor of a tiny token -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_BOUNDEDFACTOR_H
#define MHCRT_SRC_BOUNDEDFACTOR_H

#include <cfloat>

namespace mhcrt {

/// t of mhc.projection_bwd, at most the largest float where s and d_stat are finite. The factor of a token of 1e-30 may
/// be 1e42: t * x is far from infinity, but t is not a float. constexpr, for kernels too.
constexpr float boundedFactor(float t, float s, float dStat) {
  const bool isInfinite = t > FLT_MAX || t < -FLT_MAX;
  if (!isInfinite || s - s != 0.0f || dStat - dStat != 0.0f)
    return t;
  return t > 0.0f ? FLT_MAX : -FLT_MAX;
}

} // namespace mhcrt

#endif // MHCRT_SRC_BOUNDEDFACTOR_H
