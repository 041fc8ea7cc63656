//===- CheckInput.h - Checks that MLIR's verifiers lack ------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_CHECKINPUT_H
#define MHC_TRANSFORMS_CHECKINPUT_H

#include "mlir/IR/Operation.h"

namespace mhc {

/// Reports tensors whose number of bytes would overflow, and shapes that contradict themselves, where the verifiers of
/// upstream ops let them pass, so that no pass needs to think of them.
llvm::LogicalResult checkInput(mlir::Operation *root);

} // namespace mhc

#endif // MHC_TRANSFORMS_CHECKINPUT_H
