//===- RecomputePlan.cpp - Which streams a backward pass keeps ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/RecomputePlan.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cmath>

using namespace mhc;

std::optional<RecomputeMode> RecomputeMode::parse(llvm::StringRef text) {
  if (text == "none")
    return RecomputeMode{none, 0};
  if (text == "all")
    return RecomputeMode{all, 0};
  if (text == "auto")
    return RecomputeMode{automatic, 0};
  int64_t layers;
  if (!text.consume_front("groups=") || text.getAsInteger(10, layers) || layers < 1)
    return std::nullopt;
  return RecomputeMode{groups, layers};
}

llvm::StringRef mhc::recomputeModeOf(mlir::func::FuncOp func) {
  auto mode = func->getAttrOfType<mlir::StringAttr>(kRecomputeMode);
  return mode ? mode.getValue() : "none";
}

int64_t mhc::optimalGroup(int64_t layers, int64_t streams) {
  double best = std::sqrt(static_cast<double>(streams * layers) / static_cast<double>(streams + 2));
  return std::max<int64_t>(1, static_cast<int64_t>(best));
}

static int64_t groupSize(RecomputeMode mode, int64_t layers, int64_t streams) {
  switch (mode.kind) {
  case RecomputeMode::none:
    return 1;
  case RecomputeMode::all:
    return layers;
  case RecomputeMode::automatic:
    return optimalGroup(layers, streams);
  case RecomputeMode::groups:
    return mode.layers;
  }
  llvm_unreachable("all modes are above");
}

llvm::SmallVector<int64_t> mhc::recomputeGroups(RecomputeMode mode, int64_t layers, int64_t streams) {
  llvm::SmallVector<int64_t> groups;
  int64_t size = groupSize(mode, layers, streams);
  for (int64_t rest = layers; rest > 0; rest -= size)
    groups.push_back(std::min(size, rest));
  return groups;
}
