//===- JoinAten.cpp - Neighbouring mHC calls of a PyTorch graph ---------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Conversion/Passes.h"
#include "mhc/Conversion/WriteAten.h"
#include "mhc/IR/OpKinds.h"
#include "mhc/Pipelines/Pipelines.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/DenseSet.h"

namespace mhc {
#define GEN_PASS_DEF_JOINATENPASS
#include "mhc/Pipelines/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

static void addJoin(OpPassManager &pm, FuseLevel level, bool norms) {
  pm.addNestedPass<func::FuncOp>(createReadAtenPass({/*all=*/false, /*inPlace=*/true}));
  pm.addPass(createSimplifyPass()); // views that lead to and fro
  pm.addNestedPass<func::FuncOp>(createFusePass({level, /*limit=*/-1, norms}));
}

static LogicalResult join(ModuleOp module, FuseLevel level, bool norms) {
  PassManager pm(module.getContext());
  addJoin(pm, level, norms);
  return pm.run(module);
}

/// The nodes that kernels were joined of. An op that was only read has the name of its node, and nothing else.
static llvm::DenseSet<StringAttr> joinedNodes(ModuleOp module) {
  llvm::DenseSet<StringAttr> nodes;
  module.walk([&](Operation *op) {
    if (isMhcOp(op) && !isa<NameLoc>(op->getLoc()))
      forEachNode(op->getLoc(), [&](StringAttr name) { nodes.insert(name); });
  });
  return nodes;
}

/// Marks all nodes but these, and views that one of them reads.
static void markOthers(ModuleOp module, const llvm::DenseSet<StringAttr> &joined) {
  auto isRead = [](Operation *op) { return !op->hasAttr(kOutside) && !op->hasTrait<OpTrait::IsTerminator>(); };
  for (func::FuncOp func : module.getOps<func::FuncOp>())
    for (Block &block : func.getBody())
      for (Operation &op : llvm::reverse(block.without_terminator())) {
        const bool isBetween = isAtenView(op.getName().getStringRef()) && llvm::any_of(op.getUsers(), isRead);
        if (!isBetween && !joined.contains(cast<NameLoc>(op.getLoc()).getName()))
          op.setAttr(kOutside, UnitAttr::get(op.getContext()));
      }
}

LogicalResult mhc::joinAten(ModuleOp module, FuseLevel level, bool norms, raw_ostream &os) {
  OwningOpRef<ModuleOp> all = module.clone();
  if (failed(join(*all, level, norms)))
    return failure();
  markOthers(module, joinedNodes(*all));
  if (failed(join(module, level, norms)))
    return failure();
  for (func::FuncOp func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    FailureOr<WrittenCalls> written = writeAten(func);
    if (failed(written))
      return failure();
    printLines(written->text, os);
  }
  return success();
}

namespace {
struct JoinAtenPass : mhc::impl::JoinAtenPassBase<JoinAtenPass> {
  using JoinAtenPassBase::JoinAtenPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager pm(ModuleOp::getOperationName());
    addJoin(pm, level, norms);
    pm.getDependentDialects(registry);
  }

  void runOnOperation() override {
    if (failed(joinAten(getOperation(), level, norms, llvm::outs())))
      signalPassFailure();
    llvm::outs().flush();
  }
};
} // namespace
