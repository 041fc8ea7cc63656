//===- ControlFlow.cpp - Loops and branches as straight-line code ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/Counted.h"
#include "mhc/IR/Gradients.h"
#include "mhc/IR/MhcInterfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mhc;

/// A loop becomes at most so many ops. Sinkhorn iterations, of about twelve ops, stay far below.
constexpr int64_t kMaxOpsWrittenOut = 16384;

namespace {
/// A loop of a known number of iterations, one after the other. Carried values need no storage of their own: an
/// iteration's values are saved like any others, those that the backward pass reads and no more.
struct LoopFlatten : FlattenableOpInterface::ExternalModel<LoopFlatten, scf::ForOp> {
  FailureOr<bool> flatten(Operation *op, RewriterBase &rewriter) const {
    auto loop = cast<scf::ForOp>(op);
    std::optional<APInt> iterations = loop.getStaticTripCount();
    std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                           step = getConstantIntValue(loop.getStep());
    if (!iterations || !lower || !step)
      return loop.emitError() << "'scf.for' has bounds that are no constants, so that it cannot be differentiated";
    int64_t count = static_cast<int64_t>(iterations->getLimitedValue(INT64_MAX)), ops = 0;
    loop.getBody()->walk([&](Operation *) { ++ops; });
    if (count > kMaxOpsWrittenOut / ops)
      return loop.emitError() << "'scf.for' has " << counted(count, "iteration") << " of " << counted(ops, "op")
                              << "; at most " << kMaxOpsWrittenOut << " ops can be differentiated";
    SmallVector<Value> carried(loop.getInitArgs());
    for (int64_t iteration = 0; iteration < count; ++iteration) {
      IRMapping mapping;
      Type type = loop.getInductionVar().getType();
      auto index = rewriter.getIntegerAttr(type, *lower + iteration * *step);
      mapping.map(loop.getInductionVar(), arith::ConstantOp::create(rewriter, loop.getLoc(), index));
      mapping.map(loop.getRegionIterArgs(), carried);
      for (Operation &inner : loop.getBody()->without_terminator())
        rewriter.clone(inner, mapping);
      for (auto [value, yielded] : llvm::zip_equal(carried, loop.getYieldedValues()))
        value = mapping.lookupOrDefault(yielded);
    }
    rewriter.replaceOp(loop, carried);
    return true;
  }
};

/// Both sides of a branch, and a selection.
struct BranchFlatten : FlattenableOpInterface::ExternalModel<BranchFlatten, scf::IfOp> {
  FailureOr<bool> flatten(Operation *op, RewriterBase &rewriter) const {
    auto branch = cast<scf::IfOp>(op);
    for (Region *side : branch.getRegions())
      for (Operation &inner : side->getOps())
        if (!inner.hasTrait<OpTrait::IsTerminator>() && (!isMemoryEffectFree(&inner) || !isSpeculatable(&inner)))
          return branch.emitError() << "'scf.if' cannot be differentiated: both sides are computed, and '"
                                    << inner.getName() << "' may run only where its side is taken";
    for (Region *side : branch.getRegions())
      for (Operation &inner : llvm::make_early_inc_range(side->getOps()))
        if (!inner.hasTrait<OpTrait::IsTerminator>())
          rewriter.moveOpBefore(&inner, branch);
    SmallVector<Value> picked;
    for (auto [yes, no] : llvm::zip_equal(branch.thenYield().getOperands(), branch.elseYield().getOperands()))
      picked.push_back(arith::SelectOp::create(rewriter, branch.getLoc(), branch.getCondition(), yes, no));
    rewriter.replaceOp(branch, picked);
    return true;
  }
};
} // namespace

void mhc::registerControlFlowGradients(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) {
    scf::ForOp::attachInterface<LoopFlatten>(*context);
    scf::IfOp::attachInterface<BranchFlatten>(*context);
  });
}

void mhc::registerGradients(DialectRegistry &registry) {
  registerArithGradients(registry);
  registerMathGradients(registry);
  registerTensorGradients(registry);
  registerCallGradients(registry);
  registerControlFlowGradients(registry);
}
