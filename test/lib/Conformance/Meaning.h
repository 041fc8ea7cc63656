//===- Meaning.h - What a program computes, whatever it is ----- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What raising and fusing make of a program means what the program meant. Both are evaluated in float64.
//
//===----------------------------------------------------------------------===//
#ifndef MHC_LIB_CONFORMANCE_MEANING_H
#define MHC_LIB_CONFORMANCE_MEANING_H

#include "Conformance/Random.h"
#include "mhc/Driver/Run.h"

namespace mhc::conformance {

/// The function that random programs have.
constexpr const char *kEntry = "case";

struct Meaning {
  Compiler::Module leafOps;
  Tensors results;
  /// How far rounded constants may move each result: Raise takes constants as equal that are equal in f32.
  std::vector<double> tolerances;
};

/// What a program computes from `arguments`; nothing for one that does not verify or run, or has a result that is not
/// finite or that roundings move so far that a wrong raise could hide behind them.
std::optional<Meaning> meaningOf(Compiler &compiler, mlir::ModuleOp module, const Tensors &arguments, Random &random);

/// Raises and fuses the module. Returns false when that fails, with the reason in `problem`.
bool raiseAndFuse(Compiler &compiler, mlir::ModuleOp module, std::string &problem);
/// Whether an mHC op was found.
bool isRaised(mlir::ModuleOp module);

/// Which results are not what they were, a line for each; empty when the meaning is kept.
std::string describeChange(const Meaning &before, const Tensors &after);

/// f64 to f32, which holds what was drawn.
llvm::Expected<Tensors> toF32(const Tensors &wide);

} // namespace mhc::conformance

#endif // MHC_LIB_CONFORMANCE_MEANING_H
