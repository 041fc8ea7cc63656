//===- Rule.h - A gradient rule as an external model ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_IR_GRADIENTS_RULE_H
#define MHC_LIB_IR_GRADIENTS_RULE_H

#include "mhc/IR/LeafBuilder.h"

namespace mhc {

/// All that the rule of an op with one result needs. `g` is the cotangent of the result.
struct Vjp {
  mlir::OpBuilder &builder;
  VjpContext &context;
  LeafBuilder leaf;
  mlir::Value g;

  bool needs(mlir::Value operand) const { return context.needsGradient(operand); }
  void add(mlir::Value operand, mlir::Value share) { context.addCotangent(operand, share); }
};

/// Makes a function the gradient rule of an op with one result. `rebuilt` is the answer to isCheapToRebuild.
template <typename Op, void (*rule)(Op, Vjp &), bool rebuilt = false>
struct RuleModel : DifferentiableOpInterface::ExternalModel<RuleModel<Op, rule, rebuilt>, Op> {
  llvm::LogicalResult buildVjp(mlir::Operation *op, mlir::OpBuilder &builder, VjpContext &context) const {
    Vjp vjp{builder, context, LeafBuilder(builder, op->getLoc()), context.cotangentOf(op->getResult(0))};
    rule(llvm::cast<Op>(op), vjp);
    return llvm::success();
  }
  bool isCheapToRebuild(mlir::Operation *) const { return rebuilt; }
};

template <typename Op, void (*rule)(Op, Vjp &), bool rebuilt = false>
void attachRule(mlir::MLIRContext *context) {
  Op::template attachInterface<RuleModel<Op, rule, rebuilt>>(*context);
}

} // namespace mhc

#endif // MHC_LIB_IR_GRADIENTS_RULE_H
