//===- Raise.cpp - Recognise mHC ops in chains of plain tensor ops ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
#include "Places.h"
#include "Readings.h"
#include "StreamLists.h"
#include "mhc/Transforms/ArgumentSizes.h"
#include "mhc/Transforms/CheckInput.h"
#include "mhc/Transforms/EraseDead.h"
#include "mhc/Transforms/Imported.h"
#include "mhc/Transforms/Inline.h"
#include "mhc/Transforms/MergeCopies.h"
#include "mhc/Transforms/Passes.h"
#include "mhc/Transforms/RaiseCheck.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mhc {
#define GEN_PASS_DEF_NORMALISEPASS
#define GEN_PASS_DEF_RAISEPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

SmallVector<Operation *> mhc::opsFromTheEnd(func::FuncOp func) {
  SmallVector<Operation *> ops;
  func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  std::reverse(ops.begin(), ops.end());
  return ops;
}

void mhc::takeRaised(Sites &sites, Operation *op, const Twine &detail) {
  StringRef kind = op->getName().stripDialect();
  std::string text = detail.str();
  sites.take(op, kind, ("found " + kind + (text.empty() ? "" : ": " + text)).str());
}

bool mhc::mayReplace(Sites &sites, Operation *made, ArrayRef<Value> was, ArrayRef<Value> becomes) {
  std::optional<std::string> difference = sites.check ? sites.check(was, becomes) : std::nullopt;
  if (!difference)
    return true;
  sites.decline(made->getName().stripDialect(),
                {Reason::proofFailed, opAtFault(was[0], made), *difference, "equal numbers", {was[0], Value()}});
  return false;
}

void mhc::setAfterInputs(OpBuilder &builder, Block *block, ArrayRef<Value> inputs) {
  builder.setInsertionPointToStart(block);
  for (Value input : inputs) {
    Operation *op = input.getDefiningOp();
    if (op && op->getBlock() == block && !op->isBeforeInBlock(&*builder.getInsertionPoint()))
      builder.setInsertionPointAfter(op);
  }
}

bool mhc::isWide(Value value) { return getElementTypeOrSelf(value).isF64(); }

Operation *mhc::singleUser(Value value) {
  auto readsElements = [](Operation *user) { return !isa<tensor::DimOp>(user); };
  auto readers = llvm::make_filter_range(value.getUsers(), readsElements);
  return llvm::hasSingleElement(readers) ? *readers.begin() : nullptr;
}

bool mhc::isComputedOf(Value value, Value source, llvm::function_ref<SmallVector<Value>(Value)> sources) {
  llvm::SmallSetVector<Value, 16> values;
  values.insert(behindViews(value));
  for (size_t next = 0; next < values.size() && !values.contains(source); ++next)
    for (Value made : sources(values[next]))
      if (isa<RankedTensorType>(made.getType())) // not sizes
        values.insert(behindViews(made));
  return values.contains(source);
}

SmallVector<Value> mhc::madeOf(BlockArgument argument) {
  auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto made = func && argument.getOwner() == &func.getBody().front()
                  ? func.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), kMadeOf)
                  : DenseI64ArrayAttr();
  SmallVector<Value> results;
  Operation *end = argument.getOwner()->getTerminator();
  for (int64_t number : made ? made.asArrayRef() : ArrayRef<int64_t>())
    if (number >= 0 && number < end->getNumOperands()) // a program may name others
      results.push_back(end->getOperand(number));
  return results;
}

bool mhc::isOnlyReader(Operation *op, Value value) {
  SmallVector<Operation *> readers;
  usersThroughViews(behindViews(value), readers);
  return llvm::all_of(readers, [&](Operation *reader) { return reader == op || isa<tensor::DimOp>(reader); });
}

/// The ops that were found are joined by pairs of reshapes that undo each other. Products take transposes as flags.
static void foldReshapes(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  RewritePatternSet patterns(context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  TransposeOp::getCanonicalizationPatterns(patterns, context);
  MatmulOp::getCanonicalizationPatterns(patterns, context);
  BatchMatmulOp::getCanonicalizationPatterns(patterns, context);
  (void)applyPatternsGreedily(func, std::move(patterns));
}

/// Counts of the ops that raising makes, by kind.
static llvm::MapVector<OperationName, int64_t> countFound(Operation *op) {
  llvm::MapVector<OperationName, int64_t> counts;
  op->walk([&](Operation *inner) {
    if (isMhcOp(inner) || isa<SigmoidOp, SoftmaxOp>(inner))
      ++counts[inner->getName()];
  });
  return counts;
}

/// Whether there is more of one kind: an op that was there already may have become a part of another.
static bool hasFound(Operation *before, Operation *after) {
  llvm::MapVector<OperationName, int64_t> had = countFound(before);
  return llvm::any_of(countFound(after), [&](const auto &kind) { return kind.second > had.lookup(kind.first); });
}

namespace {
struct NormalisePass : mhc::impl::NormalisePassBase<NormalisePass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    OpPassManager import(func::FuncOp::getOperationName());
    import.addPass(createImportPass());
    if (failed(runPipeline(import, func)))
      return signalPassFailure();
    normalise(func);
    eraseDeadOps(func);
    foldReshapes(func);
  }
};

