//===- AtenBytes.h - Bytes of captured PyTorch graphs -------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_PIPELINES_ATENBYTES_H
#define MHC_LIB_PIPELINES_ATENBYTES_H

#include "mhc/Conversion/WriteAten.h"

namespace mhc {

struct ReplacedBytes {
  int64_t before, after;
};

/// Bytes that the nodes of a captured graph read and write in which calls take the place of, and bytes of these calls,
/// which were written of the function `found`. Nothing where a size is open.
std::optional<ReplacedBytes> replacedBytes(mlir::func::FuncOp graph, mlir::func::FuncOp found,
                                           const WrittenCalls &calls);

} // namespace mhc

#endif // MHC_LIB_PIPELINES_ATENBYTES_H
