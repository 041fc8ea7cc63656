//===- Expectation.h - Results that a compiled program must have -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_LIB_CONFORMANCE_EXPECTATION_H
#define MHC_LIB_CONFORMANCE_EXPECTATION_H

#include "Conformance/Runner.h"
#include "mhc/Driver/Run.h"

namespace mhc::conformance {

/// Truth about one function of a module in leaf ops, on its arguments.
class Expectation {
public:
  Expectation(mlir::ModuleOp module, const char *entry, const Tensors &arguments)
      : module(module), entry(entry), arguments(arguments) {}

  llvm::Error evaluate();
  /// Errors in the results; empty when they are right, or cannot be judged.
  llvm::Expected<std::string> judge(const Tensors &got, JudgedCounts &counts);

private:
  llvm::Expected<double> noiseOf(size_t result);

  mlir::ModuleOp module;
  const char *entry;
  const Tensors &arguments;
  Tensors want;
  std::vector<Tensors> moved;
};

enum class Outcome { Good, Wrong, Error };

struct Verdict {
  Outcome outcome = Outcome::Good;
  std::string problem;
};

/// `where` is the level of fusion, or the reference.
Verdict errorOf(const std::string &where, llvm::Error error);

} // namespace mhc::conformance

#endif // MHC_LIB_CONFORMANCE_EXPECTATION_H
