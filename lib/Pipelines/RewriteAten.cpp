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

/// Whether an op is one that models without streams have as well: heads of attention are repeated and added up, and a
/// norm is in front of many a product.
static bool isCommon(Operation *op) { return isa<ExpandOp, ContractOp, ProjectionOp, AggregateOp>(op); }

static bool isOfSite(Operation *op) {
  return op && isMhcOp(op) && !isCommon(op) && !isa<PreGatedDeltaRuleOp, PreGatedDeltaRuleBwdOp>(op);
}

/// Whether an op takes the place of nodes: it is of a site, or what it makes is read by one. Streams are added up
/// behind the last site.
static bool replacesNodes(Operation *op) {
  if (isOfSite(op) || !isCommon(op))
    return isOfSite(op);
  if (auto contract = dyn_cast<ContractOp>(op))
    return isOfSite(behindReshapes(contract.getX()).getDefiningOp());
  SmallVector<Operation *> users;
  for (Value result : op->getResults())
    usersThroughViews(result, users);
  return llvm::any_of(users, isOfSite);
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
      const bool isFused = replacesNodes(op);
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

/// Turns ops that take no node's place back into what they stand for.
static void decomposeOthers(ModuleOp module) {
  SmallVector<DecomposableOpInterface> others;
  module.walk([&](DecomposableOpInterface op) {
    if (isMhcOp(op) && !replacesNodes(op))
      others.push_back(op);
  });
  for (DecomposableOpInterface op : others) {
    OpBuilder builder(op);
    op->replaceAllUsesWith(op.decompose(builder));
    op->erase();
  }
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
    // Sites that are not found without their surroundings are taken from the whole.
    const bool isLess = Nodes(getOperation()).counts != nodes.counts;
    ModuleOp best = isLess ? *all : getOperation();
    decomposeOthers(best);
    if (failed(write.run(best)))
      return signalPassFailure();
  }
};
} // namespace
