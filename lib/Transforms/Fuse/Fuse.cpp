//===- Fuse.cpp - Join mHC ops into fewer kernels ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"
#include "mhc/IR/EqualStreams.h"
#include "mhc/Transforms/EraseDead.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace mhc {
#define GEN_PASS_DEF_FUSEPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

void mhc::takeFused(Sites &sites, Operation *op, const Twine &parts, int64_t savedBytes) {
  StringRef name = op->getName().getStringRef();
  sites.take(op, op->getName().stripDialect(),
             ("fused " + parts + " into " + name + ", saves " + Twine(savedBytes) + " bytes per token").str());
}

/// Whether an op neither changes anything nor reads what others change. A call of a PyTorch graph says so itself.
static bool mayMove(Operation *op) {
  return isMemoryEffectFree(op) || (!op->isRegistered() && op->hasAttr("mhc.pure"));
}

bool mhc::moveInFrontOf(ValueRange values, Operation *place) {
  llvm::SetVector<Value> needed(values.begin(), values.end());
  llvm::SetVector<Operation *> moved;
  for (size_t next = 0; next < needed.size(); ++next) {
    Operation *op = needed[next].getDefiningOp();
    if (!op || op->getBlock() != place->getBlock() || op->isBeforeInBlock(place))
      continue;
    if (op == place || !mayMove(op))
      return false;
    moved.insert(op);
    needed.insert_range(op->getOperands());
    getUsedValuesDefinedAbove(op->getRegions(), needed);
  }
  SmallVector<Operation *> ops = moved.takeVector();
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ops)
    op->moveBefore(place);
  return true;
}

namespace {
struct FusePass : mhc::impl::FusePassBase<FusePass> {
  using FusePassBase::FusePassBase;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (level == FuseLevel::none || func.isExternal())
      return;
    Sites sites(getArgument(), limit);
    writeOutEqualStreams(func);
    eraseDeadOps(func);
    if (level >= FuseLevel::layer) {
      narrowPre(func, sites);
      eraseDeadOps(func);
      fusePre(func, sites);
      addStarts(func, sites);
      eraseDeadOps(func);
      if (level == FuseLevel::model) { // of gradients first what no end of a chain can do without
        fusePostPre(func, sites);
        if (norms)
          fuseNormOfU(func, sites);
        fusePostHead(func, sites);
        fusePostPreBwd(func, sites);
      }
      foldPostBwd(func, sites);
      eraseDeadOps(func);
      dropUnusedResults(func);
    }
    narrowGates(func, sites);
    joinParts(func);
    eraseDeadOps(func); // they read products as well
    roundProducts(func);
    eraseDeadOps(func);
    sites.remarkCounts(func);
    if (failed(verify(func))) // as after raising
      signalPassFailure();
  }
};
} // namespace
