//===- Slice.h - Ops that compute two lists of values --------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_NUMERICCHECK_SLICE_H
#define MHC_LIB_NUMERICCHECK_SLICE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mhc {

/// The values at which a slice begins.
enum class Depth {
  ToShared,   ///< to what both lists of values are computed from
  ToArguments ///< to the arguments of the function and what cannot be evaluated
};

/// The ops that make `was` or `becomes`, and what they start from.
struct Slice {
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::Operation *> ops; ///< in program order
  llvm::SmallVector<mlir::Value> results;   ///< was, then becomes

  /// All that tells this slice from others: equal keys mean equal computations.
  std::vector<uintptr_t> key() const;
  /// A function @slice from the inputs to the results.
  mlir::OwningOpRef<mlir::ModuleOp> toModule() const;
};

/// Nothing where the slice has more than some thousands of ops.
std::optional<Slice> sliceOf(llvm::ArrayRef<mlir::Value> was, llvm::ArrayRef<mlir::Value> becomes, Depth depth);

} // namespace mhc

#endif // MHC_LIB_NUMERICCHECK_SLICE_H
