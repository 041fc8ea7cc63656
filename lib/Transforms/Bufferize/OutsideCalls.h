//===- OutsideCalls.h - Calls of functions that the compiler does not see -*- C++ -*- ===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_BUFFERIZE_OUTSIDECALLS_H
#define MHC_LIB_TRANSFORMS_BUFFERIZE_OUTSIDECALLS_H

#include "mlir/IR/BuiltinOps.h"

namespace mhc {

/// Gives functions outside the buffers of their results as further arguments, which their callers allocate.
void passResults(mlir::ModuleOp module);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_BUFFERIZE_OUTSIDECALLS_H
