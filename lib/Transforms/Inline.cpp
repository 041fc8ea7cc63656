//===- Inline.cpp - Calls replaced by what they call ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/Inline.h"
#include "mhc/IR/Gradients.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Analysis/CallGraph.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Inliner.h"

namespace mhc {
#define GEN_PASS_DEF_INLINEPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

bool mhc::hasNothingToInline(ModuleOp module) {
  bool arePublic = llvm::all_of(module.getOps<func::FuncOp>(), [](func::FuncOp func) { return func.isPublic(); });
  return arePublic && !module.walk([](CallOpInterface) { return WalkResult::interrupt(); }).wasInterrupted();
}

namespace {
struct Inline : mhc::impl::InlinePassBase<Inline> {
  using InlinePassBase::InlinePassBase;

  void runOnOperation() override {
    if (!keepForGradients)
      forgetGradients();
    if (hasNothingToInline(getOperation()))
      return markAllAnalysesPreserved();
    auto simplify = [](Pass &pass, OpPassManager &pipeline, Operation *op) {
      return cast<Inline>(pass).runPipeline(pipeline, op);
    };
    auto isWanted = [this](const Inliner::ResolvedCall &call) {
      return !keepForGradients || !call.targetNode->getCallableRegion()->getParentOp()->hasAttr(kVjp);
    };
    InlinerConfig config;
    config.setMaxInliningIterations(kIterations);
    Inliner inliner(getOperation(), getAnalysis<CallGraph>(), *this, getAnalysisManager(), simplify, config, isWanted);
    if (failed(inliner.doInlining()))
      signalPassFailure();
  }

private:
  /// Drops gradient attributes, so that they no longer keep a call, nor a function that only `mhc.vjp` names.
  void forgetGradients() {
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      func.setNoInline(false);
      func->removeAttr(kVjp);
    }
  }

  /// Limit of the iterations over functions that call each other.
  static constexpr unsigned kIterations = 4;
};
} // namespace
