//===- VjpContext.h - Context of a gradient rule -------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_VJPCONTEXT_H
#define MHC_IR_VJPCONTEXT_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace mhc {

/// The element type in which cotangents of values with elements of type `element` are kept and added: at least f32, so
/// that a gradient is rounded once, where it leaves the backward pass.
inline mlir::Type cotangentElement(mlir::Type element) {
  return element.getIntOrFloatBitWidth() < 32 ? mlir::Float32Type::get(element.getContext()) : element;
}

/// Connects the gradient rule of an op with the rest of the backward pass. Values are the operands and results of the
/// op itself: the backward code is built behind the forward code, in sight of it.
class VjpContext {
public:
  virtual ~VjpContext() = default;

  /// The element type in which a kernel stores the sum of its own share and those before it, for operands of `element`.
  virtual mlir::Type partialElement(mlir::Type element) const = 0;

  /// The sum of all shares of a result; null stands for zero. Elements have the type cotangentElement gives.
  virtual mlir::Value cotangentOf(mlir::Value result) = 0;
  /// Whether a share for this operand is wanted. One that is not wanted need not be built.
  virtual bool needsGradient(mlir::Value operand) const = 0;
  /// Adds a share to the cotangent of an operand, in any float type. One that is not wanted is dropped.
  virtual void addCotangent(mlir::Value operand, mlir::Value share) = 0;
  /// Takes away what was added for an operand so far; null where that is nothing. For a rule whose op adds it to its
  /// own share, and which then adds the sum: that costs no pass of its own.
  virtual mlir::Value takePartial(mlir::Value operand) = 0;
};

} // namespace mhc

#endif // MHC_IR_VJPCONTEXT_H
