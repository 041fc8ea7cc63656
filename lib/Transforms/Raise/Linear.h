//===- Linear.h - Gates and logits as groups of rows of a projection -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The argument of a sigmoid or of a residual map is
//
//   z[t, k] = s[t] * (sum over f of x[t, f] * gamma[f] * phi[k, f]) * alpha + beta[k]
//
// with tokens t, rows k, the streams and channels f, and s none or the reciprocal root mean square of x[t, :]; another
// function of it is a statistic that the program has. A vector that is added behind s and gamma is multiplied with phi
// alone, as a part of beta. The sum may also be given, as a tensor of tokens and rows; s is then none, a tensor of
// tokens, or what is computed of one that holds mean squares.
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
  bool isGiven = false; ///< whether `x` is the sum itself, and there is no `phi`
  algebra::Factor x, phi;
  double number = 1; ///< by which x is more than the streams that are there
  std::optional<algebra::Expr> gamma;
  algebra::Expr alpha, beta; ///< numbers times what no token enters
  Norm norm = Norm::none;
  double eps = 0;
  std::optional<algebra::Expr> stat; ///< of a given sum, or what no norm of the projection is
  Stat statForm = Stat::inv_rms;
  /// The weight, or the given sum, that holds the rows, and where they are in it: rows [offset, offset + extent) of
  /// `rows`. Its index of the rows alone, without offset.
  mlir::Value weight;
  algebra::Indices weightAt;
  int64_t offset = 0, rows = 0, extent = 0;

  /// The values of a token that are summed.
  int64_t width() const {
    int64_t width = 1;
    for (const auto &[var, extent] : flat)
      width *= extent.number();
    return width;
  }
  /// The streams that are projected.
  algebra::Expr streams() const { return algebra::Algebra::scale(algebra::Algebra::of(x.element), 1 / number); }
  /// The sum of the squares of a token's streams.
  std::optional<algebra::Expr> squares(algebra::Algebra &algebra) const {
    std::optional<algebra::Expr> square = algebra.multiply(streams(), streams());
    return square ? algebra.reduce("sum", *square, flat) : std::nullopt;
  }
  /// Whether the group is all rows of its weight.
  bool hasAllRows() const { return offset == 0 && rows == extent; }
  /// Whether the program has another gate in the group's place, such as one of parameters alone, which reads no row, or
  /// no residual map: nothing but `extent` is set.
  bool isAbsent() const { return !root; }
  /// The values that remarks identify the site by.
  std::pair<mlir::Value, mlir::Value> site() const { return {x.node()->value, isGiven ? mlir::Value() : weight}; }
};

/// A sum taken apart: its variables, and the expression that is added up.
struct OpenedSum {
  IndexVars over;
  algebra::Expr inner;
};
std::optional<OpenedSum> openSum(algebra::Algebra &algebra, const algebra::Factor &factor);

/// Reads a value as a group of rows, for code at `user`. Sets `miss`, for those who ask, where it is nearly one.
std::optional<LinearGroup> matchLinearGroup(algebra::Reading &reading, mlir::Value root, mlir::Operation *user,
                                            std::optional<Miss> *miss = nullptr);

/// The number of logits of n streams, for each residual map.
llvm::SmallVector<int64_t, 2> logitsOf(int64_t n);

/// Whether a group is as those of a token's streams: other layers end in few columns too.
bool isOfStreams(const LinearGroup &group);
/// The same, or all groups of a token's streams in one.
bool isOfStreamsOrAll(const LinearGroup &group);

/// Whether nothing reads more than the first `count` rows of a group's weight.
bool areAllReadRows(const LinearGroup &group, int64_t count);

/// Whether no row is in both groups.
bool areApart(const LinearGroup &a, const LinearGroup &b);

/// Whether the weights of the norms of groups count: one that a group has for itself may be a part of its rows of phi.
enum class Gammas { same, any };
/// Whether two groups project the same streams in the same way: by one weight, or by two of one form.
bool isSameProjection(const LinearGroup &a, const LinearGroup &b, Gammas gammas = Gammas::same);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_LINEAR_H
