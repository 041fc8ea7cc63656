//===- Bounds.h - Numbers that mHC ops take ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that the verifiers of the ops would refuse stay as they are written.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_RAISE_BOUNDS_H
#define MHC_LIB_TRANSFORMS_RAISE_BOUNDS_H

#include <cmath>

namespace mhc {

inline bool isEps(double number) { return std::isfinite(number) && number >= 0; }
/// Whether f32 leaves this of a number that was computed of others.
inline bool isNear(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }
/// The epsilon that a program wrote, from one that is near: a short decimal, a power of two, or what f32 has.
double epsMeant(double eps);
inline bool isFactor(double number) { return std::isfinite(number); }
inline constexpr int64_t kMostIterations = 1000;
inline bool isIterationCount(int64_t count) { return count >= 0 && count <= kMostIterations; }

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_BOUNDS_H
