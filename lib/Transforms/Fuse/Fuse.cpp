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
      if (level == FuseLevel::model) { // of gradients first what no end of a chain can do without
        fusePostPre(func, sites);
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
