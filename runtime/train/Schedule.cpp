//===- Schedule.cpp - Learning rate of a step --------------------------------- ===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Schedule.h"

#include <algorithm>
#include <cmath>

using namespace mhcrt;

double mhcrt::learningRate(const TrainOptions &options, int64_t step) {
  if (step < options.warmup)
    return options.rate * (static_cast<double>(step + 1) / static_cast<double>(options.warmup));
  if (options.rateSchedule == "constant")
    return options.rate;
  const auto left = static_cast<double>(std::max<int64_t>(1, options.steps - options.warmup - 1));
  const double done = std::min(1.0, static_cast<double>(step - options.warmup) / left);
  const double share = options.rateSchedule == "cosine" ? (1 + std::cos(done * std::acos(-1.0))) / 2 : 1 - done;
  return options.leastRate + (options.rate - options.leastRate) * share;
}
