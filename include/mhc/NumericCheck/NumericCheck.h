//===- NumericCheck.h - Compares what is raised with what it becomes -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A second opinion on the matchers of Raise, which are right without it. Two lists of values of a function are
// evaluated in float64 by lib/Reference, from values that both are computed from, on two sets of samples: 5 and 6
// tokens of random numbers and of numbers that bring out what often goes wrong, an epsilon, a maximum that is missing,
// a sign. So an equality is checked on these samples, and not proved.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_NUMERICCHECK_NUMERICCHECK_H
#define MHC_NUMERICCHECK_NUMERICCHECK_H

#include "mlir/IR/Value.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mhc {

struct Slice;

/// Remembers what it compared: a layer like an earlier one costs no evaluation. For values of one MLIRContext, which
/// has loaded the dialects of mhc-decompose, and for one thread.
class NumericCheck {
public:
  /// How a value of `becomes` differs from that of `was` at the same place; nothing where no difference is beyond
  /// rounding, and where that is unknown: the evaluation would be too long, or has an op that the evaluator lacks.
  std::optional<std::string> findDifference(llvm::ArrayRef<mlir::Value> was, llvm::ArrayRef<mlir::Value> becomes);

  struct Counts {
    unsigned compared = 0;  ///< calls
    unsigned unknown = 0;   ///< calls without an answer
    unsigned evaluated = 0; ///< computations, each counted once however often it occurs
  };
  const Counts &counts() const { return numbers; }

  enum Kind { Equal, Different, Unknown };
  struct Verdict {
    Kind kind = Unknown;
    std::string difference;
  };

private:
  Verdict judge(const Slice &slice);

  Counts numbers;
  /// Verdicts on pairs of computations, keyed by all that distinguishes a pair.
  std::map<std::vector<uintptr_t>, Verdict> known;
};

} // namespace mhc

#endif // MHC_NUMERICCHECK_NUMERICCHECK_H
