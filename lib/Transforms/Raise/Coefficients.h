//===- Coefficients.h - The groups of rows of one projection ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_RAISE_COEFFICIENTS_H
#define MHC_LIB_TRANSFORMS_RAISE_COEFFICIENTS_H

#include "RaiseForms.h"

namespace mhc {

/// z = s * P * alpha + beta on some rows of the projection.
struct Linear {
  mlir::Value root; ///< the value that is z
  Indices index;    ///< of the root
  Vars tokens, row; ///< variables of the root
  Term product;     ///< s * P * alpha
  /// Either x and phi (and gamma) with the summed variables in the order of x ...
  std::optional<Factor> x, phi, gamma;
  Vars flat;
  /// ... or an already projected value.
  std::optional<Factor> proj;
  std::optional<Factor> alpha;
  Factor beta;
  /// The product of the token-only factors; its factor belongs to alpha.
  Multiplier multiplier{Norm::none, 0, {}, {}};
  std::optional<Factor> stat; ///< with `proj`: the given statistic
  Stat statForm = Stat::applied;
  int64_t offset = 0, rows = 0; ///< first row, and the number of rows of all of phi or proj
  int64_t extent = 0;

  /// The source of the rows.
  mlir::Value source() const { return proj ? proj->base : x->base; }
  /// The value that remarks identify the site by.
  std::pair<mlir::Value, mlir::Value> site() const { return {source(), phi ? phi->base : mlir::Value()}; }
  mlir::Block *block() const { return mlir::Value(root).getParentBlock(); }
  mlir::Location loc() const { return root.getLoc(); }
};

/// Reads a value as a group. Sets `miss`, for those who ask, where it is nearly one.
std::optional<Linear> matchLinear(FormBuilder &forms, mlir::Value root, std::optional<Miss> *miss = nullptr);

/// Whether a group of `extent` rows, of a projection with `rows` rows that sums over `sums`, is as those of a token's
/// streams: other layers end in few columns too.
bool looksLikeGroup(const FormBuilder &forms, int64_t extent, int64_t rows, const Vars &sums);
/// Why a value whose elements at `all` are `form` is no group though it projects streams; nothing for other values.
std::optional<Miss> explainLinear(FormBuilder &forms, mlir::Value root, const Form &form, const Vars &all);

/// The sigmoid of a value; null where it has none.
SigmoidOp sigmoidOf(mlir::Value z);

/// Replaces the groups of a site by mhc.gates, with an mhc.projection where x and phi are known: the first gate, alone
/// or followed by the second gate and the residual logits.
void raiseSite(FormBuilder &forms, Sites &sites, llvm::ArrayRef<const Linear *> groups);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_COEFFICIENTS_H
