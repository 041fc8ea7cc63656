//===- KernelVjp.h - Helpers of kernel ops' gradient rules ---- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_IR_OPS_KERNELVJP_H
#define MHC_LIB_IR_OPS_KERNELVJP_H

#include "mhc/IR/LeafBuilder.h"

namespace mhc {

/// Connects a forward kernel op with its backward op. Operands and results may be absent.
class KernelVjp {
public:
  KernelVjp(mlir::Operation *op, mlir::OpBuilder &builder, VjpContext &context)
      : leaf(builder, op->getLoc()), context(context) {}

  /// The cotangent of a result, in the element type of the result; null where it is zero.
  mlir::Value cotangent(mlir::Value result);
  /// The same, with the zeros written out.
  mlir::Value cotangentOrZero(mlir::Value result);
  /// The type of the gradient of an operand, null where none is wanted: as the kernel sums it up, as one of the kernels
  /// that add to it stores it, or as the operand is stored.
  mlir::Type summed(mlir::Value operand) const;
  mlir::Type partial(mlir::Value operand) const;
  mlir::Type stored(mlir::Value operand) const { return isWanted(operand) ? operand.getType() : mlir::Type(); }
  /// The gradient so far, to which the kernel adds its own share; null if there is none.
  mlir::Value start(mlir::Value operand);
  void add(mlir::Value operand, mlir::Value gradient);
  /// Adds each result d_<name> of the backward op as the gradient of its operand <name>.
  void addResults(KernelOpInterface bwd);

private:
  bool isWanted(mlir::Value operand) const { return operand && context.needsGradient(operand); }

  LeafBuilder leaf;
  VjpContext &context;
};

/// Lets the kernel round a gradient that it writes in f32 for one user, which rounds it.
llvm::LogicalResult roundInKernel(KernelOpInterface op, mlir::PatternRewriter &rewriter);

} // namespace mhc

#endif // MHC_LIB_IR_OPS_KERNELVJP_H
