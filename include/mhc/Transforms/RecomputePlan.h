//===- RecomputePlan.h - Which streams a backward pass keeps ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layers of a chain are cut into groups (math.md 7). The streams that enter a group are kept, those inside it are
// computed again when the backward pass comes to the group; what leaves its last layer enters the next group.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_RECOMPUTEPLAN_H
#define MHC_TRANSFORMS_RECOMPUTEPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mhc {

/// The user's choice of recomputation.
struct RecomputeMode {
  enum Kind {
    none,      ///< every stream is kept
    all,       ///< a chain is one group
    automatic, ///< groups of the size that needs the least memory
    groups     ///< groups of `layers` layers
  };
  Kind kind = none;
  int64_t layers = 0;

  /// Reads "none", "all", "auto" or "groups=N"; nothing for any other text.
  static std::optional<RecomputeMode> parse(llvm::StringRef text);
  static constexpr llvm::StringLiteral kForms = "'none', 'all', 'auto' or 'groups=N' with N at least 1";
};

/// The mode in the function's own attribute `mhc.recompute_mode`, as text, or "none".
llvm::StringRef recomputeModeOf(mlir::func::FuncOp func);
inline constexpr llvm::StringLiteral kRecomputeMode = "mhc.recompute_mode";

/// floor(sqrt(n*L / (n + 2))), at least 1: the group size with the least of n*C*(L/g) bytes at the boundaries and
/// (n + 2)*C*g bytes inside a group.
int64_t optimalGroup(int64_t layers, int64_t streams);

/// The number of layers of each group of a chain; the last one may be shorter.
llvm::SmallVector<int64_t> recomputeGroups(RecomputeMode mode, int64_t layers, int64_t streams);

} // namespace mhc

#endif // MHC_TRANSFORMS_RECOMPUTEPLAN_H
