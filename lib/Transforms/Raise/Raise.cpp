//===- Raise.cpp - Recognise mHC ops in chains of plain tensor ops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mhc {
#define GEN_PASS_DEF_RAISEPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

void mhc::eraseDeadOps(func::FuncOp func) {
  SmallVector<Operation *> ops;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != func.getOperation())
      ops.push_back(op);
  });
  // Users come after what they use, and what a loop holds after the loop.
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

void mhc::remarkRaised(Operation *op, StringRef what, StringRef detail) {
  remark::passed(op->getLoc(), remark::RemarkOpts::name(what).category("mhc-raise"))
      << ("found " + what + (detail.empty() ? "" : ": " + detail)).str();
}

void mhc::remarkDeclined(Location loc, StringRef what, StringRef reason) {
  remark::missed(loc, remark::RemarkOpts::name(what).category("mhc-raise")) << ("no " + what + ": " + reason).str();
}

Vars mhc::varsOf(const FormBuilder &forms, const Factor &factor) {
  Vars all;
  for (const Index &index : factor.index)
    llvm::append_range(all, forms.flatten(index.vars));
  return all;
}

bool mhc::containsAny(ArrayRef<Var> vars, ArrayRef<Var> wanted) {
  return llvm::any_of(wanted, [&](Var var) { return llvm::is_contained(vars, var); });
}

Operation *mhc::singleUser(Value value) { return value.hasOneUse() ? *value.getUsers().begin() : nullptr; }

namespace {
struct RaisePass : mhc::impl::RaisePassBase<RaisePass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    // Inner forms first: what one step found is a base for the next.
    for (auto step :
         {raiseElementary, raiseResidualMaps, raiseExpand, raiseCoefficients, raiseProjection, raiseStreams}) {
      step(func);
      eraseDeadOps(func);
    }
    foldReshapes(func);
  }

private:
  /// What was found is joined by pairs of reshapes that undo each other.
  void foldReshapes(func::FuncOp func) {
    RewritePatternSet patterns(&getContext());
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    (void)applyPatternsGreedily(func, std::move(patterns));
  }
};
} // namespace
