//===- Fuse.cpp - Join mHC ops into fewer kernels ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuse.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mhc {
#define GEN_PASS_DEF_FUSEPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

void mhc::remarkFused(Operation *op, StringRef what, int64_t savedBytes) {
  remark::passed(op->getLoc(), remark::RemarkOpts::name(what).category("mhc-fuse"))
      << ("fused " + what + " into " + op->getName().getStringRef() + ", saves " + Twine(savedBytes) +
          " bytes per token")
             .str();
}

void mhc::remarkNotFused(Operation *op, StringRef what, const Twine &reason) {
  remark::missed(op->getLoc(), remark::RemarkOpts::name(what).category("mhc-fuse"))
      << ("not fused into " + what + ": " + reason).str();
}

namespace {
struct FusePass : mhc::impl::FusePassBase<FusePass> {
  using FusePassBase::FusePassBase;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (level == FuseLevel::none || func.isExternal())
      return;
    IRRewriter rewriter(&getContext());
    auto eraseDead = [&] { (void)runRegionDCE(rewriter, func->getRegions()); };
    eraseDead();
    if (level == FuseLevel::layer) {
      numFused += fusePre(func);
      numFused += foldPostBwd(func);
      eraseDead();
      dropUnusedResults(func);
    }
    numFused += narrowGates(func);
    numFused += roundProducts(func);
    eraseDead();
  }
};
} // namespace
