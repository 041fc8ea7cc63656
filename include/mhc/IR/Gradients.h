//===- Gradients.h - Gradients of upstream ops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_GRADIENTS_H
#define MHC_IR_GRADIENTS_H

#include "llvm/ADT/StringRef.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mhc {

/// On a function: the function that computes its vector-Jacobian product.
inline constexpr llvm::StringLiteral kVjp = "mhc.vjp";

/// Attaches DifferentiableOpInterface to the ops of arith, math and tensor that the language uses and to calls, and
/// FlattenableOpInterface to control flow.
void registerGradients(mlir::DialectRegistry &registry);

void registerArithGradients(mlir::DialectRegistry &registry);
void registerMathGradients(mlir::DialectRegistry &registry);
void registerTensorGradients(mlir::DialectRegistry &registry);
void registerCallGradients(mlir::DialectRegistry &registry);
void registerControlFlowGradients(mlir::DialectRegistry &registry);

} // namespace mhc

#endif // MHC_IR_GRADIENTS_H
