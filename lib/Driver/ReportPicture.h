//===- ReportPicture.h - One function of a report, as JSON ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_DRIVER_REPORTPICTURE_H
#define MHC_LIB_DRIVER_REPORTPICTURE_H

#include "mhc/Analysis/CostReport.h"
#include "mhc/Analysis/OpGraph.h"
#include "mhc/Driver/Driver.h"

namespace mhc {

/// The picture as an object: layers that are alike share a `kind`, which has all that is equal in them. Places in
/// `file` are ":LINE:COLUMN".
std::string pictureJson(const OpGraph &graph, llvm::ArrayRef<CompileRemark> remarks, const CostReportOptions &options,
                        llvm::StringRef file);

} // namespace mhc

#endif // MHC_LIB_DRIVER_REPORTPICTURE_H
