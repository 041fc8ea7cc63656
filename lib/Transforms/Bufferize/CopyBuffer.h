//===- CopyBuffer.h - Copies of buffers -------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_BUFFERIZE_COPYBUFFER_H
#define MHC_LIB_TRANSFORMS_BUFFERIZE_COPYBUFFER_H

#include "mlir/IR/Builders.h"

namespace mhc {

/// A new buffer without gaps that holds what `buffer` holds.
mlir::Value copyOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value buffer);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_BUFFERIZE_COPYBUFFER_H
