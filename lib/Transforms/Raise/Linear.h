//===- Linear.h - Gates and logits as groups of rows of a projection -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The argument of a sigmoid or of a residual map is
//
//   z[t, k] = s[t] * (sum over f of x[t, f] * gamma[f] * phi[k, f]) * alpha + beta[k]
//
// with tokens t, rows k, the streams and channels f, and s none or the reciprocal root mean square of x[t, :].
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_TRANSFORMS_RAISE_LINEAR_H
#define MHC_LIB_TRANSFORMS_RAISE_LINEAR_H

#include "Mix.h"

namespace mhc {

/// One group of rows. Its variables are those of `node`.
struct LinearGroup {
  mlir::Value root;        ///< the value that is z
  algebra::Indices rootAt; ///< the variables as indices of the root
  IndexVars tokens, row, flat;
  algebra::Factor x, phi;
  std::optional<algebra::Expr> gamma;
  algebra::Expr alpha, beta; ///< numbers times what no token enters
  Norm norm = Norm::none;
  double eps = 0;
  /// The weight that holds the rows, and where they are in it: rows [offset, offset + extent) of `rows`. Its index of
  /// the rows alone, without offset.
  mlir::Value weight;
  algebra::Indices weightAt;
  int64_t offset = 0, rows = 0, extent = 0;

  /// Whether the group is all rows of its weight.
  bool hasWholeWeight() const { return offset == 0 && rows == extent; }
};

/// Reads a value as a group of rows, for code at `user`.
std::optional<LinearGroup> matchLinearGroup(algebra::Reading &reading, mlir::Value root, mlir::Operation *user);

/// Whether two groups project the same streams in the same way: by one weight, or by two of one form.
bool isSameProjection(const LinearGroup &a, const LinearGroup &b);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_LINEAR_H
