//===- FoldExpand.cpp - Equal streams are read as their row ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Transforms/Passes.h"

namespace mhc {
#define GEN_PASS_DEF_FOLDEXPANDPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

/// The record's tensor that an operand of a kernel is.
static const KernelTensor &tensorOf(KernelOpInterface op, unsigned operand) {
  unsigned number = 0, index = 0;
  while (number + op.getTensors(index).size() <= operand)
    number += op.getTensors(index++).size();
  return op.getKernelInfo().tensors[index];
}

/// The attribute that lets a row stand for these streams; empty where the reader needs streams.
static StringRef rowAttr(OpOperand &use) {
  auto kernel = dyn_cast<KernelOpInterface>(use.getOwner());
  return kernel ? tensorOf(kernel, use.getOperandNumber()).equalAttr : StringRef();
}

namespace {
struct FoldExpand : mhc::impl::FoldExpandPassBase<FoldExpand> {
  void runOnOperation() override {
    SmallVector<ExpandOp> ops;
    getOperation().walk([&](ExpandOp op) { ops.push_back(op); });
    for (ExpandOp op : ops) {
      auto takesRow = [](OpOperand &use) { return !rowAttr(use).empty(); };
      if (op.getLayout() != Layout::nC || !llvm::all_of(op.getStreams().getUses(), takesRow))
        continue;
      for (OpOperand &use : llvm::make_early_inc_range(op.getStreams().getUses())) {
        use.getOwner()->setAttr(rowAttr(use), UnitAttr::get(&getContext()));
        use.set(op.getX());
      }
      op.erase();
    }
  }
};
} // namespace
