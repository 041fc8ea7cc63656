//===- Imported.h - Functions that were imported ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_IMPORTED_H
#define MHC_TRANSFORMS_IMPORTED_H

namespace mlir {
class Operation;
} // namespace mlir

namespace mhc {

/// Says of a function that mhc-import has rewritten it, and no pass since: mhc-raise need not.
struct Imported {
  explicit Imported(mlir::Operation *) {}
};

} // namespace mhc

#endif // MHC_TRANSFORMS_IMPORTED_H
