//===- Places.h - The lines that a found op stands for ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_TRANSFORMS_RAISE_PLACES_H
#define MHC_LIB_TRANSFORMS_RAISE_PLACES_H

#include "mlir/IR/PatternMatch.h"

namespace mhc {

/// `made`, one op or several found together, computes `root` now: the location of each becomes the fusion of its own,
/// which stays the first, and those of the ops between their operands and `root`, in the order of the source.
void addPlaces(llvm::ArrayRef<mlir::Operation *> made, mlir::Value root);

/// Does the same for what each pattern of a rewrite makes, but for views, which patterns move about: they would gather
/// the lines of everything that they pass.
class PlaceKeeper : public mlir::RewriterBase::Listener {
public:
  void notifyPatternBegin(const mlir::Pattern &, mlir::Operation *) override { made.clear(); }
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override;
  void notifyOperationReplaced(mlir::Operation *op, mlir::ValueRange values) override;
  void notifyOperationErased(mlir::Operation *op) override { llvm::erase(made, op); }

private:
  llvm::SmallVector<mlir::Operation *> made;
};

/// Lets an analysis forget what is erased as well: later values may take its place in memory.
template <typename Analysis>
class ForgetErased : public PlaceKeeper {
public:
  explicit ForgetErased(Analysis &analysis) : analysis(analysis) {}
  void notifyOperationErased(mlir::Operation *op) override {
    PlaceKeeper::notifyOperationErased(op);
    analysis.forget(op);
  }

private:
  Analysis &analysis;
};

} // namespace mhc

#endif // MHC_LIB_TRANSFORMS_RAISE_PLACES_H
