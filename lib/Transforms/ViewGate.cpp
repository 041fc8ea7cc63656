//===- ViewGate.cpp - Gates that are read where they lie ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/LeafBuilder.h"
#include "mhc/Transforms/Passes.h"
#include "mhc/Transforms/Sites.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mhc {
#define GEN_PASS_DEF_VIEWGATEPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

/// Whether an op becomes a loop over the elements of its operands, which may lie apart.
static bool isElementwise(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) || isa<SigmoidOp, SiluOp, SoftplusOp>(op);
}

/// A user of the gate that a part of a longer row does not do for; null where there is none. Where the batch is inside
/// the tokens, the part is transposed in the loop that reads it: of several, or of one that reads it twice, each would.
static Operation *userOfCopy(PreGatedDeltaRuleOp op) {
  const bool isTransposed = op.getSeqLayout() == SeqLayout::MbD && op.getQkvzba().getType().getDimSize(1) != 1;
  for (Operation *user : op.getGate().getUsers())
    if ((isTransposed && !op.getGate().hasOneUse()) ||
        !(isElementwise(user) || (!isTransposed && isa<RmsNormOp>(user))))
      return user;
  return nullptr;
}

/// z of `qkvzba`, as the gate has it.
static Value viewOf(PreGatedDeltaRuleOp op) {
  OpBuilder builder(op);
  LeafBuilder leaf(builder, op.getLoc());
  auto type = cast<RankedTensorType>(op.getGate().getType());
  const int64_t heads = type.getDimSize(2), size = type.getDimSize(3);
  Value z =
      leaf.slice(op.getQkvzba(), 2, cast<RankedTensorType>(op.getConvWeight().getType()).getDimSize(0), heads * size);
  if (op.getSeqLayout() == SeqLayout::MbD && op.getQkvzba().getType().getDimSize(1) != 1) {
    z = leaf.transpose(z, {1, 0, 2});
  } else if (op.getSeqLayout() == SeqLayout::MbD) {
    llvm::SmallBitVector batch(3);
    z = leaf.dropUnits(z, batch.set(1));
    z = leaf.insertUnits(z, batch.reset(1).set(0));
  }
  z = leaf.split(z, 2, {heads, size});
  return z.getType() == type ? z : Value(tensor::CastOp::create(builder, op.getLoc(), type, z));
}

static void dropGate(PreGatedDeltaRuleOp op) {
  op.getGate().replaceAllUsesWith(viewOf(op));
  SmallVector<Type> types = {op.getQuery().getType(),
                             op.getKey().getType(),
                             op.getValue().getType(),
                             Type(),
                             op.getBeta().getType(),
                             op.getG().getType(),
                             op.getSilu() ? op.getSilu().getType() : Type()};
  IRRewriter rewriter(op.getContext());
  replaceWithResults(rewriter, op, op.getKernelInfo(), types);
}

namespace {
struct ViewGate : mhc::impl::ViewGatePassBase<ViewGate> {
  void runOnOperation() override {
    SmallVector<PreGatedDeltaRuleOp> ops;
    getOperation().walk([&](PreGatedDeltaRuleOp op) {
      if (op.getGate())
        ops.push_back(op);
    });
    Sites sites(getArgument(), /*limit=*/-1);
    for (PreGatedDeltaRuleOp op : ops) {
      if (Operation *user = userOfCopy(op))
        sites.note(op, "gate-copied",
                   "'" + user->getName().getStringRef() + "' reads the gate; needed loops over elements alone");
      else
        dropGate(op);
    }
  }
};
} // namespace
