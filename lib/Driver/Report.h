//===- Report.h - Compilation report as a page ---------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_DRIVER_REPORT_H
#define MHC_LIB_DRIVER_REPORT_H

#include "Explain.h"

namespace mhc {

/// One HTML page that needs no other file: the pictures and costs of every entry, before and after, with the remarks at
/// their ops.
std::string reportPage(const Explanation &explanation, llvm::ArrayRef<CompileRemark> remarks,
                       const CostReportOptions &options, llvm::StringRef title);

} // namespace mhc

#endif // MHC_LIB_DRIVER_REPORT_H
