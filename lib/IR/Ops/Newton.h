//===- Newton.h - The limit of Sinkhorn's iterations in leaf ops -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_IR_OPS_NEWTON_H
#define MHC_LIB_IR_OPS_NEWTON_H

#include "mhc/IR/LeafBuilder.h"

namespace mhc {

/// The state of Newton's steps (math.md 3.4). The kernels stop where a matrix is there; these go on.
struct NewtonState {
  mlir::Value mix;      ///< [M,n,n]; its columns sum to one
  mlir::Value halvings; ///< [M]: how often the logits are still halved
  mlir::Value steps;    ///< [M]: since the last doubling
  mlir::Value left;     ///< [M]: steps that are left
};

/// `iters` is that of the op.
NewtonState newtonStart(LeafBuilder &leaf, mlir::Value logits, int64_t iters);
NewtonState newtonStep(LeafBuilder &leaf, const NewtonState &from);
/// The gradient of the logits from that of the limit `mix`.
mlir::Value newtonGradient(LeafBuilder &leaf, mlir::Value mix, mlir::Value dMix);

} // namespace mhc

#endif // MHC_LIB_IR_OPS_NEWTON_H
