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

/// The digits of variables that lists of indices tell apart, and the runs of those that stand side by side wherever
/// they occur.
class Digits {
public:
  Digits(Algebra &algebra, llvm::ArrayRef<llvm::ArrayRef<Index>> arrays, llvm::ArrayRef<std::pair<Var, Size>> over);

  struct Run {
    llvm::SmallVector<int, 2> digits; ///< from the highest to the lowest
    Size extent = 1;
    bool isBound = false;
    Index index; ///< of the variables
  };

  bool fits; ///< whether variables have digits that all indices agree on
  llvm::SmallVector<Run> runs;
  llvm::SmallVector<llvm::ArrayRef<Index>> numbered; ///< the indices, with the runs' numbers as variables
  Size unused = 1;                                   ///< turns of `over` in which nothing differs

private:
  struct Digit {
    Var var;
    Size stride, extent;
  };

  bool find();
  void forEach(llvm::function_ref<void(Index &)> visit);
  bool collectCuts();
  /// The number of a digit; that behind the last one where nothing has it.
  unsigned findDigit(Var var, Size stride) const;
  unsigned digitAt(Var var, Size stride, Size extent);
  bool splitPieces();
  void findRuns();
  bool joinRuns();
  Index indexOf(const Run &run);
  bool countUnused();

  Sizes &sizes;
  llvm::SmallVector<Indices, 4> ats;
  llvm::SmallVector<Var, 2> bounds;
  llvm::SmallMapVector<Var, llvm::SmallVector<Size, 4>, 4> cuts;
  llvm::SmallVector<Digit> digits;
  llvm::SmallVector<int> runOf; ///< of a digit
};

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
  void replace(llvm::ArrayRef<llvm::ArrayRef<Index>> arrays);
  void rename(llvm::ArrayRef<int> names);
  void name();

  Algebra &algebra;
  std::vector<Expr> &parts;
  llvm::SmallVector<llvm::ArrayRef<Index>> arrays; ///< the indices of the elements that the parts have
  const Digits &known;
  llvm::SmallVector<const Digits::Run *> runs; ///< by their names
};

} // namespace mhc::algebra

#endif // MHC_LIB_ALGEBRA_CLOSE_H
