//===- Explain.h - Compilation report as text ----------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_DRIVER_EXPLAIN_H
#define MHC_LIB_DRIVER_EXPLAIN_H

#include "MeshPlan.h"
#include "Options.h"
#include "Recompute.h"
#include "mhc/Analysis/CostReport.h"
#include "mhc/Analysis/OpGraph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mhc {

/// Whether callers of the compiled model can call it.
bool isEntry(mlir::func::FuncOp func);

/// One entry without and with fusion, the latter with its memory plan.
struct FunctionPictures {
  OpGraph before, after;
  FunctionCost compiled; ///< with what is between kernels as loops
};

/// The compiler's result as --explain prints and --report draws it, next to the compiler's remarks.
struct Explanation {
  std::vector<FunctionPictures> functions;
  std::vector<RecomputePlan> plans;
  MeshPlan mesh; ///< with gradients
};

/// Compiles a copy of `source`, and lets the compiler keep its remarks. Costs of functions are those without stages.
llvm::Expected<Explanation> explain(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options);

/// Prints the remarks of raising and fusing, the cost of every entry before and after, the memory plan, what each way
/// to recompute costs, and which was chosen.
void printExplanation(const Explanation &explanation, const RecomputeChoice &recompute,
                      llvm::ArrayRef<CompileRemark> remarks, const DriverOptions &options);

/// Prints the bounds of an entry, in front of what it takes.
void printBounds(const Explanation &explanation, llvm::StringRef entry, const DriverOptions &options);

/// Options for showing costs.
CostReportOptions costReportOptions(const DriverOptions &options);

llvm::json::Object toJson(const CompileRemark &remark);

/// A C header for the entries of a model.
llvm::Expected<std::string> headerText(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options);

} // namespace mhc

#endif // MHC_LIB_DRIVER_EXPLAIN_H
