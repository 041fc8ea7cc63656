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
/// steps before it have changed.
class Readings {
public:
  explicit Readings(mlir::func::FuncOp func) : func(func) {}

  algebra::Reading &exact() { return fresh(seen, algebra::Rounding::seen); }
  /// Both are one where nothing rounds.
  algebra::Reading &unrounded() {
    if (!ignored && !exact().hasRoundings())
      return *seen;
    return fresh(ignored, algebra::Rounding::ignored);
  }

private:
  algebra::Reading &fresh(std::optional<algebra::Reading> &reading, algebra::Rounding rounding) {
    if (reading)
      reading->refresh();
    else
      reading.emplace(func, rounding);
    return *reading;
  }

  mlir::func::FuncOp func;
  std::optional<algebra::Reading> seen, ignored;
};

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_READINGS_H