struct RaisePass : mhc::impl::RaisePassBase<RaisePass> {
  using RaisePassBase::RaisePassBase;
  RaisePass(RaiseCheck check, int64_t limit) : check(std::move(check)) { this->limit = limit; }

  bool canScheduleOn(RegisteredOperationName name) const override {
    return llvm::is_contained({ModuleOp::getOperationName(), func::FuncOp::getOperationName()}, name.getStringRef());
  }

  void runOnOperation() override {
    Operation *op = getOperation();
    auto module = dyn_cast<ModuleOp>(op);
    if (module && hasNothingToInline(module)) { // each function is restored by itself
      if (failed(raiseModule(module)))
        signalPassFailure();
      return;
    }
    OwningOpRef<Operation *> before = op->clone();
    if (failed(module ? raiseModule(module) : raiseFunction(cast<func::FuncOp>(op))))
      return signalPassFailure();
    if (!hasFound(*before, op))
      restore(op, *before);
  }

private:
  RaiseCheck check;

  static void restore(Operation *op, Operation *before) {
    bool isLimited = op->hasAttr(kRaiseLimited);
    op->setAttrs(before->getAttrDictionary());
    if (isLimited)
      op->setAttr(kRaiseLimited, UnitAttr::get(op->getContext()));
    op->getRegion(0).takeBody(before->getRegion(0));
  }

  /// Exporters call functions from a layer, and a site ends at a call.
  LogicalResult raiseModule(ModuleOp module) {
    OpPassManager pm(ModuleOp::getOperationName());
    pm.addPass(createInlinePass({/*keepForGradients=*/true}));
    pm.addNestedPass<func::FuncOp>(createRaisePass(check, limit));
    return runPipeline(pm, module);
  }

  LogicalResult readInput(func::FuncOp func) {
    if (getCachedAnalysis<Imported>())
      return success();
    OpPassManager pm(func::FuncOp::getOperationName());
    pm.addPass(createImportPass());
    return runPipeline(pm, func);
  }

  LogicalResult raiseFunction(func::FuncOp func) {
    if (func.isExternal())
      return success();
    if (failed(checkInput(func)) || failed(readInput(func)))
      return failure();
    stackZeros(func);
    normalise(func);
    eraseDeadOps(func);
    cutProducts(func);
    if (joinProducts(func))
      eraseDeadOps(func);
    stackStreams(func);
    markWeights(func);
    keepRegrouped(func);
    PlaceKeeper keeper;
    Readings readings(func);
    Sites sites(getArgument(), limit);
    sites.check = check;
    // Inner forms first: what one step found is a base for the next. The steps that go from the end of the function
    // (residual maps and streams) erase what is dead as they go.
    if (raiseGatedDelta(func, sites))
      eraseDeadOps(func, &keeper);
    raiseElementary(func, readings, sites);
    joinGates(func, keeper);
    readings.change();
    raiseResidualMaps(func, readings, sites);
    raiseExpand(func, readings, sites); // reads nothing that residual maps change
    markProducts(func, readings.unrounded());
    markStacks(func, readings.unrounded());
    readings.change();
    mergeCopies(func, &keeper); // a residual map in two spellings is one as well
    raiseGates(func, readings, sites);
    eraseDeadOps(func, &keeper);
    readings.change();
    raiseProjection(func, readings, sites);
    readings.change();
    raiseStreams(func, readings, sites);
    readSizesFromArguments(func); // a size of logits or gates would be a use that keeps them from being fused
    eraseDeadOps(func, &keeper);
    mergeReshapes(func, keeper);
    mergeCopies(func, &keeper); // streams that several ops read transposed, or in one shape by two views
    readStreamsAsMade(func);
    if (sites.mayTake()) {
      explainStreams(func, sites);
      explainUnread(func, sites);
      func.walk([&](GatesOp gates) {
        if (sites.isTold(gates.getProj()))
          gates->setAttr(kToldByRaise, UnitAttr::get(&getContext()));
      });
    } else {
      func->setAttr(kRaiseLimited, UnitAttr::get(&getContext()));
    }
    unmarkStreams(func);
    foldReshapes(func);
    eraseDeadOps(func);
    sites.remarkCounts(func);
    return verify(func); // mhcc verifies nothing between passes, and a wrong op would be a wrong number
  }
};
} // namespace

std::unique_ptr<Pass> mhc::createRaisePass(RaiseCheck check, int64_t limit) {
  return std::make_unique<RaisePass>(std::move(check), limit);
}
