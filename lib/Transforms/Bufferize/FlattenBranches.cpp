//===- FlattenBranches.cpp - Branches into selects ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mhc {
#define GEN_PASS_DEF_FLATTENBRANCHESPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;

/// Whether both sides may be computed, and then one be picked.
static LogicalResult checkBranch(scf::IfOp branch, const mhc::DimAnalysis &dims) {
  for (Region *side : branch.getRegions())
    for (Operation &op : side->getOps())
      if (!op.hasTrait<OpTrait::IsTerminator>() && (!isMemoryEffectFree(&op) || !isSpeculatable(&op)))
        return branch.emitError() << "'scf.if' cannot be compiled: both sides are computed, and '" << op.getName()
                                  << "' may run only where its side is taken";
  for (OpResult result : branch.getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    unsigned number = result.getResultNumber();
    for (int dim = 0; type && dim < type.getRank(); ++dim)
      if (!dims.sameSize(branch.thenYield().getOperand(number), dim, branch.elseYield().getOperand(number), dim))
        return branch.emitError() << "'scf.if' cannot be compiled: the sides give result " << number
                                  << " different sizes in dimension " << dim;
  }
  return success();
}

static bool isInside(OpFoldResult index, RankedTensorType type, int64_t dim) {
  std::optional<int64_t> known = getConstantIntValue(index);
  return known && *known >= 0 && !type.isDynamicDim(dim) && *known < type.getDimSize(dim);
}

/// A side that is not taken may ask for an element outside: it reads the first one in its place.
static void guardIndices(scf::IfOp branch, RewriterBase &rewriter) {
  for (Region *side : branch.getRegions())
    for (auto element : llvm::to_vector(side->getOps<tensor::ExtractOp>())) {
      rewriter.setInsertionPoint(element);
      for (OpOperand &index : element.getIndicesMutable()) {
        if (isInside(index.get(), element.getTensor().getType(), index.getOperandNumber() - 1))
          continue;
        Value picked[] = {index.get(), arith::ConstantIndexOp::create(rewriter, element.getLoc(), 0)};
        bool isThen = side == &branch.getThenRegion();
        index.set(arith::SelectOp::create(rewriter, element.getLoc(), branch.getCondition(), picked[isThen ? 0 : 1],
                                          picked[isThen ? 1 : 0]));
      }
    }
}

/// Moves both sides in front of the branch.
static void flatten(scf::IfOp branch, RewriterBase &rewriter) {
  guardIndices(branch, rewriter);
  rewriter.setInsertionPoint(branch);
  SmallVector<Value> picked;
  for (OpResult result : branch.getResults()) {
    unsigned number = result.getResultNumber();
    picked.push_back(arith::SelectOp::create(rewriter, branch.getLoc(), branch.getCondition(),
                                             branch.thenYield().getOperand(number),
                                             branch.elseYield().getOperand(number)));
  }
  Operation *before = picked.empty() ? branch : picked.front().getDefiningOp();
  for (Region *side : branch.getRegions())
    for (Operation &op : llvm::make_early_inc_range(side->getOps()))
      if (!op.hasTrait<OpTrait::IsTerminator>())
        op.moveBefore(before);
  rewriter.replaceOp(branch, picked);
}

namespace {
struct FlattenBranches : mhc::impl::FlattenBranchesPassBase<FlattenBranches> {
  void runOnOperation() override {
    SmallVector<scf::IfOp> branches; // inner ones first: what they read is guarded by all branches around it
    getOperation().walk([&](scf::IfOp branch) { branches.push_back(branch); });
    if (branches.empty())
      return;
    mhc::DimAnalysis dims(getOperation());
    for (scf::IfOp branch : branches)
      if (failed(checkBranch(branch, dims)))
        return signalPassFailure();
    IRRewriter rewriter(&getContext());
    for (scf::IfOp branch : branches)
      flatten(branch, rewriter);
  }
};
} // namespace
