//===- FoldFills.cpp - Sums that know where they start ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mhc {
#define GEN_PASS_DEF_FOLDFILLSPASS
#include "mhc/Conversion/Passes.h.inc"
} // namespace mhc

using namespace mlir;

/// The next op of the block that uses the filled buffer; null where a part of it is seen elsewhere.
static Operation *nextUser(linalg::FillOp fill) {
  Operation *next = nullptr;
  for (Operation *user : fill.getOutputs()[0].getUsers()) {
    if (user->getBlock() != fill->getBlock() || isa<ViewLikeOpInterface>(user))
      return nullptr;
    if (fill->isBeforeInBlock(user) && (!next || user->isBeforeInBlock(next)))
      next = user;
  }
  return next;
}

/// The init of `op` that is `buffer`, where the op overwrites all of it and reads it as the start of sums only.
static OpOperand *startOf(linalg::GenericOp op, Value buffer) {
  OpOperand *found = nullptr;
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get() == buffer) {
      if (found || !op.isDpsInit(&operand))
        return nullptr;
      found = &operand;
    }
  AffineMap map = op.getMatchingIndexingMap(found);
  SmallVector<unsigned> parallel;
  op.getParallelDims(parallel);
  bool coversAll = map.isProjectedPermutation() && map.getNumResults() == parallel.size() &&
                   llvm::all_of(parallel, [&](unsigned dim) { return map.isFunctionOfDim(dim); });
  return coversAll ? found : nullptr;
}

/// Tells the op where its init starts from.
static void markStart(linalg::GenericOp op, OpOperand *init, Attribute value) {
  Builder builder(op.getContext());
  SmallVector<Attribute> starts(op.getNumDpsInits(), builder.getUnitAttr());
  if (auto known = op->getAttrOfType<ArrayAttr>(mhc::kStartsAttr))
    llvm::copy(known, starts.begin());
  starts[init->getOperandNumber() - op.getNumDpsInputs()] = value;
  op->setAttr(mhc::kStartsAttr, builder.getArrayAttr(starts));
}

namespace {
struct FoldFills : mhc::impl::FoldFillsPassBase<FoldFills> {
  void runOnOperation() override {
    SmallVector<linalg::FillOp> fills;
    getOperation().walk([&](linalg::FillOp fill) { fills.push_back(fill); });
    for (linalg::FillOp fill : fills) {
      Attribute value;
      Value buffer = fill.getOutputs()[0];
      // A viewed buffer may be used under another name.
      Operation *source = buffer.getDefiningOp();
      if ((source && isa<ViewLikeOpInterface>(source) && !isa<memref::ViewOp>(source)) ||
          !matchPattern(fill.getInputs()[0], m_Constant(&value)))
        continue;
      auto sum = dyn_cast_or_null<linalg::GenericOp>(nextUser(fill));
      OpOperand *init = sum ? startOf(sum, buffer) : nullptr;
      if (!init)
        continue;
      markStart(sum, init, value);
      fill.erase();
    }
  }
};
} // namespace
