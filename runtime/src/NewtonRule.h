//===- NewtonRule.h - When Newton's steps are damped and end ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by all kernels with a residual map, on every device, and by the decomposition of mhc.sinkhorn (math.md 3.4).
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_NEWTONRULE_H
#define MHCRT_SRC_NEWTONRULE_H

#include <cstdint>

namespace mhcrt {

/// Logits that differ by more begin as fractions of themselves.
constexpr float kWidestRange = 16.0f;
/// A step changes u by at most as much, where it is trusted; the fraction doubles behind a shorter one.
constexpr float kLongestStep = 4.0f;
/// Steps at one fraction that are trusted. Those behind are so short that each brings u nearer.
constexpr float kTrustedSteps = 3.0f;
/// Steps up to here are never shortened.
constexpr float kFullStep = 0.5f;
/// A step up to here leaves less than its square: it is the last.
constexpr float kLastStep = 0x1p-12f;
/// Sums so near to one are there.
constexpr float kSumTolerance = 3e-7f;
/// Cells keep at least this much, so that all rows stay linked; what a row shares with others then is more than that.
constexpr float kLeastCell = 1e-30f, kLeastDegree = 1e-35f;

/// The logits' fraction is at least 2^-16: a range of 10^6 leaves f32 no digits behind the point.
constexpr int64_t mostHalvings(int64_t iters) { return iters < 16 ? iters : 16; }

/// A fraction up to here has to double in each of the steps that are left.
constexpr float leastScale(int64_t left) { return left > 16 ? 0.0f : 1.0f / static_cast<float>(int64_t{1} << left); }

} // namespace mhcrt

#endif // MHCRT_SRC_NEWTONRULE_H
