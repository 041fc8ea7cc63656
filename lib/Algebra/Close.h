//===- Close.h - Definitions that speak of their own variables only -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHC_LIB_ALGEBRA_CLOSE_H
#define MHC_LIB_ALGEBRA_CLOSE_H

#include "mhc/Algebra/Expr.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mhc::algebra {

/// Renames the variables of `parts` to 0, 1, ...: first those that stay open, then those of `over`.
class Closer {
public:
  Closer(Algebra &algebra, std::vector<Expr> &parts, llvm::ArrayRef<std::pair<Var, Size>> over = {});
  /// False where a variable has no digits that all indices agree on.
  bool run();

  llvm::SmallVector<Size, 4> dims, bound; ///< extents of the new variables
  Indices at;                             ///< the open ones as indices of the variables before
  Size unused = 1;                        ///< turns of `over` in which nothing differs

private:
  struct Digit {
    Var var;
    Size stride, extent;
  };
  struct Run {
    llvm::SmallVector<int, 2> digits; ///< from the highest to the lowest
    Size extent = 1;
    bool isBound = false;
  };

  void forEach(llvm::function_ref<void(Index &)> visit);
  void rename(llvm::ArrayRef<int> names);
  bool collectCuts();
  /// The number of a digit; that behind the last one where nothing has it.
  unsigned findDigit(Var var, Size stride) const;
  unsigned digitAt(Var var, Size stride, Size extent);
  bool splitPieces();
  void findRuns();
  bool joinRuns();
  void name();
  Index indexOf(const Run &run);
  bool countUnused();

  Algebra &algebra;
  Sizes &sizes;
  std::vector<Expr> &parts;
  /// The indices of the elements that the parts have, by their array.
  llvm::SmallVector<std::pair<const Index *, Indices>, 4> ats;
  llvm::SmallVector<Var, 2> bounds;
  llvm::SmallMapVector<Var, llvm::SmallVector<Size, 4>, 4> cuts;
  llvm::SmallVector<Digit> digits;
  llvm::SmallVector<Run> runs;
  llvm::SmallVector<int> runOf; ///< of a digit
};

} // namespace mhc::algebra

#endif // MHC_LIB_ALGEBRA_CLOSE_H
