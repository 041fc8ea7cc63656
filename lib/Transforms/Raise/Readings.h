//===- Readings.h - The expressions that all steps of raising read -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_RAISE_READINGS_H
#define MHC_LIB_TRANSFORMS_RAISE_READINGS_H

#include "mhc/Algebra/Reading.h"

namespace mhc {

/// Values of a function as expressions, with their roundings and without. A step asks once, and reads only what the
/// steps before it have changed, once `change` was called.
class Readings {
public:
  explicit Readings(mlir::func::FuncOp func) : func(func) {}
  ~Readings() { destroyTaken(); }

  /// Marks all that was read as out of date.
  void change() {
    seen.isStale = ignored.isStale = true;
    destroyTaken();
  }
  /// Takes an op that nothing reads out of the function. It lives until the next change: what was read of its values
  /// may still be asked for, and no value is made in their place in memory.
  void takeOut(mlir::Operation *op) {
    op->dropAllReferences();
    op->remove();
    taken.push_back(op);
  }
  algebra::Reading &exact() { return fresh(seen, algebra::Rounding::seen); }
  /// Both are one where nothing rounds.
  algebra::Reading &unrounded() {
    if (!ignored.reading && !exact().hasRoundings())
      return *seen.reading;
    return fresh(ignored, algebra::Rounding::ignored);
  }

private:
  struct Kept {
    std::optional<algebra::Reading> reading;
    bool isStale = false;
  };

  algebra::Reading &fresh(Kept &kept, algebra::Rounding rounding) {
    if (!kept.reading)
      kept.reading.emplace(func, rounding);
    else if (kept.isStale)
      kept.reading->refresh();
    kept.isStale = false;
    return *kept.reading;
  }

  void destroyTaken() {
    for (mlir::Operation *op : taken)
      op->destroy();
    taken.clear();
  }

  mlir::func::FuncOp func;
  std::vector<mlir::Operation *> taken;
  Kept seen, ignored;
};

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_READINGS_H
