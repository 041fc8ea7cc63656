//===- EraseDead.cpp - Ops that nothing reads ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Does what MLIR's elimination of dead code does, where regions have one block, as in nearly all functions: in one walk
// from the end, without a table of what is alive, which was 3 % of compiling a deep model. It does the rest.
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/EraseDead.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mhc;

bool mhc::hasSeveralBlocks(func::FuncOp func) {
  return func
      .walk([](Operation *op) {
        auto isOneBlock = [](Region &region) { return region.empty() || region.hasOneBlock(); };
        return llvm::all_of(op->getRegions(), isOneBlock) ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

static void eraseDead(Region &region, RewriterBase &rewriter) {
  for (Block &block : region)
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (isOpTriviallyDead(&op)) {
        rewriter.eraseOp(&op);
        continue;
      }
      for (Region &inner : op.getRegions())
        eraseDead(inner, rewriter);
    }
}

void mhc::eraseDeadOps(func::FuncOp func, RewriterBase::Listener *listener) {
  IRRewriter rewriter(func.getContext(), listener);
  if (hasSeveralBlocks(func))
    (void)runRegionDCE(rewriter, func->getRegions());
  else
    eraseDead(func.getBody(), rewriter);
}
