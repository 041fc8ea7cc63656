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
  auto read = [&](llvm::StringRef word, llvm::StringRef axis, int64_t &ranks) {
    return word.consume_front(axis) && !word.getAsInteger(10, ranks) && ranks >= 1 && ranks <= kMostRanks;
  };
  const auto [first, second] = text.split(',');
  const bool isPair = text.contains(',');
  if (isPair ? !read(first, "dp=", mesh.dp) || !read(second, "tp=", mesh.tp)
             : !read(text, "dp=", mesh.dp) && !read(text, "tp=", mesh.tp))
    return std::nullopt;
  return mesh;
}

std::string Mesh::rowText() const { return "dp=" + std::to_string(dp) + (tp > 1 ? ",tp=" + std::to_string(tp) : ""); }

std::string Mesh::text() const { return rowText() + (pp > 1 ? ",pp=" + std::to_string(pp) : ""); }
