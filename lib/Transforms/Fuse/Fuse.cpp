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
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mhc {
#define GEN_PASS_DEF_FUSEPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

int64_t mhc::bytesPerToken(KernelOpInterface op) {
  const KernelInfo &info = op.getKernelInfo();
  int64_t bytes = 0;
  for (auto [i, tensor] : llvm::enumerate(info.tensors)) {
    Value value = op.getTensor(i);
    if (!value ||
        !llvm::is_contained(llvm::map_range(op.getTensorDims(i), [&](unsigned d) { return info.dims[d]; }), "M"))
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    int64_t elements = 1;
    for (auto [dim, size] : llvm::zip(op.getTensorDims(i), type.getShape()))
      elements *= info.dims[dim] == "M" || ShapedType::isDynamic(size) ? 1 : size;
    bytes += elements * type.getElementTypeBitWidth() / 8;
  }
  return bytes;
}

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

/// Erases dead ops, users before what they use.
static void eraseDead(func::FuncOp func) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(func.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

namespace {
struct FusePass : mhc::impl::FusePassBase<FusePass> {
  using FusePassBase::FusePassBase;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (level == FuseLevel::none || func.isExternal())
      return;
    eraseDead(func);
    if (level == FuseLevel::layer) {
      numFused += fusePre(func);
      eraseDead(func);
      dropUnusedGates(func);
    }
    numFused += narrowGates(func);
    eraseDead(func);
  }
};
} // namespace
