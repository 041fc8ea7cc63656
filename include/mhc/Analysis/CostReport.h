//===- CostReport.h - The cost of a function in print ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_ANALYSIS_COSTREPORT_H
#define MHC_ANALYSIS_COSTREPORT_H

#include "mhc/Analysis/Machine.h"
#include "llvm/Support/JSON.h"

namespace mhc {

struct CostReportOptions {
  const Machine *machine = lookupMachine("h200");
  double tokens = 16384; ///< M, for times and sums
};

/// The least time of a function: ops run one after the other, so that their bounds add up.
double boundSeconds(const FunctionCost &function, const CostReportOptions &options);

/// Writes a row per op of a function as it came (`before`) and as fusion made it (`after`), and their totals beside
/// those of what runs (`compiled`), where ops between kernels are loops, of several ops where they can be.
void printReport(llvm::raw_ostream &os, const FunctionCost &before, const FunctionCost &after,
                 const FunctionCost &compiled, const CostReportOptions &options);
/// The same as data; the rows of the ops can be left out.
llvm::json::Value reportJson(const FunctionCost &before, const FunctionCost &after, const FunctionCost &compiled,
                             const CostReportOptions &options, bool withOps = true);

} // namespace mhc

#endif // MHC_ANALYSIS_COSTREPORT_H
