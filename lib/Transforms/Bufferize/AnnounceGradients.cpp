//===- AnnounceGradients.cpp - Say when a gradient is complete ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/Analysis/Mesh.h"
#include "mhc/IR/OutsideFunctions.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mhc {
#define GEN_PASS_DEF_ANNOUNCEGRADIENTSPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

static constexpr llvm::StringLiteral kAnnounce = "gradient_complete";

/// The last op of the block that touches the buffer or a view of it, or null.
static Operation *lastUse(Value buffer, Block &block) {
  Operation *last = nullptr;
  SmallVector<Value> views = {buffer};
  while (!views.empty())
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user))
        llvm::append_range(views, user->getResults());
      Operation *top = block.findAncestorOpInBlock(*user);
      if (!last || last->isBeforeInBlock(top))
        last = top;
    }
  return last;
}

/// The elements of a contiguous buffer in a row.
static Value inRow(OpBuilder &builder, Location loc, Value buffer) {
  const int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  if (rank == 0)
    buffer =
        memref::ExpandShapeOp::create(builder, loc, ArrayRef<int64_t>{1}, buffer, ArrayRef<ReassociationIndices>());
  if (rank > 1)
    buffer = memref::CollapseShapeOp::create(
        builder, loc, buffer, ArrayRef<ReassociationIndices>{llvm::to_vector(llvm::seq<int64_t>(0, rank))});
  auto type = MemRefType::get({ShapedType::kDynamic}, builder.getF32Type());
  return memref::CastOp::create(builder, loc, type, buffer);
}

namespace {
struct AnnounceGradients : mhc::impl::AnnounceGradientsPassBase<AnnounceGradients> {
  void runOnOperation() override {
    for (func::FuncOp func : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (!func.isDeclaration() && func.isPublic() && failed(announceAll(func)))
        return signalPassFailure();
  }

  LogicalResult announceAll(func::FuncOp func) {
    Block &block = func.getBody().front();
    for (BlockArgument argument : block.getArguments()) {
      const unsigned number = argument.getArgNumber();
      auto type = dyn_cast<MemRefType>(argument.getType());
      if (!func.getArgAttr(number, "mhc.result") || !func.getArgAttr(number, kPartial) || !type ||
          !type.getElementType().isF32() || !type.getLayout().isIdentity())
        continue;
      Operation *const last = lastUse(argument, block);
      if (!last)
        continue;
      if (failed(declare()))
        return failure();
      OpBuilder builder(&getContext());
      builder.setInsertionPointAfter(last);
      Value row = inRow(builder, last->getLoc(), argument);
      func::CallOp::create(builder, last->getLoc(), kAnnounce, TypeRange(), row);
    }
    return success();
  }

  LogicalResult declare() {
    ModuleOp module = getOperation();
    Builder builder(&getContext());
    auto type = MemRefType::get({ShapedType::kDynamic}, builder.getF32Type());
    auto wanted = builder.getFunctionType({type}, {});
    if (auto known = module.lookupSymbol<func::FuncOp>(kAnnounce)) {
      if (isOutside(known) && known.getFunctionType() == wanted)
        return success();
      return known.emitError() << "'" << kAnnounce << "' is a function of the model; needed another name: entries call "
                               << "this one when a gradient with '" << kPartial << "' is complete";
    }
    auto func = func::FuncOp::create(UnknownLoc::get(&getContext()), kAnnounce, wanted);
    func.setPrivate();
    func->setAttr(kOutsideFunction, builder.getUnitAttr());
    func.setArgAttr(0, "mhc.name", builder.getStringAttr("gradient"));
    func.setArgAttr(0, kDims, builder.getStrArrayAttr({"N"}));
    module.push_back(func);
    return success();
  }
};
} // namespace
