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

/// The multiplier s of the tokens whose root mean square is at most eps, with norm `clamp`.
constexpr float mostMultiplier(float eps) { return 1.0f / eps; }

/// Whether s is that multiplier, whose derivative is zero. The caller's s may be rounded in another way.
constexpr bool isClamped(float s, float eps) { return s >= mostMultiplier(eps) * (1.0f - 4 * FLT_EPSILON); }

} // namespace mhcrt

#endif // MHCRT_SRC_BOUNDEDFACTOR_H
