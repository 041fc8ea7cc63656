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

/// The string attribute of a module that has its mesh, "dp=2,tp=2,pp=4".
inline constexpr llvm::StringLiteral kMesh = "mhc.mesh";

/// The string attribute of a weight, or of its gradient: the axes of the mesh over whose ranks the gradient is a sum
/// that each rank has a part of, "dp,tp".
inline constexpr llvm::StringLiteral kPartial = "mhc.partial";
/// The numbers of a weight of which a rank has its share: the dimension that the ranks of the axis tp divide, and the
/// sizes of the parts of this share, each of which is a share of one of the weight's parts.
inline constexpr llvm::StringLiteral kSplit = "mhc.split";

/// Data-parallel ranks, each with its part of the batch, of each stage of a pipeline; each of them is one or several
/// tensor-parallel ranks, which divide the heads and the MLP, and the tokens between these.
struct Mesh {
  int64_t dp = 1, tp = 1, pp = 1;

  static constexpr llvm::StringLiteral kForm = "'dp=N', 'tp=N' or 'dp=N,tp=N' with N from 1 to 65536";
  static std::optional<Mesh> parse(llvm::StringRef text);

  int64_t ranks() const { return dp * tp * pp; }
  /// Those that share the rows of a batch.
  int64_t rowRanks() const { return dp * tp; }
  /// "dp=2,tp=2", without stages.
  std::string rowText() const;
  std::string text() const;
};

} // namespace mhc

#endif // MHC_ANALYSIS_MESH_H
