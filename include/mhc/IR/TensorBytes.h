//===- TensorBytes.h - Limit of a tensor's size --------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_TENSORBYTES_H
#define MHC_IR_TENSORBYTES_H

#include "mlir/IR/Operation.h"

namespace mhc {

/// Reports a tensor type with more bytes, as far as its sizes are known, than any machine has: so few that sums of many
/// such numbers are far from what an int64_t holds.
llvm::LogicalResult verifyBytes(mlir::Operation *op, mlir::Type type);

} // namespace mhc

#endif // MHC_IR_TENSORBYTES_H
