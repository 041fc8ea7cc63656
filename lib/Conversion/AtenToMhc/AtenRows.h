//===- AtenRows.h - A row for each ATen op that is read -----------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_CONVERSION_ATENROWS_H
#define MHC_LIB_CONVERSION_ATENROWS_H

#include "AtenCall.h"

namespace mhc::aten {

using Values = llvm::SmallVector<mlir::Value>;

struct Row {
  llvm::StringLiteral name;
  Values (*read)(AtenCall &call); ///< leaf ops that compute the results; empty where this call is not read
  bool isView = false;            ///< shows the elements of another tensor
};

llvm::ArrayRef<Row> arithmeticRows();
llvm::ArrayRef<Row> productRows();
llvm::ArrayRef<Row> viewRows();

// Helpers of readers.
inline Values one(mlir::Value value) { return value ? Values{value} : Values(); }

inline int64_t rankOf(mlir::Value tensor) { return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getRank(); }

/// Whether a tensor is of f64, which leaf ops besides arithmetic, sums and views do not take.
inline bool isF64(mlir::Value tensor) { return mlir::getElementTypeOrSelf(tensor).isF64(); }

inline bool sameElements(mlir::Value a, mlir::Value b) {
  return a && b && mlir::getElementTypeOrSelf(a) == mlir::getElementTypeOrSelf(b);
}

} // namespace mhc::aten

#endif // MHC_LIB_CONVERSION_ATENROWS_H
