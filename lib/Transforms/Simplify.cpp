//===- Simplify.cpp - Upstream's clean-up where there is something to clean ---===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/EraseDead.h"
#include "mhc/Transforms/MergeCopies.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mhc {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

static bool isPrivate(Operation &op) {
  auto symbol = dyn_cast<SymbolOpInterface>(op);
  return symbol && !symbol.isPublic();
}

/// Unreachable blocks and dead cycles need several blocks; ops that are dead for another reason go in any case.
static GreedySimplifyRegionLevel regionsOf(ModuleOp module) {
  bool areStraight = llvm::none_of(module.getOps<func::FuncOp>(), hasSeveralBlocks);
  return areStraight ? GreedySimplifyRegionLevel::Disabled : GreedySimplifyRegionLevel::Normal;
}

namespace {
struct Simplify : mhc::impl::SimplifyPassBase<Simplify> {
  using SimplifyPassBase::SimplifyPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (dropsSymbols && llvm::any_of(module.getOps(), isPrivate) && failed(run(createSymbolDCEPass())))
      return signalPassFailure();
    for (auto func : module.getOps<func::FuncOp>())
      mergeCopies(func);
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal(true).setRegionSimplificationLevel(regionsOf(module));
    if (failed(run(createCanonicalizerPass(config))))
      signalPassFailure();
  }

private:
  LogicalResult run(std::unique_ptr<Pass> pass) {
    OpPassManager pm(ModuleOp::getOperationName());
    pm.addPass(std::move(pass));
    return runPipeline(pm, getOperation());
  }
};
} // namespace
