//===- LinearMatcher.h - Reads one value as a group of rows -----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_TRANSFORMS_RAISE_LINEARMATCHER_H
#define MHC_LIB_TRANSFORMS_RAISE_LINEARMATCHER_H

#include "Bounds.h"
#include "Linear.h"

namespace mhc {

/// Whether a factor is computed of what a node stands for.
bool isMadeOf(const algebra::Factor &factor, const algebra::Node *wanted);

class GroupMatcher {
public:
  GroupMatcher(algebra::Reading &reading, mlir::Value root, mlir::Operation *user)
      : reading(reading), algebra(reading.algebra()), user(user) {
    group.root = root;
  }
  std::optional<LinearGroup> match();
  /// The first need that was not met by what is a group otherwise.
  std::optional<Miss> miss;

private:
  // The product and its weight
  bool readVars(algebra::Expr &z);
  bool multiplyOut(algebra::Expr &z);
  std::optional<algebra::Expr> splitSum(const algebra::Factor &sum);
  bool splitShift(algebra::Expr &z);
  std::optional<LinearGroup> matchTerms(const algebra::Expr &z);
  bool matchProduct(const algebra::Term &term);
  bool matchSum(const algebra::Term &outer, const algebra::Factor &sum);
  bool assign(const algebra::Factor &x, const algebra::Factor &phi, const algebra::Term &rest);
  llvm::SmallSetVector<algebra::Var, 4> orderOfStreams(const algebra::Reading::Found &read);
  bool findWeight();
  enum class Fixed { none, rows }; ///< whether rows may be those of one place along a dimension in front of theirs
  bool placeRows(mlir::Value weight, llvm::ArrayRef<algebra::Index> at, Fixed fixed = Fixed::none);
  bool placeInSlice(mlir::Value weight, llvm::ArrayRef<algebra::Index> at);
  bool isOfOneToken();
  bool splitOuter(const algebra::Term &outer);
  bool takeAlphas(const algebra::Term &product);
  // Its factors
  bool matchNorm(const algebra::Term &scale);
  bool matchClamp(const algebra::Expr &expr, const algebra::Expr &squares, int power);
  bool matchRoot(const algebra::Expr &squared, const algebra::Expr &squares, Norm norm);
  bool takeOwnFactor(const algebra::Term &ofToken);
  bool matchGiven(const algebra::Term &term);
  bool matchStatistic(const algebra::Term &ofToken);
  // Misses
  bool decline(Reason reason, const std::string &found, const std::string &needed, mlir::Value at = {});
  bool declineSingle();
  bool isOfStream(const algebra::Factor &factor);
  std::string describeAdded(const algebra::Term &term);
  void declineBias(const algebra::Term &bias);
  bool declineStreams();
  void addProjected(const algebra::Term &term, std::vector<algebra::Factor> &projected);
  bool declineRows();
  bool declineFactors();
  bool declineNorm(const algebra::Term &ofToken);
  /// Whether an expression is made of an element.
  bool reads(const algebra::Expr &expr, const algebra::Element *wanted);
  /// The value that a factor is; the root where it is none.
  mlir::Value valueOf(const algebra::Factor &factor);

  algebra::Reading &reading;
  algebra::Algebra &algebra;
  mlir::Operation *user;
  LinearGroup group;
  algebra::Term product; ///< the term that is matched
  IndexVars all;
  double scale = 1;      ///< what the root mean square leaves of the numbers
  bool hasAlpha = false; ///< whether a parameter stands before the sum
};

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_LINEARMATCHER_H
