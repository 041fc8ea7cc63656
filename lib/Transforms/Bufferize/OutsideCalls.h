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

/// Lets functions outside take buffers, those of their results as further arguments, which their callers allocate.
/// Upstream's model of calls asks an analysis that ours is not.
void callOnBuffers(mlir::ModuleOp module);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_BUFFERIZE_OUTSIDECALLS_H
