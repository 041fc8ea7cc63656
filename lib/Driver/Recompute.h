//===- Recompute.h - Cost of each way to recompute ------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_DRIVER_RECOMPUTE_H
#define MHC_LIB_DRIVER_RECOMPUTE_H

#include "Options.h"
#include "mhc/Analysis/CostModel.h"
#include "llvm/Support/JSON.h"

namespace mhc {

/// Gradients that were compiled with one way to recompute.
struct RecomputePlan {
  std::string choice; ///< as in --recompute
  /// Bytes that NAME_bwd takes over from NAME_fwd, without arguments and results of NAME.
  Amount saved;
  /// Bytes of the values that the backward pass computes again.
  Amount recomputed;
  /// Bytes of the arena of NAME_grad, and of the saved values with the larger arena of the halves; absent where a size
  /// other than M matters.
  std::optional<Amount> jointPeak, halvesPeak;
  /// As far as buffers have their places.
  Compiler::Module module;

  llvm::json::Value toJson() const;
  /// The larger peak at these sizes.
  llvm::Expected<int64_t> peakBytes(llvm::StringRef grad, const std::map<std::string, int64_t> &sizes) const;
};

struct RecomputeChoice {
  std::string mode;                 ///< as in --recompute; empty without a function to differentiate
  std::optional<int64_t> peakBytes; ///< where a budget asked for it
};

/// The plan that `options` asks for; with `auto` and a memory budget, the one with the fewest recomputed bytes of those
/// that fit. Fails when the budget is too small.
llvm::Expected<RecomputeChoice> chooseRecompute(Compiler &compiler, mlir::ModuleOp source,
                                                const DriverOptions &options);

/// A line on what was chosen for the budget.
std::string describe(const RecomputeChoice &choice, const DriverOptions &options);

/// All plans for the function `options.grad` that differ in the streams they keep, and `auto`; without their modules.
/// Nothing where no function has layers one after the other.
llvm::Expected<std::vector<RecomputePlan>> allRecomputePlans(Compiler &compiler, mlir::ModuleOp source,
                                                             const CompileOptions &options);

void printRecomputePlans(llvm::raw_ostream &os, llvm::StringRef grad, llvm::ArrayRef<RecomputePlan> plans);

} // namespace mhc

#endif // MHC_LIB_DRIVER_RECOMPUTE_H
