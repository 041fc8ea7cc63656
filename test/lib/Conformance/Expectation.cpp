//===- Expectation.cpp - Results that a compiled program must have --------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Expectation.h"
#include "llvm/Support/FormatVariadic.h"

namespace mhc::conformance {

/// Relative to the largest value of a result; sums of f32 round in their own order.
static constexpr double kLeastTolerance = 2e-5;
/// Where a result is further away, every op is rounded at random so many times. As far as they move it, compiled code
/// may, which rounds at other places.
static constexpr int kDisturbances = 8;
/// A result that rounding may move further, relative to the largest value, is not judged: a comparison may have come
/// out the other way.
static constexpr double kMostNoise = 0.25;
llvm::Error Expectation::evaluate() {
  auto results = evaluateLeafOps(module, entry, arguments);
  if (!results)
    return results.takeError();
  want = std::move(*results);
  return llvm::Error::success();
}

llvm::Expected<double> Expectation::noiseOf(size_t result) {
  if (moved.empty()) {
    auto results = evaluateRounded(module, entry, arguments, kDisturbances);
    if (!results)
      return results.takeError();
    moved = std::move(*results);
  }
  return roundingNoise(want, moved, result);
}

llvm::Expected<std::string> Expectation::judge(const Tensors &got, JudgedCounts &counts) {
  std::string report;
  for (size_t i = 0; i < want.size(); ++i) {
    mhcrt::HostTensor wide;
    std::string error;
    if (!mhcrt::convert(got[i].get(), MHCRT_F64, wide, error) || wide.dims() != want[i].dims())
      return llvm::createStringError("result " + std::to_string(i) + " is " + got[i].type() + "; the reference has " +
                                     want[i].type() + error);
    double size = largestMagnitude(want[i]), difference = largestDifference(want[i], wide);
    ++counts.results;
    if (difference <= kLeastTolerance * size)
      continue;
    auto noise = noiseOf(i);
    if (!noise)
      return noise.takeError();
    if (!(*noise <= kMostNoise * size)) // NaNs as well
      ++counts.unjudged;
    else if (!(difference <= *noise))
      report += llvm::formatv("  result {0} is off by {1:e}; rounding explains {2:e}, the largest value is {3:e}\n", i,
                              difference, *noise, size);
  }
  return report;
}

Verdict errorOf(const std::string &where, llvm::Error error) {
  return {Outcome::Error, "  " + where + ": " + llvm::toString(std::move(error)) + "\n"};
}

} // namespace mhc::conformance
