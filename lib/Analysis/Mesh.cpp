//===- Mesh.cpp - Ranks that share a model ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/Mesh.h"

using namespace mhc;

std::optional<Mesh> Mesh::parse(llvm::StringRef text) {
  constexpr int64_t kMostRanks = 65536;
  Mesh mesh;
  if (!text.consume_front("dp=") || text.getAsInteger(10, mesh.dp) || mesh.dp < 1 || mesh.dp > kMostRanks)
    return std::nullopt;
  return mesh;
}

std::string Mesh::text() const {
  std::string stages = pp > 1 ? ",pp=" + std::to_string(pp) : "";
  return "dp=" + std::to_string(dp) + stages;
}
