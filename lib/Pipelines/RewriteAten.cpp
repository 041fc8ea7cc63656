//===- RewriteAten.cpp - Sites of a captured PyTorch graph --------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Conversion/Passes.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/IR/OpKinds.h"
#include "mhc/Pipelines/Pipelines.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"

namespace mhc {
#define GEN_PASS_DEF_REWRITEATENPASS
#include "mhc/Pipelines/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

/// Whether an op is one that plain models have as well.
static bool isCommon(Operation *op) { return isa<ExpandOp, ContractOp>(op); }

static bool isOfSite(Operation *op) { return op && isMhcOp(op) && !isCommon(op); }

/// Whether another op of a site reads what an op makes, or makes what it reads.
static bool isBesideSite(Operation *op) {
  SmallVector<Operation *> users;
  for (Value result : op->getResults())
    usersThroughViews(result, users);
  return llvm::any_of(users, isOfSite) || llvm::any_of(op->getOperands(), [](Value operand) {
           return isOfSite(behindReshapes(operand).getDefiningOp());
         });
}

/// An op that computes nothing that a node is named for.
static bool isTrivial(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() || op->hasTrait<OpTrait::IsTerminator>() || showsOperand(op) ||
         !llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

namespace {
/// The nodes that ops were made of.
struct Nodes {
  llvm::StringSet<> ofSites, ofOthers;
  llvm::StringMap<int64_t> counts; ///< of the ops of sites, by kind

  explicit Nodes(ModuleOp module) {
    module.walk([&](Operation *op) {
      const bool isFused = isMhcOp(op) && (!isCommon(op) || isBesideSite(op));
      if (isFused)
        ++counts[op->getName().getStringRef()];
      if (isFused || !isTrivial(op))
        add(op->getLoc(), isFused ? ofSites : ofOthers);
    });
  }

  /// Whether all of a node is left as it was. One that other ops than its own were made of is no more.
  bool isOutside(StringRef node) const { return !ofSites.contains(node) && ofOthers.contains(node); }

private:
  static void add(Location loc, llvm::StringSet<> &nodes) {
    loc->walk([&](Location part) {
      if (auto name = dyn_cast<NameLoc>(part))
        nodes.insert(name.getName().getValue());
      return WalkResult::advance();
    });
  }
};
} // namespace

static void markOutside(ModuleOp module, const Nodes &nodes) {
  for (func::FuncOp func : module.getOps<func::FuncOp>())
    for (Block &block : func.getBody())
      for (Operation &op : block.without_terminator())
        if (auto name = dyn_cast<NameLoc>(op.getLoc()); name && nodes.isOutside(name.getName().getValue()))
          op.setAttr(kOutside, UnitAttr::get(op.getContext()));
}

static void addFind(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createReadAtenPass());
  buildPipeline(pm, PipelineOptions(), Phase::input, Phase::fuse);
}

namespace {
struct RewriteAtenPass : mhc::impl::RewriteAtenPassBase<RewriteAtenPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager pm(ModuleOp::getOperationName());
    addFind(pm);
    pm.getDependentDialects(registry);
  }

  void runOnOperation() override {
    PassManager find(&getContext()), write(&getContext());
    addFind(find);
    write.addNestedPass<func::FuncOp>(createWriteAtenPass());
    OwningOpRef<ModuleOp> all = getOperation().clone();
    if (failed(find.run(*all)))
      return signalPassFailure();
    Nodes nodes(*all);
    markOutside(getOperation(), nodes);
    if (failed(find.run(getOperation())))
      return signalPassFailure();
    // What is found less of when it is found alone is taken from the whole.
    const bool isLess = Nodes(getOperation()).counts != nodes.counts;
    if (failed(write.run(isLess ? *all : getOperation())))
      return signalPassFailure();
  }
};
} // namespace
