//===- LinalgRules.h - Evaluation of linalg ops ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_REFERENCE_LINALGRULES_H
#define MHC_LIB_REFERENCE_LINALGRULES_H

#include "Rules.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mhc::reference {

/// A value that the body of an op takes from around it.
using OuterValues = llvm::function_ref<HostTensor(mlir::Value)>;

llvm::Expected<std::vector<HostTensor>> runLinalg(mlir::linalg::LinalgOp op, llvm::ArrayRef<HostTensor> operands,
                                                  OuterValues outer);

} // namespace mhc::reference

#endif // MHC_LIB_REFERENCE_LINALGRULES_H
