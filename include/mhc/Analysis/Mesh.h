//===- Mesh.h - Ranks that share a model ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_ANALYSIS_MESH_H
#define MHC_ANALYSIS_MESH_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mhc {

/// The string attribute of a module that has its mesh, "dp=2,pp=4".
inline constexpr llvm::StringLiteral kMesh = "mhc.mesh";

/// Data-parallel ranks, each with its part of the batch, of each stage of a pipeline.
struct Mesh {
  int64_t dp = 1, pp = 1;

  static constexpr llvm::StringLiteral kForm = "'dp=N' with N from 1 to 65536";
  static std::optional<Mesh> parse(llvm::StringRef text);

  int64_t ranks() const { return dp * pp; }
  std::string text() const;
};

} // namespace mhc

#endif // MHC_ANALYSIS_MESH_H
