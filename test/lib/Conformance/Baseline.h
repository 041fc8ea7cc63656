//===- Baseline.h - Results of a program before raising ------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results of a program in float64 before raising and fusing, to compare with those after it.
//
//===----------------------------------------------------------------------===//
#ifndef MHC_LIB_CONFORMANCE_BASELINE_H
#define MHC_LIB_CONFORMANCE_BASELINE_H

#include "Conformance/Random.h"
#include "mhc/Driver/Run.h"

namespace mhc::conformance {

/// The function that random programs have.
constexpr const char *kEntry = "case";

struct Baseline {
  Compiler::Module leafOps;
  Tensors results;
  /// How far rounded constants may move each result: Raise takes constants as equal that are equal in f32.
  std::vector<double> tolerances;
};

/// Evaluates a program on `arguments`; nothing for one that does not verify or run, or has a result that is not finite
/// or that roundings move so far that a wrong raise could hide behind them.
std::optional<Baseline> baselineOf(Compiler &compiler, mlir::ModuleOp module, const Tensors &arguments, Random &random);

/// Raises and fuses the module. Returns false when that fails, with the reason in `problem`.
bool raiseAndFuse(Compiler &compiler, mlir::ModuleOp module, std::string &problem);
/// Whether an mHC op was found.
bool isRaised(mlir::ModuleOp module);

/// Results that have changed, a line for each; empty when all are kept.
std::string describeChange(const Baseline &before, const Tensors &after);

/// f64 to f32, which holds what was drawn; numbers of tokens as they are.
llvm::Expected<Tensors> toF32(const Tensors &wide);

} // namespace mhc::conformance

#endif // MHC_LIB_CONFORMANCE_BASELINE_H
