//===- Cotangents.h - Sums of gradient shares ----------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_AUTODIFF_COTANGENTS_H
#define MHC_LIB_TRANSFORMS_AUTODIFF_COTANGENTS_H

#include "Activity.h"
#include "mhc/IR/VjpContext.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include <utility>

namespace mhc {

/// The cotangents of a backward pass. This is the one place that decides how shares are added: in the order in which
/// they come, which is the order of the backward pass, and in the element type of cotangentElement. `partials` says how
/// the sums that kernels make are stored.
class Cotangents : public VjpContext {
public:
  Cotangents(mlir::OpBuilder &builder, const ActiveValues &active, GradientSums partials)
      : builder(builder), active(active), partials(partials) {}

  mlir::Type partialElement(mlir::Type element) const override {
    return partials == GradientSums::f32 ? cotangentElement(element) : element;
  }
  mlir::Value cotangentOf(mlir::Value result) override { return sums.lookup(result); }
  bool needsGradient(mlir::Value operand) const override { return active.contains(operand); }
  void addCotangent(mlir::Value operand, mlir::Value share) override;
  mlir::Value takePartial(mlir::Value operand) override { return std::exchange(sums[operand], mlir::Value()); }

private:
  mlir::OpBuilder &builder;
  const ActiveValues &active;
  GradientSums partials;
  llvm::DenseMap<mlir::Value, mlir::Value> sums;
};

/// Builds the backward pass of the ops of `body` at the builder's insertion point, last op first.
llvm::LogicalResult reverse(mlir::Block &body, mlir::OpBuilder &builder, Cotangents &cotangents);

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_AUTODIFF_COTANGENTS_H
